/* How a held point, direction or particle moves: keyframes, then turns about axes. A pure function
   of time, with square roots as its only irrational operation and its own sine and cosine, so that
   every machine gets the same bits. */
#ifndef PL_IO_MOTION_H
#define PL_IO_MOTION_H

#include <stdbool.h>

typedef struct pl_motion_key {
    double time;        /* s */
    double vector[3];   /* a position, an offset, or a unit direction */
    double rotation[4]; /* a unit quaternion */
} pl_motion_key;

/* A rotation about an axis in space: `speed` degrees per second from one time to another, or
   degrees by keyframes. */
typedef struct pl_motion_turn {
    double axis[3]; /* unit */
    double centre[3];
    double speed, from, to;
    int key_count;
    double (*keys)[2]; /* time, degrees */
    bool smooth;
} pl_motion_turn;

typedef struct pl_motion {
    int key_count; /* 0 = stays where it started */
    pl_motion_key *keys;
    bool has_vectors, has_rotations; /* which of the two the keys give */
    bool relative;                   /* keys are offsets from, and rotations of, the start */
    bool smooth;                     /* ease in and out at every key instead of moving evenly */
    int turn_count;
    pl_motion_turn *turns; /* applied one after the other */
} pl_motion;

/* True where nothing moves and no target is given either. */
bool pl_motion_is_still(const pl_motion *motion);

void pl_motion_position(const pl_motion *motion, double time, const double start[3], double out[3]);
void pl_motion_direction(const pl_motion *motion, double time, const double start[3],
                         double out[3]);
void pl_motion_rotation(const pl_motion *motion, double time, const double start[4], double out[4]);

/* The unit quaternion that turns by so many degrees about a unit axis. */
void pl_quaternion_from_degrees(const double axis[3], double degrees, double out[4]);
void pl_quaternion_multiply(const double a[4], const double b[4], double out[4]);
void pl_quaternion_rotate(const double q[4], const double v[3], double out[3]);

#endif
