/* Poses drawn by warps and by deformed copies of a surface: positions, rotations and stretches
   against formulas, rigid copies, copies against warps, and what is no pose. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/check.h"
#include "support/world_kit.h"

#include "math/quat.h"
#include "pliant/cook.h"
#include "shape/pose.h"

static const double pi = 3.14159265358979323846;

/* A bar of 5 × 5 × 9 points along z: size 1 × 1 × 2, its middle at the origin or not. */
static pl_model *bar(void)
{
    return world_sized_model(PL_SHAPE_BOX, 5, 5, 9, 1, 1, 2, true);
}

static double *rest_of_model(const pl_model *model, pl_model_field field, int count)
{
    double *x = malloc(sizeof(double) * 4 * (size_t)count);
    assert_int_equal(pl_model_read(model, field, 0, count, pl_doubles(x, 0)), PL_OK);
    return x;
}

static pl_vec3 vector(const double *x, int i)
{
    return pl_v3(x[3 * i], x[3 * i + 1], x[3 * i + 2]);
}

static pl_quat turn_of(const pl_pose *pose, int i)
{
    const double *q = pose->rotations + 4 * i;
    return (pl_quat){q[0], q[1], q[2], q[3]};
}

static pl_pose warp_of(const pl_model *model, const pl_warp *warp)
{
    pl_pose pose;
    pl_error error = {0};
    if (pl_pose_warp(model, warp, 1, &pose, &error) != PL_OK)
        fail_msg("%s: %s", error.where, error.text);
    assert_int_equal(pose.particle_count, pl_model_get_info(model).particle_count);
    return pose;
}

static pl_warp along_z(pl_warp_kind kind)
{
    pl_warp warp = pl_default_warp(kind);
    warp.axis[2] = 3;
    warp.side[0] = 1;
    return warp;
}

static pl_vec3 middle_of(const pl_model *model)
{
    pl_model_info info = pl_model_get_info(model);
    return pl_v3(0.5 * (info.lower[0] + info.upper[0]), 0.5 * (info.lower[1] + info.upper[1]),
                 0.5 * (info.lower[2] + info.upper[2]));
}

static void check_near(pl_vec3 a, pl_vec3 b, double tolerance)
{
    if (!(pl_v3_distance(a, b) <= tolerance))
        fail_msg("%g %g %g and not %g %g %g", a.x, a.y, a.z, b.x, b.y, b.z);
}

/* ---- Twist ----------------------------------------------------------------------------------- */

static void twist_is_a_turn_by_height(void **state)
{
    (void)state;
    pl_model *model = bar();
    pl_model_info info = pl_model_get_info(model);
    double *rest = rest_of_model(model, PL_REST_POSITIONS, info.particle_count);
    pl_warp warp = along_z(PL_WARP_TWIST);
    warp.amount = 1.2;
    warp.shorten = 0.8;
    pl_pose pose = warp_of(model, &warp);
    pl_vec3 m = middle_of(model);
    double length = info.upper[2] - info.lower[2];
    for (int i = 0; i < info.particle_count; i++) {
        pl_vec3 x = pl_v3_sub(vector(rest, i), m);
        double angle = 1.2 * x.z / length, c = cos(angle), s = sin(angle);
        check_near(vector(pose.positions, i),
                   pl_v3_add(m, pl_v3(c * x.x - s * x.y, s * x.x + c * x.y, 0.8 * x.z)), 1e-6);
        pl_vec3 turned = pl_quat_rotate(turn_of(&pose, i), pl_v3(1, 0, 0));
        check_near(turned, pl_v3(c, s, 0), 1e-6);
    }
    pl_pose_free(&pose);
    assert_null(pose.positions);
    free(rest);
    pl_model_release(model);
}

/* The gradient of a twist of κ radians a metre: S² = FᵀF with F = [x, y turned | (−κ y, κ x,
   shorten)]; compared with a fit over a small region. */
