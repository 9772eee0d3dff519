/* Interpolated rotations of tetrahedral matter: the sampling against brute force, the weights,
   smooth rotation fields, a beam twisted by more than a full turn, and the true energy of what the
   iteration settles at. Label: slow. */
#include "support/check.h"

#include "shape/tet_sample.h"
#include "shape/tet_weights.h"
#include "tet_bar.h"

#define PI 3.14159265358979323846

static void centroids(const tet_bar *bar, double *c)
{
    for (int e = 0; e < bar->tet_count; e++)
        for (int k = 0; k < 3; k++) {
            c[3 * e + k] = 0;
            for (int a = 0; a < 4; a++)
                c[3 * e + k] += 0.25 * (double)bar->rest[3 * bar->tets[4 * e + a] + k];
        }
}

static double squared(const double *a, const double *b)
{
    double sum = 0;
    for (int k = 0; k < 3; k++)
        sum += (a[k] - b[k]) * (a[k] - b[k]);
    return sum;
}

/* Each sample is as far from those before it as any element. */
static void test_sampling(void **state)
{
    (void)state;
    tet_bar bar = tet_bar_make(9, 4, 3, 1);
    pl_memory memory;
    pl_memory_init(&memory, NULL, 0);
    double *c = tet_room(3 * (size_t)bar.tet_count, sizeof(double));
    double *far = tet_room((size_t)bar.tet_count, sizeof(double));
    int32_t *piece = tet_room((size_t)bar.tet_count, sizeof(int32_t));
    int32_t *sample = tet_room((size_t)bar.tet_count, sizeof(int32_t));
    centroids(&bar, c);
    assert_true(pl_tet_sample(&memory, bar.tet_count, c, piece, bar.tet_count, sample));
    for (int e = 0; e < bar.tet_count; e++)
        far[e] = INFINITY;
    for (int j = 0; j < bar.tet_count; j++) {
        double most = 0;
        for (int e = 0; e < bar.tet_count; e++)
            most = fmax(most, far[e]);
        assert_true(far[sample[j]] == most);
        for (int e = 0; e < bar.tet_count; e++)
            far[e] = fmin(far[e], squared(c + 3 * e, c + 3 * sample[j]));
        far[sample[j]] = -1;
    }
    free(c), free(far), free(piece), free(sample);
    tet_bar_free(&bar);
}

/* What pl_tet_weigh wants, of a system. */
static void weights_of(tet_case *c, double part, int cap, double threshold, int32_t **sample,
                       int *count, pl_tet_weights *w)
{
    static const int ends[6][2] = {{0, 1}, {0, 2}, {0, 3}, {1, 2}, {1, 3}, {2, 3}};
    const pl_tet_system *s = c->system;
    double *centre = tet_room(3 * (size_t)s->tet_count, sizeof(double));
    double *edge = tet_room(6 * (size_t)s->tet_count, sizeof(double));
    int32_t *piece = tet_room((size_t)s->tet_count, sizeof(int32_t));
    tet_bar kept = {.tet_count = s->tet_count, .rest = c->bar.rest, .tets = s->tets};
    centroids(&kept, centre);
    *count = (int)ceil(part * s->tet_count);
    *sample = tet_room((size_t)*count, sizeof(int32_t));
    assert_true(pl_tet_sample(&c->memory, s->tet_count, centre, piece, *count, *sample));
    for (int e = 0; e < s->tet_count; e++)
        for (int k = 0; k < 6; k++) {
            double g[4][3];
            for (int i = 0; i < 3; i++) {
                for (int a = 0; a < 3; a++)
                    g[a][i] = s->gradient[9 * e + 3 * a + i];
                g[3][i] = -(g[0][i] + g[1][i] + g[2][i]);
            }
            const double *p = g[ends[k][0]], *q = g[ends[k][1]];
            edge[6 * e + k] = s->volume[e] * (p[0] * q[0] + p[1] * q[1] + p[2] * q[2]);
        }
    assert_int_equal(pl_tet_weigh(&c->memory, s->n, s->tet_count, s->tets, edge, centre, *count,
                                  *sample, threshold, cap, w),
                     PL_OK);
    free(centre), free(edge), free(piece);
}

