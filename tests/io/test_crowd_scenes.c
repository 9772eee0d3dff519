/* The scenes of crowds, falls, ropes and slopes that are shipped: each builds, runs, and gives the
   same bits for any number of threads and every vector width. In thorough runs the two crowds of
   the paper's Fig. 7 are followed for 600 frames: nobody below the floor, nobody outside the fence,
   nobody inside another. Nobody is pressed against anything at the start, and a tower stands until
   it is hit. Label: slow */
#include "support/check.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "io/file.h"
#include "io/scene.h"
#include "math/simd.h"

#define SCENES PLIANT_SOURCE_DIR "/scenes"

static const char *const names[] = {"dinosaur-fall", "rabbit-on-sheet", "crowd-52",
                                    "crowd-180",     "pile-1000",       "rope-coil",
                                    "drape",         "cannonball",      "slope"};
enum { SCENE_COUNT = sizeof names / sizeof *names };

typedef struct show {
    pl_memory memory;
    pl_scene *scene;
    pl_play *play;
} show;

static void open_show(show *s, const char *name)
{
    char path[1024], *bytes, shown[1200];
    size_t size;
    pl_trouble trouble;
    pl_play_options options = pl_default_play_options();
    snprintf(path, sizeof path, SCENES "/%s.json", name);
    pl_memory_init(&s->memory, NULL, 0);
    assert_int_equal(pl_file_read(&s->memory, path, 1 << 24, &bytes, &size, &trouble), PL_OK);
    if (pl_scene_read(&s->memory, path, bytes, size, &s->scene, &trouble) != PL_OK ||
        pl_play_create(s->scene, 0, &options, &s->play, &trouble) != PL_OK)
        fail_msg("%s", pl_trouble_format(&trouble, shown, sizeof shown));
    pl_memory_free(&s->memory, bytes);
}

static void close_show(show *s)
{
    pl_play_destroy(s->play);
    pl_scene_free(s->scene);
    assert_int_equal(s->memory.used, 0);
}

static double *read_field(const pl_world *world, const pl_play_body *body, pl_body_field field,
                          size_t width)
{
    int n = body->info.particle_count;
    double *out = test_malloc(sizeof *out * width * (size_t)n);
    assert_int_equal(pl_body_read(world, body->handle, field, 0, n, 1, pl_doubles(out, 0)), PL_OK);
    return out;
}

/* ---- Same bits ------------------------------------------------------------------------------- */

static uint64_t step_restored(int threads, const void *state, size_t size, pl_model *const *models,
                              int model_count, int frames)
{
    pl_world_def def = pl_default_world_def();
    pl_world *world;
    pl_error error = {0};
    def.threads = threads;
    assert_int_equal(pl_world_create(&def, &world, NULL), PL_OK);
    if (pl_world_restore(world, state, size, models, model_count, &error) != PL_OK)
        fail_msg("%s", error.text);
    for (int i = 0; i < frames; i++)
        assert_int_equal(pl_world_step(world, NULL), PL_OK);
    uint64_t hash = pl_world_hash(world);
    pl_world_destroy(world);
    return hash;
}

/* For a process of another width: frames, the state, and the models, which take long to cook. */
static void write_case(FILE *file, int frames, const void *state, size_t size, const pl_play *play)
{
    size_t counts[3] = {(size_t)frames, size, (size_t)play->model_count};
    assert_int_equal(fwrite(counts, sizeof counts, 1, file), 1);
    assert_int_equal(fwrite(state, size, 1, file), 1);
    for (int i = 0; i < play->model_count; i++) {
        size_t bytes = pl_model_pack_size(play->models[i]);
        void *packed = test_malloc(bytes);
        assert_int_equal(pl_model_pack(play->models[i], packed, bytes, NULL), PL_OK);
        assert_int_equal(fwrite(&bytes, sizeof bytes, 1, file), 1);
        assert_int_equal(fwrite(packed, bytes, 1, file), 1);
        test_free(packed);
    }
}

static void *read_bytes(FILE *file, size_t size)
{
    void *bytes = malloc(size);
    if (!bytes || fread(bytes, size, 1, file) != 1)
        exit(1);
    return bytes;
}

