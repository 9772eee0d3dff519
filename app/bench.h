/* What the tables of `pliant bench` share: how they were asked for, and how rows are printed. Times
   are the least of several repetitions: what the code costs when nothing else disturbs it. */
#ifndef PL_APP_BENCH_H
#define PL_APP_BENCH_H

#include "app.h"
#include "pliant/pliant.h"

typedef struct bench {
    bool json, quick;
    int threads;
    int rows; /* of JSON, printed so far */
} bench;

/* A table prints its title, its rows and what its columns mean; nothing but rows with --json. */
pl_status app_table_frames(bench *b);
pl_status app_table_iterations(bench *b);
pl_status app_table_stiffness(bench *b);
pl_status app_table_clusters(bench *b);
pl_status app_table_convergence(bench *b);
pl_status app_table_examples(bench *b);
pl_status app_table_tetrahedra(bench *b);

/* Of a row in JSON: what separates it from the one before, "{" and the name of the table. It ends
   with "}". */
void app_bench_json_row(bench *b, const char *table);

/* ,"key":{"local":1.5,"global":null}: a value per name, those below 0 are not there. */
void app_bench_json_times(const char *key, const char *const *names, const double *values,
                          int count);

/* Cells of a table, 8 wide: "." where there is nothing (below 0). */
void app_bench_cells(const double *values, int count, int decimals);
void app_bench_ratios(const double *ours, const double *paper, int count);
void app_bench_names(const char *const *names, int count);

#endif
