/* Woodbury columns and the small system of the pins. With m = L 1 the solution of L Z = a splits
   into its mean (1ᵀ a)/(1ᵀ m), which holds because 1ᵀ L Z = mᵀ Z = 1ᵀ a, and a remainder that
   solves L Z' = a − mean m. The remainder is of the order of the stiffness, not of the mass, so
   that float carries it. */
#include "sparse/pins.h"

#include <math.h>
#include <string.h>

/* A pin stiffer than this part of the body's own compliance is treated as that stiff: it changes a
   position by a millionth, and keeps pins that depend on each other from cancelling all digits of a
   float. */
static const double stiffest = 1.0 / (1 << 22);
static const double stiffest_against_mass = 1.0 / (1099511627776.0);

/* ---- Memory ---- */

typedef struct storage {
    pl_rank_one *pins;
    double *columns;
    double *mean, *gram, *small, *share;
    int32_t *twin;
} storage;

static void storage_free(pl_memory *memory, storage *s)
{
    void *blocks[] = {s->pins, s->columns, s->mean, s->gram, s->small, s->share, s->twin};
    for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++)
        pl_memory_free(memory, blocks[i]);
}

static bool storage_alloc(pl_memory *memory, storage *s, int n, int capacity)
{
    size_t c = (size_t)capacity;
    *s = (storage){.pins = PL_NEW(memory, pl_rank_one, c),
                   .columns = (double *)pl_memory_alloc(memory, c, (size_t)n * sizeof(double)),
                   .mean = PL_NEW(memory, double, c),
                   .gram = (double *)pl_memory_alloc(memory, c, c * sizeof(double)),
                   .small = (double *)pl_memory_alloc(memory, c, c * sizeof(double)),
                   .share = PL_NEW(memory, double, c),
                   .twin = PL_NEW(memory, int32_t, c)};
    return s->pins && s->columns && s->mean && s->gram && s->small && s->share && s->twin;
}

/* Moves the list to arrays of another capacity; false changes nothing. `small`, twins and shares
   are rebuilt later. */
static bool set_capacity(pl_pins *p, int capacity)
{
    storage fresh, old = {p->pins, p->columns, p->mean, p->gram, p->small, p->share, p->twin};
    int n = p->factor->symbolic->n;
    if (!storage_alloc(p->memory, &fresh, n, capacity)) {
        storage_free(p->memory, &fresh);
        return false;
    }
    size_t count = (size_t)p->count;
    if (count) {
        memcpy(fresh.pins, old.pins, count * sizeof *old.pins);
        memcpy(fresh.columns, old.columns, count * (size_t)n * sizeof *old.columns);
        memcpy(fresh.mean, old.mean, count * sizeof *old.mean);
    }
    for (size_t c = 0; c < count; c++)
        memcpy(fresh.gram + c * (size_t)capacity, old.gram + c * (size_t)p->capacity,
               count * sizeof *old.gram);
    storage_free(p->memory, &old);
    p->pins = fresh.pins;
    p->columns = fresh.columns;
    p->mean = fresh.mean;
    p->gram = fresh.gram;
    p->small = fresh.small;
    p->share = fresh.share;
    p->twin = fresh.twin;
    p->capacity = capacity;
    return true;
}

pl_pins *pl_pins_create(pl_memory *memory, const pl_factor *factor, const double *row_sums,
                        int capacity)
{
    int n = factor->symbolic->n;
    pl_pins *p = PL_NEW(memory, pl_pins, 1);
    if (!p)
        return NULL;
    p->memory = memory;
    p->factor = factor;
    p->work = (double *)pl_memory_alloc(memory, 2 * (size_t)n, sizeof(double));
    p->row_sums = row_sums ? PL_NEW(memory, double, n) : NULL;
    if (!p->work || (row_sums && !p->row_sums) || !set_capacity(p, capacity > 0 ? capacity : 1)) {
        pl_pins_destroy(p);
        return NULL;
    }
    for (int i = 0; i < n && row_sums; i++) {
        p->row_sums[i] = row_sums[i];
        p->total += row_sums[i];
    }
    return p;
}

