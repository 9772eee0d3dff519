/* Pins of matter whose solver knows nothing of them: when it has solved, the points they hold are
   drawn to their targets. */
#include "math/quat.h"
#include "world/world.h"

/* A pinned point is drawn to its target by the particles that carry it: all the way where the pin
   is strong. */
static void draw_to_pin(pl_oriented *matter, const pl_hold *hold)
{
    double off[3] = {0, 0, 0}, squares = 0;
    double part = hold->strength / (1 + hold->strength);
    for (int j = 0; j < hold->count; j++) {
        const float *x = matter->now.x + 3 * hold->particle[j];
        const float *q = matter->now.q + 4 * hold->particle[j];
        const double *arm = hold->arm[j];
        pl_vec3 turned =
            pl_quat_rotate((pl_quat){(double)q[0], (double)q[1], (double)q[2], (double)q[3]},
                           (pl_vec3){arm[0], arm[1], arm[2]});
        double w = hold->weight[j];
        squares += w * w;
        off[0] += w * ((double)x[0] + turned.x);
        off[1] += w * ((double)x[1] + turned.y);
        off[2] += w * ((double)x[2] + turned.z);
    }
    for (int k = 0; k < 3; k++)
        off[k] = (hold->now[k] - matter->c[k] - off[k]) * part / squares;
    for (int j = 0; j < hold->count; j++)
        for (int k = 0; k < 3; k++) {
            float *x = matter->now.x + 3 * hold->particle[j] + k;
            *x = (float)((double)*x + hold->weight[j] * off[k]);
        }
}

/* What pins do to the mean of a free body is motion, not rounding. */
void pl_matter_draw_to_pins(pl_oriented *matter)
{
    const pl_system *system = matter->system;
    double before[3] = {0, 0, 0}, after[3] = {0, 0, 0};
    if (!matter->hold_count)
        return;
    for (int side = 0; side < 2; side++) {
        double *sum = side ? after : before;
        for (int i = 0; i < matter->n && !system->grounded; i++)
            for (int k = 0; k < 3; k++)
                sum[k] += system->mass[i] * (double)matter->now.x[3 * i + k];
        for (int p = 0; !side && p < matter->hold_count; p++)
            if (matter->holds[p].kind == PL_PIN_POSITION)
                draw_to_pin(matter, matter->holds + p);
    }
    for (int k = 0; k < 3; k++) {
        double mean = (after[k] - before[k]) / system->total_mass;
        matter->c[k] += mean;
        for (int i = 0; i < matter->n && mean != 0; i++)
            matter->now.x[3 * i + k] = (float)((double)matter->now.x[3 * i + k] - mean);
    }
}
