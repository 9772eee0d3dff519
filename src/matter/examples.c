/* Example manifolds: what is worked out once (duals, Gram matrices, which elements make up a
   group), and the nearest point with many poses. Kernels do the rest. */
#include "matter/examples.h"

#include <math.h>
#include <string.h>

#include "base/error.h"
#include "math/simd.h"
#include "matter/examples_lanes.h"

enum { BLOCK = PL_EXAMPLES_BLOCK };

/* A pose this near to rest, root mean square, is rest: what is left is rounding, and would be blown
   up. */
#define LEAST 1e-5
/* The squared distance of a pose from what others span, relative to its own length, below which it
   is one of those. */
#define DEPENDENT 1e-10
/* Descriptors of poses beyond this are no poses. */
#define FARTHEST 1e9f

static size_t triangle(int n)
{
    return (size_t)n * (size_t)(n + 1) / 2;
}

/* ---- Checks ---------------------------------------------------------------------------------- */

#define CHECK(condition, where, ...)                                                               \
    PL_CHECK(condition, PL_ERROR_ARGUMENT, error, where, __VA_ARGS__)

static pl_status check_counts(const pl_examples_source *s, pl_error *error)
{
    CHECK(s->element_count > 0 && s->element_count <= PL_EXAMPLES_MOST_ELEMENTS, "examples",
          "there are %d elements to compare; 1 to %d are possible", s->element_count,
          PL_EXAMPLES_MOST_ELEMENTS);
    CHECK(s->width >= 1 && s->width <= PL_EXAMPLES_WIDEST, "examples",
          "descriptors have %d numbers; 1 to %d are possible", s->width, PL_EXAMPLES_WIDEST);
    CHECK(s->pose_count >= 1 && s->pose_count <= PL_MAX_POSES, "examples.poses",
          "there are %d; 1 to %d are possible", s->pose_count, PL_MAX_POSES);
    CHECK(s->group_count >= 1 && s->group_count <= PL_EXAMPLES_MOST_ELEMENTS, "examples.groups",
          "there are %d; 1 to %d are possible", s->group_count, PL_EXAMPLES_MOST_ELEMENTS);
    CHECK(s->beta >= 0 && s->beta <= PL_EXAMPLES_MOST_BETA, "examples.beta",
          "is %.9g; 0 to %g are possible", s->beta, PL_EXAMPLES_MOST_BETA);
    CHECK(s->rule == PL_EXAMPLES_AUTO || s->rule == PL_EXAMPLES_SIMPLEX ||
              s->rule == PL_EXAMPLES_NEAREST,
          "examples.rule", "is no rule");
    return PL_OK;
}

static pl_status check_source(const pl_examples_source *s, pl_error *error)
{
    PL_TRY(check_counts(s, error));
    size_t width = (size_t)s->width, forms = triangle(s->width);
    for (int e = 0; e < s->element_count; e++) {
        for (int k = 0; k < s->pose_count; k++)
            for (size_t c = 0; c < width; c++) {
                float d = s->poses[((size_t)k * (size_t)s->element_count + (size_t)e) * width + c];
                CHECK(fabsf(d) <= FARTHEST, PL_WHERE("examples.poses[%d]", k),
                      "element %d is deformed beyond measure (%g)", e, (double)d);
            }
        for (size_t c = 0; s->metric && c < forms; c++)
            CHECK(isfinite(s->metric[(size_t)e * forms + c]), "examples",
                  "the metric of element %d is not finite", e);
        CHECK(!s->weight || (s->weight[e] >= 0 && isfinite(s->weight[e])), "examples",
              "the weight of element %d is %g; use 0 or more", e, (double)s->weight[e]);
        CHECK(!s->group || (s->group[e] >= -1 && s->group[e] < s->group_count),
              PL_WHERE("examples.groups[%d]", e),
              "is %d; groups are numbered from 0 to %d, and -1 is none", (int)s->group[e],
              s->group_count - 1);
    }
    return PL_OK;
}

/* ---- Groups ---------------------------------------------------------------------------------- */

