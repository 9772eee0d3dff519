/* Pins as low-rank corrections of a shared factor (Woodbury): solves with L' = L + Σ_c w_c a_c a_cᵀ
   by means of the factor of L alone. Per pin one column Z_c = L⁻¹ a_c, with its mean carried in
   double beside the remainder, and for all pins together one small dense factor in double.
   Adding a pin costs one solve; nothing large is ever refactored.

   Use it so, for L' x = r + Σ_c w_c a_c e_c (e_c: how far pin c is from its target, r: everything
   else):
       y = L⁻¹ r,  t_c = e_c − a_cᵀ y,  s = S⁻¹ t with S = W⁻¹ + Aᵀ Z,
       x = y + Σ_c s_c (mean_c 1 + column_c),
   which is exact for any stiffness because w_c never meets the large solve. (With w_c a_c e_c in r
   the same matrices give x = y − Z S⁻¹ Aᵀ y, but there a stiff pin cancels all digits of a float.)

   Limits of the float columns: the graph must be connected for them to be as small as the stiffness
   makes them; and where more pins than it takes hold the same few particles and contradict each
   other, an error of about 10⁻⁷ w / L_ii of the contradiction remains. Equal pins are exempt. */
#ifndef PL_SPARSE_PINS_H
#define PL_SPARSE_PINS_H

#include "sparse/factor.h"

enum { PL_PIN_TERMS = 8 };

/* One pin: the change w a aᵀ with a = Σ_k weight[k] e_node[k]. */
typedef struct pl_rank_one {
    int count;                  /* 1 … PL_PIN_TERMS */
    int32_t node[PL_PIN_TERMS]; /* all different; never a fixed node */
    double weight[PL_PIN_TERMS];
    double strength; /* w > 0 */
} pl_rank_one;

/* All arrays are a pure function of the factor, the row sums and the list of pins in its order,
   never of the history of additions and removals. */
typedef struct pl_pins {
    pl_memory *memory;
    const pl_factor *factor; /* not owned */
    double *row_sums; /* [n] weights m of the mean, or NULL when there is no mean to take out */
    double total;     /* Σ m */
    int count, capacity;
    pl_rank_one *pins; /* [count] */
    double *columns;   /* [count][n] in node order, one after the other: Z_c − mean_c, whose mean
                          weighted by m is zero up to rounding */
    double *mean;      /* [count] Σ_i m_i Z_ci / Σ m = (1ᵀ a_c) / Σ m, or 0 without row sums */
    double *gram;      /* [count][capacity] a_dᵀ column_c for d ≤ c, in double */
    double *small;     /* [count][capacity] L and 1/D of S */
    int32_t *twin; /* [count] the first pin with the same a (itself if there is no other before) */
    double *share; /* [count] strength over the summed strength of all its twins */
    double *work;  /* [2 n] */
} pl_pins;

/* `row_sums` are (L 1)_i = m_i, which are copied, or NULL for systems with fixed particles, where
   the constant vector is no free mode and no mean is taken out. Room for `capacity` pins is
   reserved. NULL without memory. */
pl_pins *pl_pins_create(pl_memory *memory, const pl_factor *factor, const double *row_sums,
                        int capacity);
void pl_pins_destroy(pl_pins *pins);

/* Appends a pin. PL_ERROR_ARGUMENT for a node out of range or listed twice, weights that are not
   finite or all zero, a strength that is not positive and finite. The list grows when it is full;
   PL_ERROR_MEMORY changes nothing. */
pl_status pl_pins_add(pl_pins *pins, const pl_rank_one *pin);

/* Removes a pin; those after it move up by one and keep their order. Needs no memory. */
void pl_pins_remove(pl_pins *pins, int index);
void pl_pins_clear(pl_pins *pins);

/* Changes the strength of a pin without another solve. False (and nothing changed) when it is not
   positive and finite. */
bool pl_pins_set_strength(pl_pins *pins, int index, double strength);

/* s = S⁻¹ t for `count` right-hand sides, in place: number k of pin c is t[c * stride + k]. Of pins
   with the same a the first gets the whole s and the others get zero, which gives the same x and
   lets them disagree at any strength. */
void pl_pins_solve(const pl_pins *pins, double *t, int count, ptrdiff_t stride);

#endif
