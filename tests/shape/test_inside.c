/* The inside test against brute force: winding numbers, closest points, segments and volumes on
   meshes of every kind, at every scale and far from the origin. */
#include "support/check.h"

#include <stdio.h>
#include <time.h>

#include "base/rng.h"
#include "shape/bvh.h"
#include "shape/inside.h"
#include "surface_cases.h"

typedef struct subject {
    pl_memory memory;
    case_mesh mesh;
    pl_surface *surface;
    pl_inside *inside;
} subject;

static void open_subject(subject *s)
{
    pl_error error = {0};
    pl_mesh view = case_view(&s->mesh);
    pl_memory_init(&s->memory, NULL, 0);
    pl_status status = pl_surface_create(&s->memory, &view, 1e-6, &s->surface, &error);
    if (status != PL_OK)
        print_error("refused: %s\n", error.text);
    assert_int_equal(status, PL_OK);
    assert_int_equal(pl_inside_create(&s->memory, s->surface, &s->inside, &error), PL_OK);
}

static void close_subject(subject *s)
{
    pl_inside_destroy(s->inside);
    pl_surface_destroy(s->surface);
    assert_int_equal(s->memory.used, 0);
    case_free(&s->mesh);
}

enum { KINDS = 12 };

/* Whether every part is closed. */
static bool make_case(subject *s, int kind, int round)
{
    static const double origin[3] = {0}, near[3] = {0.8, 0.1, 0}, up[3] = {0.7, 0.6, 0.5};
    pl_rng rng = pl_rng_make((uint64_t)(kind + 100 * round));
    case_mesh *mesh = &s->mesh;
    memset(s, 0, sizeof *s);
    int n = 8 + 4 * round;
    switch (kind) {
    case 0: /* few large triangles */
        case_box(mesh, origin, up);
        break;
    case 1:
        case_ball(mesh, origin, 1, n, 2 * n);
        break;
    case 2:
        case_torus(mesh, 2, 0.5, 2 * n, n);
        case_bend(mesh, 0.1, 0.01, &rng);
        break;
    case 3: /* a hollow ball */
        case_ball(mesh, origin, 1, n, n);
        case_ball(mesh, origin, 0.7, n, n);
        case_invert(mesh, mesh->triangle_count / 2, mesh->triangle_count / 2);
        break;
    case 4: /* two that overlap */
        case_ball(mesh, origin, 1, n, n);
        case_ball(mesh, near, 0.9, n, n);
        break;
    case 5: /* holes */
        case_ball(mesh, origin, 1, 2 * n, 2 * n);
        case_cut(mesh, 12, &rng);
        return false;
    case 6: /* a soup */
        case_torus(mesh, 2, 0.6, n, n);
        case_unweld(mesh, &rng);
        case_bend(mesh, 0, 0.02, &rng);
        return false;
    case 7: /* turned inside out by waves: intersects itself */
        case_torus(mesh, 1, 0.5, 2 * n, n);
        case_bend(mesh, 0.35, 0.02, &rng);
        break;
    case 8: /* needles: a column a thousand times as tall as wide */
        case_ball(mesh, origin, 1, n, n);
        for (int i = 0; i < mesh->vertex_count; i++)
            mesh->positions[3 * i] *= 1e-3;
        break;
    case 9: /* tiny next to large */
        case_box(mesh, origin, up);
        case_ball(mesh, near, 1e-4, n, n);
        break;
    case 10: /* anything */
        for (int i = 0; i < 60; i++) {
            double p[3];
            for (int k = 0; k < 3; k++)
                p[k] = pl_random_double(&rng);
            case_vertex(mesh, p[0], p[1], p[2]);
        }
        for (int i = 0; i < 100; i++) {
            int corner[3];
            for (int c = 0; c < 3; c++)
                corner[c] = (int)pl_random_below(&rng, 60);
            case_triangle(mesh, corner[0], corner[1], corner[2]);
        }
        return false;
    default: /* flat */
        case_ball(mesh, origin, 1, n, n);
        for (int i = 0; i < mesh->vertex_count; i++)
            mesh->positions[3 * i + 1] = 0;
        return false;
    }
    return true;
}

