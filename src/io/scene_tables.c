/* Every key of a scene document: its name, what it holds, its range and where it goes.
   docs/scene.schema.json says the same to editors; a test compares the two. */
#include "io/scene_fields.h"

#define FIELD(type, name, field_kind, member, ...)                                                 \
    {                                                                                              \
        .key = name, .kind = PL_FIELD_##field_kind, .offset = offsetof(type, member), __VA_ARGS__  \
    }
#define ANY .low = -1e12, .high = 1e12
#define POSITIVE .low = 0, .above = true, .high = 1e30
#define NOT_NEGATIVE .low = 0, .high = 1e12
#define FROM(a, b) .low = (a), .high = (b)
#define REQUIRED .required = true

#define OBJECT(id, text, table)                                                                    \
    const pl_scene_object pl_object_##id = {text, table, (int)(sizeof table / sizeof *table)}

static const pl_unit pressures[] = {{"Pa", 1}, {"kPa", 1e3}, {"MPa", 1e6}, {"GPa", 1e9}, {0}};
static const pl_unit densities[] = {
    {"kg/m3", 1}, {"g/cm3", 1e3}, {"kg/m\u00B3", 1}, {"g/cm\u00B3", 1e3}, {0}};

static const pl_field scene_fields[] = {
    FIELD(pl_scene, "$schema", TEXT, schema),
    FIELD(pl_scene, "pliant", INTEGER, version, FROM(1, 1), REQUIRED,
          .example = "\"pliant\": 1 (the version of the format)"),
    FIELD(pl_scene, "name", NAME, name),
    FIELD(pl_scene, "about", TEXT, about),
    FIELD(pl_scene, "include", NODE, include_node),
    FIELD(pl_scene, "world", NODE, world_node),
    FIELD(pl_scene, "models", NODE, models_node),
    FIELD(pl_scene, "materials", NODE, materials_node),
    FIELD(pl_scene, "bodies", NODE, bodies_node, REQUIRED,
          .example = "\"bodies\": [{\"model\": {\"shape\": \"bar\"}}]"),
    FIELD(pl_scene, "colliders", NODE, colliders_node),
    FIELD(pl_scene, "attachments", NODE, attachments_node),
    FIELD(pl_scene, "pins", NODE, pins_node),
    FIELD(pl_scene, "drive", NODE, drive_node),
    FIELD(pl_scene, "forces", NODE, forces_node),
    FIELD(pl_scene, "events", NODE, events_node),
    FIELD(pl_scene, "cameras", NODE, cameras_node),
    FIELD(pl_scene, "lights", NODE, lights_node),
    FIELD(pl_scene, "outputs", NODE, outputs_node),
    FIELD(pl_scene, "runs", NODE, runs_node),
};
OBJECT(scene, "scene", scene_fields);

static const pl_field world_fields[] = {
    FIELD(pl_scene_world, "step", NUMBER, step, .low = 0, .above = true, .high = 10),
    FIELD(pl_scene_world, "substeps", INTEGER, substeps, FROM(1, 10000)),
    FIELD(pl_scene_world, "iterations", INTEGER, iterations, FROM(1, 1000000)),
    FIELD(pl_scene_world, "stiff_iterations", INTEGER, stiff_iterations, FROM(1, 1000000)),
    FIELD(pl_scene_world, "gravity", VECTOR, gravity),
    FIELD(pl_scene_world, "solver", NODE, solver_node),
    FIELD(pl_scene_world, "sleeping", BOOL, sleeping),
    FIELD(pl_scene_world, "stiff_contact", BOOL, stiff_contact),
    FIELD(pl_scene_world, "frames", INTEGER, frames, FROM(0, 10000000)),
};
OBJECT(world, "world", world_fields);