static bool allocate(pl_examples *e, int parts)
{
    size_t blocks = (size_t)e->blocks, group_blocks = (size_t)e->group_blocks;
    size_t poses = (size_t)e->pose_count, columns = poses * BLOCK;
    size_t numbers = blocks * columns * (size_t)e->width;
    pl_memory *m = e->memory;
    e->poses = PL_NEW(m, float, numbers);
    e->duals = PL_NEW(m, float, numbers);
    e->gram = PL_NEW(m, double, group_blocks *triangle(e->pose_count) * BLOCK);
    e->factors = PL_NEW(m, double,
                        poses <= PL_EXAMPLES_LANES ? group_blocks * PL_EXAMPLES_FACTOR(poses) : 0);
    e->block_group = PL_NEW(m, int32_t, blocks);
    e->part_start = PL_NEW(m, int32_t, e->group_count + 1);
    e->parts = PL_NEW(m, pl_examples_part, parts);
    e->sums = PL_NEW(m, float, group_blocks *columns);
    e->measured = e->own ? e->sums : PL_NEW(m, float, blocks *columns);
    e->start = PL_NEW(m, float, group_blocks *columns);
    e->weight = PL_NEW(m, float, group_blocks *columns);
    e->weights = PL_NEW(m, float, (size_t)e->group_count *poses);
    e->bias = PL_NEW(m, float, (size_t)e->group_count *poses);
    e->bias_lanes = PL_NEW(m, float, group_blocks *columns);
    e->present = PL_NEW(m, float, group_blocks *columns);
    return e->poses && e->duals && e->gram && e->factors && e->block_group && e->part_start &&
           e->parts && e->sums && e->measured && e->start && e->weight && e->weights && e->bias &&
           e->bias_lanes && e->present;
}

static void fill_groups(pl_examples *e, const pl_examples_source *s)
{
    e->own = e->group_count == e->element_count;
    for (int i = 0; i < e->blocks * BLOCK; i++) {
        e->group[i] = i >= e->element_count ? -1 : s->group ? s->group[i] : 0;
        e->own = e->own && (i >= e->element_count || e->group[i] == i);
    }
}

/* Parts in the order of groups, then blocks, by counting twice: with `parts` NULL only how many
   there are. */
static int list_parts(const pl_examples *e, int32_t *last, int32_t *start, pl_examples_part *parts)
{
    int count = 0;
    for (int g = 0; g < e->group_count; g++)
        last[g] = -1;
    for (int i = 0; i < e->element_count; i++) {
        int g = e->group[i], block = i / BLOCK;
        if (g < 0)
            continue;
        if (last[g] != block) {
            count++;
            start[g + 1]++;
            last[g] = block;
            if (parts)
                parts[start[g + 1] - 1] = (pl_examples_part){.block = block};
        }
        if (parts)
            parts[start[g + 1] - 1].lanes |= 1u << i % BLOCK;
    }
    return count;
}

static void fill_parts(pl_examples *e, int32_t *last)
{
    int32_t *start = e->part_start;
    list_parts(e, last, start, NULL);
    for (int g = 0, sum = 0; g < e->group_count; g++) {
        int count = start[g + 1];
        start[g + 1] = sum; /* where the group starts; its parts move it to where it ends */
        sum += count;
    }
    list_parts(e, last, start, e->parts);
    for (int b = 0; b < e->blocks; b++) {
        e->block_group[b] = e->group[b * BLOCK];
        for (int i = b * BLOCK; i < (b + 1) * BLOCK && i < e->element_count; i++)
            if (e->group[i] != e->group[b * BLOCK])
                e->block_group[b] = PL_EXAMPLES_MIXED;
    }
}

/* ---- Gram matrices and duals ----------------------------------------------------------------- */

static const float *pose_of(const pl_examples_source *s, int k, int element)
{
    return s->poses + ((size_t)k * (size_t)s->element_count + (size_t)element) * (size_t)s->width;
}

/* M d */
static void apply_metric(const pl_examples_source *s, int element, const float *d, double *out)
{
    double weight = s->weight ? (double)s->weight[element] : 1;
    const float *m = s->metric ? s->metric + (size_t)element * triangle(s->width) : NULL;
    for (int i = 0; i < s->width; i++) {
        out[i] = m ? 0 : weight * (double)d[i];
        for (int j = 0; m && j < s->width; j++)
            out[i] += weight *
                      (double)(j < i ? m[triangle(i) + (size_t)j] : m[triangle(j) + (size_t)i]) *
                      (double)d[j];
    }
}

