/* One ellipsoid against one shape, held against brute force: the size at which it begins to touch,
   the half-space it is kept out of, and ways through. Brute force minimises the ellipsoid's measure
   over the points of the shape by other means than the library. */
#include "support/check.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/rng.h"
#include "contact/mesh.h"
#include "contact/shapes.h"
#include "math/quat.h"
#include "support/world_kit.h"

#define CASES (check_is_thorough() || check_is_slow_build() ? 100000 : 40000)

/* ---- Random ellipsoids ----------------------------------------------------------------------- */

typedef struct egg {
    double at[3], form[3][3]; /* form: B⁻¹ */
    double shape[6];
} egg;

static double uniform(pl_rng *rng, double low, double high)
{
    return pl_random_between(rng, low, high);
}

static pl_quat random_turn(pl_rng *rng)
{
    return pl_quat_normalise((pl_quat){uniform(rng, -1, 1), uniform(rng, -1, 1),
                                       uniform(rng, -1, 1), uniform(rng, -1, 1)});
}

/* Aspect up to 10. */
static egg random_egg(pl_rng *rng, double reach)
{
    egg e;
    double size = pl_exp(uniform(rng, -2, 1)), axes[3];
    pl_mat3 r = pl_quat_to_m3(random_turn(rng));
    for (int k = 0; k < 3; k++) {
        axes[k] = size * pl_exp(uniform(rng, 0, 2.3));
        e.at[k] = uniform(rng, -reach, reach) * (1 + size);
    }
    int at = 0;
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < 3; k++) {
            double b = 0;
            e.form[i][k] = 0;
            for (int m = 0; m < 3; m++) {
                b += r.m[i][m] * axes[m] * axes[m] * r.m[k][m];
                e.form[i][k] += r.m[i][m] / (axes[m] * axes[m]) * r.m[k][m];
            }
            if (k >= i)
                e.shape[at++] = b;
        }
    return e;
}

static double measure(const egg *e, const double p[3])
{
    double sum = 0;
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < 3; k++)
            sum += e->form[i][k] * (p[i] - e->at[i]) * (p[k] - e->at[k]);
    return sum;
}

static pl_ball ball_of(const egg *e, double scale)
{
    pl_ball ball;
    double shape[6];
    for (int k = 0; k < 6; k++)
        shape[k] = e->shape[k] * scale * scale;
    assert_true(pl_ball_make(&ball, e->at, e->at, shape));
    return ball;
}

/* ---- Brute force: the least measure over all points of a shape ------------------------------- */

/* Coordinate descent: the bounds do not mix coordinates, so it converges. */
static double least_on_box(const egg *e, const double half[3])
{
    double p[3];
    for (int k = 0; k < 3; k++)
        p[k] = fmax(-half[k], fmin(half[k], e->at[k]));
    for (int sweep = 0; sweep < 3000; sweep++) {
        double moved = 0;
        for (int k = 0; k < 3; k++) {
            double pull = 0;
            for (int i = 0; i < 3; i++)
                pull += i == k ? 0 : e->form[k][i] * (p[i] - e->at[i]);
            double next = fmax(-half[k], fmin(half[k], e->at[k] - pull / e->form[k][k]));
            moved = fmax(moved, fabs(next - p[k]));
            p[k] = next;
        }
        if (moved < 1e-12)
            break;
    }
    return sqrt(measure(e, p));
}