/* Scales and places: each mesh is also tried tiny, huge and far away. */
static void place_case(subject *s, int round)
{
    static const double scales[4] = {1, 1e-9, 1e9, 1};
    double scale = scales[round % 4];
    const double offset[3] = {0, round % 4 == 3 ? 1e6 : 0, round % 4 == 3 ? -1e6 : 2 * scale};
    case_place(&s->mesh, scale, offset);
}

/* Around the body, most of them near a vertex. */
static void random_point(const subject *s, pl_rng *rng, double p[3])
{
    const pl_mesh_report *report = &s->surface->report;
    uint32_t kind = pl_random_below(rng, 4);
    uint32_t vertex = pl_random_below(rng, (uint32_t)s->surface->point_count);
    double spread = s->surface->size * (kind == 1 ? 0.1 : kind == 2 ? 1e-3 : 1e-5);
    for (int k = 0; k < 3; k++) {
        double part = pl_random_double(rng);
        if (kind == 0)
            p[k] = report->lower[k] + (1.4 * part - 0.2) * (report->upper[k] - report->lower[k]);
        else
            p[k] = s->surface->points[3 * vertex + (uint32_t)k] + spread * (2 * part - 1);
    }
}

static double reference_winding(const pl_surface *surface, const double q[3])
{
    double sum = 0;
    for (int t = 0; t < surface->triangle_count; t++) {
        double v[3][3], l[3], dots[3];
        for (int c = 0; c < 3; c++) {
            for (int k = 0; k < 3; k++)
                v[c][k] =
                    (surface->points[3 * surface->triangles[3 * t + c] + k] - q[k]) / surface->size;
            l[c] = sqrt(v[c][0] * v[c][0] + v[c][1] * v[c][1] + v[c][2] * v[c][2]);
        }
        for (int c = 0; c < 3; c++) {
            const double *a = v[c], *b = v[(c + 1) % 3];
            dots[c] = a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
        }
        double triple = v[0][0] * (v[1][1] * v[2][2] - v[1][2] * v[2][1]) +
                        v[0][1] * (v[1][2] * v[2][0] - v[1][0] * v[2][2]) +
                        v[0][2] * (v[1][0] * v[2][1] - v[1][1] * v[2][0]);
        sum += 2 *
               atan2(triple, l[0] * l[1] * l[2] + dots[0] * l[2] + dots[1] * l[0] + dots[2] * l[1]);
    }
    return sum / (4 * M_PI);
}

/* Squared distance from a point to a triangle by its regions (Ericson 2005): another way than the
   library's. In parts of the size. */
static double reference_distance(const pl_surface *surface, int t, const double q[3])
{
    double v[3][3], ab[3], ac[3], best = INFINITY;
    for (int c = 0; c < 3; c++)
        for (int k = 0; k < 3; k++)
            v[c][k] =
                (q[k] - surface->points[3 * surface->triangles[3 * t + c] + k]) / surface->size;
    for (int k = 0; k < 3; k++)
        ab[k] = v[0][k] - v[1][k], ac[k] = v[0][k] - v[2][k];
#define DOT(a, b) ((a)[0] * (b)[0] + (a)[1] * (b)[1] + (a)[2] * (b)[2])
    /* the inside: barycentric coordinates of the foot, all positive */
    double aa = DOT(ab, ab), cc = DOT(ac, ac), b_c = DOT(ab, ac), pb = DOT(v[0], ab),
           pc = DOT(v[0], ac), det = aa * cc - b_c * b_c;
    double y = (cc * pb - b_c * pc) / det, z = (aa * pc - b_c * pb) / det;
    if (y >= 0 && z >= 0 && y + z <= 1) {
        double d = 0;
        for (int k = 0; k < 3; k++)
            d += pow(v[0][k] - y * ab[k] - z * ac[k], 2);
        best = sqrt(d);
    }
    for (int c = 0; c < 3; c++) {
        double edge[3], d = 0;
        for (int k = 0; k < 3; k++)
            edge[k] = v[c][k] - v[(c + 1) % 3][k];
        double at = fmin(1, fmax(0, DOT(v[c], edge) / DOT(edge, edge)));
        for (int k = 0; k < 3; k++)
            d += pow(v[c][k] - at * edge[k], 2);
        best = fmin(best, sqrt(d));
    }
#undef DOT
    return best * surface->size;
}