static const pl_field model_fields[] = {
    FIELD(pl_raw_model, "shape", NAME, shape),
    FIELD(pl_raw_model, "count", NODE, count),
    FIELD(pl_raw_model, "size", NODE, size),
    FIELD(pl_raw_model, "braced", BOOL, braced),
    FIELD(pl_raw_model, "particles", NODE, particles),
    FIELD(pl_raw_model, "positions", NODE, positions),
    FIELD(pl_raw_model, "orientations", NODE, orientations),
    FIELD(pl_raw_model, "radii", NODE, radii),
    FIELD(pl_raw_model, "radius", NODE, radius),
    FIELD(pl_raw_model, "edges", NODE, edges),
    FIELD(pl_raw_model, "dimension", INTEGER, dimension, FROM(1, 3)),
    FIELD(pl_raw_model, "volume", NUMBER, volume, POSITIVE),
    FIELD(pl_raw_model, "vertices", NODE, vertices),
    FIELD(pl_raw_model, "influences", NODE, influences),
    FIELD(pl_raw_model, "weights", NODE, weights),
    FIELD(pl_raw_model, "triangles", NODE, triangles),
    FIELD(pl_raw_model, "file", NAME, file),
    FIELD(pl_raw_model, "builtin", NAME, builtin),
    FIELD(pl_raw_model, "detail", NUMBER, detail, FROM(0.1, 16)),
    FIELD(pl_raw_model, "kind", NODE, kind),
    FIELD(pl_raw_model, "grid", BOOL, grid),
    FIELD(pl_raw_model, "spacing", NUMBER, spacing, POSITIVE),
    FIELD(pl_raw_model, "scale", NODE, scale),
    FIELD(pl_raw_model, "tets", INTEGER, tets, FROM(1, 10000000)),
    FIELD(pl_raw_model, "thickness", NUMBER, thickness, POSITIVE),
    FIELD(pl_raw_model, "weld", NUMBER, weld, FROM(0, 0.1)),
    FIELD(pl_raw_model, "seed", INTEGER, seed, FROM(0, INT32_MAX)),
    FIELD(pl_raw_model, "clusters", NODE, clusters),
    FIELD(pl_raw_model, "tetrahedra", BOOL, tetrahedra),
};
OBJECT(model, "model", model_fields);

static const pl_field particle_fields[] = {
    FIELD(pl_raw_particle, "position", VECTOR, position, REQUIRED),
    FIELD(pl_raw_particle, "orientation", NODE, orientation),
    FIELD(pl_raw_particle, "radii", NODE, radii),
    FIELD(pl_raw_particle, "radius", NUMBER, radius, POSITIVE),
};
OBJECT(particle, "particle", particle_fields);

static const pl_field material_fields[] = {
    FIELD(pl_scene_material, "like", NAME, like),
    FIELD(pl_scene_material, "young", NUMBER, young, POSITIVE, .units = pressures),
    FIELD(pl_scene_material, "stiffness", NUMBER, stiffness, POSITIVE),
    FIELD(pl_scene_material, "density", NUMBER, density, POSITIVE, .units = densities),
    FIELD(pl_scene_material, "damping", NUMBER, damping, NOT_NEGATIVE),
    FIELD(pl_scene_material, "friction", NUMBER, friction, FROM(0, 1e6)),
    FIELD(pl_scene_material, "restitution", NUMBER, restitution, FROM(0, 1)),
};
OBJECT(material, "material", material_fields);