static void stretch_of_a_twist(void **state)
{
    (void)state;
    pl_model *model = world_sized_model(PL_SHAPE_BOX, 9, 9, 17, 1, 1, 2, true);
    pl_model_info info = pl_model_get_info(model);
    double *rest = rest_of_model(model, PL_REST_POSITIONS, info.particle_count);
    pl_warp warp = along_z(PL_WARP_TWIST);
    warp.amount = 0.5;
    warp.shorten = 0.9;
    pl_pose pose = warp_of(model, &warp);
    pl_vec3 m = middle_of(model);
    double kappa = 0.5 / (info.upper[2] - info.lower[2]);
    int tried = 0;
    for (int i = 0; i < info.particle_count; i++) {
        int first = model->start[i], count = model->start[i + 1] - first;
        if (count < 18)
            continue; /* only inside are regions symmetric */
        pl_fit_sums sums = {0};
        pl_fit_add(&sums, 1, vector(rest, i), vector(pose.positions, i));
        for (int k = first; k < first + count; k++)
            pl_fit_add(&sums, 1, vector(rest, model->neighbour[k]),
                       vector(pose.positions, model->neighbour[k]));
        pl_fit fit = pl_fit_solve(&sums);
        pl_mat3 c = pl_m3_mul(pl_m3_transpose(fit.gradient), fit.gradient);
        pl_vec3 x = pl_v3_sub(vector(rest, i), m);
        double want[3] = {-kappa * x.y, kappa * x.x,
                          0.81 + kappa * kappa * (x.x * x.x + x.y * x.y)};
        for (int k = 0; k < 3; k++)
            assert_true(fabs(c.m[k][2] - want[k]) < 3e-3);
        assert_true(fabs(fit.ratio - 0.9) < 2e-3);
        tried++;
    }
    assert_true(tried > 100);
    pl_pose_free(&pose);
    free(rest);
    pl_model_release(model);
}

/* ---- Bends ----------------------------------------------------------------------------------- */

/* The line in the middle keeps its (shortened) length, and turns by the amount. */
static void bends_turn_by_the_amount(void **state)
{
    (void)state;
    pl_model *rod = world_sized_model(PL_SHAPE_CHAIN, 101, 0, 0, 1, 0.01, 0.01, false);
    pl_model_info info = pl_model_get_info(rod);
    int n = info.particle_count;
    assert_int_equal(n, 101);
    double *rest = rest_of_model(rod, PL_REST_POSITIONS, n);
    double whole = pl_v3_distance(vector(rest, n - 1), vector(rest, 0));
    pl_vec3 along = pl_v3_normalise(pl_v3_sub(vector(rest, n - 1), vector(rest, 0)));
    static const struct {
        pl_warp_kind kind;
        double amount, shorten, turned, middle;
    } cases[] = {{PL_WARP_BEND, 2, 0.9, 2, 1},
                 {PL_WARP_BEND, -1, 1, -1, -0.5},
                 {PL_WARP_S, 2.5, 0.5, 0, 2.5},
                 {PL_WARP_SQUASH, 1, 0.5, 0, 0}};
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        pl_warp warp = pl_default_warp(cases[k].kind);
        warp.amount = cases[k].amount;
        warp.shorten = cases[k].shorten;
        pl_pose pose = warp_of(rod, &warp);
        double length = 0;
        for (int i = 1; i < n; i++)
            length += pl_v3_distance(vector(pose.positions, i), vector(pose.positions, i - 1));
        assert_true(fabs(length - cases[k].shorten * whole) < 1e-3);
        pl_vec3 ends[3];
        const int at[3] = {0, n / 2, n - 1};
        for (int e = 0; e < 3; e++)
            ends[e] = pl_quat_rotate(turn_of(&pose, at[e]), along);
        assert_true(fabs(pl_v3_dot(ends[0], ends[2]) - cos(cases[k].turned)) < 1e-6);
        assert_true(fabs(pl_v3_dot(ends[0], ends[1]) - cos(cases[k].middle)) < 1e-6);
        for (int i = 1; i + 1 < n; i++) { /* frames follow the line */
            pl_vec3 tangent = pl_v3_normalise(
                pl_v3_sub(vector(pose.positions, i + 1), vector(pose.positions, i - 1)));
            check_near(pl_quat_rotate(turn_of(&pose, i), along), tangent, 0.03);
        }
        pl_pose_free(&pose);
    }
    free(rest);
    pl_model_release(rod);
}