static void winding_agrees_with_all_triangles(void **state)
{
    (void)state;
    double worst = 0;
    for (int kind = 0; kind < KINDS; kind++)
        for (int round = 0; round < check_rounds(4, 2); round++) {
            subject s;
            make_case(&s, kind, round);
            place_case(&s, round);
            open_subject(&s);
            pl_rng rng = pl_rng_make(11);
            for (int i = 0; i < check_rounds(1500, 1500); i++) {
                double p[3];
                random_point(&s, &rng, p);
                if (pl_inside_closest(s.inside, p, 1e-9 * s.surface->size, NULL, NULL) < INFINITY)
                    continue; /* on the surface it is neither one nor the other */
                double expected = reference_winding(s.surface, p);
                double error = fabs(pl_inside_winding(s.inside, p) - expected);
                worst = fmax(worst, error);
                if (!(error < 1e-3))
                    fail_msg("kind %d round %d point %d: off by %g", kind, round, i, error);
                if (fabs(fabs(expected) - 0.5) > 2e-3)
                    assert_int_equal(pl_inside_test(s.inside, p), fabs(expected) > 0.5);
            }
            close_subject(&s);
        }
    print_message("winding number: within %.2g\n", worst);
}

static void closest_points_agree_with_all_triangles(void **state)
{
    (void)state;
    for (int kind = 0; kind < KINDS; kind++)
        for (int round = 0; round < check_rounds(4, 2); round++) {
            subject s;
            make_case(&s, kind, round);
            place_case(&s, round);
            open_subject(&s);
            pl_rng rng = pl_rng_make(12);
            double size = s.surface->size;
            for (int i = 0; i < check_rounds(1000, 1000); i++) {
                double p[3], closest[3], best = INFINITY;
                int triangle = -2;
                random_point(&s, &rng, p);
                if (i % 100 == 0)
                    p[0] += 1000 * size;
                for (int t = 0; t < s.surface->triangle_count; t++)
                    best = fmin(best, reference_distance(s.surface, t, p));
                double d = pl_inside_closest(s.inside, p, INFINITY, closest, &triangle);
                double tolerance = 1e-12 * (size + d) + (round == 3 ? 1e-9 : 0);
                if (!(fabs(d - best) <= tolerance))
                    fail_msg("kind %d round %d point %d: %g, not %g", kind, round, i, d, best);
                assert_true(triangle >= 0 && triangle < s.surface->triangle_count);
                assert_true(reference_distance(s.surface, triangle, p) <= best + tolerance);
                double away = sqrt(pow(p[0] - closest[0], 2) + pow(p[1] - closest[1], 2) +
                                   pow(p[2] - closest[2], 2));
                assert_true(fabs(away - d) <= tolerance + 1e-15 * fabs(p[0]));
                assert_true(reference_distance(s.surface, triangle, closest) <=
                            tolerance + 1e-15 * fabs(p[0]));
                /* limits on either side */
                if (d > tolerance) {
                    assert_true(pl_inside_closest(s.inside, p, 0.99 * d, NULL, &triangle) ==
                                INFINITY);
                    assert_int_equal(triangle, -1);
                    assert_true(pl_inside_closest(s.inside, p, 1.01 * d, NULL, NULL) == d);
                }
                assert_true(fabs(pl_inside_signed_distance(s.inside, p)) == d);
            }
            close_subject(&s);
        }
}

/* Along rays, for closed meshes: signed crossings give the winding number, another way to know. */
static int crossings(const pl_surface *surface, const double q[3], const double direction[3])
{
    int sum = 0;
    for (int t = 0; t < surface->triangle_count; t++) {
        double v[3][3], side[3];
        for (int c = 0; c < 3; c++)
            for (int k = 0; k < 3; k++)
                v[c][k] =
                    (surface->points[3 * surface->triangles[3 * t + c] + k] - q[k]) / surface->size;
        for (int c = 0; c < 3; c++) {
            const double *a = v[c], *b = v[(c + 1) % 3], *d = direction;
            side[c] = d[0] * (a[1] * b[2] - a[2] * b[1]) + d[1] * (a[2] * b[0] - a[0] * b[2]) +
                      d[2] * (a[0] * b[1] - a[1] * b[0]);
        }
        double triple = v[0][0] * (v[1][1] * v[2][2] - v[1][2] * v[2][1]) +
                        v[0][1] * (v[1][2] * v[2][0] - v[1][0] * v[2][2]) +
                        v[0][2] * (v[1][0] * v[2][1] - v[1][1] * v[2][0]);
        bool out = side[0] > 0 && side[1] > 0 && side[2] > 0 && triple > 0;
        bool in = side[0] < 0 && side[1] < 0 && side[2] < 0 && triple < 0;
        sum += out - in;
    }
    return sum;
}