/* The root mean square of what a group's elements weigh, per number: what LEAST is relative to. */
static double trace_of(const pl_examples_source *s, int element)
{
    double weight = s->weight ? (double)s->weight[element] : 1, sum = 0;
    for (int i = 0; i < s->width; i++)
        sum +=
            s->metric
                ? (double)s->metric[(size_t)element * triangle(s->width) + triangle(i) + (size_t)i]
                : 1;
    return weight * sum / s->width;
}

typedef struct build {
    const pl_examples_source *source;
    int poses;
    double gram[PL_MAX_POSES * (PL_MAX_POSES + 1) / 2];
    double inverse[PL_MAX_POSES * PL_MAX_POSES];
    bool rest[PL_MAX_POSES]; /* which poses are none here */
    double scale;            /* of the metric */
    double root[PL_MAX_POSES * PL_MAX_POSES], square[PL_MAX_POSES * PL_MAX_POSES];
    int rank;
} build;

static double gram_at(const build *b, int i, int j)
{
    return i < j ? b->gram[triangle(j) + (size_t)i] : b->gram[triangle(i) + (size_t)j];
}

static int next_element(const pl_examples *e, int part, uint32_t *lanes)
{
    int lane = __builtin_ctz(*lanes);
    *lanes &= *lanes - 1;
    return e->parts[part].block * BLOCK + lane;
}

/* G = Lᵀ M L over the elements of a group, scaled to a largest diagonal of 1; poses that are rest
   there leave zeros. */
static void build_gram(const pl_examples *e, int group, build *b)
{
    const pl_examples_source *s = b->source;
    double trace = 0, most = 0, md[PL_EXAMPLES_WIDEST];
    memset(b->gram, 0, triangle(b->poses) * sizeof *b->gram);
    for (int p = e->part_start[group]; p < e->part_start[group + 1]; p++)
        for (uint32_t lanes = e->parts[p].lanes; lanes;) {
            int element = next_element(e, p, &lanes);
            trace += trace_of(s, element);
            for (int i = 0; i < b->poses; i++) {
                apply_metric(s, element, pose_of(s, i, element), md);
                for (int j = 0; j <= i; j++) {
                    const float *d = pose_of(s, j, element);
                    for (int c = 0; c < s->width; c++)
                        b->gram[triangle(i) + (size_t)j] += md[c] * (double)d[c];
                }
            }
        }
    for (int i = 0; i < b->poses; i++) {
        b->rest[i] = !(gram_at(b, i, i) > LEAST * LEAST * trace);
        most = !b->rest[i] && gram_at(b, i, i) > most ? gram_at(b, i, i) : most;
    }
    b->scale = most > 0 ? 1 / most : 0;
    for (int i = 0; i < b->poses; i++)
        for (int j = 0; j <= i; j++)
            b->gram[triangle(i) + (size_t)j] *= b->rest[i] || b->rest[j] ? 0 : b->scale;
}

/* G = L Lᵀ with as many columns as poses are independent: each time the pose furthest (for its
   length) from what those taken span. */
static void build_root(build *b)
{
    int n = b->poses;
    double left[PL_MAX_POSES];
    b->rank = 0;
    for (int i = 0; i < n; i++)
        left[i] = gram_at(b, i, i);
    for (; b->rank < n; b->rank++) {
        double best = DEPENDENT;
        int pick = -1;
        for (int i = 0; i < n; i++)
            if (!b->rest[i] && left[i] > best * gram_at(b, i, i)) {
                best = left[i] / gram_at(b, i, i);
                pick = i;
            }
        if (pick < 0)
            break;
        for (int i = 0; i < n; i++) {
            double sum = gram_at(b, i, pick);
            for (int k = 0; k < b->rank; k++)
                sum -= b->root[i * n + k] * b->root[pick * n + k];
            b->root[i * n + b->rank] = b->rest[i] ? 0 : sum / sqrt(left[pick]);
        }
        for (int i = 0; i < n; i++)
            left[i] -= b->root[i * n + b->rank] * b->root[i * n + b->rank];
        left[pick] = 0;
    }
}