/* The other process: the width and the hash on the standard output. */
static int run_case(const char *path)
{
    FILE *file = fopen(path, "rb");
    size_t counts[3], bytes;
    pl_model *models[16];
    if (!file || fread(counts, sizeof counts, 1, file) != 1 || counts[2] > 16)
        return 1;
    void *state = read_bytes(file, counts[1]);
    for (size_t i = 0; i < counts[2]; i++) {
        if (fread(&bytes, sizeof bytes, 1, file) != 1)
            return 1;
        void *packed = read_bytes(file, bytes);
        if (pl_model_unpack(packed, bytes, NULL, &models[i], NULL) != PL_OK)
            return 1;
        free(packed);
    }
    fclose(file);
    uint64_t hash = step_restored(1, state, counts[1], models, (int)counts[2], (int)counts[0]);
    printf("%d %016llx\n", pl_simd_width(), (unsigned long long)hash);
    for (size_t i = 0; i < counts[2]; i++)
        pl_model_release(models[i]);
    free(state);
    return 0;
}

static uint64_t hash_of_width(int width, const char *path)
{
    char command[1200];
    int used = 0;
    unsigned long long hash = 0;
    char self[1000];
    ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);
    assert_true(length > 0);
    self[length] = 0;
    snprintf(command, sizeof command, "PLIANT_SIMD=%d '%s' --case '%s'", width, self, path);
    fflush(stdout);
    FILE *answer = popen(command, "r");
    assert_non_null(answer);
    assert_int_equal(fscanf(answer, "%d %llx", &used, &hash), 2);
    assert_int_equal(pclose(answer), 0);
    assert_int_equal(used, width);
    return hash;
}

static void all_is_finite(const pl_play *play)
{
    for (int b = 0; b < play->body_count; b++) {
        const pl_play_body *body = &play->bodies[b];
        double *x = read_field(play->world, body, PL_POSITIONS, 3),
               *u = read_field(play->world, body, PL_VELOCITIES, 3);
        for (int i = 0; i < 3 * body->info.particle_count; i++)
            assert_true(isfinite(x[i]) && isfinite(u[i]) && fabs(u[i]) < 1000);
        test_free(x);
        test_free(u);
    }
}

/* What the paper's scenes consist of; 0 = does not matter. */
static const struct {
    const char *name;
    int bodies, columns, particles, edges, vertices;
} papers[] = {{"crowd-52", 52, 12, 4120, 18600, 175000},
              {"crowd-180", 180, 12, 4404, 0, 704000},
              {"rabbit-on-sheet", 2, 1, 496, 0, 0},
              {"dinosaur-fall", 1, 0, 100, 0, 0}};

static void sums_are_the_papers(const char *name, const pl_play *play)
{
    int particles = 0, edges = 0, vertices = 0, columns = 0;
    size_t n = 0;
    while (n < sizeof papers / sizeof *papers && strcmp(papers[n].name, name) != 0)
        n++;
    if (n == sizeof papers / sizeof *papers)
        return;
    for (int b = 0; b < play->body_count; b++) {
        const pl_play_body *body = &play->bodies[b];
        particles += body->info.particle_count;
        edges += body->info.edge_count;
        vertices += body->info.vertex_count;
        columns += body->fixed_count > 0;
    }
    print_message("%s: %d bodies, %d particles, %d edges, %d vertices\n", name, play->body_count,
                  particles, edges, vertices);
    assert_int_equal(play->body_count, papers[n].bodies);
    assert_int_equal(columns, papers[n].columns);
    assert_int_equal(particles, papers[n].particles);
    if (papers[n].edges)
        assert_true(abs(edges - papers[n].edges) <= papers[n].edges / 100);
    if (papers[n].vertices)
        assert_true(abs(vertices - papers[n].vertices) <= papers[n].vertices / 100);
}

/* Half of the frames before, half of them after the state is saved; what moves by itself stands
   still then. */
