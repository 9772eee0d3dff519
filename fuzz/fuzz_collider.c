/* libFuzzer on everything that touches: the bytes are a program of calls on a small world with
   bodies, colliders of all kinds and sizes, attachments, rays, masks, changes, sleep, steps and
   snapshots, with numbers from ordinary to absurd. Nothing may crash; no state may stop being
   finite; a call that fails changes nothing; a restored world has the hash it was saved with. */
#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pliant/pliant.h"

enum { BODIES = 6, COLLIDERS = 8, ATTACHMENTS = 6, STEPS = 40, MODELS = 6, MOST_PARTICLES = 64 };

typedef struct fuzz {
    const uint8_t *data, *end;
    pl_world *world;
    pl_body bodies[BODIES];
    pl_collider colliders[COLLIDERS];
    pl_attachment attachments[ATTACHMENTS];
    int steps;
    void *snapshot;
    size_t snapshot_size;
    uint64_t snapshot_hash;
    pl_body kept_bodies[BODIES];
    pl_collider kept_colliders[COLLIDERS];
    pl_attachment kept_attachments[ATTACHMENTS];
} fuzz;

static pl_model *models[MODELS];

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* ---- What the bytes say ---------------------------------------------------------------------- */

static int byte_of(fuzz *f)
{
    return f->data < f->end ? *f->data++ : 0;
}

static double raw_number(fuzz *f)
{
    double value = 0;
    if (f->end - f->data < 8)
        return 0;
    memcpy(&value, f->data, 8);
    f->data += 8;
    return value;
}

/* Mostly sixteenths around zero; then powers of ten; then whatever a double can be. */
static double number(fuzz *f)
{
    static const double odd[] = {NAN,   INFINITY, -INFINITY, 1e300, -1e300, 1e-310, -0.0,  1e15,
                                 -1e15, 1e9,      -1e9,      1e6,   1e-6,   1e-12,  1e-30, 500};
    int byte = byte_of(f);
    if (byte < 224)
        return (byte - 112) / 16.0;
    return byte < 240 ? odd[byte - 224] : raw_number(f);
}

static void vector(fuzz *f, double v[3])
{
    for (int k = 0; k < 3; k++)
        v[k] = number(f);
}

static void rotation(fuzz *f, double q[4])
{
    int byte = byte_of(f);
    q[0] = q[1] = q[2] = 0, q[3] = 1;
    if (byte >= 128)
        for (int k = 0; k < 4; k++)
            q[k] = number(f);
}

/* ---- What must hold -------------------------------------------------------------------------- */

static void demand(bool holds, const char *what)
{
    if (holds)
        return;
    fprintf(stderr, "fuzz_collider: %s\n", what);
    __builtin_trap();
}

static bool all_finite(const double *values, int count)
{
    bool finite = true;
    for (int i = 0; i < count; i++)
        finite = finite && isfinite(values[i]);
    return finite;
}

static void check_body(const fuzz *f, pl_body body)
{
    static const pl_body_field fields[] = {PL_POSITIONS, PL_ROTATIONS, PL_VELOCITIES, PL_SPINS};
    double values[4 * MOST_PARTICLES];
    pl_model *model = pl_body_model(f->world, body);
    if (!model)
        return;
    int count = pl_model_get_info(model).particle_count;
    for (int i = 0; i < 4; i++) {
        pl_body_read(f->world, body, fields[i], 0, count, 1, pl_doubles(values, 0));
        demand(all_finite(values, (i == 1 ? 4 : 3) * count), "a body is not finite");
    }
}

static void check_world(const fuzz *f)
{
    for (int i = 0; i < BODIES; i++)
        check_body(f, f->bodies[i]);
    for (int i = 0; i < COLLIDERS; i++) {
        pl_collider_state s;
        if (!pl_collider_is_valid(f->world, f->colliders[i]))
            continue;
        demand(pl_collider_get_state(f->world, f->colliders[i], &s) == PL_OK, "no state");
        demand(all_finite(s.position, 3) && all_finite(s.rotation, 4), "a collider is lost");
        demand(all_finite(s.impulse, 3) && all_finite(s.torque, 3), "an impulse is not finite");
    }
    for (int i = 0; i < ATTACHMENTS; i++) {
        pl_attachment_state s;
        if (!pl_attachment_is_valid(f->world, f->attachments[i]))
            continue;
        demand(pl_attachment_get_state(f->world, f->attachments[i], &s) == PL_OK, "no state");
        demand(all_finite(s.force, 3) && all_finite(s.gap, 3), "an attachment is not finite");
    }
    int count;
    const pl_contact_event *events = pl_world_contacts(f->world, &count);
    for (int i = 0; i < count; i++) {
        demand(all_finite(events[i].position, 3), "an event is nowhere");
        demand(isfinite(events[i].impulse) && isfinite(events[i].friction_impulse),
               "an event's impulse is not finite");
    }
}