/* In place: the inverse of a symmetric positive definite n × n matrix, by Gauss and Jordan. */
static void invert(double *a, int n)
{
    for (int p = 0; p < n; p++) {
        double d = 1 / a[p * n + p];
        a[p * n + p] = 1;
        for (int j = 0; j < n; j++)
            a[p * n + j] *= d;
        for (int i = 0; i < n; i++) {
            double f = a[i * n + p];
            if (i == p)
                continue;
            a[i * n + p] = 0;
            for (int j = 0; j < n; j++)
                a[i * n + j] -= f * a[p * n + j];
        }
    }
}

/* G⁺ = L (LᵀL)⁻² Lᵀ: among weights that fit equally well, the smallest. */
static void build_inverse(build *b)
{
    int n = b->poses, r = b->rank;
    double *q = b->square, half[PL_MAX_POSES];
    for (int i = 0; i < r; i++)
        for (int j = 0; j < r; j++) {
            q[i * r + j] = 0;
            for (int k = 0; k < n; k++)
                q[i * r + j] += b->root[k * n + i] * b->root[k * n + j];
        }
    invert(q, r);
    for (int i = 0; i < n; i++) { /* root becomes L (LᵀL)⁻¹ */
        for (int j = 0; j < r; j++) {
            half[j] = 0;
            for (int k = 0; k < r; k++)
                half[j] += b->root[i * n + k] * q[k * r + j];
        }
        memcpy(b->root + i * n, half, (size_t)r * sizeof *half);
    }
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            b->inverse[i * n + j] = 0;
            for (int k = 0; k < r; k++)
                b->inverse[i * n + j] += b->root[i * n + k] * b->root[j * n + k];
        }
}

static float *place(const pl_examples *e, float *array, int element, int k, int c)
{
    size_t block = (size_t)(element / BLOCK), row = (size_t)e->width;
    return array + ((block * (size_t)e->pose_count + (size_t)k) * row + (size_t)c) * BLOCK +
           element % BLOCK;
}

static void store_element(const pl_examples *e, const build *b, int element)
{
    double md[PL_MAX_POSES][PL_EXAMPLES_WIDEST];
    int n = b->poses;
    for (int k = 0; k < n; k++) {
        apply_metric(b->source, element, pose_of(b->source, k, element), md[k]);
        for (int c = 0; c < e->width; c++) {
            *place(e, e->poses, element, k, c) = b->rest[k] ? 0 : pose_of(b->source, k, element)[c];
            md[k][c] *= b->rest[k] ? 0 : b->scale;
        }
    }
    for (int k = 0; k < n; k++)
        for (int c = 0; c < e->width; c++) {
            double dual = md[k][c];
            if (e->rule == PL_EXAMPLES_SIMPLEX) {
                dual = 0;
                for (int j = 0; j < n; j++)
                    dual += b->inverse[k * n + j] * md[j][c];
            }
            *place(e, e->duals, element, k, c) = (float)dual;
        }
}

static float *group_place(const pl_examples *e, float *array, int group, int k)
{
    size_t block = (size_t)(group / BLOCK);
    return array + (block * (size_t)e->pose_count + (size_t)k) * BLOCK + group % BLOCK;
}

static void store_group(const pl_examples *e, build *b, int group)
{
    double *gram = e->gram + (size_t)(group / BLOCK) * triangle(b->poses) * BLOCK + group % BLOCK;
    for (size_t i = 0; i < triangle(b->poses); i++)
        gram[i * BLOCK] = b->gram[i];
    for (int k = 0; k < b->poses; k++)
        *group_place(e, e->present, group, k) = !b->rest[k];
    for (int p = e->part_start[group]; p < e->part_start[group + 1]; p++)
        for (uint32_t lanes = e->parts[p].lanes; lanes;)
            store_element(e, b, next_element(e, p, &lanes));
}

static void build_all(pl_examples *e, build *b)
{
    for (int g = 0; g < e->group_count; g++) {
        build_gram(e, g, b);
        if (e->rule == PL_EXAMPLES_SIMPLEX) {
            build_root(b);
            build_inverse(b);
        }
        store_group(e, b, g);
    }
}

/* ---- Creation -------------------------------------------------------------------------------- */

