#include "support/world_kit.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "support/check.h"

bool world_is_sanitized(void)
{
    return check_is_sanitized();
}

bool world_is_slow_build(void)
{
    return check_is_slow_build();
}

int world_scaled(int full)
{
    return world_is_slow_build() ? (full + 19) / 20 : full;
}

static int broken_promises;
static char last_promise[256];

static void count_broken_promise(const char *condition, const char *file, int line,
                                 const char *message)
{
    (void)condition;
    snprintf(last_promise, sizeof last_promise, "%s:%d: %s", file, line, message);
    broken_promises++;
}

void world_hush(void)
{
    pl_set_assert_function(count_broken_promise);
}

int world_broken_promises(void)
{
    return broken_promises;
}

const char *world_last_promise(void)
{
    return last_promise;
}

/* ---- Models and worlds ----------------------------------------------------------------------- */

pl_model *world_sized_model(pl_shape_kind kind, int nx, int ny, int nz, double sx, double sy,
                            double sz, bool braced)
{
    pl_shape_def def = pl_default_shape_def(kind);
    pl_shape *shape;
    pl_model *model;
    pl_error error = {0};
    const int count[3] = {nx, ny, nz};
    const double size[3] = {sx, sy, sz};
    for (int k = 0; k < 3; k++) {
        def.count[k] = count[k];
        def.size[k] = size[k];
    }
    def.braced = braced;
    if (pl_shape_create(&def, &shape, &error) != PL_OK)
        fail_msg("%s: %s", error.where, error.text);
    pl_model_def model_def = pl_shape_model_def(shape);
    if (pl_model_create(&model_def, &model, &error) != PL_OK)
        fail_msg("%s: %s", error.where, error.text);
    pl_shape_destroy(shape);
    return model;
}

pl_model *world_model(pl_shape_kind kind, int nx, int ny, int nz)
{
    return world_sized_model(kind, nx, ny, nz, 0, 0, 0, pl_default_shape_def(kind).braced);
}

pl_world *world_empty(void)
{
    pl_world *world;
    pl_world_def def = pl_default_world_def();
    def.gravity[1] = 0;
    assert_int_equal(pl_world_create(&def, &world, NULL), PL_OK);
    return world;
}

pl_body world_body_at(pl_world *world, pl_model *model, double x, double y, double z)
{
    pl_body body;
    pl_body_def def = pl_default_body_def(model);
    def.position[0] = x, def.position[1] = y, def.position[2] = z;
    def.material.damping = 0;
    def.mask = 0; /* may stand in each other */
    def.self_contact = false;
    assert_int_equal(pl_body_create(world, &def, &body, NULL), PL_OK);
    return body;
}

pl_body world_body(pl_world *world, pl_model *model)
{
    return world_body_at(world, model, 0, 0, 0);
}

void world_read(const pl_world *world, pl_body body, pl_body_field field, double *out)
{
    pl_model_info info = pl_model_get_info(pl_body_model(world, body));
    int count = field == PL_VERTICES ? info.vertex_count : info.particle_count;
    assert_int_equal(pl_body_read(world, body, field, 0, count, 1, pl_doubles(out, 0)), PL_OK);
}

void world_step(pl_world *world, int count)
{
    for (int i = 0; i < count; i++)
        assert_int_equal(pl_world_step(world, NULL), PL_OK);
}

bool world_is_finite(const pl_world *world, pl_body body)
{
    static const pl_body_field fields[] = {PL_POSITIONS, PL_ROTATIONS, PL_VELOCITIES, PL_SPINS};
    int n = pl_model_get_info(pl_body_model(world, body)).particle_count;
    double *values = malloc(sizeof(double) * 4 * (size_t)n);
    bool finite = true;
    for (int f = 0; f < 4; f++) {
        int scalars = fields[f] == PL_ROTATIONS ? 4 : 3;
        world_read(world, body, fields[f], values);
        for (int i = 0; i < scalars * n; i++)
            finite = finite && isfinite(values[i]);
    }
    free(values);
    return finite;
}

void *world_snapshot(const pl_world *world, size_t *size)
{
    assert_int_equal(pl_world_save(world, NULL, 0, size), PL_OK);
    void *bytes = malloc(*size);
    assert_non_null(bytes);
    assert_int_equal(pl_world_save(world, bytes, *size, size), PL_OK);
    return bytes;
}

/* ---- Memory ---------------------------------------------------------------------------------- */

static void *heap_alloc(void *user, size_t size, size_t alignment)
{
    world_heap *heap = user;
    heap->astray += !pthread_equal(heap->owner, pthread_self());
    if (heap->fail_from >= 0 && heap->calls >= heap->fail_from) {
        heap->calls++;
        return NULL;
    }
    heap->calls++;
    heap->blocks++;
    heap->bytes += (int64_t)size;
    return aligned_alloc(alignment, size);
}

static void heap_free(void *user, void *pointer, size_t size)
{
    world_heap *heap = user;
    heap->astray += !pthread_equal(heap->owner, pthread_self());
    heap->blocks--;
    heap->bytes -= (int64_t)size;
    free(pointer);
}

void world_heap_init(world_heap *heap)
{
    *heap = (world_heap){
        .fail_from = -1, .owner = pthread_self(), .allocator = {heap_alloc, heap_free, heap}};
}
