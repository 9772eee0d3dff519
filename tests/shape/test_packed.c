#include "shape/packed.h"

#include <math.h>
#include <stdio.h>

#include "base/clock.h"
#include "packed_cases.h"
#include "support/check.h"

static pl_model *must_create(const pl_model_def *def)
{
    pl_model *model = NULL;
    pl_error error = {0};
    if (pl_model_create(def, &model, &error) != PL_OK)
        fail_msg("%s: %s", error.where, error.text);
    return model;
}

static pl_model *full_model(uint64_t seed)
{
    full_case c;
    make_full_case(&c, seed);
    return must_create(&c.def);
}

static char *pack(const pl_model *model, size_t *size)
{
    *size = pl_model_pack_size(model);
    char *bytes = malloc(*size);
    assert_int_equal(pl_model_pack(model, bytes, *size, NULL), PL_OK);
    return bytes;
}

static pl_model *must_unpack(const void *bytes, size_t size)
{
    pl_model *model = NULL;
    pl_error error = {0};
    if (pl_model_unpack(bytes, size, NULL, &model, &error) != PL_OK)
        fail_msg("%s: %s", error.where, error.text);
    return model;
}

#define SAME(a, b, count) assert_memory_equal(a, b, (count) * sizeof *(a))

static void check_particles(const pl_model *a, const pl_model *b)
{
    size_t n = (size_t)a->particle_count, m = (size_t)a->edge_count;
    SAME(a->rest, b->rest, 3 * n);
    SAME(a->orientation, b->orientation, 4 * n);
    SAME(a->radii, b->radii, 3 * n);
    SAME(a->volumes, b->volumes, n);
    SAME(a->moments, b->moments, 6 * n);
    if (m) {
        SAME(a->edges, b->edges, 2 * m);
        SAME(a->edge_offset, b->edge_offset, 3 * m);
        SAME(a->neighbour, b->neighbour, 2 * m);
    }
    SAME(a->start, b->start, n + 1);
    SAME(a->order, b->order, n);
    SAME(a->colour_start, b->colour_start, (size_t)a->colour_count + 1);
    SAME(a->symbolic->perm, b->symbolic->perm, n);
    SAME(a->symbolic->parent, b->symbolic->parent, n);
    SAME(a->symbolic->col_index, b->symbolic->col_index, (size_t)a->symbolic->nnz);
    assert_true(a->reach == b->reach && a->edge_volume == b->edge_volume);
}

static void check_look(const pl_look *a, const pl_look *b, size_t vertices, size_t triangles)
{
    assert_int_equal(a->normals != NULL, b->normals != NULL);
    assert_int_equal(a->uv_set_count, b->uv_set_count);
    for (int k = 0; k < a->uv_set_count; k++)
        SAME(a->uvs[k], b->uvs[k], 2 * vertices);
    if (a->colours)
        SAME(a->colours, b->colours, 4 * vertices);
    if (a->triangle_materials)
        SAME(a->triangle_materials, b->triangle_materials, triangles);
    if (a->triangle_groups)
        SAME(a->triangle_groups, b->triangle_groups, triangles);
    assert_int_equal(a->material_count, b->material_count);
    for (int i = 0; i < a->material_count; i++) {
        assert_string_equal(a->materials[i].name, b->materials[i].name);
        SAME(a->materials[i].textures, b->materials[i].textures, 1);
        SAME(a->materials[i].colour, b->materials[i].colour, 1);
        assert_true(a->materials[i].metal == b->materials[i].metal);
    }
    assert_int_equal(a->image_count, b->image_count);
    for (int i = 0; i < a->image_count; i++) {
        assert_string_equal(a->images[i].name, b->images[i].name);
        assert_string_equal(a->images[i].mime, b->images[i].mime);
        assert_int_equal(a->images[i].bytes != NULL, b->images[i].bytes != NULL);
        assert_int_equal(a->images[i].size, b->images[i].size);
        if (a->images[i].bytes)
            SAME(a->images[i].bytes, b->images[i].bytes, a->images[i].size);
    }
    assert_int_equal(a->group_count, b->group_count);
    for (int i = 0; i < a->group_count; i++)
        assert_string_equal(a->group_names[i], b->group_names[i]);
}

