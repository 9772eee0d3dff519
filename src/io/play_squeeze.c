/* A force that grows with the distance from a body's centre: presses it together, or pulls it
   apart. The state in which a long thing is pressed along itself is unstable, so the body is kept
   from turning. */
#include <math.h>

#include "io/play_parts.h"

typedef struct cloud {
    int n;
    double *x, *u, *m; /* [n][3], [n][3], [n] */
    double centre[3], velocity[3], mass;
} cloud;

static pl_status read_cloud(const pl_play *play, pl_body body, cloud *c)
{
    PL_TRY(pl_body_read(play->world, body, PL_POSITIONS, 0, c->n, 1, pl_doubles(c->x, 0)));
    PL_TRY(pl_body_read(play->world, body, PL_VELOCITIES, 0, c->n, 1, pl_doubles(c->u, 0)));
    PL_TRY(pl_body_read(play->world, body, PL_MASSES, 0, c->n, 1, pl_doubles(c->m, 0)));
    for (int i = 0; i < c->n; i++) {
        c->mass += c->m[i];
        for (int k = 0; k < 3; k++) {
            c->centre[k] += c->m[i] * c->x[3 * i + k];
            c->velocity[k] += c->m[i] * c->u[3 * i + k];
        }
    }
    for (int k = 0; k < 3; k++) {
        c->centre[k] /= c->mass;
        c->velocity[k] /= c->mass;
    }
    return PL_OK;
}

static void cross(const double a[3], const double b[3], double out[3])
{
    for (int k = 0; k < 3; k++)
        out[k] = a[(k + 1) % 3] * b[(k + 2) % 3] - a[(k + 2) % 3] * b[(k + 1) % 3];
}

/* ω of the rigid motion nearest to the body's: I ω = L, by Cramer's rule. False where there is
   none. */
static bool find_spin(const cloud *c, double spin[3])
{
    double l[3] = {0, 0, 0}, inertia[3][3] = {{0}};
    for (int i = 0; i < c->n; i++) {
        double r[3], u[3], turn[3], square = 0;
        for (int k = 0; k < 3; k++) {
            r[k] = c->x[3 * i + k] - c->centre[k];
            u[k] = c->m[i] * (c->u[3 * i + k] - c->velocity[k]);
            square += r[k] * r[k];
        }
        cross(r, u, turn);
        for (int k = 0; k < 3; k++) {
            l[k] += turn[k];
            for (int j = 0; j < 3; j++)
                inertia[k][j] += c->m[i] * ((k == j ? square : 0) - r[k] * r[j]);
        }
    }
    double by[3][3], det = 0, trace = inertia[0][0] + inertia[1][1] + inertia[2][2];
    for (int k = 0; k < 3; k++)
        cross(inertia[(k + 1) % 3], inertia[(k + 2) % 3], by[k]);
    for (int k = 0; k < 3; k++)
        det += inertia[0][k] * by[0][k];
    if (!(det > 1e-12 * trace * trace * trace))
        return false;
    for (int k = 0; k < 3; k++)
        spin[k] = (by[0][k] * l[0] + by[1][k] * l[1] + by[2][k] * l[2]) / det;
    return true;
}

static pl_status squeeze(pl_play *play, const pl_play_force *force, cloud *c)
{
    double spin[3];
    PL_TRY(read_cloud(play, force->body, c));
    if (find_spin(c, spin)) {
        for (int i = 0; i < c->n; i++) {
            double r[3], turn[3];
            for (int k = 0; k < 3; k++)
                r[k] = c->x[3 * i + k] - c->centre[k];
            cross(spin, r, turn);
            for (int k = 0; k < 3; k++)
                c->u[3 * i + k] -= turn[k];
        }
        PL_TRY(
            pl_body_write(play->world, force->body, PL_VELOCITIES, 0, c->n, pl_doubles(c->u, 0)));
    }
    for (int i = 0; i < c->n; i++) {
        double push[3];
        for (int k = 0; k < 3; k++)
            push[k] = -c->m[i] * force->source->squeeze[k] * (c->x[3 * i + k] - c->centre[k]);
        PL_TRY(pl_body_apply_force(play->world, force->body, i, push));
    }
    return PL_OK;
}

pl_status pl_play_squeeze(pl_play *play, const pl_play_force *force)
{
    pl_body_info info;
    PL_TRY(pl_body_get_info(play->world, force->body, &info));
    size_t n = (size_t)info.particle_count;
    cloud c = {.n = info.particle_count,
               .x = PL_NEW(play->memory, double, 3 * n),
               .u = PL_NEW(play->memory, double, 3 * n),
               .m = PL_NEW(play->memory, double, n)};
    pl_status status = c.x && c.u && c.m ? squeeze(play, force, &c) : PL_ERROR_MEMORY;
    pl_memory_free(play->memory, c.x);
    pl_memory_free(play->memory, c.u);
    pl_memory_free(play->memory, c.m);
    return status;
}
