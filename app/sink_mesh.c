/* Surfaces as meshes: a file per frame, or one of the last frame. */
#include <limits.h>

#include "io/outputs.h"
#include "sink.h"

typedef pl_status mesh_writer(pl_output *output, const pl_play *play);

static int write_mesh(app_sink *sink, const app_stage *stage, mesh_writer *write)
{
    char name[PATH_MAX];
    pl_output *output;
    pl_trouble trouble;
    int result = app_sink_file(sink, stage->play->frame, name, sizeof name);
    if (result >= 0)
        return result;
    if (pl_output_open(stage->memory, name, &output, &trouble) != PL_OK)
        return app_fail(&trouble);
    pl_status status = write(output, stage->play);
    if (status != PL_OK) {
        pl_output_drop(output);
        return app_write_failed(name, status);
    }
    return pl_output_publish(output, &trouble) == PL_OK ? -1 : app_fail(&trouble);
}

static int obj_frame(app_sink *sink, const app_stage *stage)
{
    return write_mesh(sink, stage, pl_write_obj);
}

const app_sink_kind app_sink_obj = {
    .ending = ".obj",
    .about = "surfaces as a mesh",
    .pattern = true,
    .frame = obj_frame,
};

static int ply_frame(app_sink *sink, const app_stage *stage)
{
    return write_mesh(sink, stage, pl_write_ply);
}

const app_sink_kind app_sink_ply = {
    .ending = ".ply",
    .about = "the same with normals and colours, binary",
    .pattern = true,
    .frame = ply_frame,
};