static pl_status create(pl_examples *e, const pl_examples_source *s, pl_error *error)
{
    int32_t *last = PL_NEW(e->memory, int32_t, e->group_count);
    int32_t *count = PL_NEW(e->memory, int32_t, e->group_count + 1);
    build *b = PL_NEW(e->memory, build, 1);
    e->group = PL_NEW(e->memory, int32_t, (size_t)e->blocks * BLOCK);
    bool good = last && count && b && e->group;
    if (good) {
        fill_groups(e, s);
        good = allocate(e, list_parts(e, last, count, NULL));
    }
    if (good) {
        fill_parts(e, last);
        b->source = s;
        b->poses = e->pose_count;
        build_all(e, b);
    }
    pl_memory_free(e->memory, b);
    pl_memory_free(e->memory, count);
    pl_memory_free(e->memory, last);
    return good ? PL_OK : pl_fail(error, PL_ERROR_MEMORY, NULL, "out of memory");
}

pl_status pl_examples_create(pl_memory *memory, const pl_examples_source *source,
                             pl_examples **examples, pl_error *error)
{
    PL_TRY(check_source(source, error));
    pl_examples *e = PL_NEW(memory, pl_examples, 1);
    PL_CHECK(e, PL_ERROR_MEMORY, error, NULL, "out of memory");
    *e = (pl_examples){.memory = memory,
                       .element_count = source->element_count,
                       .width = source->width,
                       .pose_count = source->pose_count,
                       .group_count = source->group_count,
                       .blocks = (source->element_count + BLOCK - 1) / BLOCK,
                       .group_blocks = (source->group_count + BLOCK - 1) / BLOCK,
                       .rule = source->rule == PL_EXAMPLES_SIMPLEX ? PL_EXAMPLES_SIMPLEX
                                                                   : PL_EXAMPLES_NEAREST,
                       .beta = (float)source->beta};
    pl_status status = create(e, source, error);
    if (status != PL_OK)
        pl_examples_destroy(e);
    else
        *examples = e;
    return status;
}

void pl_examples_destroy(pl_examples *e)
{
    if (!e)
        return;
    void *arrays[] = {e->poses,       e->duals,
                      e->gram,        e->factors,
                      e->group,       e->parts,
                      e->sums,        e->start,
                      e->block_group, e->weight,
                      e->weights,     e->bias,
                      e->part_start,  e->own ? NULL : e->measured,
                      e->bias_lanes,  e->present};
    for (size_t i = 0; i < sizeof arrays / sizeof arrays[0]; i++)
        pl_memory_free(e->memory, arrays[i]);
    pl_memory_free(e->memory, e);
}

/* ---- The nearest point with many poses ------------------------------------------------------- */

/* The search of examples_lanes.c for one group, with the points that are in listed: of fifty poses
   few are. Point 0 is rest, point k + 1 pose k. */
typedef struct nearest {
    int poses;
    const double *gram, *t;
    double x[PL_MAX_POSES + 1], u[PL_MAX_POSES + 1], blend[PL_MAX_POSES + 1];
    bool in[PL_MAX_POSES + 1], barred[PL_MAX_POSES + 1];
    int last;
    int list[PL_MAX_POSES], listed;
    double low[PL_MAX_POSES * (PL_MAX_POSES + 1) / 2], inverse[PL_MAX_POSES];
} nearest;

static double point_product(const nearest *n, int i, int j)
{
    if (i == 0 || j == 0)
        return 0;
    return n->gram[(i < j ? triangle(j - 1) + (size_t)(i - 1) : triangle(i - 1) + (size_t)(j - 1)) *
                   BLOCK];
}

static void factor(nearest *n, double lift)
{
    for (int j = 0; j < n->listed; j++) {
        double *row = n->low + triangle(j);
        double pivot = point_product(n, n->list[j], n->list[j]) + lift, whole = pivot;
        for (int k = 0; k < j; k++) {
            double scaled = row[k];
            row[k] = scaled * n->inverse[k];
            pivot -= scaled * row[k];
        }
        n->inverse[j] = pivot > whole * PL_EXAMPLES_DEPENDENT ? 1 / pivot : 0;
        for (int i = j + 1; i < n->listed; i++) {
            double *other = n->low + triangle(i),
                   sum = point_product(n, n->list[i], n->list[j]) + lift;
            for (int k = 0; k < j; k++)
                sum -= other[k] * row[k];
            other[j] = sum;
        }
    }
}