/* (H + λ) (p − c) = H (x − c) with |p − c| = r: bisection on λ. */
static void with_multiplier(const egg *e, const double c[3], double lambda, double p[3])
{
    pl_mat3 m;
    pl_vec3 right = {0, 0, 0};
    double b[3] = {0, 0, 0};
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < 3; k++) {
            m.m[i][k] = e->form[i][k] + (i == k ? lambda : 0);
            b[i] += e->form[i][k] * (e->at[k] - c[k]);
        }
    right = (pl_vec3){b[0], b[1], b[2]};
    double(*a)[3] = m.m;
    double axx = a[1][1] * a[2][2] - a[1][2] * a[1][2], axy = a[0][2] * a[1][2] - a[0][1] * a[2][2];
    double axz = a[0][1] * a[1][2] - a[0][2] * a[1][1], ayy = a[0][0] * a[2][2] - a[0][2] * a[0][2];
    double ayz = a[0][1] * a[0][2] - a[0][0] * a[1][2], azz = a[0][0] * a[1][1] - a[0][1] * a[0][1];
    double det = a[0][0] * axx + a[0][1] * axy + a[0][2] * axz;
    p[0] = c[0] + (axx * right.x + axy * right.y + axz * right.z) / det;
    p[1] = c[1] + (axy * right.x + ayy * right.y + ayz * right.z) / det;
    p[2] = c[2] + (axz * right.x + ayz * right.y + azz * right.z) / det;
}

static double least_on_sphere(const egg *e, const double c[3], double r)
{
    double p[3], low = -40, high = 40, square = 0;
    for (int k = 0; k < 3; k++)
        square += (e->at[k] - c[k]) * (e->at[k] - c[k]);
    if (square <= r * r)
        return 0;
    for (int i = 0; i < 34; i++) {
        double middle = 0.5 * (low + high);
        with_multiplier(e, c, pl_exp(middle), p);
        square = 0;
        for (int k = 0; k < 3; k++)
            square += (p[k] - c[k]) * (p[k] - c[k]);
        *(square > r * r ? &low : &high) = middle;
    }
    return sqrt(measure(e, p));
}

/* Golden section: of functions that are convex in one number. */
typedef double valued(void *context, double x);

static double least_between(valued *f, void *context, double low, double high)
{
    const double golden = 0.6180339887498949;
    double a = high - golden * (high - low), b = low + golden * (high - low);
    double fa = f(context, a), fb = f(context, b);
    for (int i = 0; i < 24; i++)
        if (fa < fb) {
            high = b, b = a, fb = fa;
            a = high - golden * (high - low), fa = f(context, a);
        } else {
            low = a, a = b, fa = fb;
            b = low + golden * (high - low), fb = f(context, b);
        }
    return fmin(fmin(fa, fb), fmin(f(context, low), f(context, high)));
}

typedef struct sliding {
    const egg *e;
    double (*t)[3], radius, u;
} sliding;

static double at_height(void *context, double y)
{
    sliding *c = context;
    double centre[3] = {0, y, 0};
    return least_on_sphere(c->e, centre, c->radius);
}

static double least_on_capsule(const egg *e, double r, double half)
{
    sliding c = {.e = e, .radius = r};
    return least_between(at_height, &c, -half, half);
}

static double at_weights(void *context, double v)
{
    sliding *c = context;
    double p[3];
    for (int m = 0; m < 3; m++)
        p[m] = c->t[0][m] + c->u * (c->t[1][m] - c->t[0][m]) + v * (c->t[2][m] - c->t[0][m]);
    return measure(c->e, p);
}

static double along_row(void *context, double u)
{
    sliding *c = context;
    c->u = u;
    return least_between(at_weights, c, 0, 1 - u);
}

static double least_on_triangle(const egg *e, double t[3][3])
{
    sliding c = {.e = e, .t = t};
    return sqrt(least_between(along_row, &c, 0, 1));
}

/* ---- Begins to touch ------------------------------------------------------------------------- */

typedef enum shape_kind { BOX, SPHERE, CAPSULE, TRIANGLE } shape_kind;

typedef struct shape {
    shape_kind kind;
    double size[3], corners[3][3];
} shape;

static shape random_shape(pl_rng *rng, shape_kind kind)
{
    shape s = {.kind = kind};
    for (int k = 0; k < 3; k++) {
        s.size[k] = pl_exp(uniform(rng, -3, 1));
        for (int i = 0; i < 3; i++)
            s.corners[i][k] = uniform(rng, -2, 2);
    }
    return s;
}

