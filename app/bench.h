/* What the tables of `pliant bench` share. */
#ifndef PL_APP_BENCH_H
#define PL_APP_BENCH_H

#include "pliant/pliant.h"

typedef struct bench {
    bool json, quick;
    int threads;
    int rows, rows_of_table; /* printed so far */
} bench;

pl_status app_table_frames(bench *b);
pl_status app_table_stiffness(bench *b);

#endif
