/* Graphs, matrices and judges shared by the tests of the sparse layer: chains, rings, stars,
   cliques, trees, grids, random geometric and disconnected graphs; matrices as oriented particles
   make them; a dense reference; CHOLMOD where present. */
#ifndef PL_TESTS_SPARSE_CASES_H
#define PL_TESTS_SPARSE_CASES_H

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sparse/factor.h"
#include "sparse/order.h"
#include "sparse/pins.h"
#include "sparse/symbolic.h"
#include "support/check.h"

#ifdef PLIANT_HAVE_CHOLMOD
#include <cholmod.h>
#endif

/* Not every test uses every helper. */
#define UNUSED __attribute__((unused))

/* ---- Random numbers ---- */

typedef struct random_state {
    uint64_t s;
} random_state;

static UNUSED uint32_t random_bits(random_state *r)
{
    r->s = r->s * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(r->s >> 32);
}

static UNUSED int random_below(random_state *r, int n)
{
    return (int)((uint64_t)random_bits(r) * (uint64_t)n >> 32);
}

static UNUSED double random_unit(random_state *r)
{
    return random_bits(r) * 0x1p-32;
}

/* ---- Graphs ---- */

typedef struct test_graph {
    int n, *start, *neighbour;
} test_graph;

typedef struct edge_list {
    int count, capacity, (*edges)[2];
} edge_list;

static UNUSED void add_edge(edge_list *list, int a, int b)
{
    if (a == b)
        return;
    if (list->count == list->capacity) {
        list->capacity = list->capacity ? 2 * list->capacity : 64;
        list->edges = realloc(list->edges, (size_t)list->capacity * sizeof *list->edges);
    }
    list->edges[list->count][0] = a;
    list->edges[list->count++][1] = b;
}

/* Adjacency without repeated edges; consumes the list. */
static UNUSED test_graph graph_from_edges(int n, edge_list *list)
{
    size_t m = (size_t)list->count;
    test_graph g = {n, calloc((size_t)n + 2, sizeof(int)), malloc((2 * m + 1) * sizeof(int))};
    for (size_t e = 0; e < m; e++)
        for (int k = 0; k < 2; k++)
            g.start[list->edges[e][k] + 2]++;
    for (int i = 0; i < n; i++)
        g.start[i + 2] += g.start[i + 1];
    for (size_t e = 0; e < m; e++)
        for (int k = 0; k < 2; k++)
            g.neighbour[g.start[list->edges[e][k] + 1]++] = list->edges[e][1 - k];
    int *seen = malloc(((size_t)n + 1) * sizeof(int)), at = 0;
    for (int i = 0; i < n; i++)
        seen[i] = -1;
    for (int i = 0, begin = 0; i < n; i++) {
        int end = g.start[i + 1];
        g.start[i] = at;
        for (int p = begin; p < end; p++) {
            if (seen[g.neighbour[p]] != i) {
                seen[g.neighbour[p]] = i;
                g.neighbour[at++] = g.neighbour[p];
            }
        }
        begin = end;
    }
    g.start[n] = at;
    free(seen);
    free(list->edges);
    *list = (edge_list){0};
    return g;
}

static UNUSED void graph_free(test_graph *g)
{
    free(g->start);
    free(g->neighbour);
}

/* Grid of x * y * z nodes, with the diagonals of the cells if asked. */
static UNUSED test_graph make_grid(int x, int y, int z, bool diagonals)
{
    edge_list list = {0};
    for (int k = 0; k < z; k++)
        for (int j = 0; j < y; j++)
            for (int i = 0; i < x; i++)
                for (int c = 1; c < 14; c++) { /* half of the 26 neighbours */
                    int a = i + (c + 13) % 3 - 1, b = j + (c + 13) / 3 % 3 - 1,
                        d = k + (c + 13) / 9 - 1;
                    int moved = (a != i) + (b != j) + (d != k);
                    if (a >= 0 && a < x && b >= 0 && b < y && d < z && (moved == 1 || diagonals))
                        add_edge(&list, i + x * (j + y * k), a + x * (b + y * d));
                }
    return graph_from_edges(x * y * z, &list);
}

/* Random points in the unit cube, connected when nearer than makes `degree` neighbours on average
   inside. */
