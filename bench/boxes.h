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

typedef struct boxes_result {
    double mean_ms, least_ms; /* per frame */
    double
        deepest; /* overlap of two particles of different boxes at the end, in parts of their distance when they touch */
    int pairs_inside; /* pairs of boxes that are in each other by more than 20 % of that */
} boxes_result;

/* `positions`: [count][particles][3] at the end. */
void boxes_measure_overlap(const boxes *b, const double *positions, boxes_result *result);

/* 300 frames with Bullet; false when it was not built in. */
int boxes_run_bullet(const boxes *b, int frames, double *positions, boxes_result *result);

#ifdef __cplusplus
}
#endif

#endif