static void closed_meshes_agree_with_rays(void **state)
{
    (void)state;
    int tested = 0;
    for (int kind = 0; kind < KINDS; kind++)
        for (int round = 0; round < 3; round++) {
            subject s;
            bool closed = make_case(&s, kind, round);
            if (!closed) {
                case_free(&s.mesh);
                continue;
            }
            place_case(&s, round);
            open_subject(&s);
            assert_int_equal(s.surface->report.closed_components, s.surface->component_count);
            pl_rng rng = pl_rng_make(13);
            for (int i = 0; i < check_rounds(2000, 2000); i++) {
                double p[3];
                random_point(&s, &rng, p);
                if (pl_inside_closest(s.inside, p, 1e-6 * s.surface->size, NULL, NULL) < INFINITY)
                    continue;
                const double direction[3] = {0.2371 + 0.01 * i, -0.6123, 0.7531 - 0.003 * i};
                int times = crossings(s.surface, p, direction);
                assert_int_equal(pl_inside_test(s.inside, p), times != 0);
                assert_true(fabs(pl_inside_winding(s.inside, p) - times) < 1e-3);
                tested++;
            }
            close_subject(&s);
        }
    print_message("%d points against rays\n", tested);
    assert_true(tested > check_rounds(20000, 20000));
}

static void segments_agree_with_all_triangles(void **state)
{
    (void)state;
    for (int kind = 0; kind < KINDS; kind++) {
        subject s;
        make_case(&s, kind, 1);
        open_subject(&s);
        pl_rng rng = pl_rng_make(14);
        for (int i = 0; i < check_rounds(2000, 2000); i++) {
            double a[3], b[3];
            random_point(&s, &rng, a);
            random_point(&s, &rng, b);
            double first = 2;
            bool doubtful = false;
            for (int t = 0; t < s.surface->triangle_count; t++) {
                /* Möller & Trumbore 1997; what runs along an edge is left out */
                double e1[3], e2[3], d[3], o[3], h[3], q[3];
                for (int k = 0; k < 3; k++) {
                    const double *p = s.surface->points;
                    const int32_t *c = &s.surface->triangles[3 * t];
                    e1[k] = p[3 * c[1] + k] - p[3 * c[0] + k];
                    e2[k] = p[3 * c[2] + k] - p[3 * c[0] + k];
                    d[k] = b[k] - a[k], o[k] = a[k] - p[3 * c[0] + k];
                }
                for (int k = 0; k < 3; k++) {
                    int m = (k + 1) % 3, n = (k + 2) % 3;
                    h[k] = d[m] * e2[n] - d[n] * e2[m];
                    q[k] = o[m] * e1[n] - o[n] * e1[m];
                }
                double det = e1[0] * h[0] + e1[1] * h[1] + e1[2] * h[2];
                double u = (o[0] * h[0] + o[1] * h[1] + o[2] * h[2]) / det;
                double v = (d[0] * q[0] + d[1] * q[1] + d[2] * q[2]) / det;
                double at = (e2[0] * q[0] + e2[1] * q[1] + e2[2] * q[2]) / det;
                double room = fmin(fmin(u, v), fmin(1 - u - v, fmin(at, 1 - at)));
                doubtful = doubtful || !(fabs(room) > 1e-7);
                if (room > 0 && at < first)
                    first = at;
            }
            int triangle;
            double hit = pl_inside_hit(s.inside, a, b, &triangle);
            assert_int_equal(hit <= 1, triangle >= 0);
            assert_true(hit == 2 || (hit >= 0 && hit <= 1));
            if (!doubtful && !(fabs(hit - first) < 1e-9))
                fail_msg("kind %d segment %d: %g, not %g", kind, i, hit, first);
            double out = pl_inside_segment_outside(s.inside, a, b);
            double back = pl_inside_segment_outside(s.inside, b, a);
            assert_true(out >= 0 && out <= 1 && (doubtful || fabs(out - back) < 1e-6));
        }
        close_subject(&s);
    }
}

