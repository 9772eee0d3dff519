/* The same boxes for two engines: lattices of particles falling between walls. */
#ifndef PL_BENCH_BOXES_H
#define PL_BENCH_BOXES_H

#ifdef __cplusplus
extern "C" {
#endif

typedef struct boxes {
    int count;      /* boxes */
    int side[3];    /* particles along x, y, z */
    int per_row;    /* K: layers of K × K */
    double spacing; /* metres */
    double half;    /* distance of the walls from the middle */
    double position[180][3];
    double rotation[180][4];
} boxes;

/* Once through all frames with Bullet: the time of each, and `positions`, [count][particles][3], at
   the end. False when it was not built in. */
int boxes_run_bullet(const boxes *b, int frames, double *ms, double *positions);

#ifdef __cplusplus
}
#endif

#endif