static bool touches(const shape *s, const pl_ball *ball, pl_barrier *barrier)
{
    switch (s->kind) {
    case BOX:
        return pl_ball_on_box(ball, s->size, barrier);
    case SPHERE:
        return pl_ball_on_sphere(ball, s->size[0], barrier);
    case CAPSULE:
        return pl_ball_on_capsule(ball, s->size[0], s->size[1], barrier);
    case TRIANGLE:
        return pl_ball_on_triangle(ball, (const double(*)[3])s->corners, true, barrier);
    }
    return false;
}

static double least(const shape *s, egg *e)
{
    static const double middle[3] = {0, 0, 0};
    switch (s->kind) {
    case BOX:
        return least_on_box(e, s->size);
    case SPHERE:
        return least_on_sphere(e, middle, s->size[0]);
    case CAPSULE:
        return least_on_capsule(e, s->size[0], s->size[1]);
    case TRIANGLE:
        return least_on_triangle(e, ((shape *)(uintptr_t)s)->corners);
    }
    return 0;
}

/* The farthest that the shape reaches along n. */
static double support(const shape *s, const double n[3])
{
    double length = sqrt(n[0] * n[0] + n[1] * n[1] + n[2] * n[2]), most = -INFINITY;
    switch (s->kind) {
    case BOX:
        return fabs(n[0]) * s->size[0] + fabs(n[1]) * s->size[1] + fabs(n[2]) * s->size[2];
    case SPHERE:
        return s->size[0] * length;
    case CAPSULE:
        return s->size[0] * length + fabs(n[1]) * s->size[1];
    case TRIANGLE:
        for (int i = 0; i < 3; i++) {
            const double *c = s->corners[i];
            most = fmax(most, n[0] * c[0] + n[1] * c[1] + n[2] * c[2]);
        }
        return most;
    }
    return 0;
}

static double along(const double a[3], const double b[3])
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

/* The half-space holds all of the shape (unless the centre is inside of it, where a face is
   chosen), and pushed out of it they no longer overlap. */
static void check_barrier(const shape *s, egg *e, const pl_ball *ball, const pl_barrier *b)
{
    double level = along(b->normal, b->point), size = ball->radius + fabs(support(s, b->normal));
    assert_true(fabs(along(b->normal, b->normal) - 1) < 1e-9);
    assert_true(b->overlap > 0);
    if (support(s, b->normal) > level + 1e-5 * size)
        fail_msg("shape %d reaches %g out of its half-space", (int)s->kind,
                 support(s, b->normal) - level);
    egg moved = *e;
    for (int k = 0; k < 3; k++)
        moved.at[k] += b->overlap * b->normal[k];
    assert_true(along(b->normal, moved.at) - pl_ball_half_width(ball, b->normal) >
                level - 1e-9 * size);
}

static void check_touching(shape_kind kind, int count, uint64_t seed)
{
    pl_rng rng = pl_rng_make(seed);
    int tested = 0;
    for (int i = 0; i < count; i++) {
        shape s = random_shape(&rng, kind);
        egg e = random_egg(&rng, 1.5);
        double size = least(&s, &e), normal[3];
        pl_barrier barrier;
        if (size < 1e-3 ||
            (kind == TRIANGLE && !pl_triangle_normal((const double(*)[3])s.corners, normal)))
            continue;
        tested++;
        pl_ball larger = ball_of(&e, 1.005 * size), smaller = ball_of(&e, 0.995 * size);
        if (!touches(&s, &larger, &barrier))
            fail_msg("shape %d, case %d: a touch was missed (%g)", (int)kind, i, size);
        check_barrier(&s, &e, &larger, &barrier);
        assert_true(barrier.overlap < 0.02 * (larger.radius + fabs(support(&s, barrier.normal))));
        if (touches(&s, &smaller, &barrier))
            fail_msg("shape %d, case %d: touches where there is none (%g)", (int)kind, i, size);
        pl_ball deep = ball_of(&e, 3 * size);
        assert_true(touches(&s, &deep, &barrier));
        check_barrier(&s, &e, &deep, &barrier);
    }
    assert_true(tested > count / 3);
}

