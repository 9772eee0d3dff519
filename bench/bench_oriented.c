/* Microseconds per body and iteration of each stage of the oriented-particle solvers, for 1, 8, 16 and 64 instances of
   the bar (20 particles, 19 edges) and the creature (100, 261), on one thread: minima over repeats. */
#include <stdio.h>
#include <stdlib.h>

#include "pliant/pliant.h"

static pl_model *make_model(pl_shape_kind kind)
{
    pl_shape_def def = pl_default_shape_def(kind);
    pl_shape *shape;
    pl_model *model;
    if (pl_shape_create(&def, &shape, NULL) != PL_OK)
        exit(1);
    pl_model_def model_def = pl_shape_model_def(shape);
    if (pl_model_create(&model_def, &model, NULL) != PL_OK)
        exit(1);
    pl_shape_destroy(shape);
    return model;
}

static pl_world *make_world(pl_model *model, int count, pl_solver solver)
{
    pl_world_def def = pl_default_world_def();
    def.step = 1.0 / 30;
    pl_world *world;
    if (pl_world_create(&def, &world, NULL) != PL_OK)
        exit(1);
    int32_t fixed = 0;
    for (int i = 0; i < count; i++) {
        pl_body_def body_def = pl_default_body_def(model);
        pl_body body;
        body_def.material.density = 1000;
        body_def.material.stiffness = 333 * 1000 * 900.0;
        body_def.solver = solver;
        body_def.position[0] = 3 * i;
        body_def.fixed = &fixed;
        body_def.fixed_count = 1;
        body_def.spin[1] = 0.1 * i;
        if (pl_body_create(world, &body_def, &body, NULL) != PL_OK)
            exit(1);
    }
    return world;
}

static double smaller(double a, double b)
{
    return a < b ? a : b;
}

static void measure(const char *name, pl_model *model, int count, pl_solver solver)
{
    pl_world *world = make_world(model, count, solver);
    double local = 1e9, global = 1e9, accelerate = 1e9, stiff = 1e9, predict = 1e9, finish = 1e9;
    for (int frame = 0; frame < 300; frame++) {
        pl_report r;
        pl_world_step(world, &r);
        double scale = 1e3 / (double)r.iterations;
        local = smaller(local, r.ms_local * scale);
        global = smaller(global, r.ms_global * scale);
        accelerate = smaller(accelerate, r.ms_accelerate * scale);
        stiff = smaller(stiff, r.ms_stiff * scale);
        predict = smaller(predict, r.ms_predict * 1e3 / count);
        finish = smaller(finish, r.ms_finish * 1e3 / count);
    }
    printf("%-9s %3d %-6s local %7.3f  global %7.3f  accelerate %7.3f  stiff %8.3f us   per step: "
           "predict %7.3f  "
           "finish %7.3f us\n",
           name, count,
           solver == PL_SOLVER_FAST    ? "fast"
           : solver == PL_SOLVER_STIFF ? "stiff"
                                       : "plain",
           local, global, accelerate, stiff, predict, finish);
    pl_world_destroy(world);
}

int main(void)
{
    static const int counts[] = {1, 2, 3, 8, 16, 64};
    pl_model *models[] = {make_model(PL_SHAPE_BAR), make_model(PL_SHAPE_CREATURE)};
    const char *names[] = {"bar", "creature"};
    printf("lanes: %d floats\n", pl_simd_width());
    for (int m = 0; m < 2; m++)
        for (int s = 0; s < 2; s++)
            for (int c = 0; c < 6; c++)
                measure(names[m], models[m], counts[c], s ? PL_SOLVER_STIFF : PL_SOLVER_FAST);
    pl_model_release(models[0]);
    pl_model_release(models[1]);
    return 0;
}