/* ---- Models ---------------------------------------------------------------------------------- */

static pl_model *shape_model(pl_shape_kind kind, int x, int y, int z)
{
    pl_shape_def def = pl_default_shape_def(kind);
    pl_shape *shape;
    pl_model *model = NULL;
    def.count[0] = x, def.count[1] = y, def.count[2] = z;
    demand(pl_shape_create(&def, &shape, NULL) == PL_OK, "no shape");
    pl_model_def model_def = pl_shape_model_def(shape);
    demand(pl_model_create(&model_def, &model, NULL) == PL_OK, "no model");
    pl_shape_destroy(shape);
    return model;
}

/* A closed shell, for pressure: an octahedron with a particle at each corner. */
static pl_model *octahedron(void)
{
    static double corners[6][3] = {{1, 0, 0},  {-1, 0, 0}, {0, 1, 0},
                                   {0, -1, 0}, {0, 0, 1},  {0, 0, -1}};
    static double radii[6][3];
    int32_t edges[12][2], triangles[8][3];
    int edge_count = 0;
    for (int i = 0; i < 6; i++) {
        radii[i][0] = radii[i][1] = radii[i][2] = 0.3;
        for (int j = i + 1; j < 6; j++)
            if (i / 2 != j / 2) {
                edges[edge_count][0] = i;
                edges[edge_count++][1] = j;
            }
    }
    for (int i = 0; i < 8; i++) {
        int x = i & 1, y = 2 + (i >> 1 & 1), z = 4 + (i >> 2 & 1);
        bool turned = (x + y + z) % 2;
        triangles[i][0] = x;
        triangles[i][1] = turned ? z : y;
        triangles[i][2] = turned ? y : z;
    }
    pl_model_def def = pl_default_model_def();
    def.particle_count = def.vertex_count = 6;
    def.positions = def.vertices = pl_doubles(corners[0], 0);
    def.radii = pl_doubles(radii[0], 0);
    def.edge_count = edge_count;
    def.edges = edges[0];
    def.triangle_count = 8;
    def.triangles = triangles[0];
    def.dimension = 2;
    pl_model *model = NULL;
    demand(pl_model_create(&def, &model, NULL) == PL_OK, "no octahedron");
    return model;
}

static void ignore_promise(const char *condition, const char *file, int line, const char *message)
{
    (void)condition, (void)file, (void)line, (void)message;
}

static void make_models(void)
{
    if (models[0])
        return;
    pl_set_assert_function(ignore_promise);
    models[0] = shape_model(PL_SHAPE_BOX, 2, 2, 2);
    models[1] = shape_model(PL_SHAPE_BOX, 3, 3, 3);
    models[2] = shape_model(PL_SHAPE_SHEET, 4, 4, 0);
    models[3] = shape_model(PL_SHAPE_CHAIN, 6, 0, 0);
    models[4] = shape_model(PL_SHAPE_BAR, 4, 0, 0);
    models[5] = octahedron();
}

/* ---- Calls ----------------------------------------------------------------------------------- */

static pl_body *a_body(fuzz *f)
{
    return f->bodies + byte_of(f) % BODIES;
}

static pl_collider *a_collider(fuzz *f)
{
    return f->colliders + byte_of(f) % COLLIDERS;
}

static pl_status create_body(fuzz *f)
{
    pl_body *slot = a_body(f);
    pl_body_def def = pl_default_body_def(models[byte_of(f) % MODELS]);
    int flags = byte_of(f);
    vector(f, def.position);
    rotation(f, def.rotation);
    if (flags & 1)
        vector(f, def.velocity);
    if (flags & 2)
        vector(f, def.spin);
    if (flags & 4)
        def.material.friction = number(f);
    if (flags & 8)
        def.material.restitution = number(f);
    if (flags & 16)
        def.material.young = number(f) * 1e5;
    if (flags & 32)
        def.pressure = number(f) * 1000;
    if (flags & 64)
        def.solver = (pl_solver)(byte_of(f) % 4);
    if (flags & 128) {
        int masks = byte_of(f);
        def.category = (uint32_t)masks & 7;
        def.mask = (uint32_t)masks >> 3 & 7;
        def.self_contact = masks >> 6 & 1;
        def.gravity_scale = number(f);
    }
    if (pl_body_is_valid(f->world, *slot))
        pl_body_destroy(f->world, *slot);
    pl_body_create(f->world, &def, slot, NULL);
    return PL_OK;
}