static void boxes_agree_with_brute_force(void **state)
{
    (void)state;
    check_touching(BOX, world_scaled(CASES), 1);
}

static void spheres_agree_with_brute_force(void **state)
{
    (void)state;
    check_touching(SPHERE, world_scaled(CASES), 2);
}

static void capsules_agree_with_brute_force(void **state)
{
    (void)state;
    check_touching(CAPSULE, world_scaled(CASES), 3);
}

static void triangles_agree_with_brute_force(void **state)
{
    (void)state;
    check_touching(TRIANGLE, world_scaled(CASES), 4);
}

/* ---- On the way ------------------------------------------------------------------------------ */

static bool is_in(const shape *s, const double p[3])
{
    if (s->kind == BOX)
        return fabs(p[0]) <= s->size[0] && fabs(p[1]) <= s->size[1] && fabs(p[2]) <= s->size[2];
    double over = s->kind == CAPSULE ? fmax(fabs(p[1]) - s->size[1], 0) : fabs(p[1]);
    return p[0] * p[0] + p[2] * p[2] + over * over <= s->size[0] * s->size[0];
}

/* The first of many points of the way that lies in the shape; 2 = none. */
static double first_inside(const shape *s, const double from[3], const double at[3])
{
    enum { POINTS = 1000 };
    for (int i = 0; i <= POINTS; i++) {
        double p[3];
        for (int k = 0; k < 3; k++)
            p[k] = from[k] + i / (double)POINTS * (at[k] - from[k]);
        if (is_in(s, p))
            return i / (double)POINTS;
    }
    return 2;
}

/* Where the ellipsoid has come to the barrier it has come to the shape, give or take 2 % of how
   wide it is. What touched to begin with is stopped where its centre goes in. */
static void check_first_touch(const shape *s, const egg *e, const pl_ball *ball,
                              const pl_barrier *barrier, int number)
{
    double half = pl_ball_half_width(ball, barrier->normal), way[3];
    pl_barrier other;
    for (int k = 0; k < 3; k++)
        way[k] = ball->at[k] - ball->from[k];
    double speed = -along(barrier->normal, way);
    double gap = along(barrier->normal, ball->from) - along(barrier->normal, barrier->point) - half;
    egg there = *e;
    memcpy(there.at, ball->from, sizeof there.at);
    pl_ball at = ball_of(&there, 0.1);
    memcpy(at.from, at.at, sizeof at.from);
    if (touches(s, &at, &other))
        return;
    for (int side = -1; side <= 1; side += 2) {
        double t = (gap + side * 0.02 * half) / speed;
        for (int k = 0; k < 3; k++)
            at.at[k] = at.from[k] = ball->from[k] + t * way[k];
        if (touches(s, &at, &other) != (side > 0))
            fail_msg("shape %d, case %d: %s where it comes to the barrier", (int)s->kind, number,
                     side > 0 ? "not yet there" : "too late");
    }
}

/* Whoever goes through stays on the side he came from: the barrier has the start in front of it. */
static void check_ways(shape_kind kind, int count, uint64_t seed)
{
    pl_rng rng = pl_rng_make(seed);
    int through = 0;
    for (int i = 0; i < count; i++) {
        shape s = random_shape(&rng, kind);
        egg e = random_egg(&rng, 1.5), other = random_egg(&rng, 4);
        pl_barrier barrier;
        pl_ball ball = ball_of(&e, 0.1);
        memcpy(ball.from, other.at, sizeof ball.from);
        double t = first_inside(&s, ball.from, ball.at);
        if (is_in(&s, ball.from) || t > 1)
            continue;
        through++;
        if (!touches(&s, &ball, &barrier))
            fail_msg("shape %d, case %d: went through", (int)kind, i);
        double level = along(barrier.normal, barrier.point);
        double size = 1 + fabs(level) + support(&s, barrier.normal);
        assert_true(along(barrier.normal, ball.from) >= level - 1e-9 * size);
        assert_true(support(&s, barrier.normal) <= level + (kind == CAPSULE ? 1e-5 : 1e-9) * size);
        /* Where its centre would be in, it is behind the boundary of the half-space. */
        double after = 0;
        for (int k = 0; k < 3; k++)
            after += barrier.normal[k] * (ball.from[k] + t * (ball.at[k] - ball.from[k]));
        assert_true(after <= level + 1e-9 * size);
        check_first_touch(&s, &e, &ball, &barrier, i);
    }
    assert_true(through > count / 100);
}