/* A helix: length kept, height as given, radius and handedness, no turn about the tangent. */
static void coils_are_helices(void **state)
{
    (void)state;
    pl_model *rod = world_sized_model(PL_SHAPE_CHAIN, 201, 0, 0, 1, 0.01, 0.01, false);
    int n = pl_model_get_info(rod).particle_count;
    double *rest = rest_of_model(rod, PL_REST_POSITIONS, n);
    double whole = pl_v3_distance(vector(rest, n - 1), vector(rest, 0));
    pl_vec3 along = pl_v3_normalise(pl_v3_sub(vector(rest, n - 1), vector(rest, 0)));
    for (int hand = -1; hand <= 1; hand += 2) {
        pl_warp warp = pl_default_warp(PL_WARP_COIL);
        warp.amount = hand * 6 * pi;
        warp.shorten = 0.3;
        pl_pose pose = warp_of(rod, &warp);
        double length = 0, turned = 0;
        pl_vec3 moment = {0, 0, 0};
        for (int i = 1; i < n; i++) {
            pl_vec3 step = pl_v3_sub(vector(pose.positions, i), vector(pose.positions, i - 1));
            length += pl_v3_length(step);
            pl_quat q = pl_quat_mul(pl_quat_conjugate(turn_of(&pose, i - 1)), turn_of(&pose, i));
            turned += fabs(2 * pl_v3_dot(pl_v3(q.x, q.y, q.z), along) * (q.w < 0 ? -1 : 1));
        }
        for (int i = 1; i + 1 < n; i++) {
            pl_vec3 a = pl_v3_sub(vector(pose.positions, i), vector(pose.positions, i - 1));
            pl_vec3 b = pl_v3_sub(vector(pose.positions, i + 1), vector(pose.positions, i));
            moment = pl_v3_add(moment, pl_v3_cross(pl_v3_normalise(a), pl_v3_normalise(b)));
            check_near(pl_quat_rotate(turn_of(&pose, i), along), pl_v3_normalise(pl_v3_add(a, b)),
                       0.02);
        }
        double height =
            pl_v3_dot(pl_v3_sub(vector(pose.positions, n - 1), vector(pose.positions, 0)), along);
        assert_true(fabs(length - whole) < 2e-3 && fabs(height - 0.3 * whole) < 1e-6);
        assert_true(turned < 0.05); /* a frame that followed the curve would have 6π · 0.3 */
        assert_true(hand * pl_v3_dot(moment, along) > 10); /* nearly 6π sin of the pitch */
        pl_pose_free(&pose);
    }
    free(rest);
    pl_model_release(rod);
}

/* A sheet in three flat pieces: distances within a piece stay, creases have the angle. */
static void folds_keep_pieces_flat(void **state)
{
    (void)state;
    pl_model *sheet = world_sized_model(PL_SHAPE_SHEET, 13, 7, 0, 1.2, 0.6, 0.01, false);
    pl_model_info info = pl_model_get_info(sheet);
    int n = info.particle_count;
    double *rest = rest_of_model(sheet, PL_REST_POSITIONS, n);
    pl_warp warp = pl_default_warp(PL_WARP_FOLD);
    warp.amount = 1;
    warp.folds = 2;
    warp.axis[0] = 1;
    pl_pose pose = warp_of(sheet, &warp);
    double width = info.upper[0] - info.lower[0];
    int pairs[3] = {0};
    for (int i = 0; i < n; i++)
        for (int j = 0; j < i; j++) {
            double a = 3 * (rest[3 * i] - info.lower[0]) / width,
                   b = 3 * (rest[3 * j] - info.lower[0]) / width;
            double far = pl_v3_distance(vector(rest, i), vector(rest, j));
            double now = pl_v3_distance(vector(pose.positions, i), vector(pose.positions, j));
            for (int piece = 0; piece < 3; piece++)
                if (fmin(a, b) > piece - 1e-6 && fmax(a, b) < piece + 1 + 1e-6) {
                    assert_true(fabs(far - now) < 1e-6);
                    pairs[piece]++;
                }
            if (floor(a + 1e-9) != floor(b + 1e-9) && fmin(a, b) < 0.9 && fmax(a, b) > 1.1)
                assert_true(now < far);
        }
    assert_true(pairs[0] > 100 && pairs[1] > 100 && pairs[2] > 100);
    assert_true(fabs(fabs(2 * acos(fabs(turn_of(&pose, 0).w))) - 0.5) < 1e-6);
    pl_pose_free(&pose);
    free(rest);
    pl_model_release(sheet);
}