/* Triangles as the bytes have them: without area, twice, of all sizes. */
static pl_mesh read_mesh(fuzz *f, double positions[24], int32_t triangles[30])
{
    pl_mesh mesh = {.vertex_count = 8, .positions = positions, .triangles = triangles};
    for (int i = 0; i < 24; i++)
        positions[i] = number(f);
    mesh.triangle_count = byte_of(f) % 10;
    for (int i = 0; i < 3 * mesh.triangle_count; i++)
        triangles[i] = byte_of(f) % 8;
    return mesh;
}

static pl_status create_collider(fuzz *f)
{
    pl_collider *slot = a_collider(f);
    pl_collider_def def = pl_default_collider_def((pl_collider_kind)(byte_of(f) % 6));
    double positions[24];
    int32_t triangles[30];
    pl_mesh mesh;
    int flags = byte_of(f);
    vector(f, def.position);
    rotation(f, def.rotation);
    vector(f, def.size);
    if (def.kind == PL_COLLIDER_MESH) {
        mesh = read_mesh(f, positions, triangles);
        def.mesh = &mesh;
        def.two_sided = flags & 1;
        def.scale = number(f);
    }
    if (flags & 2)
        def.friction = number(f);
    if (flags & 4)
        def.restitution = number(f);
    if (flags & 8)
        vector(f, def.surface_velocity);
    if (flags & 16) {
        def.mass = number(f);
        vector(f, def.inertia);
    }
    if (flags & 32) {
        vector(f, def.velocity);
        vector(f, def.spin);
    }
    if (flags & 64) {
        int masks = byte_of(f);
        def.category = (uint32_t)masks & 7;
        def.mask = (uint32_t)masks >> 3 & 7;
    }
    if (pl_collider_is_valid(f->world, *slot))
        pl_collider_destroy(f->world, *slot);
    pl_collider_create(f->world, &def, slot, NULL);
    return PL_OK;
}

static pl_status move_collider(fuzz *f)
{
    pl_collider collider = *a_collider(f);
    double position[3], turn[4];
    bool place = byte_of(f) & 1;
    vector(f, position);
    rotation(f, turn);
    return place ? pl_collider_place(f->world, collider, position, turn)
                 : pl_collider_move(f->world, collider, position, turn);
}

static pl_status push_collider(fuzz *f)
{
    pl_collider collider = *a_collider(f);
    double velocity[3], spin[3];
    vector(f, velocity);
    vector(f, spin);
    return pl_collider_set_velocity(f->world, collider, velocity, spin);
}

static pl_status change_collider(fuzz *f)
{
    pl_collider collider = *a_collider(f);
    int what = byte_of(f);
    double velocity[3];
    if (what & 1)
        return pl_collider_set_filter(f->world, collider, (uint32_t)what >> 1 & 7,
                                      (uint32_t)what >> 4 & 7);
    double friction = number(f), restitution = number(f);
    vector(f, velocity);
    return pl_collider_set_surface(f->world, collider, friction, restitution, velocity);
}

static pl_status change_body(fuzz *f)
{
    pl_body body = *a_body(f);
    int what = byte_of(f);
    if (what & 1)
        return pl_body_set_filter(f->world, body, (uint32_t)what >> 1 & 7, (uint32_t)what >> 4 & 7);
    return pl_body_set_self_contact(f->world, body, what & 2);
}

static pl_status calm_body(fuzz *f)
{
    pl_body body = *a_body(f);
    bool wake = byte_of(f) & 1;
    pl_status status = wake ? pl_body_wake(f->world, body) : pl_body_sleep(f->world, body);
    demand(pl_body_is_asleep(f->world, body) == (status == PL_OK && !wake),
           "neither asleep nor awake");
    return status;
}