static void nothing_passes_through_shapes(void **state)
{
    (void)state;
    check_ways(BOX, world_scaled(CASES), 5);
    check_ways(SPHERE, world_scaled(CASES), 6);
    check_ways(CAPSULE, world_scaled(CASES), 7);
}

/* ---- Meshes ---------------------------------------------------------------------------------- */

/* A closed cube of triangles, counter-clockwise seen from outside, each face n × n. */
static pl_solid *cube(pl_memory *memory, int n)
{
    int count = 12 * n * n, made = 0;
    double(*corners)[3][3] = pl_memory_alloc(memory, (size_t)count, sizeof *corners);
    for (int face = 0; face < 6; face++)
        for (int i = 0; i < 2 * n * n; i++) {
            int axis = face / 2, u = (axis + 1) % 3, v = (axis + 2) % 3, x = i / 2 % n,
                y = i / 2 / n;
            static const int ends[2][3][2] = {{{0, 0}, {1, 0}, {1, 1}}, {{0, 0}, {1, 1}, {0, 1}}};
            for (int k = 0; k < 3; k++) {
                int from = face % 2 ? k : 2 - k; /* the other way round on the lower side */
                corners[made][k][axis] = face % 2 ? 1 : -1;
                corners[made][k][u] = 2.0 * (x + ends[i % 2][from][0]) / n - 1;
                corners[made][k][v] = 2.0 * (y + ends[i % 2][from][1]) / n - 1;
            }
            made++;
        }
    pl_solid *solid = pl_solid_create(memory, count, (const double(*)[3][3])corners);
    pl_memory_free(memory, corners);
    return solid;
}

/* A one-sided cube is a box: the same touches, and out of its inside. */
static void a_cube_of_triangles_is_a_box(void **state)
{
    (void)state;
    pl_memory memory;
    pl_memory_init(&memory, NULL, 0);
    pl_rng rng = pl_rng_make(8);
    static const double half[3] = {1, 1, 1}, still[3] = {0, 0, 0};
    for (int n = 1; n <= 9; n += 4) {
        pl_solid *solid = cube(&memory, n);
        assert_int_equal(solid->count, 12 * n * n);
        for (int i = 0; i < world_scaled(CASES) / 10; i++) {
            egg e = random_egg(&rng, 1);
            pl_ball ball = ball_of(&e, 0.2);
            pl_barrier one, two;
            bool through, box = pl_ball_on_box(&ball, half, &one);
            bool mesh = pl_ball_on_solid(&ball, solid, false, true, still, &two, &through);
            if (box != mesh && (!box || one.overlap > 1e-6))
                fail_msg("n %d case %d: box %d (%g), mesh %d, at %g %g %g", n, i, box,
                         box ? one.overlap : 0, mesh, e.at[0], e.at[1], e.at[2]);
            bool inside = fabs(e.at[0]) < 1 && fabs(e.at[1]) < 1 && fabs(e.at[2]) < 1;
            if (box && !inside)
                assert_true(fabs(one.overlap - two.overlap) < 0.5 * ball.radius);
            if (inside) /* out through a face */
                assert_true(fmax(fabs(two.normal[0]),
                                 fmax(fabs(two.normal[1]), fabs(two.normal[2]))) > 0.999 &&
                            along(two.normal, two.point) > 0.999);
        }
        pl_solid_destroy(&memory, solid);
    }
    assert_int_equal(memory.used, 0);
}