static const pl_field body_fields[] = {
    FIELD(pl_scene_body, "name", NAME, name),
    FIELD(pl_scene_body, "model", NODE, model_node, REQUIRED,
          .example = "\"model\": {\"shape\": \"bar\"}, or the name of one under \"models\""),
    FIELD(pl_scene_body, "material", NODE, material_node),
    FIELD(pl_scene_body, "young", NUMBER, own.young, POSITIVE, .units = pressures),
    FIELD(pl_scene_body, "stiffness", NUMBER, own.stiffness, POSITIVE),
    FIELD(pl_scene_body, "density", NUMBER, own.density, POSITIVE, .units = densities),
    FIELD(pl_scene_body, "damping", NUMBER, own.damping, NOT_NEGATIVE),
    FIELD(pl_scene_body, "friction", NUMBER, own.friction, FROM(0, 1e6)),
    FIELD(pl_scene_body, "restitution", NUMBER, own.restitution, FROM(0, 1)),
    FIELD(pl_scene_body, "position", VECTOR, position),
    FIELD(pl_scene_body, "rotation", NODE, rotation_node),
    FIELD(pl_scene_body, "velocity", VECTOR, velocity),
    FIELD(pl_scene_body, "spin", VECTOR, spin),
    FIELD(pl_scene_body, "solver", NODE, solver_node),
    FIELD(pl_scene_body, "gravity_scale", NUMBER, gravity_scale, FROM(-1e6, 1e6)),
    FIELD(pl_scene_body, "pressure", NUMBER, pressure, FROM(0, 1e12), .units = pressures),
    FIELD(pl_scene_body, "category", BITS, category),
    FIELD(pl_scene_body, "mask", BITS, mask),
    FIELD(pl_scene_body, "self_contact", BOOL, self_contact),
    FIELD(pl_scene_body, "edge_stiffness", NODE, stiffness_node),
    FIELD(pl_scene_body, "tet_stiffness", NODE, tet_factor_node),
    FIELD(pl_scene_body, "particle_density", NODE, density_node),
    FIELD(pl_scene_body, "fixed", NODE, fixed_node),
    FIELD(pl_scene_body, "state", NODE, state_node),
    FIELD(pl_scene_body, "array", NODE, array_node),
    FIELD(pl_scene_body, "clustered", NODE, clustered_node),
    FIELD(pl_scene_body, "tetrahedral", NODE, tetrahedral_node),
    FIELD(pl_scene_body, "plasticity", NODE, plasticity_node),
    FIELD(pl_scene_body, "examples", NODE, examples_node),
};
OBJECT(body, "body", body_fields);

static const pl_field clusters_fields[] = {
    FIELD(pl_scene_clusters, "count", INTEGER, count, FROM(1, 10000000)),
    FIELD(pl_scene_clusters, "radius", NUMBER, radius, POSITIVE),
    FIELD(pl_scene_clusters, "overlap", NUMBER, overlap, FROM(1, 1e6)),
    FIELD(pl_scene_clusters, "kernel", NODE, kernel_node),
    FIELD(pl_scene_clusters, "seed", INTEGER, seed, FROM(0, INT32_MAX)),
    FIELD(pl_scene_clusters, "shards", BOOL, shards),
    FIELD(pl_scene_clusters, "rings", BOOL, rings),
    FIELD(pl_scene_clusters, "members", NODE, members_node),
    FIELD(pl_scene_clusters, "weights", NODE, weights_node),
};
OBJECT(clusters, "clusters", clusters_fields);

static const pl_field clustered_fields[] = {
    FIELD(pl_scene_clustered, "rotation", NODE, rotation_node),
    FIELD(pl_scene_clustered, "frequency", NUMBER, def.frequency, POSITIVE),
    FIELD(pl_scene_clustered, "alpha", NUMBER, def.raw_alpha, .low = 0, .above = true, .high = 1),
    FIELD(pl_scene_clustered, "damping", NUMBER, def.damping, NOT_NEGATIVE),
    FIELD(pl_scene_clustered, "raw_damping", NUMBER, def.raw_damping, FROM(0, 1)),
    FIELD(pl_scene_clustered, "strain_limit", NUMBER, def.strain_limit, NOT_NEGATIVE),
    FIELD(pl_scene_clustered, "strain_part", NUMBER, def.strain_part, .low = 0, .above = true,
          .high = 1),
    FIELD(pl_scene_clustered, "strain_iterations", INTEGER, def.strain_iterations, FROM(0, 10000)),
    FIELD(pl_scene_clustered, "strain_balanced", BOOL, def.strain_balanced),
    FIELD(pl_scene_clustered, "yield", NUMBER, def.yield, NOT_NEGATIVE),
    FIELD(pl_scene_clustered, "flow", NUMBER, def.flow, NOT_NEGATIVE),
    FIELD(pl_scene_clustered, "raw_flow", NUMBER, def.raw_flow, FROM(0, 1)),
    FIELD(pl_scene_clustered, "hardening", NUMBER, def.hardening, ANY),
    FIELD(pl_scene_clustered, "recluster", NODE, recluster_node),
    FIELD(pl_scene_clustered, "condition", NUMBER, def.condition, .low = 1, .above = true,
          .high = 1e6),
    FIELD(pl_scene_clustered, "fade_in", NUMBER, def.fade_in, NOT_NEGATIVE),
    FIELD(pl_scene_clustered, "fade_out", NUMBER, def.fade_out, NOT_NEGATIVE),
    FIELD(pl_scene_clustered, "wanted", INTEGER, def.wanted, FROM(0, 1000)),
    FIELD(pl_scene_clustered, "toughness", NUMBER, def.toughness, POSITIVE),
    FIELD(pl_scene_clustered, "toughness_boost", NUMBER, def.toughness_boost, NOT_NEGATIVE),
    FIELD(pl_scene_clustered, "boost_decay", NUMBER, def.boost_decay, NOT_NEGATIVE),
    FIELD(pl_scene_clustered, "calm", NUMBER, def.calm, NOT_NEGATIVE),
    FIELD(pl_scene_clustered, "least_members", INTEGER, def.least_members, FROM(1, 1000)),
    FIELD(pl_scene_clustered, "self_contact", BOOL, def.self_contact),
};
OBJECT(clustered, "clustered", clustered_fields);