static void take_hold(fuzz *f, pl_body body, pl_pin_def *point)
{
    *point = pl_default_pin_def(PL_PIN_POSITION);
    int byte = byte_of(f);
    double rest[3];
    if (byte < 100) {
        pl_pin_at_particle(f->world, body, byte % 30, point);
    } else if (byte < 200) {
        pl_pin_at_vertex(f->world, body, byte % 30, point);
    } else {
        vector(f, rest);
        pl_pin_at_point(f->world, body, rest, point);
    }
}

static pl_status attach(fuzz *f)
{
    pl_attachment *slot = f->attachments + byte_of(f) % ATTACHMENTS;
    pl_attachment_def def = pl_default_attachment_def((pl_attachment_kind)(byte_of(f) % 4));
    def.body = *a_body(f);
    def.other = *a_body(f);
    def.collider = *a_collider(f);
    take_hold(f, def.body, &def.point);
    take_hold(f, def.other, &def.other_point);
    if (byte_of(f) & 1)
        vector(f, def.target);
    else
        pl_attachment_aim(f->world, &def);
    if (byte_of(f) & 1)
        def.break_force = number(f);
    if (pl_attachment_is_valid(f->world, *slot))
        pl_attachment_destroy(f->world, *slot);
    pl_attachment_create(f->world, &def, slot, NULL);
    return PL_OK;
}

static pl_status aim_attachment(fuzz *f)
{
    double target[3];
    pl_attachment attachment = f->attachments[byte_of(f) % ATTACHMENTS];
    vector(f, target);
    return pl_attachment_set_target(f->world, attachment, target);
}

static pl_status destroy_something(fuzz *f)
{
    int which = byte_of(f);
    switch (which % 3) {
    case 0:
        return pl_body_destroy(f->world, f->bodies[which / 3 % BODIES]);
    case 1:
        return pl_collider_destroy(f->world, f->colliders[which / 3 % COLLIDERS]);
    default:
        return pl_attachment_destroy(f->world, f->attachments[which / 3 % ATTACHMENTS]);
    }
}

static pl_status throw_body(fuzz *f)
{
    pl_body body = *a_body(f);
    double a[3], b[3], q[4];
    int what = byte_of(f);
    vector(f, a);
    switch (what % 5) {
    case 0:
        vector(f, b);
        return pl_body_set_velocity(f->world, body, a, b);
    case 1:
        rotation(f, q);
        return pl_body_teleport(f->world, body, a, q);
    case 2:
        return pl_body_apply_force(f->world, body, what / 5 - 1, a);
    case 3:
        return pl_body_apply_impulse(f->world, body, what / 5 - 1, a);
    default:
        return pl_body_set_pressure(f->world, body, a[0] * 1000, NULL);
    }
}

static pl_status write_body(fuzz *f)
{
    static const pl_body_field fields[] = {PL_POSITIONS, PL_ROTATIONS, PL_VELOCITIES, PL_SPINS};
    pl_body body = *a_body(f);
    int what = byte_of(f);
    double values[4];
    for (int k = 0; k < 4; k++)
        values[k] = number(f);
    return pl_body_write(f->world, body, fields[what % 4], what / 4, 1, pl_doubles(values, 0));
}

static pl_status fix_particles(fuzz *f)
{
    pl_body body = *a_body(f);
    int32_t fixed[3];
    int count = byte_of(f) % 4;
    double to[3], turn[4];
    for (int i = 0; i < 3; i++)
        fixed[i] = byte_of(f) % 8;
    pl_status status = pl_body_set_fixed(f->world, body, fixed, count, NULL);
    if (status != PL_OK || count == 0)
        return status;
    vector(f, to);
    rotation(f, turn);
    pl_body_drive(f->world, body, fixed[0], to, turn);
    return PL_OK;
}

static pl_status cast_ray(fuzz *f)
{
    double origin[3], direction[3], length = number(f);
    pl_ray_hit hit;
    vector(f, origin);
    vector(f, direction);
    uint32_t mask = (uint32_t)byte_of(f);
    pl_body past = mask & 128 ? *a_body(f) : (pl_body){0, 0};
    if (pl_world_cast_ray_past(f->world, past, origin, direction, length, mask, &hit)) {
        demand(hit.distance >= 0 && hit.distance <= length, "a hit beyond the ray");
        demand(all_finite(hit.position, 3) && all_finite(hit.rest, 3), "a hit nowhere");
        demand((hit.body == UINT32_MAX) != (hit.collider == UINT32_MAX), "a hit of nothing");
        demand(pl_body_is_valid(f->world, pl_body_at(f->world, hit.body)) !=
                   pl_collider_is_valid(f->world, pl_collider_at(f->world, hit.collider)),
               "a hit of what is not there");
        demand(!past.generation || hit.body != past.index || !pl_body_is_valid(f->world, past),
               "a hit of whom it passes");
    }
    return PL_OK;
}