static void substitute(const nearest *n, double *b)
{
    for (int i = 0; i < n->listed; i++)
        for (int k = 0; k < i; k++)
            b[i] -= n->low[triangle(i) + (size_t)k] * b[k];
    for (int i = n->listed - 1; i >= 0; i--) {
        b[i] *= n->inverse[i];
        for (int k = i + 1; k < n->listed; k++)
            b[i] -= n->low[triangle(k) + (size_t)i] * b[k];
    }
}

/* u: the nearest point of the plane through those that are in. */
static void solve(nearest *n)
{
    double y[PL_MAX_POSES], z[PL_MAX_POSES], sum = 0, both = 0, shift = 0;
    n->listed = 0;
    for (int k = 1; k <= n->poses; k++)
        if (n->in[k]) {
            y[n->listed] = n->t[k - 1], z[n->listed] = 1;
            n->list[n->listed++] = k;
        }
    factor(n, n->in[0] ? 0 : 1);
    substitute(n, y);
    substitute(n, z);
    for (int i = 0; i < n->listed; i++)
        sum += y[i], both += z[i];
    if (!n->in[0] && both > 0)
        shift = (1 - sum) / both;
    memset(n->u, 0, sizeof n->u);
    sum = 0;
    for (int i = 0; i < n->listed; i++) {
        n->u[n->list[i]] = y[i] + shift * z[i];
        sum += n->u[n->list[i]];
    }
    n->u[0] = n->in[0] ? 1 - sum : 0;
}

/* x towards u, as far as it is admissible. Whether it got there. */
static bool go(nearest *n)
{
    double way = 1;
    int out = -1;
    for (int i = 0; i <= n->poses; i++)
        if (n->u[i] < 0 && n->x[i] / (n->x[i] - n->u[i]) < way) {
            way = n->x[i] / (n->x[i] - n->u[i]);
            out = i;
        }
    for (int i = 0; i <= n->poses; i++) {
        double x = out < 0 ? n->u[i] : n->x[i] + way * (n->u[i] - n->x[i]);
        n->x[i] = i == out || !(x > 0) ? 0 : x;
        n->in[i] = n->x[i] > 0;
    }
    if (n->last >= 0 && !n->in[n->last])
        n->barred[n->last] = true;
    n->last = -1;
    return out < 0;
}

/* The next point, if any brings more than rounding. */
static bool admit(nearest *n)
{
    double mean = 0, length = 0, best = 0;
    for (int i = 1; i <= n->poses; i++) {
        n->blend[i] = 0;
        for (int k = 0; k < n->listed; k++)
            n->blend[i] += point_product(n, i, n->list[k]) * n->x[n->list[k]];
        mean += n->x[i] * (n->t[i - 1] - n->blend[i]);
        length += n->x[i] * n->blend[i];
    }
    n->blend[0] = 0;
    for (int i = 0; i <= n->poses; i++) {
        double gain = (i ? n->t[i - 1] - n->blend[i] : 0) - mean;
        double reach = point_product(n, i, i) - 2 * n->blend[i] + length;
        double least = PL_EXAMPLES_TOLERANCE * PL_EXAMPLES_TOLERANCE * (reach > 0 ? reach : 0);
        if (n->in[i] || n->barred[i] || !(gain > best) || !(gain * gain > least))
            continue;
        best = gain;
        n->last = i;
    }
    if (n->last >= 0)
        n->in[n->last] = true;
    return n->last >= 0;
}

void pl_examples_nearest(int poses, const double *gram, const double *t, double *w)
{
    nearest n = {.poses = poses, .gram = gram, .t = t, .last = -1};
    double sum = 0;
    bool good = true;
    for (int k = 0; k < poses; k++) {
        good = good && isfinite(t[k]);
        n.x[k + 1] = w[k];
        n.in[k + 1] = w[k] > 0;
        sum += w[k];
    }
    n.in[0] = 1 - sum > 1e-6; /* else it is what rounding to float left */
    n.x[0] = n.in[0] ? 1 - sum : 0;
    for (int round = 0; good && round < 6 * (poses + 1); round++) {
        solve(&n);
        if (go(&n) && !admit(&n))
            break;
    }
    for (int k = 0; k < poses; k++)
        w[k] = good ? n.x[k + 1] : 0;
}