/* From the middle of a closed mesh no segment gets out unseen, also through corners and edges. */
static void nothing_leaks(void **state)
{
    (void)state;
    for (int kind = 0; kind < 2; kind++) {
        subject s;
        make_case(&s, kind, 1);
        open_subject(&s);
        double middle[3] = {0}, from[3], to[3];
        for (int k = 0; k < 3 && kind == 0; k++)
            middle[k] = 0.5 * s.surface->report.upper[k];
        for (int t = 0; t < s.surface->triangle_count; t++)
            for (int i = 0; i < 7; i++)
                for (int side = 0; side < 2; side++) {
                    static const double weights[7][3] = {
                        {1, 0, 0},     {0, 1, 0},     {0, 0, 1},    {0.5, 0.5, 0},
                        {0, 0.5, 0.5}, {0.5, 0, 0.5}, {0.2, 0.8, 0}};
                    for (int k = 0; k < 3; k++) {
                        double x = 0;
                        for (int c = 0; c < 3; c++)
                            x += weights[i][c] *
                                 s.surface->points[3 * s.surface->triangles[3 * t + c] + k];
                        to[k] = middle[k] + 3 * (x - middle[k]);
                        from[k] = middle[k];
                    }
                    assert_true(pl_inside_hit(s.inside, side ? to : from, side ? from : to, NULL) <=
                                1);
                    double out = pl_inside_segment_outside(s.inside, from, to);
                    assert_true(fabs(out - 2.0 / 3) < 1e-9);
                }
        close_subject(&s);
    }
}

static void many_crossings_are_all_seen(void **state)
{
    (void)state;
    subject s = {0};
    for (int i = 0; i < 200; i++) {
        const double lower[3] = {2.0 * i, 0, 0}, upper[3] = {2.0 * i + 1, 1, 1};
        case_box(&s.mesh, lower, upper);
    }
    open_subject(&s);
    const double from[3] = {-1, 0.3, 0.4}, to[3] = {401, 0.35, 0.45};
    assert_true(fabs(pl_inside_segment_outside(s.inside, from, to) - 202.0 / 402) < 1e-9);
    assert_true(fabs(pl_inside_segment_outside(s.inside, to, from) - 202.0 / 402) < 1e-9);
    assert_true(fabs(pl_inside_volume(s.inside) - 200) < 1e-9);
    close_subject(&s);
}

static double ball_volume(const pl_surface *surface, int first, int count)
{
    double sum = 0;
    for (int t = first; t < first + count; t++) {
        const double *a = &surface->points[3 * surface->triangles[3 * t]];
        const double *b = &surface->points[3 * surface->triangles[3 * t + 1]];
        const double *c = &surface->points[3 * surface->triangles[3 * t + 2]];
        sum += a[0] * (b[1] * c[2] - b[2] * c[1]) + a[1] * (b[2] * c[0] - b[0] * c[2]) +
               a[2] * (b[0] * c[1] - b[1] * c[0]);
    }
    return sum / 6;
}

static void volumes_are_right(void **state)
{
    (void)state;
    subject s;
    for (int round = 0; round < 4; round++) {
        make_case(&s, 1, round);
        place_case(&s, round);
        open_subject(&s);
        double exact = case_signed_volume(s.surface);
        assert_true(fabs(pl_inside_volume(s.inside) / exact - 1) < (round == 3 ? 1e-8 : 1e-12));
        close_subject(&s);
    }
    /* hollow: the difference; overlapping: against points counted plainly */
    make_case(&s, 3, 2);
    open_subject(&s);
    double exact = case_signed_volume(s.surface), counted = pl_inside_volume(s.inside);
    if (!(fabs(counted / exact - 1) < 1e-3))
        fail_msg("hollow: %g, not %g", counted, exact);
    close_subject(&s);

    make_case(&s, 4, 4);
    open_subject(&s);
    /* union of balls of 1 and 0.9, centres √0.65 apart: lens by the formula for balls, the
       triangles' part of it by that of their volumes */
    int half = s.surface->triangle_count / 2;
    double d = sqrt(0.65), r = 1, q = 0.9;
    double lens = M_PI * pow(r + q - d, 2) *
                  (d * d + 2 * d * q - 3 * q * q + 2 * d * r + 6 * q * r - 3 * r * r) / (12 * d);
    double balls = 4 * M_PI / 3 * (r * r * r + q * q * q);
    double smaller = (ball_volume(s.surface, 0, half) + ball_volume(s.surface, half, half)) / balls;
    exact = (balls - lens) * smaller;
    counted = pl_inside_volume(s.inside);
    if (!(fabs(counted / exact - 1) < 3e-3))
        fail_msg("overlapping: %g, not %g", counted, exact);
    close_subject(&s);

    /* a box without lid is as full as with it, nearly: the lid of the winding number sags a bit */
    make_case(&s, 0, 0);
    s.mesh.triangle_count -= 2;
    open_subject(&s);
    assert_false(s.surface->component_closed[0]);
    counted = pl_inside_volume(s.inside);
    assert_true(fabs(counted / (0.7 * 0.6 * 0.5) - 1) < 0.05);
    close_subject(&s);

    make_case(&s, 11, 0);
    open_subject(&s);
    assert_true(pl_inside_volume(s.inside) == 0);
    close_subject(&s);
}