/* The earliest crossing among all triangles, by trying each. */
static void the_first_triangle_stops(void **state)
{
    (void)state;
    pl_memory memory;
    pl_memory_init(&memory, NULL, 0);
    pl_rng rng = pl_rng_make(9);
    static const double still[3] = {0, 0, 0};
    pl_solid *solid = cube(&memory, 7);
    int crossed = 0;
    for (int i = 0; i < world_scaled(CASES) / 10; i++) {
        egg e = random_egg(&rng, 2), other = random_egg(&rng, 2);
        pl_ball ball = ball_of(&e, 0.01);
        memcpy(ball.from, other.at, sizeof ball.from);
        pl_barrier barrier, best = {0};
        bool through = false;
        double first = 2;
        for (int t = 0; t < solid->count; t++) {
            double part = pl_ball_through_triangle(&ball, (const double(*)[3])solid->corners[t],
                                                   true, &barrier);
            if (part < first) {
                first = part;
                best = barrier;
            }
        }
        bool found = pl_ball_on_solid(&ball, solid, true, true, still, &barrier, &through);
        assert_int_equal(through, first <= 1);
        if (first > 1)
            continue;
        crossed++;
        assert_true(found && fabs(barrier.overlap - best.overlap) < 1e-9 * (1 + best.overlap));
    }
    assert_true(crossed > world_scaled(CASES) / 100);
    pl_solid_destroy(&memory, solid);
}

/* A triangle with two sides is the same whichever way its corners go around, and nothing goes
   through its middle from either. */
static void both_sides_stop(void **state)
{
    (void)state;
    pl_rng rng = pl_rng_make(10);
    int crossed = 0;
    for (int i = 0; i < world_scaled(CASES); i++) {
        double corners[3][3], turned[3][3], towards[3] = {0, 0, 0}, weights[3], sum = 0;
        egg e = random_egg(&rng, 2), other = random_egg(&rng, 2);
        pl_ball ball = ball_of(&e, 0.01);
        pl_barrier one, two;
        for (int c = 0; c < 3; c++)
            sum += weights[c] = uniform(&rng, 0.1, 1);
        for (int c = 0; c < 3; c++)
            for (int k = 0; k < 3; k++) {
                corners[c][k] = turned[2 - c][k] = uniform(&rng, -1, 1);
                towards[k] += weights[c] / sum * corners[c][k];
            }
        double beyond =
            uniform(&rng, -0.9, 0.9); /* where the way ends: behind the triangle, or before it */
        for (int k = 0; k < 3; k++) {
            ball.from[k] = other.at[k];
            ball.at[k] = towards[k] + beyond * (towards[k] - ball.from[k]);
        }
        double normal[3];
        if (!pl_triangle_normal((const double(*)[3])corners, normal) || fabs(beyond) < 1e-6)
            continue;
        double t = pl_ball_through_triangle(&ball, (const double(*)[3])corners, true, &one);
        double other_way = pl_ball_through_triangle(&ball, (const double(*)[3])turned, true, &two);
        assert_int_equal(t <= 1, beyond > 0);
        assert_int_equal(other_way <= 1, beyond > 0);
        if (!(beyond > 0))
            continue;
        crossed++;
        assert_true(fabs(t - 1 / (1 + beyond)) < 1e-6 && fabs(t - other_way) < 1e-6);
        assert_true(fabs(one.overlap - two.overlap) < 1e-6 * (1 + one.overlap));
        double before = along(one.normal, ball.from), after = along(two.normal, ball.from);
        assert_true(before > along(one.normal, one.point) && after > along(two.normal, two.point));
        /* With one side only it stops what comes from there. */
        bool front = pl_ball_through_triangle(&ball, (const double(*)[3])corners, false, &one) <= 1;
        bool back = pl_ball_through_triangle(&ball, (const double(*)[3])turned, false, &two) <= 1;
        assert_true(front != back);
    }
    assert_true(crossed > world_scaled(CASES) / 4);
}