/* Everything equal, and packing again gives the same bytes. */
static void check_round_trip(const pl_model *model)
{
    size_t size, again_size;
    char *bytes = pack(model, &size);
    pl_model *copy = must_unpack(bytes, size);
    pl_model_info a = pl_model_get_info(model), b = pl_model_get_info(copy);
    size_t v = (size_t)model->vertex_count, w = v * (size_t)model->influence_count;
    assert_memory_equal(&a, &b, sizeof a);
    check_particles(model, copy);
    if (v) {
        SAME(model->vertices, copy->vertices, 3 * v);
        SAME(model->normals, copy->normals, 3 * v);
        SAME(model->influences, copy->influences, w);
        SAME(model->weights, copy->weights, w);
    }
    check_look(&model->look, &copy->look, v, (size_t)model->triangle_count);
    char *again = pack(copy, &again_size);
    assert_int_equal(size, again_size);
    assert_memory_equal(bytes, again, size);
    pl_model_release(copy);
    free(bytes);
    free(again);
}

static void models_come_back_bit_for_bit(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 50; seed++) {
        pl_model *model = full_model(seed);
        assert_int_equal(pl_model_get_info(model).piece_count, 2);
        check_round_trip(model);
        pl_model_release(model);
    }
    for (int kind = 0; pl_shape_kind_name((pl_shape_kind)kind); kind++) {
        pl_shape_def def = pl_default_shape_def((pl_shape_kind)kind);
        pl_shape *shape;
        assert_int_equal(pl_shape_create(&def, &shape, NULL), PL_OK);
        pl_model_def model_def = pl_shape_model_def(shape);
        pl_model *model = must_create(&model_def);
        check_round_trip(model);
        pl_model_release(model);
        pl_shape_destroy(shape);
    }
}

static void random_graphs_come_back(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 300; seed++) {
        random_graph g = make_random_graph(seed, 1 + (int)(seed % 60), (int)(seed % 97));
        pl_model_def def = random_graph_def(&g);
        pl_model *model = must_create(&def);
        check_round_trip(model);
        pl_model_release(model);
        free_random_graph(&g);
    }
}

static void bytes_may_lie_anywhere(void **state)
{
    (void)state;
    pl_model *model = full_model(1);
    size_t size;
    char *bytes = pack(model, &size), *shifted = malloc(size + 64);
    for (int shift = 1; shift < 64; shift += 9) {
        memcpy(shifted + shift, bytes, size);
        pl_model *copy = must_unpack(shifted + shift, size);
        memset(shifted, 0xff, size + 64);
        assert_true(pl_model_get_info(copy).hash == pl_model_get_info(model).hash);
        assert_string_equal(pl_model_look(copy)->group_names[0], "body");
        pl_model_release(copy);
    }
    pl_model_release(model);
    free(bytes);
    free(shifted);
}

static void sections_are_aligned(void **state)
{
    (void)state;
    pl_model *model = full_model(1);
    size_t size;
    char *bytes = pack(model, &size);
    uint64_t count;
    assert_int_equal(size % 64, 0);
    memcpy(&count, bytes + 16, sizeof count);
    assert_true(count > 20);
    for (uint64_t i = 0; i < count; i++) {
        pl_packed_entry entry;
        memcpy(&entry, bytes + 64 + i * sizeof entry, sizeof entry);
        assert_int_equal(entry.offset % 64, 0);
    }
    pl_model *copy = must_unpack(bytes, size);
    assert_int_equal((uintptr_t)copy->rest % 64, 0);
    assert_int_equal((uintptr_t)copy->weights % 64, 0);
    pl_model_release(copy);
    pl_model_release(model);
    free(bytes);
}

/* ---- The hash ------------------------------------------------------------------------------ */

static uint64_t hash_of(const full_case *c)
{
    pl_model *model = must_create(&c->def);
    uint64_t hash = pl_model_get_info(model).hash;
    pl_model_release(model);
    return hash;
}

#define CHANGES(change)                                                                            \
    do {                                                                                           \
        full_case c;                                                                               \
        make_full_case(&c, 3);                                                                     \
        uint64_t before = hash_of(&c);                                                             \
        change;                                                                                    \
        assert_true(hash_of(&c) != before);                                                        \
    } while (0)

static void the_hash_depends_on_look_and_tetrahedra(void **state)
{
    (void)state;
    CHANGES(c.normals[0] = -0.6f);
    CHANGES(c.tangents[3] = 1);
    CHANGES(c.colours[5] = 0.125f);
    CHANGES(c.uvs[1][3] = 7);
    CHANGES(c.look.uv_set_count = 1);
    CHANGES(c.triangle_materials[2] = 1);
    CHANGES(c.triangle_groups[0] = 1);
    CHANGES(c.materials[0].name = "x");
    CHANGES(c.materials[0].roughness = 0.3f);
    CHANGES(c.images[0].name = "b.png");
    CHANGES(c.picture[50]++);
    CHANGES(c.groups[1] = "x");
    CHANGES(c.tet_points[2] = -0.1);
    CHANGES(c.vertex_tets[0] = 1);
    CHANGES((c.barycentric[0] = 0.25f, c.barycentric[1] = 0.5f));
    CHANGES(c.def.look = NULL);
    CHANGES(c.def.tet_count = 0);
}