static void every_scene_gives_the_same_bits(void **state)
{
    (void)state;
    char path[] = "/tmp/pliant-crowd-XXXXXX";
    int file_number = mkstemp(path), frames = check_rounds(60, 8);
    assert_true(file_number >= 0);
    close(file_number);
    for (int n = 0; n < SCENE_COUNT; n++) {
        show s;
        pl_report report;
        size_t size;
        open_show(&s, names[n]);
        sums_are_the_papers(names[n], s.play);
        for (int i = 0; i < frames; i++)
            assert_int_equal(pl_play_step(s.play, &report), PL_OK);
        assert_int_equal(pl_world_save(s.play->world, NULL, 0, &size), PL_OK);
        void *saved = test_malloc(size);
        assert_int_equal(pl_world_save(s.play->world, saved, size, &size), PL_OK);
        FILE *file = fopen(path, "wb");
        assert_non_null(file);
        write_case(file, frames, saved, size, s.play);
        fclose(file);
        assert_int_equal(report.rescued, 0);
        all_is_finite(s.play);
        uint64_t hash = step_restored(1, saved, size, s.play->models, s.play->model_count, frames);
        for (int threads = 2; threads <= 7; threads += 5)
            if (step_restored(threads, saved, size, s.play->models, s.play->model_count, frames) !=
                hash)
                fail_msg("%s: other bits with %d threads", names[n], threads);
        for (int width = 4; width <= 16; width *= 2)
            if (pl_simd_supports(width) && hash_of_width(width, path) != hash)
                fail_msg("%s: other bits at width %d", names[n], width);
        test_free(saved);
        close_show(&s);
    }
    unlink(path);
}

/* ---- Beginnings ------------------------------------------------------------------------------ */

/* What overlaps the floor or a neighbour as it is placed is strained in the first frame, by far
   more than its weight does; what is held that way is for good. */
static void nobody_is_pressed_at_the_start(void **state)
{
    (void)state;
    static const char *const piles[] = {"crowd-52", "crowd-180", "pile-1000", "cannonball"};
    for (size_t n = 0; n < sizeof piles / sizeof *piles; n++) {
        show s;
        double elastic = 0, height = 0;
        open_show(&s, piles[n]);
        assert_int_equal(pl_play_step(s.play, NULL), PL_OK);
        for (int b = 0; b < s.play->body_count; b++) {
            pl_energy energy;
            assert_int_equal(pl_body_get_energy(s.play->world, s.play->bodies[b].handle, &energy),
                             PL_OK);
            elastic += energy.elastic;
            height += energy.potential;
        }
        print_message("%s: elastic energy %.3f %% of that of height\n", piles[n],
                      100 * elastic / height);
        assert_true(elastic < 0.002 * height);
        close_show(&s);
    }
}

static double centre(const show *s, int body, int axis)
{
    pl_body_state state;
    assert_int_equal(pl_body_get_state(s->play->world, s->play->bodies[body].handle, &state),
                     PL_OK);
    return state.centre[axis];
}

/* The tower of the cannon ball, which is the last body and is stopped before it can do anything. */
static void the_tower_stands_until_it_is_hit(void **state)
{
    (void)state;
    show s;
    double still[3] = {0, 0, 0}, most = 0, at[64][3];
    open_show(&s, "cannonball");
    int blocks = s.play->body_count - 1;
    assert_true(blocks > 0 && blocks <= 64);
    assert_int_equal(pl_body_write(s.play->world, s.play->bodies[blocks].handle, PL_VELOCITIES, 0,
                                   1, pl_doubles(still, 0)),
                     PL_OK);
    for (int b = 0; b < blocks; b++)
        for (int k = 0; k < 3; k++)
            at[b][k] = centre(&s, b, k);
    for (int f = check_rounds(600, 150); f > 0; f--)
        assert_int_equal(pl_play_step(s.play, NULL), PL_OK);
    for (int b = 0; b < blocks; b++)
        for (int k = 0; k < 3; k++)
            most = fmax(most, fabs(centre(&s, b, k) - at[b][k]));
    print_message("blocks settle by %.1f mm at the most\n", 1000 * most);
    assert_true(most < 0.05);
    close_show(&s);
}

/* ---- Crowds ---------------------------------------------------------------------------------- */

/* A particle as contact sees it: {x : (x − centre)ᵀ b⁻¹ (x − centre) ≤ 1}. */
typedef struct grain {
    double centre[3], b[3][3], largest, least;
    int body;
} grain;

typedef struct crowd {
    show s;
    int count;
    grain *grains;
} crowd;

static void turn_ellipsoid(const double q[4], const double radii[3], double b[3][3])
{
    double axes[3][3];
    for (int k = 0; k < 3; k++) {
        const double unit[3] = {k == 0, k == 1, k == 2};
        pl_quaternion_rotate(q, unit, axes[k]);
    }
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) {
            b[i][j] = 0;
            for (int k = 0; k < 3; k++)
                b[i][j] += axes[k][i] * radii[k] * radii[k] * axes[k][j];
        }
}