static const pl_field tetrahedral_fields[] = {
    FIELD(pl_scene_tetrahedral, "poisson", NUMBER, def.poisson, FROM(0, 0.4999)),
    FIELD(pl_scene_tetrahedral, "volume", NODE, volume_node),
    FIELD(pl_scene_tetrahedral, "rotations", NODE, rotations_node),
    FIELD(pl_scene_tetrahedral, "sampled", NUMBER, def.sampled, .low = 0, .above = true, .high = 1),
    FIELD(pl_scene_tetrahedral, "weight_cap", INTEGER, def.weight_cap, FROM(1, 16)),
    FIELD(pl_scene_tetrahedral, "threshold", NUMBER, def.threshold, FROM(0, 0.5)),
    FIELD(pl_scene_tetrahedral, "accelerated", BOOL, def.accelerated),
    FIELD(pl_scene_tetrahedral, "window", INTEGER, def.window, FROM(1, 12)),
    FIELD(pl_scene_tetrahedral, "yield", NUMBER, def.yield, NOT_NEGATIVE),
    FIELD(pl_scene_tetrahedral, "flow", NUMBER, def.flow, NOT_NEGATIVE),
    FIELD(pl_scene_tetrahedral, "hardening", NUMBER, def.hardening, ANY),
    FIELD(pl_scene_tetrahedral, "condition", NUMBER, def.condition, .low = 1, .above = true,
          .high = 1e6),
};
OBJECT(tetrahedral, "tetrahedral", tetrahedral_fields);

static const pl_field plasticity_fields[] = {
    FIELD(pl_scene_plasticity, "yield", NUMBER, def.yield, NOT_NEGATIVE),
    FIELD(pl_scene_plasticity, "flow", NUMBER, def.flow, .low = 0, .above = true, .high = 1e6),
    FIELD(pl_scene_plasticity, "hardening", NUMBER, def.hardening, ANY),
    FIELD(pl_scene_plasticity, "limit", NUMBER, def.limit, .low = 0, .above = true, .high = 100),
};
OBJECT(plasticity, "plasticity", plasticity_fields);

static const pl_field examples_fields[] = {
    FIELD(pl_scene_examples, "poses", NODE, poses_node, REQUIRED),
    FIELD(pl_scene_examples, "scope", NODE, scope_node),
    FIELD(pl_scene_examples, "groups", NODE, groups_node),
    FIELD(pl_scene_examples, "beta", NUMBER, beta, FROM(0, 0.999999)),
    FIELD(pl_scene_examples, "rule", NODE, rule_node),
    FIELD(pl_scene_examples, "bias", NODE, bias_node),
};
OBJECT(examples, "examples", examples_fields);

