/* Microseconds per sub-step of oriented bodies with a rest shape of their own, on one core, without
   contact, ten iterations: unmodified, plastic, with examples for the whole body and for every
   particle. They swing from one corner; minima over the steps. */
#include <stdio.h>
#include <stdlib.h>

#include "pliant/pliant.h"

typedef enum variant { UNMODIFIED, PLASTIC, ONE_POSE, THREE_POSES, LOCAL, VARIANTS } variant;

static void check(pl_status status, const pl_error *error)
{
    if (status == PL_OK)
        return;
    fprintf(stderr, "%s: %s\n", error->where, error->text);
    exit(1);
}

static pl_world *make_world(void)
{
    pl_error error = {0};
    pl_world_def def = pl_default_world_def();
    pl_world *world;
    def.threads = 1;
    def.iterations = 10;
    check(pl_world_create(&def, &world, &error), &error);
    return world;
}

static pl_model *make_model(pl_shape_kind kind, int nx, int ny, int nz)
{
    pl_error error = {0};
    pl_shape_def def = pl_default_shape_def(kind);
    pl_shape *shape;
    pl_model *model;
    def.count[0] = nx, def.count[1] = ny, def.count[2] = nz;
    check(pl_shape_create(&def, &shape, &error), &error);
    pl_model_def model_def = pl_shape_model_def(shape);
    check(pl_model_create(&model_def, &model, &error), &error);
    pl_shape_destroy(shape);
    return model;
}

static void make_body(pl_world *world, pl_model *model, variant of)
{
    static const pl_warp_kind kinds[] = {PL_WARP_BEND, PL_WARP_TWIST, PL_WARP_S};
    pl_error error = {0};
    pl_pose poses[3];
    pl_plasticity_def plasticity = pl_default_plasticity_def();
    pl_examples_def examples = pl_default_examples_def();
    pl_body_def def = pl_default_body_def(model);
    pl_body body;
    int count = of == ONE_POSE ? 1 : of > ONE_POSE ? 3 : 0;
    for (int k = 0; k < count; k++) {
        pl_warp warp = pl_default_warp(kinds[k]);
        warp.amount = 0.5;
        check(pl_pose_warp(model, &warp, 1, &poses[k], &error), &error);
    }
    examples.poses = poses;
    examples.pose_count = count;
    examples.scope = of == LOCAL ? PL_EXAMPLES_LOCAL : PL_EXAMPLES_GLOBAL;
    static const int32_t fixed[] = {0};
    def.fixed = fixed;
    def.fixed_count = 1;
    def.self_contact = false;
    def.material.young = 1e5;
    def.plasticity = of == PLASTIC ? &plasticity : NULL;
    def.examples = count ? &examples : NULL;
    check(pl_body_create(world, &def, &body, &error), &error);
    for (int k = 0; k < count; k++)
        pl_pose_free(&poses[k]);
}

static double fastest_step(pl_model *model, variant of)
{
    pl_world *world = make_world();
    double least = 1e9;
    make_body(world, model, of);
    for (int step = 0; step < 200; step++) {
        pl_report report;
        pl_world_step(world, &report);
        least = report.ms_total < least ? report.ms_total : least;
    }
    pl_world_destroy(world);
    return 1e3 * least;
}

int main(void)
{
    static const struct {
        const char *name;
        pl_shape_kind kind;
        int count[3];
    } shapes[] = {{"rod", PL_SHAPE_CHAIN, {100, 0, 0}},
                  {"sheet", PL_SHAPE_SHEET, {31, 16, 0}},
                  {"solid", PL_SHAPE_BOX, {8, 8, 8}}};
    printf("%-6s %9s %6s %11s %8s %9s %12s %9s\n", "", "particles", "edges", "unmodified",
           "plastic", "one pose", "three poses", "local");
    for (int i = 0; i < 3; i++) {
        const int *count = shapes[i].count;
        pl_model *model = make_model(shapes[i].kind, count[0], count[1], count[2]);
        pl_model_info info = pl_model_get_info(model);
        printf("%-6s %9d %6d", shapes[i].name, info.particle_count, info.edge_count);
        static const int widths[VARIANTS] = {11, 8, 9, 12, 9};
        for (int k = 0; k < VARIANTS; k++)
            printf(" %*.0f", widths[k], fastest_step(model, (variant)k));
        printf("  us\n");
        pl_model_release(model);
    }
    return 0;
}
