/* Models with everything a model can have, for tests of packing and of model files. */
#ifndef PLIANT_TESTS_PACKED_CASES_H
#define PLIANT_TESTS_PACKED_CASES_H

#include "model_cases.h"

enum { FULL_PARTICLES = 9, FULL_EDGES = 9, FULL_VERTICES = 7, FULL_TRIANGLES = 4 };

/* Two pieces, a surface with tangents, colours, UVs, materials, images and groups, and
   tetrahedra. */
typedef struct full_case {
    pl_model_def def;
    double positions[3 * FULL_PARTICLES], radii[3 * FULL_PARTICLES];
    double orientations[4 * FULL_PARTICLES];
    double vertices[3 * FULL_VERTICES];
    float normals[3 * FULL_VERTICES], tangents[4 * FULL_VERTICES], colours[4 * FULL_VERTICES];
    float uvs[2][2 * FULL_VERTICES];
    int32_t triangle_materials[FULL_TRIANGLES], triangle_groups[FULL_TRIANGLES];
    pl_look_material materials[2];
    pl_image images[3];
    const char *groups[2];
    uint8_t picture[100];
    double tet_points[3 * 5];
    int32_t vertex_tets[FULL_VERTICES];
    float barycentric[4 * FULL_VERTICES];
    pl_look look;
} full_case;

static inline void fill_look(full_case *c, pl_rng *rng)
{
    for (int v = 0; v < FULL_VERTICES; v++) {
        memcpy(c->normals + 3 * v, (float[3]){0.6f, 0, 0.8f}, 3 * sizeof(float));
        memcpy(c->tangents + 4 * v, (float[4]){0, 1, 0, v % 2 ? 1.0f : -1.0f}, 4 * sizeof(float));
        for (int k = 0; k < 4; k++)
            c->colours[4 * v + k] = (float)pl_random_double(rng);
        for (int k = 0; k < 2; k++)
            c->uvs[0][2 * v + k] = (float)pl_random_double(rng),
                              c->uvs[1][2 * v + k] = (float)pl_random_double(rng);
    }
    for (int t = 0; t < FULL_TRIANGLES; t++) {
        c->triangle_materials[t] = t % 2;
        c->triangle_groups[t] = t / 2;
    }
    for (int i = 0; i < 100; i++)
        c->picture[i] = (uint8_t)(i * 7);
    for (int i = 0; i < 2; i++) {
        c->materials[i] = (pl_look_material){
            .name = i ? "skin" : "", .colour = {1, 0.5f, 0.25f, 1}, .metal = 0.1f};
        for (int k = 0; k < PL_TEXTURE_KINDS; k++)
            c->materials[i].textures[k] = k == i ? k + 1 : -1;
    }
    c->images[0] = (pl_image){"a.png", "image/png", c->picture, sizeof c->picture};
    c->images[1] = (pl_image){"elsewhere.jpg", "", NULL, 0};
    c->images[2] = (pl_image){"empty", "", c->picture, 0};
    c->groups[0] = "body";
    c->groups[1] = "l\xc3\xa4ufe";
    c->look = (pl_look){.normals = c->normals,
                        .tangents = c->tangents,
                        .colours = c->colours,
                        .uv_set_count = 2,
                        .uvs = {c->uvs[0], c->uvs[1]},
                        .triangle_materials = c->triangle_materials,
                        .material_count = 2,
                        .materials = c->materials,
                        .image_count = 3,
                        .images = c->images,
                        .triangle_groups = c->triangle_groups,
                        .group_count = 2,
                        .group_names = c->groups};
}

static inline void fill_tets(full_case *c)
{
    static const int32_t tets[] = {0, 1, 2, 3, 1, 2, 3, 4};
    static const double points[] = {0, 0, 0, 2, 0, 0, 0, 2, 0, 0, 0, 2, 2, 2, 2};
    memcpy(c->tet_points, points, sizeof points);
    for (int v = 0; v < FULL_VERTICES; v++) {
        c->vertex_tets[v] = v % 2;
        memcpy(c->barycentric + 4 * v, (float[4]){0.5f, 0.25f, 0.5f, -0.25f}, 4 * sizeof(float));
    }
    c->def.tet_point_count = 5;
    c->def.tet_points = pl_doubles(c->tet_points, 0);
    c->def.tet_count = 2;
    c->def.tets = tets;
    c->def.vertex_tets = c->vertex_tets;
    c->def.vertex_barycentric = c->barycentric;
}

/* In place: the definition points into the case. Different seeds differ in every number. */
static inline void make_full_case(full_case *c, uint64_t seed)
{
    static const int32_t edges[] = {0, 1, 1, 2, 2, 3, 3, 0, 0, 2, 4, 5, 5, 6, 6, 7, 7, 8};
    static const int32_t triangles[] = {0, 1, 2, 2, 3, 4, 4, 5, 6, 6, 6, 0};
    pl_rng rng = pl_rng_make(seed);
    for (int i = 0; i < 3 * FULL_PARTICLES; i++) {
        c->positions[i] = 2 * pl_random_double(&rng) + 100;
        c->radii[i] = 0.2 + 0.1 * pl_random_double(&rng);
    }
    for (int i = 0; i < 4 * FULL_PARTICLES; i++)
        c->orientations[i] = pl_random_double(&rng) + 0.1;
    for (int i = 0; i < 3 * FULL_VERTICES; i++)
        c->vertices[i] = 2 * pl_random_double(&rng) + 100;
    c->def = pl_default_model_def();
    c->def.particle_count = FULL_PARTICLES;
    c->def.positions = pl_doubles(c->positions, 0);
    c->def.orientations = pl_doubles(c->orientations, 0);
    c->def.radii = pl_doubles(c->radii, 0);
    c->def.edge_count = FULL_EDGES;
    c->def.edges = edges;
    c->def.several_pieces = true;
    c->def.dimension = 2;
    c->def.volume = 0.5;
    c->def.vertex_count = FULL_VERTICES;
    c->def.vertices = pl_doubles(c->vertices, 0);
    c->def.influence_count = 3;
    c->def.triangle_count = FULL_TRIANGLES;
    c->def.triangles = triangles;
    c->def.look = &c->look;
    fill_look(c, &rng);
    fill_tets(c);
}

#endif