/* Of a warp in a list, and of a pose that is one. */
#define WARP_FIELDS(type, member)                                                                  \
    FIELD(type, "warp", NODE, member.kind), FIELD(type, "axis", VECTOR, member.axis),              \
        FIELD(type, "side", VECTOR, member.side),                                                  \
        FIELD(type, "degrees", NUMBER, member.degrees, FROM(-50000, 50000)),                       \
        FIELD(type, "shorten", NUMBER, member.shorten, FROM(0.01, 100)),                           \
        FIELD(type, "bulge", NUMBER, member.bulge, FROM(-10, 10)),                                 \
        FIELD(type, "from", NUMBER, member.from, FROM(0, 1)),                                      \
        FIELD(type, "to", NUMBER, member.to, FROM(0, 1)),                                          \
        FIELD(type, "folds", INTEGER, member.folds, FROM(1, 1000))

static const pl_field pose_fields[] = {
    WARP_FIELDS(pl_scene_pose, raw),
    FIELD(pl_scene_pose, "warps", NODE, warps_node),
    FIELD(pl_scene_pose, "file", NAME, file),
    FIELD(pl_scene_pose, "dump", NAME, dump),
    FIELD(pl_scene_pose, "frame", INTEGER, frame, FROM(0, INT32_MAX)),
    FIELD(pl_scene_pose, "body", NAME, body_name),
    FIELD(pl_scene_pose, "positions", NODE, positions_node),
    FIELD(pl_scene_pose, "rotations", NODE, rotations_node),
};
OBJECT(pose, "pose", pose_fields);

static const pl_field warp_fields[] = {WARP_FIELDS(pl_raw_warp_object, warp)};
OBJECT(warp, "warp", warp_fields);

static const pl_field array_fields[] = {
    FIELD(pl_raw_array, "count", NODE, count, REQUIRED),
    FIELD(pl_raw_array, "pitch", NODE, pitch),
    FIELD(pl_raw_array, "box", NODE, box),
    FIELD(pl_raw_array, "spacing", NUMBER, spacing, NOT_NEGATIVE),
    FIELD(pl_raw_array, "scatter", NUMBER, scatter, FROM(0, 1e9)),
    FIELD(pl_raw_array, "tumble", NUMBER, tumble, FROM(0, 180)),
    FIELD(pl_raw_array, "seed", INTEGER, seed, FROM(0, INT32_MAX)),
    FIELD(pl_raw_array, "limit", INTEGER, limit, FROM(1, 1000000)),
};
OBJECT(array, "array", array_fields);

static const pl_field state_fields[] = {
    FIELD(pl_scene_state, "collapse", NODE, collapse_node),
    FIELD(pl_scene_state, "mirror", NODE, mirror_node),
    FIELD(pl_scene_state, "random", INTEGER, seed, FROM(0, INT32_MAX)),
    FIELD(pl_scene_state, "extent", NUMBER, extent, POSITIVE),
    FIELD(pl_scene_state, "positions", NODE, nodes[PL_POSITIONS]),
    FIELD(pl_scene_state, "rotations", NODE, nodes[PL_ROTATIONS]),
    FIELD(pl_scene_state, "velocities", NODE, nodes[PL_VELOCITIES]),
    FIELD(pl_scene_state, "spins", NODE, nodes[PL_SPINS]),
};
OBJECT(state, "state", state_fields);

static const pl_field pick_fields[] = {
    FIELD(pl_pick, "near", NODE, near_node),
    FIELD(pl_pick, "box", NODE, box_node),
};
OBJECT(pick, "pick", pick_fields);

static const pl_field rotation_fields[] = {
    FIELD(pl_raw_rotation, "axis", NODE, axis, REQUIRED),
    FIELD(pl_raw_rotation, "degrees", NUMBER, degrees, ANY, REQUIRED),
};
OBJECT(rotation, "rotation", rotation_fields);