/* Every triangle crosses most of the others, and no subtree is ever far: asked line by line as
   other surfaces are, it would take minutes. */
static void soups_of_long_triangles_are_bounded(void **state)
{
    (void)state;
    if (check_is_slow_build() && !check_is_thorough())
        skip();
    const uint64_t corners = check_is_thorough() ? 6000 : 2500;
    case_mesh soup = {0};
    for (uint64_t i = 0; i < corners; i++) {
        double p[3];
        for (uint64_t k = 0; k < 3; k++)
            p[k] = (double)(pl_random_at(k + 7, i) >> 11) * 0x1p-53;
        case_vertex(&soup, p[0], p[1], p[2]);
        if (i >= 2)
            case_triangle(&soup, 0, (int)i - 1, (int)i);
    }
    pl_mesh mesh = case_view(&soup);
    pl_memory memory;
    pl_surface *surface;
    pl_inside *inside;
    pl_memory_init(&memory, NULL, 0);
    assert_int_equal(pl_surface_create(&memory, &mesh, 1e-6, &surface, NULL), PL_OK);
    assert_int_equal(pl_inside_create(&memory, surface, &inside, NULL), PL_OK);
    double begin = (double)clock() / CLOCKS_PER_SEC, volume = pl_inside_volume(inside);
    assert_true((double)clock() / CLOCKS_PER_SEC - begin < 30); /* with sanitizers; else below 1 */
    assert_true(volume > 0.1 && volume <= 1);
    assert_true(pl_inside_settle_volume(inside) == volume && pl_inside_volume(inside) == volume);
    pl_inside_destroy(inside);
    pl_surface_destroy(surface);
    assert_int_equal(memory.used, 0);
    case_free(&soup);
}

static void strange_questions_have_answers(void **state)
{
    (void)state;
    subject s;
    make_case(&s, 1, 1);
    open_subject(&s);
    const double values[9] = {NAN, INFINITY, -INFINITY, 1e308, -1e308, 1e30, 1e-320, 0, -0.0};
    for (int i = 0; i < 9 * 9 * 9; i++) {
        const double p[3] = {values[i % 9], values[i / 9 % 9], values[i / 81]};
        const double origin[3] = {0};
        double closest[3];
        int triangle;
        assert_true(isfinite(pl_inside_winding(s.inside, p)));
        bool in = pl_inside_test(s.inside, p);
        double length = fabs(p[0]) + fabs(p[1]) + fabs(p[2]);
        assert_int_equal(in, length < 1);
        double d = pl_inside_closest(s.inside, p, INFINITY, closest, &triangle);
        if (length < 1e100)
            assert_true(isfinite(d) && triangle >= 0 && d >= 0);
        else
            assert_true(!(d < 0));
        assert_true(pl_inside_closest(s.inside, p, -1, NULL, NULL) == INFINITY);
        assert_true(pl_inside_closest(s.inside, p, NAN, NULL, NULL) == INFINITY);
        double hit = pl_inside_hit(s.inside, origin, p, NULL);
        assert_true(hit == 2 || (hit >= 0 && hit <= 1));
        double out = pl_inside_segment_outside(s.inside, p, origin);
        assert_true(out >= 0 && out <= 1);
    }
    /* corners, edges and faces themselves: some answer, at distance 0 */
    for (int t = 0; t < s.surface->triangle_count; t++) {
        const double *a = &s.surface->points[3 * s.surface->triangles[3 * t]];
        const double *b = &s.surface->points[3 * s.surface->triangles[3 * t + 1]];
        const double middle[3] = {(a[0] + b[0]) / 2, (a[1] + b[1]) / 2, (a[2] + b[2]) / 2};
        double w = pl_inside_winding(s.inside, a);
        assert_true(w > -1e-2 && w < 1.01);
        w = pl_inside_winding(s.inside, middle);
        assert_true(w > -1 && w < 2); /* on an edge the angles are arbitrary, each at most a turn */
        assert_true(pl_inside_closest(s.inside, a, INFINITY, NULL, NULL) == 0);
        assert_true(pl_inside_closest(s.inside, a, 0, NULL, NULL) >= 0);
        assert_true(pl_inside_closest(s.inside, middle, INFINITY, NULL, NULL) < 1e-15);
    }
    close_subject(&s);
}