/* Volume: squashed to a half and as much wider; beyond `to` nothing changes shape; two warps follow
   each other. */
static void squash_and_regions(void **state)
{
    (void)state;
    pl_model *model = bar();
    pl_model_info info = pl_model_get_info(model);
    int n = info.particle_count;
    double *rest = rest_of_model(model, PL_REST_POSITIONS, n);
    pl_warp warp = along_z(PL_WARP_SQUASH);
    warp.shorten = 0.5;
    pl_pose pose = warp_of(model, &warp);
    pl_vec3 m = middle_of(model);
    for (int i = 0; i < n; i++) {
        pl_vec3 x = pl_v3_sub(vector(rest, i), m);
        check_near(pl_v3_sub(vector(pose.positions, i), m),
                   pl_v3(sqrt(2) * x.x, sqrt(2) * x.y, 0.5 * x.z), 1e-6);
    }
    pl_pose_free(&pose);
    pl_warp both[2] = {along_z(PL_WARP_BEND), along_z(PL_WARP_TWIST)};
    both[0].to = 0.5;
    both[0].amount = 1;
    both[1].from = 0.5; /* of what the first made */
    assert_int_equal(pl_pose_warp(model, both, 2, &pose, NULL), PL_OK);
    pl_pose first = warp_of(model, both);
    for (int i = 0; i < n; i++)
        for (int j = 0; j < i; j++)
            if (rest[3 * i + 2] > m.z && rest[3 * j + 2] > m.z)
                assert_true(fabs(pl_v3_distance(vector(rest, i), vector(rest, j)) -
                                 pl_v3_distance(vector(first.positions, i),
                                                vector(first.positions, j))) < 1e-6);
    assert_true(pl_v3_distance(vector(first.positions, n - 1), vector(pose.positions, n - 1)) >
                0.1);
    pl_pose_free(&first);
    pl_pose_free(&pose);
    free(rest);
    pl_model_release(model);
}

/* ---- Copies of the surface ------------------------------------------------------------------- */

static pl_model *cooked(const char *name)
{
    pl_mesh mesh;
    pl_cook_def def;
    pl_model *model;
    assert_int_equal(pl_builtin_mesh(name, 1, NULL, &mesh, NULL), PL_OK);
    assert_int_equal(pl_builtin_cook_def(name, &mesh, &def), PL_OK);
    assert_int_equal(pl_cook(&def, &model, NULL, NULL), PL_OK);
    pl_mesh_free(&mesh);
    return model;
}