static const pl_field pin_fields[] = {
    FIELD(pl_scene_pin, "name", NAME, name),
    FIELD(pl_scene_pin, "body", NAME, body_name),
    FIELD(pl_scene_pin, "particle", NODE, particle_node),
    FIELD(pl_scene_pin, "particles", NODE, particles_node),
    FIELD(pl_scene_pin, "vertex", NODE, vertex_node),
    FIELD(pl_scene_pin, "vertices", NODE, vertices_node),
    FIELD(pl_scene_pin, "point", NODE, point_node),
    FIELD(pl_scene_pin, "direction", NODE, direction_node),
    FIELD(pl_scene_pin, "frame", BOOL, frame),
    FIELD(pl_scene_pin, "strength", NUMBER, strength, .low = 0, .above = true, .high = 1e9),
    FIELD(pl_scene_pin, "target", NODE, target_node),
    FIELD(pl_scene_pin, "keys", NODE, keys_node),
    FIELD(pl_scene_pin, "relative", BOOL, relative),
    FIELD(pl_scene_pin, "ease", NAME, ease),
    FIELD(pl_scene_pin, "turn", NODE, turn_node),
};
OBJECT(pin, "pin", pin_fields);

static const pl_field drive_fields[] = {
    FIELD(pl_scene_drive, "name", NAME, name),
    FIELD(pl_scene_drive, "body", NAME, body_name),
    FIELD(pl_scene_drive, "particle", NODE, particle_node),
    FIELD(pl_scene_drive, "particles", NODE, particles_node),
    FIELD(pl_scene_drive, "keys", NODE, keys_node),
    FIELD(pl_scene_drive, "relative", BOOL, relative),
    FIELD(pl_scene_drive, "ease", NAME, ease),
    FIELD(pl_scene_drive, "turn", NODE, turn_node),
};
OBJECT(drive, "drive", drive_fields);

static const pl_field force_fields[] = {
    FIELD(pl_scene_force, "body", NAME, body_name),
    FIELD(pl_scene_force, "particle", NODE, particle_node),
    FIELD(pl_scene_force, "particles", NODE, particles_node),
    FIELD(pl_scene_force, "force", VECTOR, force),
    FIELD(pl_scene_force, "squeeze", VECTOR, squeeze),
    FIELD(pl_scene_force, "from", NUMBER, from, NOT_NEGATIVE),
    FIELD(pl_scene_force, "to", NUMBER, to, NOT_NEGATIVE),
};
OBJECT(force, "force", force_fields);

static const pl_field key_fields[] = {
    FIELD(pl_raw_key, "time", NUMBER, time, NOT_NEGATIVE, REQUIRED),
    FIELD(pl_raw_key, "position", VECTOR, position),
    FIELD(pl_raw_key, "direction", NODE, direction),
    FIELD(pl_raw_key, "rotation", NODE, rotation),
};
OBJECT(key, "key", key_fields);

static const pl_field turn_fields[] = {
    FIELD(pl_raw_turn, "axis", NODE, axis, REQUIRED),
    FIELD(pl_raw_turn, "centre", VECTOR, centre),
    FIELD(pl_raw_turn, "speed", NUMBER, speed, FROM(-1e6, 1e6)),
    FIELD(pl_raw_turn, "from", NUMBER, from, NOT_NEGATIVE),
    FIELD(pl_raw_turn, "to", NUMBER, to, NOT_NEGATIVE),
    FIELD(pl_raw_turn, "keys", NODE, keys),
    FIELD(pl_raw_turn, "ease", NAME, ease),
};
OBJECT(turn, "turn", turn_fields);

static const pl_field turn_key_fields[] = {
    FIELD(pl_raw_turn_key, "time", NUMBER, time, NOT_NEGATIVE, REQUIRED),
    FIELD(pl_raw_turn_key, "degrees", NUMBER, degrees, FROM(-1e9, 1e9), REQUIRED),
};
OBJECT(turn_key, "turn_key", turn_key_fields);