void pl_pins_destroy(pl_pins *p)
{
    if (!p)
        return;
    pl_memory *memory = p->memory;
    storage s = {p->pins, p->columns, p->mean, p->gram, p->small, p->share, p->twin};
    storage_free(memory, &s);
    pl_memory_free(memory, p->row_sums);
    pl_memory_free(memory, p->work);
    pl_memory_free(memory, p);
}

/* ---- One column ---- */

static bool valid(const pl_rank_one *pin, int n)
{
    if (pin->count < 1 || pin->count > PL_PIN_TERMS)
        return false;
    bool all_zero = true;
    for (int k = 0; k < pin->count; k++) {
        if (pin->node[k] < 0 || pin->node[k] >= n || !isfinite(pin->weight[k]))
            return false;
        all_zero = all_zero && pin->weight[k] == 0.0;
        for (int j = 0; j < k; j++)
            if (pin->node[j] == pin->node[k])
                return false;
    }
    return !all_zero && pin->strength > 0.0 && isfinite(pin->strength) &&
           isfinite(1.0 / pin->strength);
}

static double dot_pin(const pl_rank_one *pin, const double *z)
{
    double sum = 0.0;
    for (int k = 0; k < pin->count; k++)
        sum += pin->weight[k] * z[pin->node[k]];
    return sum;
}

/* The remainder Z' of the pin's column in double, into z; returns its mean. What is left of a
   weighted mean after the solve is rounding error and is taken out. */
static double solve_column(const pl_pins *p, const pl_rank_one *pin, double *z, double *scratch)
{
    int n = p->factor->symbolic->n;
    double sum = 0.0;
    for (int k = 0; k < pin->count; k++)
        sum += pin->weight[k];
    double mean = p->row_sums ? sum / p->total : 0.0;
    for (int i = 0; i < n; i++)
        z[i] = p->row_sums ? -(mean * p->row_sums[i]) : 0.0;
    for (int k = 0; k < pin->count; k++)
        z[pin->node[k]] += pin->weight[k];
    pl_factor_solve(p->factor, z, 1, 1, scratch);
    double rest = 0.0;
    for (int i = 0; i < n && p->row_sums; i++)
        rest += p->row_sums[i] * z[i];
    for (int i = 0; i < n && p->row_sums; i++)
        z[i] -= rest / p->total;
    return mean;
}

/* ---- The small system ---- */

static bool same_direction(const pl_rank_one *a, const pl_rank_one *b)
{
    if (a->count != b->count)
        return false;
    for (int k = 0; k < a->count; k++)
        if (a->node[k] != b->node[k] || a->weight[k] != b->weight[k])
            return false;
    return true;
}

/* Pins with the same a are one pin with the summed strength, whose error is the mean of theirs by
   strength. */
static void find_twins(pl_pins *p)
{
    for (int c = 0; c < p->count; c++) {
        int d = 0;
        while (d < c && !same_direction(&p->pins[d], &p->pins[c]))
            d++;
        p->twin[c] = d;
        p->share[c] = 0.0;
        p->share[d] += p->pins[c].strength;
    }
    for (int c = p->count - 1; c >= 0; c--)
        p->share[c] = p->pins[c].strength / p->share[p->twin[c]];
}

/* S_cd = a_cᵀ Z_d + [c = d] / w; rows of later twins are those of the unit matrix. */
static double small_entry(const pl_pins *p, int c, int d)
{
    if (p->twin[c] != c || p->twin[d] != d)
        return c == d ? 1.0 : 0.0;
    /* aᵀ 1 = mean · total, so aᵀ (mean 1) is a product of means. */
    double remainder = p->gram[(size_t)c * (size_t)p->capacity + (size_t)d];
    double value = remainder + p->mean[c] * p->mean[d] * p->total;
    if (c != d)
        return value;
    double floor = stiffest * fmax(remainder, 0.0) + stiffest_against_mass * value;
    return value + fmax(p->share[c] / p->pins[c].strength, floor);
}