/* An affine copy is followed exactly, whatever the mesh; a rigid one gives S = I. */
static void affine_copies_are_exact(void **state)
{
    (void)state;
    static const char *const names[] = {"torus", "car", "teddy"};
    for (int k = 0; k < (check_is_slow_build() ? 1 : 3); k++) {
        pl_model *model = cooked(names[k]);
        pl_model_info info = pl_model_get_info(model);
        double *rest = rest_of_model(model, PL_REST_POSITIONS, info.particle_count);
        double *vertices = rest_of_model(model, PL_REST_VERTICES, info.vertex_count);
        pl_quat turn = pl_quat_axis_angle(pl_v3(1, 2, -1), 2.5);
        for (int rigid = 0; rigid < 2; rigid++) {
            pl_mat3 f = pl_quat_to_m3(turn);
            if (!rigid)
                f = pl_m3_mul(f, (pl_mat3){{{1.2, 0.3, 0}, {0.3, 0.7, 0.1}, {0, 0.1, 1}}});
            double *copy = malloc(sizeof(double) * 3 * (size_t)info.vertex_count);
            for (int v = 0; v < info.vertex_count; v++) {
                pl_vec3 y = pl_v3_add(pl_v3(5, -3, 2), pl_m3_mul_v3(f, vector(vertices, v)));
                copy[3 * v] = y.x, copy[3 * v + 1] = y.y, copy[3 * v + 2] = y.z;
            }
            pl_pose pose;
            pl_error error = {0};
            if (pl_pose_from_vertices(model, copy, info.vertex_count, &pose, &error) != PL_OK)
                fail_msg("%s: %s %s", names[k], error.where, error.text);
            for (int i = 0; i < info.particle_count; i++) {
                check_near(vector(pose.positions, i),
                           pl_v3_add(pl_v3(5, -3, 2), pl_m3_mul_v3(f, vector(rest, i))),
                           1e-5 * info.spacing);
                double same = fabs(pl_quat_dot(turn_of(&pose, i), turn));
                assert_true(!rigid || same > 1 - 1e-9);
            }
            pl_pose_free(&pose);
            free(copy);
        }
        free(rest);
        free(vertices);
        pl_model_release(model);
    }
}

/* A twisted copy of the surface gives about what the warp gives. */
static void copies_follow_warps(void **state)
{
    (void)state;
    pl_model *model = cooked("cuboid");
    pl_model_info info = pl_model_get_info(model);
    pl_warp warp = pl_default_warp(PL_WARP_TWIST);
    int axis = info.upper[0] - info.lower[0] > info.upper[1] - info.lower[1] ? 0 : 1;
    axis = info.upper[2] - info.lower[2] > info.upper[axis] - info.lower[axis] ? 2 : axis;
    warp.axis[axis] = 1;
    pl_pose pose = warp_of(model, &warp), copy;
    double *vertices = rest_of_model(model, PL_REST_VERTICES, info.vertex_count);
    pl_vec3 m = middle_of(model);
    double length = info.upper[axis] - info.lower[axis];
    for (int v = 0; v < info.vertex_count; v++) {
        pl_vec3 x = pl_v3_sub(vector(vertices, v), m), e = {axis == 0, axis == 1, axis == 2};
        double s = pl_v3_dot(x, e);
        x = pl_v3_add_scaled(x, (warp.shorten - 1) * s, e);
        x = pl_v3_add(m, pl_quat_rotate(pl_quat_axis_angle(e, warp.amount * s / length), x));
        vertices[3 * v] = x.x, vertices[3 * v + 1] = x.y, vertices[3 * v + 2] = x.z;
    }
    assert_int_equal(pl_pose_from_vertices(model, vertices, info.vertex_count, &copy, NULL), PL_OK);
    double worst = 0, wry = 0;
    for (int i = 0; i < info.particle_count; i++) {
        worst = fmax(worst, pl_v3_distance(vector(pose.positions, i), vector(copy.positions, i)));
        wry = fmax(wry, 2 * acos(fmin(1, fabs(pl_quat_dot(turn_of(&pose, i), turn_of(&copy, i))))));
    }
    printf("twisted copy against twist: %.4f spacings, %.3f rad\n", worst / info.spacing, wry);
    /* At the corners the shear of the twist turns the fitted rotation against that of the
       cross-section. */
    assert_true(worst < 0.1 * info.spacing && wry < 0.35);
    pl_pose_free(&pose);
    pl_pose_free(&copy);
    free(vertices);
    pl_model_release(model);
}