/* ---- Bad bytes ----------------------------------------------------------------------------- */

static void refuses(const void *bytes, size_t size, const char *text)
{
    pl_model *const untouched = (pl_model *)(uintptr_t)64;
    pl_model *model = untouched;
    pl_error error = {0};
    failing_host host = {.fail_at = -1};
    pl_allocator allocator = failing_allocator(&host);
    assert_int_equal(pl_model_unpack(bytes, size, &allocator, &model, &error), PL_ERROR_FORMAT);
    assert_int_equal(error.status, PL_ERROR_FORMAT);
    assert_ptr_equal(model, untouched);
    assert_int_equal(host.blocks, 0);
    if (!strstr(error.text, text))
        fail_msg("\"%s\" does not contain \"%s\"", error.text, text);
}

static void bytes_that_are_cut_or_damaged_are_refused(void **state)
{
    (void)state;
    pl_model *model = full_model(1);
    size_t size;
    char *bytes = pack(model, &size), *copy = malloc(size + 1);
    for (size_t cut = 0; cut < size; cut++) {
        memcpy(copy, bytes, cut);
        refuses(copy, cut, "");
        if (cut >= 64) { /* with a header that knows its length, and the hash of it */
            uint64_t length = cut;
            memcpy(copy + 24, &length, 8);
            pl_packed_seal(copy, cut);
            pl_model *cut_model = NULL;
            pl_status status = pl_model_unpack(copy, cut, NULL, &cut_model, NULL);
            assert_true(status == PL_OK || status == PL_ERROR_FORMAT);
            pl_model_release(cut_model);
        }
    }
    for (size_t i = 0; i < size; i++) {
        memcpy(copy, bytes, size);
        copy[i] ^= (char)(1 << (i % 8));
        refuses(copy, size, "");
    }
    memcpy(copy, bytes, size);
    copy[8] = 2;
    refuses(copy, size, "format version 2");
    memcpy(copy, bytes, size);
    refuses(copy, size + 1, "long");
    refuses("", 0, "too few");
    pl_model_release(model);
    free(bytes);
    free(copy);
}

/* Bytes, words and floats changed at random, with the hash put right again: refused, or a model
   that holds. */
static void hostile_content_with_a_right_hash_is_harmless(void **state)
{
    (void)state;
    static const uint32_t favourites[] = {0,          1,          0xffffffff, 0x7fffffff,
                                          0x80000000, 0x7f800000, 0x7fc00000, 0x00000001,
                                          0x7f7fffff, 100000000,  0x3f800000, 64};
    pl_rng rng = pl_rng_make(11);
    int accepted = 0, refused = 0;
    for (int round = 0; round < 20000; round++) {
        size_t size;
        static char *bytes;
        static size_t bytes_size;
        if (round % 500 == 0) {
            free(bytes);
            pl_model *model = full_model((uint64_t)round);
            bytes = pack(model, &bytes_size);
            pl_model_release(model);
        }
        size = bytes_size;
        char *copy = malloc(size);
        memcpy(copy, bytes, size);
        int changes = 1 + (int)pl_random_below(&rng, 3);
        for (int k = 0; k < changes; k++) {
            size_t at = 8 + 4 * pl_random_below(&rng, (uint32_t)(size / 4 - 2));
            uint32_t word = favourites[pl_random_below(&rng, 12)];
            if (pl_random_below(&rng, 2))
                memcpy(copy + at, &word, sizeof word);
            else
                copy[at] ^= (char)(1 << pl_random_below(&rng, 8));
        }
        pl_packed_seal(copy, size);
        pl_model *model = NULL;
        pl_error error = {0};
        pl_status status = pl_model_unpack(copy, size, NULL, &model, &error);
        if (status == PL_OK) {
            check_round_trip(model);
            pl_model_release(model);
            accepted++;
        } else {
            assert_int_equal(status, PL_ERROR_FORMAT);
            assert_true(error.text[0] != 0);
            refused++;
        }
        free(copy);
        if (round % 500 == 499) {
            free(bytes);
            bytes = NULL;
        }
    }
    printf("accepted %d, refused %d\n", accepted, refused);
    assert_true(accepted > 100 && refused > 1000);
}