static pl_tetrahedral_def linear(pl_tet_rotations rotations, double part)
{
    pl_tetrahedral_def def = pl_default_tetrahedral_def();
    def.poisson = 0;
    def.rotations = rotations;
    def.sampled = part;
    return def;
}

/* The rotation of the bent and twisted beam at a point: about z by the bend, about x by the
   twist. */
static void field(double t, double bend, double twist, double q[4])
{
    double a = 0.5 * bend * t, b = 0.5 * twist * t;
    q[0] = cos(a) * sin(b), q[1] = sin(a) * sin(b), q[2] = sin(a) * cos(b), q[3] = cos(a) * cos(b);
}

/* Mean and largest angle in degrees between a rotation field and its blend from the samples'
   values. */
static void field_error(const tet_case *c, const pl_tet_weights *w, const int32_t *sample,
                        double bend, double twist, double *mean, double *most)
{
    const pl_tet_system *s = c->system;
    double length = c->bar.cells[0];
    tet_bar kept = {.tet_count = s->tet_count, .rest = c->bar.rest, .tets = s->tets};
    double *centre = tet_room(3 * (size_t)s->tet_count, sizeof(double));
    centroids(&kept, centre);
    *mean = *most = 0;
    for (int e = 0; e < s->tet_count; e++) {
        double heavy[4], q[4], sum[4] = {0}, exact[4], size = 0, dot = 0;
        for (int k = 0; k < w->count[e]; k++) {
            size_t at = (size_t)e * (size_t)w->cap + (size_t)k;
            double side = 0;
            field(centre[3 * sample[w->sample[at]]] / length, bend, twist, q);
            if (k == 0)
                memcpy(heavy, q, sizeof q);
            for (int i = 0; i < 4; i++)
                side += heavy[i] * q[i];
            for (int i = 0; i < 4; i++)
                sum[i] += (side < 0 ? -1 : 1) * (double)w->weight[at] * q[i];
        }
        field(centre[3 * e] / length, bend, twist, exact);
        for (int i = 0; i < 4; i++) {
            size += sum[i] * sum[i];
            dot += sum[i] * exact[i];
        }
        double angle = 2 * acos(fmin(1, fabs(dot) / sqrt(size))) * 180 / PI;
        *mean += angle / s->tet_count;
        *most = fmax(*most, angle);
    }
    free(centre);
}

static void test_weights(void **state)
{
    (void)state;
    tet_case c;
    tet_case_make(&c, tet_bar_make(19, 5, 5, 1), linear(PL_TET_EXACT, 1), 1e4, 1.0 / 60, -1);
    static const double parts[] = {0.05, 0.1, 0.15};
    double before = INFINITY;
    for (int k = 0; k < 3; k++) {
        pl_tet_weights w;
        int32_t *sample;
        int count;
        double mean, most, all, worst, slots = 0;
        weights_of(&c, parts[k], 4, 0.01, &sample, &count, &w);
        for (int e = 0; e < c.system->tet_count; e++) {
            double sum = 0;
            slots += (double)w.count[e] / c.system->tet_count;
            for (int i = 0; i < w.count[e]; i++) {
                double weight = (double)w.weight[e * w.cap + i];
                assert_true(weight > -0.5001 &&
                            (i == 0 || weight <= (double)w.weight[e * w.cap + i - 1]));
                sum += weight;
            }
            assert_true(fabs(sum - 1) < 1e-6);
        }
        for (int j = 0; j < count; j++)
            assert_true(w.count[sample[j]] == 1 && w.sample[sample[j] * w.cap] == j);
        field_error(&c, &w, sample, 0, 0, &mean, &most);
        assert_true(most < 1e-4); /* a constant field */
        field_error(&c, &w, sample, 90 * PI / 180, 180 * PI / 180, &mean, &most);
        field_error(&c, &w, sample, 0, 400 * PI / 180, &all, &worst);
        print_message(
            "%2.0f %%: %.1f weights per element; bent by 90 and twisted by 180 degrees: mean error "
            "%.2f, largest %.1f; twisted by 400: %.2f, %.1f\n",
            100 * parts[k], slots, mean, most, all, worst);
        if (parts[k] == 0.1)
            assert_true(mean < 1.5);
        assert_true(mean < before && worst < 30);
        before = mean;
        free(sample);
        pl_tet_weights_free(&c.memory, &w);
    }
    tet_case_free(&c);
}