/* ---- Bad input ------------------------------------------------------------------------------- */

static void check_refused(pl_status status, const pl_error *error, const pl_pose *pose,
                          const char *says)
{
    assert_int_equal(status, PL_ERROR_ARGUMENT);
    assert_null(pose->positions);
    if (!strstr(error->text, says))
        fail_msg("%s: %s (and not: %s)", error->where, error->text, says);
}

static void bad_copies(void **state)
{
    (void)state;
    pl_model *model = cooked("cuboid");
    pl_model_info info = pl_model_get_info(model);
    int n = info.vertex_count;
    double *good = rest_of_model(model, PL_REST_VERTICES, n);
    double *bad = malloc(sizeof(double) * 3 * (size_t)n);
    pl_pose pose;
    pl_error error;
    char says[64];
    snprintf(says, sizeof says, "there are %d vertices; the model has %d", n + 3, n);
    check_refused(pl_pose_from_vertices(model, good, n + 3, &pose, &error), &error, &pose, says);
    for (int kind = 0; kind < 4; kind++) {
        for (int v = 0; v < n; v++)
            for (int k = 0; k < 3; k++) {
                double x = good[3 * v + k];
                bad[3 * v + k] = kind == 0 && k == 1   ? -x    /* mirrored */
                                 : kind == 1 && k == 1 ? 0     /* flat */
                                 : kind == 2 && v == 7 ? NAN   /* no number */
                                 : kind == 3 && v == 7 ? 1e300 /* far away */
                                                       : x;
            }
        check_refused(pl_pose_from_vertices(model, bad, n, &pose, &error), &error, &pose,
                      kind == 0   ? "mirrored copy"
                      : kind == 1 ? "no volume"
                                  : "must be finite");
    }
    free(good);
    free(bad);
    pl_model_release(model);
}

static void bad_warps(void **state)
{
    (void)state;
    pl_model *model = bar();
    pl_pose pose;
    pl_error error;
    for (int kind = 0; kind < 10; kind++) {
        pl_warp warp = along_z(kind == 7 ? PL_WARP_COIL : PL_WARP_BEND);
        double *fields[] = {warp.axis,   warp.side,  &warp.amount, &warp.shorten,
                            &warp.bulge, &warp.from, &warp.to};
        if (kind < 7)
            *fields[kind] = NAN;
        if (kind == 7)
            warp.shorten = 1;
        if (kind == 8)
            memcpy(warp.side, warp.axis, sizeof warp.side);
        if (kind == 9)
            warp.folds = 0;
        check_refused(pl_pose_warp(model, &warp, 1, &pose, &error), &error, &pose, "");
    }
    pl_warp blank = {0};
    check_refused(pl_pose_warp(model, &blank, 1, &pose, &error), &error, &pose, "pl_default_warp");
    check_refused(pl_pose_warp(model, &blank, 0, &pose, &error), &error, &pose, "1 to");
    pl_model_release(model);
}

/* Poses that a body would refuse. */
static void bad_regions(void **state)
{
    (void)state;
    pl_model *model = bar();
    pl_warp warp = along_z(PL_WARP_TWIST);
    pl_pose pose = warp_of(model, &warp);
    pl_error error;
    assert_int_equal(pl_pose_check(model, &pose, "poses[0]", &error), PL_OK);
    assert_int_equal(pl_pose_check_regions(model, PL_POSE_RINGS, &pose, "poses[0]", &error), PL_OK);
    double *x = (double *)(uintptr_t)pose.positions;
    int n = pose.particle_count;
    for (int i = 0; i < n; i++)
        x[3 * i] = -x[3 * i];
    assert_int_equal(pl_pose_check_regions(model, PL_POSE_RINGS, &pose, "poses[3]", &error),
                     PL_ERROR_ARGUMENT);
    assert_string_equal(error.where, "poses[3]");
    assert_non_null(strstr(error.text, "inside out; it is a mirrored copy"));
    for (int i = 0; i < n; i++)
        x[3 * i] = 1;
    assert_int_equal(pl_pose_check_regions(model, PL_POSE_RINGS, &pose, "poses[3]", &error),
                     PL_ERROR_ARGUMENT);
    assert_non_null(strstr(error.text, "no volume"));
    x[5] = INFINITY;
    assert_int_equal(pl_pose_check(model, &pose, "poses[3]", &error), PL_ERROR_ARGUMENT);
    assert_string_equal(error.where, "poses[3].positions[1]");
    pose.particle_count = 7;
    assert_int_equal(pl_pose_check(model, &pose, "poses[0]", &error), PL_ERROR_ARGUMENT);
    assert_string_equal(error.text, "has 7 particles; the model has 225");
    pl_pose_free(&pose);
    pl_pose_free(&pose);
    pl_pose_free(NULL);
    pl_model_release(model);
}