/* ---- Projection ------------------------------------------------------------------------------ */

#define TABLE(width)                                                                               \
    [PL_SIMD_PLACE(width)] = {width, pl_examples_measure_w##width, pl_examples_weigh_w##width,     \
                              pl_examples_blend_w##width},

static const pl_examples_table *table_of(int width)
{
    static const pl_examples_table tables[] = {PL_SIMD_EACH(TABLE)};
    return tables + PL_SIMD_PLACE(pl_simd_supports(width) ? width : 4);
}

typedef struct projection {
    const pl_examples_table *kernels;
    pl_examples *examples;
    const pl_examples *constant;
    const float *descriptors;
    float *blend;
} projection;

/* Blocks that are worth handing to another thread. */
enum { BLOCKS_LEAST = 64 };

static void measure(void *context, int begin, int end, int worker)
{
    const projection *p = context;
    (void)worker;
    p->kernels->measure(p->examples, p->descriptors, begin, end);
}

/* Σ over the elements of a group, in sixteen columns. */
static void sum_group(const pl_examples *e, int group)
{
    int poses = e->pose_count;
    float *out = e->sums + (size_t)(group / BLOCK) * (size_t)poses * BLOCK + group % BLOCK;
    for (int k = 0; k < poses; k++) {
        double column[BLOCK] = {0}, sum = 0;
        for (int p = e->part_start[group]; p < e->part_start[group + 1]; p++) {
            const pl_examples_part *part = e->parts + p;
            const float *t =
                e->measured + ((size_t)part->block * (size_t)poses + (size_t)k) * BLOCK;
            if (part->lanes == 0xffff)
                for (int lane = 0; lane < BLOCK; lane++)
                    column[lane] += (double)t[lane];
            else
                for (uint32_t lanes = part->lanes; lanes; lanes &= lanes - 1)
                    column[__builtin_ctz(lanes)] += (double)t[__builtin_ctz(lanes)];
        }
        for (int lane = 0; lane < BLOCK; lane++)
            sum += column[lane];
        out[k * BLOCK] = (float)sum;
    }
}

static void weigh(void *context, int begin, int end, int worker)
{
    const projection *p = context;
    pl_examples *e = p->examples;
    (void)worker;
    for (int g = begin * BLOCK; !e->own && g < end * BLOCK && g < e->group_count; g++)
        sum_group(e, g);
    p->kernels->weigh(e, begin, end);
}

static void blend(void *context, int begin, int end, int worker)
{
    const projection *p = context;
    (void)worker;
    p->kernels->blend(p->constant, p->blend, begin, end);
}

void pl_examples_project_at(pl_examples *e, const float *descriptors, pl_tasks *tasks, int width)
{
    projection p = {.kernels = table_of(width), .examples = e, .descriptors = descriptors};
    pl_tasks_run(tasks, measure, &p, e->blocks, BLOCKS_LEAST);
    pl_tasks_run(tasks, weigh, &p, e->group_blocks, BLOCKS_LEAST / 4);
}

void pl_examples_blend_at(const pl_examples *e, float *out, pl_tasks *tasks, int width)
{
    projection p = {.kernels = table_of(width), .constant = e, .blend = out};
    pl_tasks_run(tasks, blend, &p, e->blocks, BLOCKS_LEAST);
}

void pl_examples_project(pl_examples *e, const float *descriptors, pl_tasks *tasks)
{
    pl_examples_project_at(e, descriptors, tasks, pl_simd_width());
}

void pl_examples_blend(const pl_examples *e, float *out, pl_tasks *tasks)
{
    pl_examples_blend_at(e, out, tasks, pl_simd_width());
}

/* ---- Questions and bias ---------------------------------------------------------------------- */

int pl_examples_element_count(const pl_examples *e)
{
    return e->element_count;
}

int pl_examples_width(const pl_examples *e)
{
    return e->width;
}

double pl_examples_beta(const pl_examples *e)
{
    return (double)e->beta;
}

int pl_examples_pose_count(const pl_examples *e)
{
    return e->pose_count;
}

int pl_examples_group_count(const pl_examples *e)
{
    return e->group_count;
}

int pl_examples_group_of(const pl_examples *e, int element)
{
    return e->group[element];
}

pl_example_rule pl_examples_rule(const pl_examples *e)
{
    return e->rule;
}

const float *pl_examples_weights(const pl_examples *e)
{
    return e->weights;
}

const float *pl_examples_bias(const pl_examples *e)
{
    return e->bias;
}

/* What follows from the bias of the groups. */
static void spread_bias(pl_examples *e)
{
    int poses = e->pose_count;
    e->biased = false;
    for (int g = 0; g < e->group_count; g++)
        for (int k = 0; k < poses; k++) {
            float bias = e->bias[(size_t)g * (size_t)poses + (size_t)k];
            *group_place(e, e->bias_lanes, g, k) = bias * *group_place(e, e->present, g, k);
            e->biased = e->biased || bias != 0;
        }
}

void pl_examples_set_bias(pl_examples *e, int group, const float *bias)
{
    for (int k = 0; k < e->pose_count; k++)
        if (!isfinite(bias[k]))
            return;
    for (int g = 0; g < e->group_count; g++)
        if (group < 0 || g == group)
            memcpy(e->bias + (size_t)g * (size_t)e->pose_count, bias,
                   (size_t)e->pose_count * sizeof *bias);
    spread_bias(e);
}

/* ---- Saving ---------------------------------------------------------------------------------- */

/* Weights, bias, start, all of groups. */
static size_t numbers_of(const pl_examples *e)
{
    return (size_t)e->group_count * (size_t)e->pose_count;
}

static float *start_of(const pl_examples *e, size_t number)
{
    size_t poses = (size_t)e->pose_count;
    return group_place(e, e->start, (int)(number / poses), (int)(number % poses));
}

size_t pl_examples_save_size(const pl_examples *e)
{
    return 3 * numbers_of(e) * sizeof(float);
}

void pl_examples_save(const pl_examples *e, void *bytes)
{
    size_t count = numbers_of(e), size = count * sizeof(float);
    char *out = bytes;
    memcpy(out, e->weights, size);
    memcpy(out + size, e->bias, size);
    for (size_t i = 0; i < count; i++)
        memcpy(out + 2 * size + i * sizeof(float), start_of(e, i), sizeof(float));
}

static float number_at(const void *bytes, size_t i)
{
    float value;
    memcpy(&value, (const char *)bytes + i * sizeof value, sizeof value);
    return value;
}

/* Σ w <= 1 up to rounding, none negative. */
static bool is_admissible(const void *bytes, size_t first, int poses)
{
    float sum = 0;
    for (int k = 0; k < poses; k++) {
        float w = number_at(bytes, first + (size_t)k);
        if (!(w >= 0))
            return false;
        sum += w;
    }
    return sum <= 1.001f;
}

pl_status pl_examples_load(pl_examples *e, const void *bytes, size_t size, pl_error *error)
{
    size_t count = numbers_of(e), poses = (size_t)e->pose_count;
    PL_CHECK(size == pl_examples_save_size(e), PL_ERROR_FORMAT, error, "examples",
             "there are %zu bytes of weights; %d groups and %d poses need %zu", size,
             e->group_count, e->pose_count, pl_examples_save_size(e));
    for (size_t g = 0; g < (size_t)e->group_count; g++)
        PL_CHECK(is_admissible(bytes, g * poses, e->pose_count) &&
                     is_admissible(bytes, 2 * count + g * poses, e->pose_count),
                 PL_ERROR_FORMAT, error, PL_WHERE("examples.weights[%zu]", g),
                 "are no weights: none may be negative, and their sum not above 1");
    for (size_t i = 0; i < count; i++)
        PL_CHECK(isfinite(number_at(bytes, count + i)), PL_ERROR_FORMAT, error,
                 PL_WHERE("examples.bias[%zu]", i / poses), "is not finite");
    memcpy(e->weights, bytes, count * sizeof(float));
    memcpy(e->bias, (const char *)bytes + count * sizeof(float), count * sizeof(float));
    for (size_t i = 0; i < count; i++) {
        *start_of(e, i) = number_at(bytes, 2 * count + i);
        e->weight[start_of(e, i) - e->start] = e->weights[i];
    }
    spread_bias(e);
    return PL_OK;
}