/* Both ends of the beam held: bent and twisted. */
static void hold(tet_case *c, double bend, double twist)
{
    double length = c->bar.cells[0], middle[2] = {0.5 * c->bar.cells[1], 0.5 * c->bar.cells[2]};
    for (int i = 0; i < c->bar.n; i++) {
        const float *p = c->bar.rest + 3 * (size_t)i;
        double t = (double)p[0] / length, y = (double)p[1] - middle[0],
               z = (double)p[2] - middle[1];
        double yy = cos(twist * t) * y - sin(twist * t) * z,
               zz = sin(twist * t) * y + cos(twist * t) * z;
        double radius = bend > 0 ? length / bend : 0, a = bend * t;
        c->x[3 * i] = (float)(bend > 0 ? sin(a) * (radius - yy) : (double)p[0]);
        c->x[3 * i + 1] =
            (float)(bend > 0 ? radius - cos(a) * (radius - yy) + middle[0] : yy + middle[0]);
        c->x[3 * i + 2] = (float)(zz + middle[1]);
    }
    for (int k = 0; k < c->source.fixed_count; k++)
        for (int m = 0; m < 3; m++)
            c->targets[7 * k + m] = (double)c->x[3 * c->fixed[k] + m];
}

/* True energies of where the iterations settle, over the exact minimum; shapes start from the ends'
   interpolation. */
static double settled(pl_tet_rotations kind, double part, const double ends[2], int *refused)
{
    tet_case c;
    tet_case_make(&c, tet_bar_make(19, 5, 5, 1), linear(kind, part), 1e4, 100, 2);
    hold(&c, ends[0] * PI / 180, ends[1] * PI / 180);
    tet_case_settle(&c, 100);
    double energy = tet_case_energy(&c, NULL, NULL);
    *refused = (int)c.body->report.refused;
    tet_case_free(&c);
    return energy;
}

static void test_energies(void **state)
{
    (void)state;
    static const double parts[] = {0.05, 0.1, 0.15};
    static const double ends[][2] = {{90, 45}, {90, 90}, {0, 90}, {0, 180}};
    for (int i = 0; i < 4; i++) {
        int refused;
        double least = settled(PL_TET_EXACT, 1, ends[i], &refused);
        for (int kind = PL_TET_QUATERNION; kind <= PL_TET_FOLDED; kind++) {
            double before = INFINITY;
            for (int k = 0; k < 3; k++) {
                double above =
                    100 *
                    (settled((pl_tet_rotations)kind, parts[k], ends[i], &refused) / least - 1);
                print_message("bent by %g, twisted by %g, %s %2.0f %%: %.2f %% above the minimum, "
                              "%d refused\n",
                              ends[i][0], ends[i][1],
                              kind == PL_TET_FOLDED ? "folded    " : "quaternion", 100 * parts[k],
                              above, refused);
                assert_true(above > -0.01 && above < 2 && above < before);
                before = above;
            }
        }
    }
}

/* The turn of each section about the axis, followed from one end to the other. */
static double twist_of(const tet_case *c)
{
    double total = 0, last = 0;
    for (int i = 0; i <= c->bar.cells[0]; i++) {
        const float *a = c->x + 3 * tet_bar_node(&c->bar, i, 0, 0);
        const float *b = c->x + 3 * tet_bar_node(&c->bar, i, c->bar.cells[1], c->bar.cells[2]);
        double angle = atan2((double)b[2] - (double)a[2], (double)b[1] - (double)a[1]);
        if (i)
            total += remainder(angle - last, 2 * PI);
        last = angle;
    }
    return total * 180 / PI;
}

/* More than a full turn, of the paper's beam and one of twice its length; samples that were fitted
   to their element alone made them buckle within a second. */