/* A star, eliminated from its centre: a factor of n²/2 entries. */
static void orders_that_fill_the_factor_are_refused(void **state)
{
    (void)state;
    enum { N = 3000 }; /* the limit is passed at 2048 */
    random_graph g = {.n = N, .m = N - 1};
    g.positions = calloc(3 * N, sizeof(double));
    g.radii = malloc(3 * N * sizeof(double));
    g.edges = malloc(2 * N * sizeof(int32_t));
    for (int i = 0; i < 3 * N; i++)
        g.radii[i] = 0.1;
    for (int i = 1; i < N; i++) {
        g.positions[3 * i] = 1;
        g.edges[2 * i - 2] = 0;
        g.edges[2 * i - 1] = i;
    }
    pl_model_def def = random_graph_def(&g);
    pl_model *model = must_create(&def);
    size_t size;
    char *bytes = pack(model, &size);
    uint64_t sections;
    memcpy(&sections, bytes + 16, 8);
    for (uint64_t i = 0; i < sections; i++) {
        pl_packed_entry entry;
        memcpy(&entry, bytes + 64 + i * sizeof entry, sizeof entry);
        for (int32_t k = 0; entry.kind == PL_PACKED_ELIMINATION && k < N; k++)
            memcpy(bytes + entry.offset + 4 * (size_t)k, &k, 4);
    }
    pl_packed_seal(bytes, size);
    refuses(bytes, size, "fills the factor");
    pl_model_release(model);
    free_random_graph(&g);
    free(bytes);
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    pl_model *model = full_model(5);
    size_t size;
    char *bytes = pack(model, &size);
    failing_host host = {.fail_at = 0};
    pl_allocator allocator = failing_allocator(&host);
    pl_status status = PL_ERROR_MEMORY;
    pl_model *copy = NULL;
    for (; status == PL_ERROR_MEMORY; host.fail_at++) {
        pl_error error = {0};
        host.calls = 0;
        status = pl_model_unpack(bytes, size, &allocator, &copy, &error);
        if (status == PL_OK)
            break;
        assert_int_equal(status, PL_ERROR_MEMORY);
        assert_true(error.text[0] != 0);
        assert_int_equal(host.blocks, 0);
    }
    assert_true(host.fail_at > 15);
    pl_model_release(copy);
    assert_int_equal(host.blocks, 0);
    pl_model_release(model);
    free(bytes);

    full_case c;
    make_full_case(&c, 2);
    c.def.allocator = &allocator;
    status = PL_ERROR_MEMORY;
    for (host.fail_at = 0; status == PL_ERROR_MEMORY; host.fail_at++) {
        host.calls = 0;
        status = pl_model_create(&c.def, &copy, NULL);
        assert_int_equal(host.blocks == 0, status != PL_OK);
    }
    assert_int_equal(status, PL_OK);
    pl_model_release(copy);
    assert_int_equal(host.blocks, 0);
}

static void a_capacity_too_small_changes_nothing(void **state)
{
    (void)state;
#ifdef NDEBUG
    pl_model *model = full_model(5);
    size_t size = pl_model_pack_size(model);
    char *bytes = calloc(1, size);
    assert_int_equal(pl_model_pack(model, bytes, size - 1, NULL), PL_ERROR_ARGUMENT);
    for (size_t i = 0; i < size; i++)
        assert_int_equal(bytes[i], 0);
    pl_model_release(model);
    free(bytes);
#endif
}

/* ---- Looks --------------------------------------------------------------------------------- */

static void bad_looks_are_refused(void **state)
{
    (void)state;
    pl_model *model = NULL;
    pl_error error;
#define REFUSES(change, place)                                                                     \
    do {                                                                                           \
        full_case c;                                                                               \
        make_full_case(&c, 3);                                                                     \
        change;                                                                                    \
        assert_int_equal(pl_model_create(&c.def, &model, &error), PL_ERROR_ARGUMENT);              \
        assert_string_equal(error.where, place);                                                   \
        assert_null(model);                                                                        \
    } while (0)
    REFUSES(c.look.uv_set_count = 9, "look.uv_set_count");
    REFUSES(c.look.uvs[1] = NULL, "look.uvs");
    REFUSES(c.look.materials = NULL, "look.materials");
    REFUSES(c.materials[1].name = NULL, "look.materials[1].name");
    REFUSES(c.materials[1].alpha = 3, "look.materials[1].alpha");
    REFUSES(c.materials[1].textures[2] = 3, "look.materials[1].textures[2]");
    REFUSES(c.materials[1].texture_uvs[2] = -1, "look.materials[1].texture_uvs[2]");
    REFUSES(c.images[1].size = 5, "look.images[1].bytes");
    REFUSES(c.images[1].mime = NULL, "look.images[1]");
    REFUSES(c.groups[0] = NULL, "look.group_names[0]");
    REFUSES(c.triangle_materials[3] = 2, "look.triangle_materials[3]");
    REFUSES(c.triangle_groups[3] = -2, "look.triangle_groups[3]");
    REFUSES(c.def.tet_count = -1, "tet_count");
    REFUSES(c.def.tet_point_count = 3, "tet_point_count");
    REFUSES(c.def.tet_point_count = 4, "tets[1]");
    REFUSES(c.def.tets = NULL, "tets");
    REFUSES(c.tet_points[14] = -2, "tets[1]");
    REFUSES(c.def.vertex_tets = NULL, "vertex_tets");
    REFUSES(c.vertex_tets[6] = 2, "vertex_tets[6]");
    REFUSES(c.barycentric[1] = 2, "vertex_barycentric[0]");
    REFUSES(c.barycentric[1] = NAN, "vertex_barycentric[0]");
    REFUSES(c.tet_points[1] = INFINITY, "tet_points[0]");
#undef REFUSES
}