static const pl_field collider_fields[] = {
    FIELD(pl_scene_collider, "name", NAME, name),
    FIELD(pl_scene_collider, "shape", NODE, shape_node, REQUIRED),
    FIELD(pl_scene_collider, "position", VECTOR, position),
    FIELD(pl_scene_collider, "rotation", NODE, rotation_node),
    FIELD(pl_scene_collider, "half", VECTOR, half),
    FIELD(pl_scene_collider, "radius", NUMBER, radius, NOT_NEGATIVE),
    FIELD(pl_scene_collider, "length", NUMBER, length, NOT_NEGATIVE),
    FIELD(pl_scene_collider, "vertices", NODE, vertices_node),
    FIELD(pl_scene_collider, "triangles", NODE, triangles_node),
    FIELD(pl_scene_collider, "file", NAME, file),
    FIELD(pl_scene_collider, "builtin", NAME, builtin),
    FIELD(pl_scene_collider, "detail", NUMBER, detail, FROM(0.1, 16)),
    FIELD(pl_scene_collider, "scale", NUMBER, scale, POSITIVE),
    FIELD(pl_scene_collider, "two_sided", BOOL, two_sided),
    FIELD(pl_scene_collider, "friction", NUMBER, friction, FROM(0, 1e6)),
    FIELD(pl_scene_collider, "restitution", NUMBER, restitution, FROM(0, 1)),
    FIELD(pl_scene_collider, "surface_velocity", VECTOR, surface_velocity),
    FIELD(pl_scene_collider, "category", BITS, category),
    FIELD(pl_scene_collider, "mask", BITS, mask),
    FIELD(pl_scene_collider, "keys", NODE, keys_node),
    FIELD(pl_scene_collider, "relative", BOOL, relative),
    FIELD(pl_scene_collider, "ease", NAME, ease),
    FIELD(pl_scene_collider, "turn", NODE, turn_node),
};
OBJECT(collider, "collider", collider_fields);

static const pl_field attachment_fields[] = {
    FIELD(pl_scene_attachment, "name", NAME, name),
    FIELD(pl_scene_attachment, "body", NAME, body_name),
    FIELD(pl_scene_attachment, "particle", NODE, particle_node),
    FIELD(pl_scene_attachment, "vertex", NODE, vertex_node),
    FIELD(pl_scene_attachment, "point", NODE, point_node),
    FIELD(pl_scene_attachment, "other", NAME, other_name),
    FIELD(pl_scene_attachment, "other_particle", NODE, other_particle_node),
    FIELD(pl_scene_attachment, "other_vertex", NODE, other_vertex_node),
    FIELD(pl_scene_attachment, "other_point", NODE, other_point_node),
    FIELD(pl_scene_attachment, "collider", NAME, collider_name),
    FIELD(pl_scene_attachment, "target", VECTOR, target),
    FIELD(pl_scene_attachment, "keys", NODE, keys_node),
    FIELD(pl_scene_attachment, "relative", BOOL, relative),
    FIELD(pl_scene_attachment, "ease", NAME, ease),
    FIELD(pl_scene_attachment, "turn", NODE, turn_node),
    FIELD(pl_scene_attachment, "break_force", NUMBER, break_force, FROM(0, 1e30)),
};
OBJECT(attachment, "attachment", attachment_fields);

static const pl_field run_fields[] = {
    FIELD(pl_scene_run, "name", NAME, name, REQUIRED),
    FIELD(pl_scene_run, "world", NODE, world_node),
};
OBJECT(run, "run", run_fields);

static const pl_field event_fields[] = {
    FIELD(pl_scene_event, "at", NUMBER, time, NOT_NEGATIVE, REQUIRED),
    FIELD(pl_scene_event, "drop", NODE, drop_node),
    FIELD(pl_scene_event, "release", NODE, release_node),
    FIELD(pl_scene_event, "remove", NODE, remove_node),
    FIELD(pl_scene_event, "velocity", NODE, velocity_node),
    FIELD(pl_scene_event, "impulse", NODE, impulse_node),
    FIELD(pl_scene_event, "material", NODE, material_node),
    FIELD(pl_scene_event, "pressure", NODE, pressure_node),
    FIELD(pl_scene_event, "gravity", VECTOR, gravity),
};
OBJECT(event, "event", event_fields);

static const pl_field velocity_fields[] = {
    FIELD(pl_raw_change, "body", NAME, body_name),
    FIELD(pl_raw_change, "value", VECTOR, vector, REQUIRED),
    FIELD(pl_raw_change, "spin", VECTOR, spin),
};
OBJECT(velocity, "velocity", velocity_fields);