static void stays_twisted(int cells, pl_tet_rotations kind)
{
    tet_case c;
    double start, energy;
    tet_case_make(&c, tet_bar_make(cells, 5, 5, 1), linear(kind, 0.1), 1e4, 1.0 / 60, 2);
    hold(&c, 0, 400 * PI / 180);
    start = tet_case_energy(&c, NULL, NULL);
    c.motion.damping = 5;
    for (int k = 0; k < 60; k++)
        tet_case_step(&c, 5);
    energy = tet_case_energy(&c, NULL, NULL);
    print_message("%d cells, rotations %d: twisted by %.1f degrees after a second, energy %.3f of "
                  "the start\n",
                  cells, (int)kind, twist_of(&c), energy / start);
    assert_true(fabs(twist_of(&c) - 400) < 1);
    assert_true(energy < 1.05 * start);
    tet_case_free(&c);
}

static void test_twisted(void **state)
{
    (void)state;
    for (int cells = 19; cells <= 38; cells += 19)
        for (int kind = PL_TET_EXACT; kind <= PL_TET_FOLDED; kind++)
            stays_twisted(cells, (pl_tet_rotations)kind);
}

static double kinetic(const tet_case *c)
{
    double sum = 0;
    for (int k = 0; k < 3 * c->bar.n; k++)
        sum += 0.5 * pl_tet_system_mass(c->system, k / 3) * (double)c->u[k] * (double)c->u[k];
    return sum;
}

/* The most kinetic energy a free block ever has that spins about a skew axis, over that at the
   start. */
static double spun(const int cells[3], pl_tetrahedral_def def, double young, int iterations)
{
    static const double spin[3] = {1, 2, 0.5};
    tet_case c;
    tet_case_make(&c, tet_bar_make(cells[0], cells[1], cells[2], 0.1), def, young, 1.0 / 60, -1);
    for (int i = 0; i < c.bar.n; i++)
        for (int k = 0; k < 3; k++) {
            int a = (k + 1) % 3, b = (k + 2) % 3;
            c.u[3 * i + k] = (float)(spin[a] * ((double)c.bar.rest[3 * i + b] - 0.05 * cells[b]) -
                                     spin[b] * ((double)c.bar.rest[3 * i + a] - 0.05 * cells[a]));
        }
    double first = kinetic(&c), most = 0;
    for (int k = 0; k < 60; k++) {
        tet_case_step(&c, iterations);
        most = fmax(most, kinetic(&c));
    }
    tet_case_free(&c);
    return most / first;
}

/* Interpolated rotations belong to no energy, yet a body that is left alone must not get faster. */
static void test_spinning(void **state)
{
    (void)state;
    static const int cells[][3] = {{2, 2, 2}, {4, 2, 2}, {5, 1, 1}, {3, 2, 1}};
    static const double ratios[] = {0, 0.3, 0.49, 0.499}, youngs[] = {1e2, 1e3, 1e4, 1e5};
    static const int windows[] = {1, 4, 12};
    double worst = 0;
    for (int run = 0; run < 4 * 4 * 4 * 3 * 3 * 2; run++) {
        int kind = run % 3, size = run / 3 % 4, r = run / 12 % 4, y = run / 48 % 4;
        pl_tetrahedral_def def = linear((pl_tet_rotations)kind, 0.1);
        def.poisson = kind == PL_TET_FOLDED ? 0 : ratios[r];
        def.window = windows[run / 192 % 3];
        def.volume = run / 576 ? PL_TET_DETERMINANT : PL_TET_TRACE;
        double ratio = spun(cells[size], def, youngs[y], kind == PL_TET_FOLDED ? 5 + 4 * r : 10);
        worst = fmax(worst, ratio);
        if (!(ratio <= 1.05))
            fail_msg("rotations %d, block %d, ratio %g, E %g, window %d: %g times the energy", kind,
                     size, def.poisson, youngs[y], def.window, ratio);
    }
    print_message("spinning blocks: at most %.4f of their kinetic energy\n", worst);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_spinning), cmocka_unit_test(test_sampling),
        cmocka_unit_test(test_weights), cmocka_unit_test(test_energies),
        cmocka_unit_test(test_twisted)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