/* Boxes all alike, all in one place, in a row that grows by powers: every item in exactly one leaf,
   inside the boxes above it, and the stack bounded. */
static void hierarchies_hold_together(void **state)
{
    (void)state;
    pl_memory memory;
    pl_memory_init(&memory, NULL, 0);
    pl_rng rng = pl_rng_make(21);
    int most = 20000;
    pl_bvh_box *boxes = malloc(sizeof *boxes * (size_t)most);
    int *depth = malloc(sizeof *depth * (size_t)most);
    char *seen = malloc((size_t)most);
    for (int kind = 0; kind < 5; kind++)
        for (int size = 0; size < 4; size++) {
            int count = size == 0 ? 0 : size == 1 ? 1 : size == 2 ? 37 : most;
            for (int i = 0; i < count; i++)
                for (int k = 0; k < 3; k++) {
                    float x = kind == 0   ? 0
                              : kind == 1 ? pl_random_float(&rng)
                              : kind == 2 ? ldexpf(1, -(i % 120))
                              : kind == 3 ? (float)(i % 2)
                                          : (k == 0 ? (float)i : 0);
                    boxes[i].lower[k] = x;
                    boxes[i].upper[k] = x + (kind == 1 ? 0.01f : 0);
                }
            pl_bvh bvh;
            assert_true(pl_bvh_build(&memory, boxes, count, 4, &bvh));
            memset(seen, 0, (size_t)most);
            depth[0] = 1;
            int deepest = 1;
            for (int n = 0; n < bvh.node_count; n++)
                for (int lane = 0; lane < PL_BVH_WIDTH; lane++) {
                    const pl_bvh_node *node = &bvh.nodes[n];
                    if (node->count[lane] == 0) {
                        assert_true(node->child[lane] > n && node->child[lane] < bvh.node_count);
                        depth[node->child[lane]] = depth[n] + 1;
                        deepest = depth[n] + 1 > deepest ? depth[n] + 1 : deepest;
                    }
                    for (int i = 0; i < node->count[lane]; i++) {
                        int item = bvh.order[node->child[lane] + i];
                        assert_false(seen[item]);
                        seen[item] = 1;
                        for (int k = 0; k < 3; k++)
                            assert_true(boxes[item].lower[k] >= node->lower[k][lane] &&
                                        boxes[item].upper[k] <= node->upper[k][lane]);
                    }
                }
            for (int i = 0; i < count; i++)
                assert_true(seen[i]);
            assert_true(deepest <= PL_BVH_MAX_DEPTH);
            pl_bvh_free(&memory, &bvh);
        }
    free(boxes);
    free(depth);
    free(seen);
    assert_int_equal(memory.used, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(winding_agrees_with_all_triangles),
        cmocka_unit_test(closest_points_agree_with_all_triangles),
        cmocka_unit_test(closed_meshes_agree_with_rays),
        cmocka_unit_test(segments_agree_with_all_triangles),
        cmocka_unit_test(nothing_leaks),
        cmocka_unit_test(many_crossings_are_all_seen),
        cmocka_unit_test(volumes_are_right),
        cmocka_unit_test(soups_of_long_triangles_are_bounded),
        cmocka_unit_test(strange_questions_have_answers),
        cmocka_unit_test(hierarchies_hold_together),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