static const pl_field impulse_fields[] = {
    FIELD(pl_raw_change, "body", NAME, body_name),
    FIELD(pl_raw_change, "value", VECTOR, vector, REQUIRED),
};
OBJECT(impulse, "impulse", impulse_fields);

static const pl_field new_material_fields[] = {
    FIELD(pl_raw_change, "body", NAME, body_name),
    FIELD(pl_raw_change, "material", NODE, material, REQUIRED),
};
OBJECT(new_material, "change", new_material_fields);

static const pl_field pressure_fields[] = {
    FIELD(pl_raw_change, "body", NAME, body_name),
    FIELD(pl_raw_change, "value", NUMBER, number, FROM(0, 1e12), REQUIRED, .units = pressures),
};
OBJECT(pressure, "pressure", pressure_fields);

static const pl_field camera_fields[] = {
    FIELD(pl_scene_camera, "name", NAME, name),
    FIELD(pl_scene_camera, "position", VECTOR, position),
    FIELD(pl_scene_camera, "target", NODE, target_node),
    FIELD(pl_scene_camera, "degrees", NUMBER, degrees, FROM(1, 150)),
    FIELD(pl_scene_camera, "keys", NODE, keys_node),
    FIELD(pl_scene_camera, "relative", BOOL, relative),
    FIELD(pl_scene_camera, "ease", NAME, ease),
    FIELD(pl_scene_camera, "turn", NODE, turn_node),
    FIELD(pl_scene_camera, "target_keys", NODE, target_keys_node),
};
OBJECT(camera, "camera", camera_fields);

static const pl_field aim_fields[] = {
    FIELD(pl_raw_aim, "body", NAME, body_name, REQUIRED),
};
OBJECT(aim, "target", aim_fields);

static const pl_field light_fields[] = {
    FIELD(pl_scene_light, "direction", NODE, direction_node, REQUIRED),
    FIELD(pl_scene_light, "colour", NODE, colour_node),
    FIELD(pl_scene_light, "strength", NUMBER, strength, FROM(0, 100)),
    FIELD(pl_scene_light, "shadows", BOOL, shadows),
};
OBJECT(light, "light", light_fields);

static const pl_field output_fields[] = {
    FIELD(pl_scene_output, "file", NODE, file_node, REQUIRED),
    FIELD(pl_scene_output, "every", INTEGER, every, FROM(1, 1000000)),
    FIELD(pl_scene_output, "size", NODE, size_node),
    FIELD(pl_scene_output, "show", NODE, show_node),
    FIELD(pl_scene_output, "camera", NODE, camera_node),
};
OBJECT(output, "output", output_fields);

static const pl_scene_object *const objects[] = {
    &pl_object_scene,    &pl_object_world,      &pl_object_model,        &pl_object_particle,
    &pl_object_material, &pl_object_body,       &pl_object_state,        &pl_object_pick,
    &pl_object_rotation, &pl_object_pin,        &pl_object_drive,        &pl_object_force,
    &pl_object_key,      &pl_object_turn,       &pl_object_turn_key,     &pl_object_run,
    &pl_object_collider, &pl_object_attachment, &pl_object_array,        &pl_object_event,
    &pl_object_velocity, &pl_object_impulse,    &pl_object_new_material, &pl_object_pressure,
    &pl_object_camera,   &pl_object_aim,        &pl_object_light,        &pl_object_output,
    &pl_object_clusters, &pl_object_clustered,  &pl_object_tetrahedral,  &pl_object_examples,
    &pl_object_pose,     &pl_object_warp,       &pl_object_plasticity,
};

int pl_scene_object_count(void)
{
    return (int)(sizeof objects / sizeof *objects);
}

const char *pl_scene_object_name(int object)
{
    return objects[object]->name;
}

int pl_scene_key_count(int object)
{
    return objects[object]->field_count;
}

const char *pl_scene_key(int object, int key)
{
    return objects[object]->fields[key].key;
}