static UNUSED test_graph make_geometric(int n, double degree, uint64_t seed)
{
    random_state r = {seed};
    double(*x)[3] = malloc((size_t)n * sizeof *x), radius = cbrt(degree / (4.18879 * n));
    int cells = (int)(1.0 / radius), *head, *next = malloc((size_t)n * sizeof *next);
    cells = cells < 1 ? 1 : cells > 200 ? 200 : cells;
    head = malloc((size_t)cells * (size_t)cells * (size_t)cells * sizeof *head);
    memset(head, -1, (size_t)cells * (size_t)cells * (size_t)cells * sizeof *head);
    edge_list list = {0};
    for (int i = 0; i < n; i++) {
        int c[3];
        for (int k = 0; k < 3; k++) {
            x[i][k] = random_unit(&r);
            c[k] = (int)(x[i][k] * cells);
        }
        for (int o = 0; o < 27; o++) {
            int a = c[0] + o % 3 - 1, b = c[1] + o / 3 % 3 - 1, d = c[2] + o / 9 - 1;
            if (a < 0 || b < 0 || d < 0 || a >= cells || b >= cells || d >= cells)
                continue;
            for (int j = head[a + cells * (b + cells * d)]; j >= 0; j = next[j]) {
                double u = x[i][0] - x[j][0], v = x[i][1] - x[j][1], w = x[i][2] - x[j][2];
                if (u * u + v * v + w * w < radius * radius)
                    add_edge(&list, i, j);
            }
        }
        int *cell = &head[c[0] + cells * (c[1] + cells * c[2])];
        next[i] = *cell;
        *cell = i;
    }
    free(x);
    free(next);
    free(head);
    return graph_from_edges(n, &list);
}

enum { GRAPH_KINDS = 11 };

/* A graph of one of the kinds with n nodes, or near n for grids. */
static UNUSED test_graph make_graph(int kind, int n, random_state *r)
{
    edge_list list = {0};
    if (kind == 5 || kind == 6) {
        int side = (int)sqrt((double)n) > 1 ? (int)sqrt((double)n) : 1;
        return make_grid(side, n / side > 0 ? n / side : 1, 1, kind == 6);
    }
    if (kind == 7 && n > 0)
        return make_geometric(n, 8.0, random_bits(r));
    for (int i = 1; i < n; i++) {
        switch (kind) {
        case 0:
            add_edge(&list, i - 1, i);
            break; /* chain */
        case 1:
            add_edge(&list, i - 1, i), add_edge(&list, i, (i + 1) % n);
            break; /* ring */
        case 2:
            add_edge(&list, n / 2, i == n / 2 ? 0 : i);
            break; /* star */
        case 3:    /* clique */
            for (int j = 0; j < i; j++)
                add_edge(&list, i, j);
            break;
        case 4:
            add_edge(&list, random_below(r, i), i);
            break; /* tree */
        case 8:    /* random, dense to sparse */
            for (int j = random_below(r, 5); j > 0; j--)
                add_edge(&list, i, random_below(r, n));
            break;
        case 9: /* several parts and loose nodes */
            if (i % 7 > 1)
                add_edge(&list, i - 1, i), add_edge(&list, i, i - i % 7 + 1);
            break;
        default: /* a few nodes connected to nearly all, over a chain */
            add_edge(&list, i - 1, i);
            for (int hub = 0; hub < 3; hub++)
                if (random_below(r, 10))
                    add_edge(&list, i, hub * n / 3);
        }
    }
    return graph_from_edges(n, &list);
}

/* ---- Matrices ---- */

typedef struct test_matrix {
    double *diagonal, *value, *row_sum;
} test_matrix;

/* L_ii = m_i + kappa Σ_j (v_i + v_j), L_ij = −kappa (v_i + v_j), with m_i = v_i about 1. */
static UNUSED test_matrix make_matrix(const test_graph *g, double kappa, random_state *r)
{
    size_t n = (size_t)g->n;
    test_matrix m = {malloc((n + 1) * sizeof(double)),
                     malloc(((size_t)g->start[n] + 1) * sizeof(double)),
                     malloc((n + 1) * sizeof(double))};
    for (size_t i = 0; i < n; i++)
        m.row_sum[i] = 0.5 + random_unit(r);
    for (size_t i = 0; i < n; i++) {
        m.diagonal[i] = m.row_sum[i];
        for (int p = g->start[i]; p < g->start[i + 1]; p++) {
            double k = kappa * (m.row_sum[i] + m.row_sum[g->neighbour[p]]);
            m.diagonal[i] += k;
            m.value[p] = -k;
        }
    }
    return m;
}

static UNUSED void matrix_free(test_matrix *m)
{
    free(m->diagonal);
    free(m->value);
    free(m->row_sum);
}

/* ||b − A x|| / (||A|| ||x|| + ||b||) in the maximum norm. */
static UNUSED double residual(const test_graph *g, const test_matrix *m, const double *x,
                              const double *b)
{
    double worst = 0.0, norm = 0.0, size = 0.0, right = 0.0;
    for (int i = 0; i < g->n; i++) {
        double sum = b[i] - m->diagonal[i] * x[i], row = fabs(m->diagonal[i]);
        for (int p = g->start[i]; p < g->start[i + 1]; p++) {
            sum -= m->value[p] * x[g->neighbour[p]];
            row += fabs(m->value[p]);
        }
        worst = fmax(worst, fabs(sum));
        norm = fmax(norm, row);
        size = fmax(size, fabs(x[i]));
        right = fmax(right, fabs(b[i]));
    }
    return g->n ? worst / (norm * size + right) : 0.0;
}