/* One particle of a block pushed through the tetrahedra around it: its ring is hardly deformed as a
   whole, some of the tetrahedra are inside out. Which is told by a count of signs. */
static void regions_are_those_of_the_matter(void **state)
{
    (void)state;
    pl_model *solid = world_sized_model(PL_SHAPE_BLOCK, 4, 6, 4, 0.4, 1, 0.4, false), *model;
    pl_error error = {0};
    assert_int_equal(pl_model_tetrahedral(solid, &model, &error), PL_OK);
    pl_warp still = along_z(PL_WARP_TWIST);
    still.amount = 0, still.shorten = 1;
    pl_pose pose = warp_of(model, &still);
    double *x = (double *)(uintptr_t)pose.positions;
    int missed = 0;
    assert_int_equal(pl_pose_check_regions(model, PL_POSE_TETS, &pose, "pose", &error), PL_OK);
    for (int i = 0; i < pose.particle_count; i++)
        for (int part = 1; part <= 8; part++) {
            double kept = x[3 * i + 1], least = 1;
            x[3 * i + 1] += 0.05 * part * (i % 2 ? 1 : -1);
            int inverted = 0;
            for (int t = 0; t < model->tet_count; t++) {
                const int32_t *v = model->tets + 4 * (size_t)t;
                pl_vec3 a[3];
                for (int k = 0; k < 3; k++)
                    a[k] = pl_v3_sub(vector(x, v[k + 1]), vector(x, v[0]));
                double volume6 = pl_v3_dot(pl_v3_cross(a[0], a[1]), a[2]);
                inverted += volume6 < 0;
                least = fmin(least, fabs(volume6));
            }
            pl_status status = pl_pose_check_regions(model, PL_POSE_TETS, &pose, "pose", &error);
            if (inverted && status != PL_OK && strstr(error.text, "inside out"))
                assert_non_null(strstr(error.text, "bend or shorten less"));
            if (least > 1e-4) /* neither flat nor nearly so */
                assert_int_equal(status, inverted ? PL_ERROR_ARGUMENT : PL_OK);
            missed += inverted &&
                      pl_pose_check_regions(model, PL_POSE_RINGS, &pose, "pose", &error) == PL_OK;
            x[3 * i + 1] = kept;
        }
    printf("inverted tetrahedra in sound rings: %d poses\n", missed);
    assert_true(missed > 0);
    pl_pose_free(&pose);
    pl_model_release(model);
    pl_model_release(solid);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(twist_is_a_turn_by_height),
                                       cmocka_unit_test(stretch_of_a_twist),
                                       cmocka_unit_test(bends_turn_by_the_amount),
                                       cmocka_unit_test(coils_are_helices),
                                       cmocka_unit_test(folds_keep_pieces_flat),
                                       cmocka_unit_test(squash_and_regions),
                                       cmocka_unit_test(affine_copies_are_exact),
                                       cmocka_unit_test(copies_follow_warps),
                                       cmocka_unit_test(bad_copies),
                                       cmocka_unit_test(bad_warps),
                                       cmocka_unit_test(bad_regions),
                                       cmocka_unit_test(regions_are_those_of_the_matter)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
