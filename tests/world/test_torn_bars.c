/* Bars pulled apart, brittle and ductile ones of several samplings and dampings: how many break in
   two, and what else comes off. PLIANT_THOROUGH=1 makes the sweep whose figures docs/clustered.md
   gives. Label: slow. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/rng.h"
#include "pliant/pliant.h"
#include "support/check.h"
#include "world/world.h"

enum { X = 32, YZ = 8, MOST = X * YZ * YZ };
#define SPACING 0.05

/* Particles jittered about a lattice, so that no plane is better than another. */
static pl_model *bar_of(uint64_t seed)
{
    static double x[3 * MOST], radii[3 * MOST];
    pl_rng rng = pl_rng_make(seed);
    pl_model_def def = pl_default_model_def();
    for (int i = 0; i < MOST; i++) {
        const int at[3] = {i / (YZ * YZ), i / YZ % YZ, i % YZ};
        for (int k = 0; k < 3; k++) {
            x[3 * i + k] = SPACING * (at[k] + 0.5 * pl_random_double(&rng));
            radii[3 * i + k] = SPACING / 2;
        }
    }
    def.particle_count = MOST;
    def.positions = pl_doubles(x, 0);
    def.radii = pl_doubles(radii, 0);
    def.several_pieces = true;
    pl_model *model, *clustered;
    pl_clusters_def clusters = pl_default_clusters_def();
    clusters.count = 120;
    clusters.overlap = 5;
    clusters.seed = seed;
    assert_int_equal(pl_model_create(&def, &model, NULL), PL_OK);
    assert_int_equal(pl_model_cluster(model, &clusters, &clustered, NULL), PL_OK);
    pl_model_release(model);
    return clustered;
}

typedef struct tear {
    const char *name;
    pl_clustered_def def;
    int substeps, frames;
    double speed; /* m/s, of either end */
} tear;

static tear brittle(double damping)
{
    tear t = {"brittle", pl_default_clustered_def(), 8, 90, 0.3};
    t.def.frequency = 76;
    t.def.damping = damping;
    t.def.strain_limit = 0;
    t.def.toughness = 0.1;
    return t;
}

/* Everything but the toughness as it is by default. */
static tear plain(double damping)
{
    tear t = {"plain", pl_default_clustered_def(), 1, 120, 0.3};
    t.def.damping = damping;
    t.def.toughness = 0.2;
    return t;
}

static tear ductile(double damping)
{
    tear t = {"ductile", pl_default_clustered_def(), 4, 90, 0.5};
    t.def.frequency = 38;
    t.def.damping = damping;
    t.def.strain_limit = 0;
    t.def.yield = 0.05;
    t.def.flow = 4;
    t.def.toughness = 0.2;
    return t;
}

/* Drawn out so far that many of its clusters are replaced. */
static tear reclustered(double damping)
{
    tear t = ductile(damping);
    t.name = "reclustered";
    t.frames = 120;
    t.def.flow = 10;
    t.def.hardening = 0.5;
    t.def.condition = 1.3;
    return t;
}

typedef struct outcome {
    int pieces, splinters; /* with more than a hundredth of the mass, and others */
    int added;             /* clusters */
    double rest, least;    /* mass of all splinters, and of the smallest piece; of the whole */
    double neck,
        drawn_out; /* thinnest cross-section and length before the first split, of those at rest */
} outcome;

/* The piece of every particle, as the smallest number of a particle in it. */
static void find_pieces(const pl_clustered *c, int32_t *piece)
{
    for (int i = 0; i < c->n; i++)
        piece[i] = i;
    for (bool changed = true; changed;) {
        changed = false;
        for (const pl_cluster *q = c->clusters; q < c->clusters + c->count; q++) {
            const int32_t *member = c->particle + q->first;
            int32_t least = piece[member[0]];
            for (int k = 1; k < q->count; k++)
                least = piece[member[k]] < least ? piece[member[k]] : least;
            for (int k = 0; k < q->count; k++) {
                changed |= piece[member[k]] != least;
                piece[member[k]] = least;
            }
        }
    }
}

static void weigh_pieces(const pl_clustered *c, outcome *o)
{
    int32_t *piece = malloc(sizeof *piece * (size_t)c->n);
    double *mass = calloc((size_t)c->n, sizeof *mass), all = 0, whole = 0;
    find_pieces(c, piece);
    for (int i = 0; i < c->n; i++) {
        mass[piece[i]] += (double)c->mass[i];
        all += (double)c->mass[i];
    }
    o->least = 1;
    for (int i = 0; i < c->n; i++)
        if (mass[i] > 0.01 * all) {
            o->pieces++;
            o->least = fmin(o->least, mass[i] / all);
            whole += mass[i];
        } else {
            o->splinters += mass[i] > 0;
        }
    o->rest = 1 - whole / all;
    free(piece), free(mass);
}

typedef struct held {
    pl_world *world;
    pl_body body;
    int32_t particles[2 * YZ * YZ];
    double at[2 * YZ * YZ][3];
} held;