static pl_status change_world(fuzz *f)
{
    double gravity[3];
    int what = byte_of(f);
    if (what & 1) {
        vector(f, gravity);
        return pl_world_set_gravity(f->world, gravity);
    }
    return pl_world_set_step(f->world, what & 2 ? fabs(number(f)) : 1.0 / 60, 1 + what / 4 % 8);
}

static pl_status step(fuzz *f)
{
    int count = 1 + byte_of(f) % 8;
    for (; count > 0 && f->steps < STEPS; count--, f->steps++) {
        demand(pl_world_step(f->world, NULL) == PL_OK, "a step failed");
        check_world(f);
    }
    return PL_OK;
}

static pl_status save(fuzz *f)
{
    size_t size;
    free(f->snapshot);
    demand(pl_world_save(f->world, NULL, 0, &size) == PL_OK, "no size");
    f->snapshot = malloc(size);
    demand(pl_world_save(f->world, f->snapshot, size, &f->snapshot_size) == PL_OK, "not saved");
    f->snapshot_hash = pl_world_hash(f->world);
    memcpy(f->kept_bodies, f->bodies, sizeof f->bodies);
    memcpy(f->kept_colliders, f->colliders, sizeof f->colliders);
    memcpy(f->kept_attachments, f->attachments, sizeof f->attachments);
    return PL_OK;
}

static pl_status restore(fuzz *f)
{
    if (!f->snapshot)
        return PL_OK;
    pl_status status =
        pl_world_restore(f->world, f->snapshot, f->snapshot_size, models, MODELS, NULL);
    demand(status == PL_OK, "not restored");
    demand(pl_world_hash(f->world) == f->snapshot_hash, "restored to another hash");
    memcpy(f->bodies, f->kept_bodies, sizeof f->bodies);
    memcpy(f->colliders, f->kept_colliders, sizeof f->colliders);
    memcpy(f->attachments, f->kept_attachments, sizeof f->attachments);
    check_world(f);
    return PL_OK;
}

/* A damaged snapshot is refused or gives a world that steps. */
static pl_status restore_damaged(fuzz *f)
{
    if (!f->snapshot)
        return PL_OK;
    uint8_t *bytes = malloc(f->snapshot_size);
    memcpy(bytes, f->snapshot, f->snapshot_size);
    size_t at = ((size_t)byte_of(f) << 8 | (size_t)byte_of(f)) % f->snapshot_size;
    bytes[at] ^= (uint8_t)(1 + byte_of(f) % 255);
    pl_status status = pl_world_restore(f->world, bytes, f->snapshot_size, models, MODELS, NULL);
    free(bytes);
    return status;
}

typedef pl_status call(fuzz *f);

static call *const calls[] = {create_body,
                              create_body,
                              create_collider,
                              create_collider,
                              move_collider,
                              push_collider,
                              attach,
                              attach,
                              aim_attachment,
                              throw_body,
                              write_body,
                              fix_particles,
                              destroy_something,
                              cast_ray,
                              change_world,
                              step,
                              step,
                              step,
                              step,
                              save,
                              restore,
                              restore_damaged,
                              change_collider,
                              change_body,
                              calm_body};
enum { CALLS = sizeof calls / sizeof calls[0] };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz f = {.data = data, .end = data + size};
    pl_world_def def = pl_default_world_def();
    make_models();
    def.iterations = 2;
    def.substeps = 1 + byte_of(&f) % 4;
    def.memory_limit = (size_t)1 << 26;
    demand(pl_world_create(&def, &f.world, NULL) == PL_OK, "no world");
    for (int i = 0; f.data < f.end && i < 200; i++) {
        uint64_t before = pl_world_hash(f.world);
        if (calls[byte_of(&f) % CALLS](&f) != PL_OK)
            demand(pl_world_hash(f.world) == before, "a call that failed changed something");
    }
    if (f.steps < STEPS) {
        demand(pl_world_step(f.world, NULL) == PL_OK, "a step failed");
        check_world(&f);
    }
    pl_world_destroy(f.world);
    free(f.snapshot);
    return 0;
}