static void triangles_without_area_are_left_out(void **state)
{
    (void)state;
    pl_memory memory;
    pl_memory_init(&memory, NULL, 0);
    double corners[4][3][3] = {{{0, 0, 0}, {1, 0, 0}, {2, 0, 0}},
                               {{1, 1, 1}, {1, 1, 1}, {1, 1, 1}},
                               {{0, 0, 0}, {1, 0, 0}, {0, 0, 1}},
                               {{0, 0, 0}, {1, 0, 0}, {1, 0, 0}}};
    pl_solid *solid = pl_solid_create(&memory, 4, (const double(*)[3][3])corners);
    assert_int_equal(solid->count, 1);
    pl_solid_destroy(&memory, solid);
    solid = pl_solid_create(&memory, 2, (const double(*)[3][3])corners);
    assert_int_equal(solid->count, 0);
    egg e = {.at = {0, 0, 0}, .shape = {1, 0, 0, 1, 0, 1}};
    pl_ball ball = ball_of(&e, 1);
    pl_barrier barrier;
    bool through;
    assert_false(pl_ball_on_solid(&ball, solid, true, true, e.at, &barrier, &through));
    assert_false(pl_ball_on_solid(&ball, solid, false, true, e.at, &barrier, &through));
    pl_solid_destroy(&memory, solid);
    for (int fail = 0; fail < 4; fail++) {
        memory.fail_at = (int64_t)memory.allocations + fail;
        assert_null(pl_solid_create(&memory, 4, (const double(*)[3][3])corners));
        assert_int_equal(memory.used, 0);
    }
}

/* ---- Sizes without sense --------------------------------------------------------------------- */

static void no_size_is_too_small_or_too_large(void **state)
{
    (void)state;
    pl_rng rng = pl_rng_make(10);
    static const double sizes[] = {0, 1e-30, 1e-9, 1e3, 1e9, 1e15};
    for (int i = 0; i < world_scaled(CASES) / 10; i++) {
        shape s = random_shape(&rng, (shape_kind)(i % 3));
        for (int k = 0; k < 3; k++)
            s.size[k] = sizes[pl_random_u64(&rng) % 6];
        egg e = random_egg(&rng, 1), other = random_egg(&rng, 1);
        pl_ball ball = ball_of(&e, sizes[1 + pl_random_u64(&rng) % 4]);
        if (i % 2)
            memcpy(ball.from, other.at, sizeof other.at);
        pl_barrier barrier;
        if (touches(&s, &ball, &barrier))
            for (int k = 0; k < 3; k++)
                assert_true(isfinite(barrier.normal[k]) && isfinite(barrier.point[k]) &&
                            isfinite(barrier.overlap));
    }
    /* On a floor of a million kilometres as on one of a metre. */
    for (double half = 1; half < 1e13; half *= 1e3) {
        double size[3] = {half, half, half}, from[3] = {0.3, half + 0.9, 0.2},
               at[3] = {0.3, half + 0.4, 0.2};
        double shape_of[6] = {0.25, 0, 0, 0.25, 0, 0.25};
        pl_ball ball;
        pl_barrier barrier;
        assert_true(pl_ball_make(&ball, from, at, shape_of));
        assert_true(pl_ball_on_box(&ball, size, &barrier));
        assert_true(fabs(barrier.overlap - 0.1) < 1e-6 + 1e-15 * half &&
                    barrier.normal[1] > 0.999999);
        assert_true(pl_ball_on_sphere(&ball, half, &barrier));
        assert_true(half < 10 || fabs(barrier.overlap - 0.1) < 0.1 / half + 1e-4);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(boxes_agree_with_brute_force),
        cmocka_unit_test(spheres_agree_with_brute_force),
        cmocka_unit_test(capsules_agree_with_brute_force),
        cmocka_unit_test(triangles_agree_with_brute_force),
        cmocka_unit_test(nothing_passes_through_shapes),
        cmocka_unit_test(a_cube_of_triangles_is_a_box),
        cmocka_unit_test(the_first_triangle_stops),
        cmocka_unit_test(both_sides_stop),
        cmocka_unit_test(triangles_without_area_are_left_out),
        cmocka_unit_test(no_size_is_too_small_or_too_large),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