static held hold(pl_model *model, const tear *t)
{
    held h = {0};
    pl_world_def world = pl_default_world_def();
    pl_body_def def = pl_default_body_def(model);
    world.substeps = t->substeps;
    world.gravity[1] = 0;
    assert_int_equal(pl_world_create(&world, &h.world, NULL), PL_OK);
    for (int f = 0; f < 2 * YZ * YZ; f++)
        h.particles[f] = f < YZ * YZ ? f : MOST - 2 * YZ * YZ + f;
    def.clustered = &t->def;
    def.fixed = h.particles;
    def.fixed_count = 2 * YZ * YZ;
    assert_int_equal(pl_body_create(h.world, &def, &h.body, NULL), PL_OK);
    for (int f = 0; f < 2 * YZ * YZ; f++)
        assert_int_equal(pl_body_read(h.world, h.body, PL_POSITIONS, h.particles[f], 1, 1,
                                      pl_doubles(h.at[f], 0)),
                         PL_OK);
    return h;
}

static pl_body_info info_of(const held *h)
{
    pl_body_info info;
    assert_int_equal(pl_body_get_info(h->world, h->body, &info), PL_OK);
    return info;
}

/* Particles in the thinnest of the slices, of what they were in the mean; the held ends do not
   count. */
static double thinnest(const held *h)
{
    int n = info_of(h).particle_count, least = n;
    double *x = malloc(sizeof *x * 3 * (size_t)n), start = h->at[0][0], end = h->at[YZ * YZ][0];
    assert_int_equal(pl_body_read(h->world, h->body, PL_POSITIONS, 0, n, 1, pl_doubles(x, 0)),
                     PL_OK);
    for (double from = start + 4 * SPACING; from < end - 6 * SPACING; from += SPACING) {
        int count = 0;
        for (int i = 0; i < n; i++)
            count += x[3 * i] >= from && x[3 * i] < from + 2 * SPACING;
        least = count < least ? count : least;
    }
    free(x);
    return least / (2.0 * YZ * YZ);
}

static outcome pull_apart(pl_model *model, const tear *t)
{
    outcome o = {0};
    held h = hold(model, t);
    double length = h.at[YZ * YZ][0] - h.at[0][0];
    for (int i = 0; i < t->frames; i++) {
        for (int f = 0; f < 2 * YZ * YZ; f++) {
            h.at[f][0] += f < YZ * YZ ? -t->speed / 60 : t->speed / 60;
            assert_int_equal(pl_body_drive(h.world, h.body, h.particles[f], h.at[f], NULL), PL_OK);
        }
        if (info_of(&h).clusters_split == 0) {
            o.neck = thinnest(&h);
            o.drawn_out = (h.at[YZ * YZ][0] - h.at[0][0]) / length;
        }
        assert_int_equal(pl_world_step(h.world, NULL), PL_OK);
    }
    o.added = (int)info_of(&h).clusters_added;
    weigh_pieces(pl_world_record(h.world, h.body)->matter.clustered, &o);
    pl_world_destroy(h.world);
    return o;
}

/* All break in two, with hardly anything beside. */
static void sweep(tear (*make)(double damping), bool replaced)
{
    static const double dampings[] = {5, 20};
    int bars = 0, in_two = 0, clean = 0;
    double most = 0;
    for (int seed = 1; seed <= check_rounds(8, 1); seed++)
        for (int d = 0; d < check_rounds(2, 1); d++) {
            tear t = make(dampings[d]);
            pl_model *model = bar_of((uint64_t)seed);
            outcome o = pull_apart(model, &t);
            printf(
                "%s, seed %d, damping %2g: %d pieces, the smallest %.2f of it, %d splinters with "
                "%.4f; drawn out to %.2f, thinnest %.2f, %d new clusters\n",
                t.name, seed, dampings[d], o.pieces, o.least, o.splinters, o.rest, o.drawn_out,
                o.neck, o.added);
            pl_model_release(model);
            assert_int_equal(o.pieces, 2);
            assert_true(o.rest < 0.01);
            assert_true(o.added > 0 || !replaced);
            bars++;
            in_two += o.pieces == 2;
            clean += o.pieces == 2 && o.splinters == 0;
            most = fmax(most, o.rest);
        }
    printf("of %d bars %d broke in two, %d of these without splinters; splinters have at most "
           "%.1f %% of the mass\n",
           bars, in_two, clean, 100 * most);
}

static void test_brittle(void **state)
{
    (void)state;
    sweep(brittle, false);
}

static void test_plain(void **state)
{
    (void)state;
    sweep(plain, false);
}

static void test_ductile(void **state)
{
    (void)state;
    sweep(ductile, false);
}

static void test_reclustered(void **state)
{
    (void)state;
    sweep(reclustered, true);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_brittle),
        cmocka_unit_test(test_plain),
        cmocka_unit_test(test_ductile),
        cmocka_unit_test(test_reclustered),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
