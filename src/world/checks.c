/* What values of a caller's are usable, in one place: for definitions, setters and snapshots. */
#include <math.h>

#include "world/world.h"

/* Farthest from the world's origin, in units: beyond, a double cannot tell particles apart. */
#define FARTHEST 1e15

/* Fastest, in units per second: squares still fit a float. */
#define FASTEST 1e18

static bool is_within(const double v[3], double limit)
{
    return v && fabs(v[0]) <= limit && fabs(v[1]) <= limit && fabs(v[2]) <= limit;
}

static double length2(const double *v, int count)
{
    double sum = 0;
    for (int k = 0; k < count; k++)
        sum += v[k] * v[k];
    return sum;
}

bool pl_is_finite3(const double v[3])
{
    return v && isfinite(v[0]) && isfinite(v[1]) && isfinite(v[2]);
}

bool pl_is_rotation(const double q[4])
{
    return q && length2(q, 4) >= 1e-24 && length2(q, 4) <= 1e24;
}

bool pl_is_direction(const double v[3])
{
    return v && length2(v, 3) >= 1e-24 && length2(v, 3) <= 1e24;
}

bool pl_is_gravity(const double v[3])
{
    return is_within(v, 1e12);
}

bool pl_is_gravity_scale(double scale)
{
    return fabs(scale) <= 1e6;
}

bool pl_is_solver(int solver)
{
    return solver == PL_SOLVER_FAST || solver == PL_SOLVER_STIFF || solver == PL_SOLVER_PLAIN;
}

bool pl_is_place(const double v[3], double unit)
{
    return is_within(v, FARTHEST * unit);
}

bool pl_is_rate(const double v[3], double unit)
{
    return is_within(v, FASTEST * unit);
}

bool pl_is_map_factor(float factor)
{
    return factor >= 1e-12f && factor <= 1e12f;
}

bool pl_is_pin_strength(double strength)
{
    return strength >= 1e-12 && strength <= 1e12;
}

pl_status pl_check_step(double step, int substeps, pl_error *error)
{
    PL_CHECK(step >= 1e-9 && step <= 1e3, PL_ERROR_ARGUMENT, error, "step",
             "is %g s; it must be from 1e-9 to 1000 s (1/60 s is usual)", step);
    PL_CHECK(substeps >= 1 && substeps <= 100000, PL_ERROR_ARGUMENT, error, "substeps",
             "is %d; use 1 or more (at most 100000)", substeps);
    return PL_OK;
}

pl_status pl_check_iterations(int iterations, int stiff_iterations, pl_error *error)
{
    PL_CHECK(iterations >= 1 && iterations <= 1000000, PL_ERROR_ARGUMENT, error, "iterations",
             "is %d; use 1 or more (10 is usual, at most 1000000)", iterations);
    PL_CHECK(stiff_iterations >= 1 && stiff_iterations <= 1000000, PL_ERROR_ARGUMENT, error,
             "stiff_iterations", "is %d; use 1 or more (1 is usual, at most 1000000)",
             stiff_iterations);
    return PL_OK;
}

/* Far outside anything physical, and well inside what double carries. */
static bool is_physical(double value)
{
    return value >= 1e-30 && value <= 1e30;
}

pl_status pl_check_material(const pl_material *m, pl_error *error)
{
    PL_CHECK(m->stiffness == 0 || is_physical(m->stiffness), PL_ERROR_ARGUMENT, error,
             "material.stiffness",
             "is %g; use a positive stiffness in kg m^-3 s^-2, or 0 to go by Young's modulus",
             m->stiffness);
    PL_CHECK(m->stiffness > 0 || is_physical(m->young), PL_ERROR_ARGUMENT, error, "material.young",
             "is %g; use a positive Young's modulus in pascals (rubber has 1e6)", m->young);
    PL_CHECK(isfinite(m->young), PL_ERROR_ARGUMENT, error, "material.young",
             "is %g; use a finite number even where the stiffness is used instead", m->young);
    PL_CHECK(is_physical(m->density), PL_ERROR_ARGUMENT, error, "material.density",
             "is %g; use a positive density in kg/m³ (water has 1000)", m->density);
    PL_CHECK(m->damping >= 0 && m->damping <= 1e30, PL_ERROR_ARGUMENT, error, "material.damping",
             "is %g; use a rate of 0 or more per second", m->damping);
    PL_CHECK(m->friction >= 0 && m->friction <= 1e6, PL_ERROR_ARGUMENT, error, "material.friction",
             "is %g; use a coefficient of 0 or more (rubber on stone has 0.8)", m->friction);
    PL_CHECK(m->restitution >= 0 && m->restitution <= 1, PL_ERROR_ARGUMENT, error,
             "material.restitution", "is %g; use 0 (does not bounce) to 1 (elastic)",
             m->restitution);
    return PL_OK;
}