/* The full matrix, row by row. */
static UNUSED double *make_dense(const test_graph *g, const test_matrix *m)
{
    size_t n = (size_t)g->n;
    double *a = calloc(n * n + 1, sizeof *a);
    for (size_t i = 0; i < n; i++) {
        a[i * n + i] = m->diagonal[i];
        for (int p = g->start[i]; p < g->start[i + 1]; p++)
            a[i * n + (size_t)g->neighbour[p]] = m->value[p];
    }
    return a;
}

/* Solves a x = b by Cholesky in long double; x holds b on entry. */
static UNUSED void dense_solve(size_t n, const double *a, double *x, int count)
{
    long double *l = calloc(n * n + 1, sizeof *l), *y = malloc((n + 1) * sizeof *y);
    for (size_t i = 0; i < n; i++) {
        for (size_t j = 0; j <= i; j++) {
            long double sum = a[i * n + j];
            for (size_t k = 0; k < j; k++)
                sum -= l[i * n + k] * l[j * n + k];
            l[i * n + j] = i == j ? sqrtl(sum) : sum / l[j * n + j];
        }
    }
    for (int c = 0; c < count; c++) {
        for (size_t i = 0; i < n; i++) {
            y[i] = x[i * (size_t)count + (size_t)c];
            for (size_t k = 0; k < i; k++)
                y[i] -= l[i * n + k] * y[k];
            y[i] /= l[i * n + i];
        }
        for (size_t i = n; i-- > 0;) {
            for (size_t k = i + 1; k < n; k++)
                y[i] -= l[k * n + i] * y[k];
            y[i] /= l[i * n + i];
            x[i * (size_t)count + (size_t)c] = (double)y[i];
        }
    }
    free(l);
    free(y);
}

/* ---- CHOLMOD ---- */

#ifdef PLIANT_HAVE_CHOLMOD
/* The lower triangle (row ≥ column) as CHOLMOD wants it. */
static UNUSED cholmod_sparse *cholmod_matrix(const test_graph *g, const test_matrix *m,
                                             cholmod_common *common)
{
    size_t n = (size_t)g->n;
    cholmod_triplet *t =
        cholmod_allocate_triplet(n, n, n + (size_t)g->start[n] / 2, -1, CHOLMOD_REAL, common);
    int *row = t->i, *column = t->j;
    double *x = t->x;
    for (int i = 0; i < g->n; i++) {
        row[t->nnz] = column[t->nnz] = i;
        x[t->nnz++] = m ? m->diagonal[i] : 1.0;
        for (int p = g->start[i]; p < g->start[i + 1]; p++) {
            if (g->neighbour[p] > i)
                continue;
            row[t->nnz] = i;
            column[t->nnz] = g->neighbour[p];
            x[t->nnz++] = m ? m->value[p] : 0.0;
        }
    }
    cholmod_sparse *a = cholmod_triplet_to_sparse(t, 0, common);
    cholmod_free_triplet(&t, common);
    return a;
}

/* Entries of L below the diagonal with SuiteSparse's AMD. */
static UNUSED double amd_fill(const test_graph *g)
{
    cholmod_common common;
    cholmod_start(&common);
    common.nmethods = 1;
    common.method[0].ordering = CHOLMOD_AMD;
    common.supernodal = CHOLMOD_SIMPLICIAL;
    cholmod_sparse *a = cholmod_matrix(g, NULL, &common);
    cholmod_factor *l = cholmod_analyze(a, &common);
    double fill = common.lnz - g->n;
    cholmod_free_factor(&l, &common);
    cholmod_free_sparse(&a, &common);
    cholmod_finish(&common);
    return fill;
}

/* Solves for one right-hand side in place. */
static UNUSED void cholmod_judge(const test_graph *g, const test_matrix *m, double *x)
{
    cholmod_common common;
    cholmod_start(&common);
    cholmod_sparse *a = cholmod_matrix(g, m, &common);
    cholmod_factor *l = cholmod_analyze(a, &common);
    cholmod_factorize(a, l, &common);
    cholmod_dense *b = cholmod_allocate_dense((size_t)g->n, 1, (size_t)g->n, CHOLMOD_REAL, &common);
    memcpy(b->x, x, (size_t)g->n * sizeof *x);
    cholmod_dense *y = cholmod_solve(CHOLMOD_A, l, b, &common);
    memcpy(x, y->x, (size_t)g->n * sizeof *x);
    cholmod_free_dense(&y, &common);
    cholmod_free_dense(&b, &common);
    cholmod_free_factor(&l, &common);
    cholmod_free_sparse(&a, &common);
    cholmod_finish(&common);
}
#endif

#endif
