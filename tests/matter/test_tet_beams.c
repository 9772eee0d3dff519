/* Tetrahedral matter against the theory of beams, in static solves: the deflection of a cantilever
   over three refinements, Young's modulus and Poisson's ratio from a tensile test; the locking near
   ν = 0.5 is printed. Label: slow */
#include "support/check.h"

#include "tet_bar.h"

/* A step so long that inertia counts for nothing. */
#define STATIC 1000.0

enum { ITERATIONS = 100 };

static double mean_of_end(const tet_case *c, int axis)
{
    double sum = 0;
    int count = 0;
    for (int j = 0; j <= c->bar.cells[1]; j++)
        for (int k = 0; k <= c->bar.cells[2]; k++, count++) {
            int i = 3 * tet_bar_node(&c->bar, c->bar.cells[0], j, k) + axis;
            sum += (double)c->x[i] - (double)c->bar.rest[i];
        }
    return sum / count;
}

/* Deflection of the tip of a beam of length 10 and thickness 1 under its weight, over that of
   Timoshenko's theory. */
static double cantilever(int cells, double nu, int iterations)
{
    tet_case c;
    pl_tetrahedral_def def = pl_default_tetrahedral_def();
    double length = 10, young = 1e4, weight = 0.1, side = 1;
    def.poisson = nu;
    tet_case_make(&c, tet_bar_make(10 * cells, cells, cells, side / cells), def, young, STATIC, 0);
    c.motion.fall[1] = -weight;
    tet_case_settle(&c, iterations);
    double inertia = 1.0 / 12, shear = young / (2 * (1 + nu)) * 10 * (1 + nu) / (12 + 11 * nu);
    double theory =
        weight * pow(length, 4) / (8 * young * inertia) + weight * length * length / (2 * shear);
    double tip = -mean_of_end(&c, 1);
    tet_case_free(&c);
    return tip / theory;
}

static void test_cantilever(void **state)
{
    (void)state;
    static const double ratios[] = {0, 0.3};
    for (int r = 0; r < 2; r++) {
        double part[3];
        for (int k = 0; k < 3; k++) {
            part[k] = cantilever(2 << k, ratios[r], ITERATIONS);
            double early = cantilever(2 << k, ratios[r], 70);
            print_message(
                "nu = %.1f, %d cells: %.4f of theory after %d iterations, %.4f after 70\n",
                ratios[r], 2 << k, part[k], ITERATIONS, early);
            assert_true(fabs(early - part[k]) < 0.03 * part[k]);
        }
        assert_true(part[0] < part[1] && part[1] < part[2]);
        double limit =
            part[2] + (part[2] - part[1]) / 3; /* errors fall with the square of the spacing */
        print_message("nu = %.1f: extrapolated %.4f of theory\n", ratios[r], limit);
        assert_true(fabs(limit - 1) < 0.03);
    }
}

/* Near ν = 0.5 elements lock a little more, and the solver comes to it slowly: neither is to be
   taken for the other. */
static void test_locking(void **state)
{
    (void)state;
    enum { MANY = 800 };
    double before = 0;
    for (int cells = 2; cells <= (check_is_thorough() ? 8 : 4); cells *= 2) {
        double early = cantilever(cells, 0.49, ITERATIONS), last = cantilever(cells, 0.49, MANY);
        print_message("nu = 0.49, %d cells: %.4f of theory after %d iterations, %.4f after %d\n",
                      cells, early, ITERATIONS, last, MANY);
        assert_true(last > before && last > 0.5 && last < 1);
        before = last;
    }
    assert_true(before > 0.8);
}

/* Pulled by 1 %: the force over the section, and the strains in the middle. */
static void test_tension(void **state)
{
    (void)state;
    static const double ratios[] = {0, 0.3, 0.45};
    for (int kind = 0; kind < 6; kind++) {
        tet_case c;
        pl_tetrahedral_def def = pl_default_tetrahedral_def();
        double nu = ratios[kind % 3], young = 1e4;
        def.poisson = nu;
        def.volume = kind < 3 ? PL_TET_TRACE : PL_TET_DETERMINANT;
        tet_case_make(&c, tet_bar_make(24, 4, 4, 0.25), def, young, STATIC, 2);
        for (int k = 0; k < c.source.fixed_count; k++)
            c.targets[7 * k] *= 1.01;
        tet_case_settle(&c, kind < 3 ? 100 : 400);
        double *gradient = tet_room(3 * (size_t)c.bar.n, sizeof(double)), force = 0;
        tet_case_energy(&c, NULL, gradient);
        for (int j = 0; j <= 4; j++)
            for (int k = 0; k <= 4; k++)
                force += gradient[3 * tet_bar_node(&c.bar, 24, j, k)];
        int a = 3 * tet_bar_node(&c.bar, 10, 2, 2), b = 3 * tet_bar_node(&c.bar, 14, 2, 2);
        double along = ((double)c.x[b] - (double)c.x[a]) / 1 - 1, across = 0;
        for (int j = 0; j <= 4; j++) {
            int low = 3 * tet_bar_node(&c.bar, 12, 0, j) + 1,
                high = 3 * tet_bar_node(&c.bar, 12, 4, j) + 1;
            across += ((double)c.x[high] - (double)c.x[low] - 1) / 5;
        }
        double e = force / along, p = -across / along;
        print_message("%s nu = %.2f: E = %.1f (%.0f), nu = %.4f\n",
                      kind < 3 ? "trace      " : "determinant", nu, e, young, p);
        assert_true(fabs(e / young - 1) < 0.02);
        assert_true(fabs(p - nu) < 0.02 * (nu > 0.1 ? nu : 0.1));
        free(gradient);
        tet_case_free(&c);
    }
}

/* Stretched by half at ν = 0.49: the linear term loses volume, the other one does not. */
static void test_volume(void **state)
{
    (void)state;
    double volume[2];
    for (int kind = 0; kind < 2; kind++) {
        tet_case c;
        pl_tetrahedral_def def = pl_default_tetrahedral_def();
        def.poisson = 0.49;
        def.volume = kind ? PL_TET_DETERMINANT : PL_TET_TRACE;
        tet_case_make(&c, tet_bar_make(12, 4, 4, 0.25), def, 1e4, STATIC, 2);
        for (int k = 0; k < c.source.fixed_count; k++)
            c.targets[7 * k] *= 1.5;
        tet_case_settle(&c, 400);
        double sum = 0;
        for (int e = 0; e < c.bar.tet_count; e++) {
            const int32_t *t = c.system->tets + 4 * (size_t)e;
            double m[3][3];
            for (int a = 0; a < 3; a++)
                for (int k = 0; k < 3; k++)
                    m[a][k] = (double)c.x[3 * t[a] + k] - (double)c.x[3 * t[3] + k];
            sum += (m[0][0] * (m[1][1] * m[2][2] - m[1][2] * m[2][1]) -
                    m[0][1] * (m[1][0] * m[2][2] - m[1][2] * m[2][0]) +
                    m[0][2] * (m[1][0] * m[2][1] - m[1][1] * m[2][0])) /
                   6;
        }
        volume[kind] = sum / 3;
        tet_case_free(&c);
    }
    print_message("stretched by half at nu = 0.49: volume %.4f (trace), %.4f (determinant)\n",
                  volume[0], volume[1]);
    assert_true(volume[0] < 0.97);
    assert_true(fabs(volume[1] - 1) < 0.02);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_cantilever), cmocka_unit_test(test_locking),
        cmocka_unit_test(test_tension), cmocka_unit_test(test_volume)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