static void look_at_body(crowd *c, int body)
{
    const pl_play_body *from = &c->s.play->bodies[body];
    int n = from->info.particle_count;
    double *x = read_field(c->s.play->world, from, PL_POSITIONS, 3),
           *turned = read_field(c->s.play->world, from, PL_ROTATIONS, 4),
           *rest = test_malloc(sizeof *rest * 4 * (size_t)n),
           *radii = test_malloc(sizeof *radii * 3 * (size_t)n);
    pl_model_read(from->model, PL_REST_ORIENTATIONS, 0, n, pl_doubles(rest, 0));
    pl_model_read(from->model, PL_REST_RADII, 0, n, pl_doubles(radii, 0));
    for (int i = 0; i < n; i++) {
        grain *g = &c->grains[c->count++];
        const double *r = radii + 3 * i;
        double q[4];
        memcpy(g->centre, x + 3 * i, sizeof g->centre);
        pl_quaternion_multiply(turned + 4 * i, rest + 4 * i, q);
        turn_ellipsoid(q, r, g->b);
        g->largest = fmax(r[0], fmax(r[1], r[2]));
        g->least = fmin(r[0], fmin(r[1], r[2]));
        g->body = body;
    }
    test_free(x);
    test_free(turned);
    test_free(rest);
    test_free(radii);
}

static void look(crowd *c)
{
    c->count = 0;
    for (int b = 0; b < c->s.play->body_count; b++)
        look_at_body(c, b);
}

static double half_width(const grain *g, const double m[3])
{
    double sum = 0;
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            sum += m[i] * g->b[i][j] * m[j];
    return sqrt(sum);
}

static double plane_distance(const grain *a, const grain *b, const double n[3], const double m[3])
{
    double along = m[0] * n[0] + m[1] * n[1] + m[2] * n[2];
    return along > 1e-9 ? (half_width(a, m) + half_width(b, m)) / along : 1e300;
}

/* The closest approach of two ellipsoids along n: min over m of (√(mᵀB₁m) + √(mᵀB₂m)) / (n · m), a
   convex function of m in the plane n · m = 1; a pattern search finds its minimum. */
static double closest_approach(const grain *a, const grain *b, const double n[3])
{
    static const double ways[8][2] = {{1, 0}, {-1, 0}, {0, 1},  {0, -1},
                                      {1, 1}, {1, -1}, {-1, 1}, {-1, -1}};
    const double side[3] = {fabs(n[0]) < 0.6, fabs(n[0]) >= 0.6, 0};
    double u[3] = {n[1] * side[2] - n[2] * side[1], n[2] * side[0] - n[0] * side[2],
                   n[0] * side[1] - n[1] * side[0]};
    double length = sqrt(u[0] * u[0] + u[1] * u[1] + u[2] * u[2]);
    for (int k = 0; k < 3; k++)
        u[k] /= length;
    const double v[3] = {n[1] * u[2] - n[2] * u[1], n[2] * u[0] - n[0] * u[2],
                         n[0] * u[1] - n[1] * u[0]};
    double s = 0, t = 0, best = plane_distance(a, b, n, n);
    for (double step = 1; step > 1e-4;) {
        int found = -1;
        for (int w = 0; w < 8; w++) {
            double m[3];
            for (int k = 0; k < 3; k++)
                m[k] = n[k] + (s + step * ways[w][0]) * u[k] + (t + step * ways[w][1]) * v[k];
            double value = plane_distance(a, b, n, m);
            if (value < best) {
                best = value;
                found = w;
            }
        }
        s += found >= 0 ? step * ways[found][0] : 0;
        t += found >= 0 ? step * ways[found][1] : 0;
        step *= found >= 0 ? 1.5 : 0.4;
    }
    return best;
}

/* The largest part of its closest approach by which two particles of different bodies overlap;
   `body` gets the two. */