static void numbers_of_a_look_become_usable(void **state)
{
    (void)state;
    full_case c;
    make_full_case(&c, 3);
    c.normals[0] = NAN;
    memcpy(c.normals + 3, (float[3]){0, 5, 0}, 12);
    memcpy(c.normals + 6, (float[3]){0, 0, 0}, 12);
    memcpy(c.tangents, (float[4]){INFINITY, 0, 0, NAN}, 16);
    c.uvs[0][4] = NAN;
    c.colours[7] = -INFINITY;
    c.materials[0].emission[1] = NAN;
    pl_model *model = must_create(&c.def);
    for (int v = 0; v < FULL_VERTICES; v++) {
        const float *n = model->normals + 3 * v;
        double length = sqrt((double)n[0] * n[0] + (double)n[1] * n[1] + (double)n[2] * n[2]);
        assert_true(fabs(length - 1) < 1e-5);
    }
    assert_true(model->normals[4] == 1);
    assert_memory_equal(model->normals + 9, c.normals + 9, 12);
    assert_true(model->tangents[0] == 1 && model->tangents[3] == 1);
    assert_true(model->look.uvs[0][4] == 0 && model->look.colours[7] == 0);
    assert_true(model->look.materials[0].emission[1] == 0);
    assert_memory_equal(model->look.uvs[1], c.uvs[1], sizeof c.uvs[1]);
    check_round_trip(model);
    pl_model_release(model);
}

/* ---- Speed --------------------------------------------------------------------------------- */

/* A block of 22³ particles with their neighbours: more than the ten thousand that must load in 60
   ms. */
static void large_models_load_fast(void **state)
{
    (void)state;
    pl_shape_def def = pl_default_shape_def(PL_SHAPE_BOX);
    def.count[0] = def.count[1] = def.count[2] = check_is_slow_build() ? 12 : 22;
    pl_shape *shape;
    assert_int_equal(pl_shape_create(&def, &shape, NULL), PL_OK);
    pl_model_def model_def = pl_shape_model_def(shape);
    pl_model *model = must_create(&model_def);
    size_t size;
    char *bytes = pack(model, &size);
    uint64_t begin = pl_clock_ns();
    pl_model *copy = must_unpack(bytes, size);
    double ms = (double)(pl_clock_ns() - begin) / 1e6;
    pl_model_info info = pl_model_get_info(copy);
    printf("%d particles, %d edges, factor of %lld: unpacked in %.1f ms\n", info.particle_count,
           info.edge_count, (long long)info.factor_count, ms);
    assert_true(info.hash == pl_model_get_info(model).hash);
    assert_true(ms < 5000);
    pl_model_release(copy);
    pl_model_release(model);
    pl_shape_destroy(shape);
    free(bytes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(models_come_back_bit_for_bit),
        cmocka_unit_test(random_graphs_come_back),
        cmocka_unit_test(bytes_may_lie_anywhere),
        cmocka_unit_test(sections_are_aligned),
        cmocka_unit_test(the_hash_depends_on_look_and_tetrahedra),
        cmocka_unit_test(bytes_that_are_cut_or_damaged_are_refused),
        cmocka_unit_test(hostile_content_with_a_right_hash_is_harmless),
        cmocka_unit_test(orders_that_fill_the_factor_are_refused),
        cmocka_unit_test(every_allocation_may_fail),
        cmocka_unit_test(a_capacity_too_small_changes_nothing),
        cmocka_unit_test(bad_looks_are_refused),
        cmocka_unit_test(numbers_of_a_look_become_usable),
        cmocka_unit_test(large_models_load_fast),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