/* LDLᵀ of S from nothing but the list; the diagonal of `small` holds 1/D. */
static void factor_small(pl_pins *p)
{
    find_twins(p);
    size_t stride = (size_t)p->capacity;
    for (int c = 0; c < p->count; c++) {
        double *row = p->small + (size_t)c * stride;
        for (int d = 0; d <= c; d++)
            row[d] = small_entry(p, c, d);
        double pivot = row[c], least = row[c] * 0x1p-46;
        for (int d = 0; d < c; d++) {
            const double *other = p->small + (size_t)d * stride;
            for (int k = 0; k < d; k++)
                row[d] -= row[k] * other[k];
        }
        for (int d = 0; d < c; d++) {
            double scaled = row[d] * p->small[(size_t)d * stride + (size_t)d];
            pivot -= row[d] * scaled;
            row[d] = scaled;
        }
        row[c] = 1.0 / fmax(pivot, least);
    }
}

/* ---- Changing the list ---- */

pl_status pl_pins_add(pl_pins *p, const pl_rank_one *pin)
{
    int n = p->factor->symbolic->n;
    if (!valid(pin, n))
        return PL_ERROR_ARGUMENT;
    if (p->count == p->capacity && !set_capacity(p, 2 * p->capacity))
        return PL_ERROR_MEMORY;
    int c = p->count++;
    p->pins[c] = *pin;
    double *z = p->work;
    p->mean[c] = solve_column(p, pin, z, p->work + n);
    for (int i = 0; i < n; i++)
        p->columns[(size_t)c * (size_t)n + (size_t)i] = z[i];
    for (int d = 0; d <= c; d++)
        p->gram[(size_t)c * (size_t)p->capacity + (size_t)d] = dot_pin(&p->pins[d], z);
    factor_small(p);
    return PL_OK;
}

void pl_pins_remove(pl_pins *p, int index)
{
    size_t n = (size_t)p->factor->symbolic->n, stride = (size_t)p->capacity;
    size_t k = (size_t)index, after = (size_t)(p->count - index - 1);
    memmove(p->pins + k, p->pins + k + 1, after * sizeof *p->pins);
    memmove(p->mean + k, p->mean + k + 1, after * sizeof *p->mean);
    memmove(p->columns + k * n, p->columns + (k + 1) * n, after * n * sizeof *p->columns);
    for (size_t c = k; c < k + after; c++) {
        double *row = p->gram + c * stride;
        memcpy(row, row + stride, k * sizeof *row);
        memcpy(row + k, row + stride + k + 1, (c + 1 - k) * sizeof *row);
    }
    p->count--;
    factor_small(p);
}

void pl_pins_clear(pl_pins *p)
{
    p->count = 0;
}

bool pl_pins_set_strength(pl_pins *p, int index, double strength)
{
    if (!(strength > 0.0) || !isfinite(strength) || !isfinite(1.0 / strength))
        return false;
    p->pins[index].strength = strength;
    factor_small(p);
    return true;
}

/* ---- Solving ---- */

static void solve_one(const pl_pins *p, double *t, ptrdiff_t stride)
{
    const double *small = p->small;
    size_t row = (size_t)p->capacity;
    for (int c = 0; c < p->count; c++)
        t[c * stride] *= p->share[c];
    for (int c = 0; c < p->count; c++) {
        if (p->twin[c] != c) {
            t[p->twin[c] * stride] += t[c * stride];
            t[c * stride] = 0.0;
        }
    }
    for (int c = 0; c < p->count; c++)
        for (int d = 0; d < c; d++)
            t[c * stride] -= small[(size_t)c * row + (size_t)d] * t[d * stride];
    for (int c = p->count - 1; c >= 0; c--) {
        t[c * stride] *= small[(size_t)c * row + (size_t)c];
        for (int d = c + 1; d < p->count; d++)
            t[c * stride] -= small[(size_t)d * row + (size_t)c] * t[d * stride];
    }
}

void pl_pins_solve(const pl_pins *p, double *t, int count, ptrdiff_t stride)
{
    for (int k = 0; k < count; k++)
        solve_one(p, t + k, stride);
}