static double deepest(const crowd *c, int body[2], int *deep)
{
    double worst = 0;
    *deep = 0;
    for (int i = 0; i < c->count; i++)
        for (int j = i + 1; j < c->count; j++) {
            const grain *a = &c->grains[i], *b = &c->grains[j];
            double n[3], square = 0, reach = a->largest + b->largest;
            for (int k = 0; k < 3; k++) {
                n[k] = b->centre[k] - a->centre[k];
                square += n[k] * n[k];
            }
            if (a->body == b->body || square >= reach * reach)
                continue;
            double distance = sqrt(square);
            for (int k = 0; k < 3; k++)
                n[k] /= distance;
            double overlap = 1 - distance / closest_approach(a, b, n);
            *deep += overlap > 0.2;
            if (overlap > worst) {
                worst = overlap;
                body[0] = a->body;
                body[1] = b->body;
            }
        }
    return worst;
}

static bool is_column(const crowd *c, int body)
{
    return c->s.play->bodies[body].fixed_count > 0;
}

/* Half the side of the square around all columns as they stand at the start. */
static double fence(const crowd *c)
{
    double most = 0;
    for (int i = 0; i < c->count; i++) {
        const grain *g = &c->grains[i];
        if (is_column(c, g->body))
            for (int k = 0; k < 3; k += 2)
                most = fmax(most, fabs(g->centre[k]) + sqrt(g->b[k][k]));
    }
    return most;
}

/* How far a particle that is not a column's has got from the middle. */
static double furthest(const crowd *c, int *body)
{
    double most = 0;
    for (int i = 0; i < c->count; i++) {
        const grain *g = &c->grains[i];
        double off = fmax(fabs(g->centre[0]), fabs(g->centre[2]));
        if (!is_column(c, g->body) && off > most) {
            most = off;
            *body = g->body;
        }
    }
    return most;
}

/* The largest part of its least radius by which a particle is below the floor. */
static double lowest(const crowd *c)
{
    double worst = -1;
    for (int i = 0; i < c->count; i++) {
        const grain *g = &c->grains[i];
        if (!is_column(c, g->body))
            worst = fmax(worst, (sqrt(g->b[1][1]) - g->centre[1]) / g->least);
    }
    return worst;
}

static void follow_crowd(const char *name, int frames)
{
    crowd c = {0};
    open_show(&c.s, name);
    int particles = 0, body[2] = {0, 0}, far = 0, deep;
    for (int b = 0; b < c.s.play->body_count; b++)
        particles += c.s.play->bodies[b].info.particle_count;
    c.grains = test_malloc(sizeof *c.grains * (size_t)particles);
    look(&c);
    double outside = fence(&c), most = 0, below = -1;
    for (int f = 1; f <= frames; f++) {
        pl_report report;
        assert_int_equal(pl_play_step(c.s.play, &report), PL_OK);
        assert_int_equal(report.rescued, 0);
        if (f % 10 != 0)
            continue;
        look(&c);
        most = fmax(most, furthest(&c, &far));
        if (f >= frames / 2)
            below = fmax(below, lowest(&c));
    }
    all_is_finite(c.s.play);
    double depth = deepest(&c, body, &deep);
    print_message("%s after %d frames: furthest out %.3f (%s) of %.3f m, below the floor %.1f %% "
                  "of a radius, deepest "
                  "pair %.1f %% (%s, %s), %d deeper than 20 %%\n",
                  name, frames, most, c.s.play->bodies[far].name, outside, 100 * below, 100 * depth,
                  c.s.play->bodies[body[0]].name, c.s.play->bodies[body[1]].name, deep);
    assert_true(most < outside);
    assert_true(below < 0.05);
    assert_true(depth < 0.2);
    test_free(c.grains);
    close_show(&c.s);
}

static void crowds_stay_between_the_columns(void **state)
{
    (void)state;
    if (!check_is_thorough())
        skip();
    follow_crowd("crowd-52", 600);
}

static void many_stay_between_the_columns(void **state)
{
    (void)state;
    if (!check_is_thorough())
        skip();
    follow_crowd("crowd-180", 600);
}

int main(int argc, char **argv)
{
    if (argc > 2 && strcmp(argv[1], "--case") == 0)
        return run_case(argv[2]);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_scene_gives_the_same_bits),
        cmocka_unit_test(nobody_is_pressed_at_the_start),
        cmocka_unit_test(the_tower_stands_until_it_is_hit),
        cmocka_unit_test(crowds_stay_between_the_columns),
        cmocka_unit_test(many_stay_between_the_columns),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
