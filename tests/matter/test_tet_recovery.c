/* Tetrahedral bodies from a point, a plane or a mirror image find back in a static solve of 300
   iterations; those and bodies of noise in motion within three seconds. */
#include "support/check.h"

#include "base/rng.h"
#include "tet_bar.h"

enum { COLLAPSED, FLAT, MIRRORED, RANDOM, STATES };
static const char *const names[STATES] = {"collapsed", "flat", "mirrored", "random"};

static void place(tet_case *c, int kind)
{
    pl_rng rng = pl_rng_make(17);
    for (int i = 0; i < c->bar.n; i++) {
        const float *p = c->bar.rest + 3 * (size_t)i;
        float *x = c->x + 3 * (size_t)i;
        for (int k = 0; k < 3; k++) {
            x[k] = kind == COLLAPSED ? 1 : p[k];
            if (kind == RANDOM)
                x[k] = (float)(8 * pl_random_double(&rng));
        }
        if (kind == FLAT)
            x[1] = 0;
        if (kind == MIRRORED)
            x[1] = -p[1];
    }
}

/* Elements whose volume is not positive, and the elastic energy relative to that of collapsing. */
static int inverted(const tet_case *c, double *energy)
{
    int count = 0;
    for (int e = 0; e < c->system->tet_count; e++) {
        const int32_t *t = c->system->tets + 4 * (size_t)e;
        double m[3][3];
        for (int a = 0; a < 3; a++)
            for (int k = 0; k < 3; k++)
                m[a][k] = (double)c->x[3 * t[a] + k] - (double)c->x[3 * t[3] + k];
        double det = m[0][0] * (m[1][1] * m[2][2] - m[1][2] * m[2][1]) -
                     m[0][1] * (m[1][0] * m[2][2] - m[1][2] * m[2][0]) +
                     m[0][2] * (m[1][0] * m[2][1] - m[1][1] * m[2][0]);
        count += !(det > 0);
    }
    *energy = tet_case_energy(c, NULL, NULL) / (3 * c->system->mu[0] * c->system->counts.volume);
    return count;
}

static pl_tetrahedral_def material(int kind)
{
    pl_tetrahedral_def def = pl_default_tetrahedral_def();
    def.poisson = kind == 0 ? 0 : 0.3;
    def.volume = kind == 2 ? PL_TET_DETERMINANT : PL_TET_TRACE;
    return def;
}

static void test_static(void **state)
{
    (void)state;
    for (int kind = 0; kind < 3; kind++)
        for (int end = -1; end <= 0; end++)
            for (int from = 0; from < STATES; from++) {
                tet_case c;
                double energy;
                tet_case_make(&c, tet_bar_make(10, 3, 3, 1), material(kind), 1e4, 100, end);
                place(&c, from);
                tet_case_settle(&c, 300);
                int bad = inverted(&c, &energy);
                print_message("material %d, %s, %s: energy %.1e, %d inverted, %d refused\n", kind,
                              end < 0 ? "free" : "held", names[from], energy, bad,
                              (int)c.body->report.refused);
                if (from != RANDOM && (bad || !(energy < 1e-6)))
                    fail_msg("material %d, %s, %s: energy %g, %d inverted", kind,
                             end < 0 ? "free" : "held", names[from], energy, bad);
                assert_true(energy < 0.5);
                tet_case_free(&c);
            }
}

static void test_moving(void **state)
{
    (void)state;
    for (int kind = 0; kind < 3; kind++)
        for (int end = -1; end <= 0; end++)
            for (int from = 0; from < STATES; from++) {
                tet_case c;
                double energy = 0;
                int bad = 1, step = 0;
                tet_case_make(&c, tet_bar_make(10, 3, 3, 1), material(kind), 1e4, 1.0 / 60, end);
                c.motion.damping = 2;
                place(&c, from);
                for (; step < 180 && (bad || energy > 1e-3); step++) {
                    tet_case_step(&c, 5);
                    bad = inverted(&c, &energy);
                }
                print_message("material %d, %s, %s: %d steps, energy %.1e, %d inverted\n", kind,
                              end < 0 ? "free" : "held", names[from], step, energy, bad);
                if (bad || !(energy <= 1e-3))
                    fail_msg("material %d, %s, %s: energy %g, %d elements inverted", kind,
                             end < 0 ? "free" : "held", names[from], energy, bad);
                tet_case_free(&c);
            }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_static),
                                       cmocka_unit_test(test_moving)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
