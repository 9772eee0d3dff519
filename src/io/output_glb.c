/* The .glb writer: its actors, its frames, and the file in the end. */
#include "io/output_glb.h"

#include <math.h>
#include <string.h>
#include <unistd.h>

#include "io/output_bytes.h"
#include "io/output_glb_parts.h"

/* ---- Small things ---------------------------------------------------------------------------- */

pl_status pl_glb_no_memory(const pl_glb *glb, pl_trouble *trouble)
{
    return pl_trouble_set(trouble, PL_ERROR_MEMORY, glb->path,
                          "not enough memory to write this file");
}

pl_status pl_glb_too_large(const pl_glb *glb, pl_trouble *trouble)
{
    return pl_trouble_set(
        trouble, PL_ERROR_ARGUMENT, glb->path,
        "would be larger than the 4 GiB that a .glb can have; write fewer frames, "
        "or a .pc2 instead, which has no such limit");
}

char *pl_glb_copy(pl_memory *memory, const char *text)
{
    size_t size = strlen(text) + 1;
    char *copy = PL_NEW(memory, char, size);
    return copy ? memcpy(copy, text, size) : NULL;
}

int pl_glb_path_width(pl_glb_path path)
{
    return path == PL_GLB_ROTATION ? 4 : 3;
}

int pl_glb_path_count(const pl_glb_cast *cast, pl_glb_path path)
{
    if (!(cast->paths >> path & 1))
        return 0;
    return path == PL_GLB_SCALE ? 1 : cast->joint_count;
}

size_t pl_glb_path_first(const pl_glb_cast *cast, pl_glb_path path)
{
    size_t first = cast->first;
    for (int p = 0; p < (int)path; p++)
        first += (size_t)pl_glb_path_width((pl_glb_path)p) *
                 (size_t)pl_glb_path_count(cast, (pl_glb_path)p);
    return first;
}

/* ---- Beginning and end ----------------------------------------------------------------------- */

static pl_glb_list make_list(pl_memory *memory)
{
    return (pl_glb_list){pl_array_make(memory, sizeof(char)), 0};
}

static pl_status open_glb(pl_glb *glb, const pl_glb_def *def, pl_trouble *trouble)
{
    glb->path = pl_glb_copy(glb->memory, def->path);
    glb->title = pl_glb_copy(glb->memory, def->title ? def->title : "");
    if (!glb->path || !glb->title)
        return pl_trouble_set(trouble, PL_ERROR_MEMORY, def->path,
                              "not enough memory to write this file");
    return pl_output_open(glb->memory, def->path, &glb->output, trouble);
}

pl_status pl_glb_open(pl_memory *memory, const pl_glb_def *def, pl_glb **glb, pl_trouble *trouble)
{
    *glb = NULL;
    pl_glb *made = PL_NEW(memory, pl_glb, 1);
    if (!made)
        return pl_trouble_set(trouble, PL_ERROR_MEMORY, def->path,
                              "not enough memory to write this file");
    *made = (pl_glb){.memory = memory,
                     .rate = def->rate,
                     .descriptor = -1,
                     .bytes = pl_array_make(memory, sizeof(char)),
                     .views = make_list(memory),
                     .accessors = make_list(memory),
                     .images = make_list(memory),
                     .textures = make_list(memory),
                     .materials = make_list(memory),
                     .shapes = pl_array_make(memory, sizeof(pl_glb_shape)),
                     .casts = pl_array_make(memory, sizeof(pl_glb_cast)),
                     .worn = pl_array_make(memory, sizeof(pl_glb_worn)),
                     .paints = pl_array_make(memory, sizeof(pl_glb_paint)),
                     .times = pl_array_make(memory, sizeof(float))};
    for (int k = 0; k < 3; k++)
        made->lower[k] = INFINITY, made->upper[k] = -INFINITY;
    pl_status status = open_glb(made, def, trouble);
    if (status == PL_OK)
        *glb = made;
    else
        pl_glb_drop(made, false);
    return status;
}

static void free_parts(pl_glb *glb)
{
    for (int i = 0; i < (int)glb->shapes.count; i++) {
        pl_glb_shape *shape = pl_glb_shape_at(glb, i);
        pl_memory_free(glb->memory, shape->attributes);
        pl_memory_free(glb->memory, shape->name);
        pl_memory_free(glb->memory, shape->primitives);
        pl_memory_free(glb->memory, shape->levers);
    }
    for (int i = 0; i < (int)glb->casts.count; i++)
        pl_memory_free(glb->memory, pl_glb_cast_at(glb, i)->name);
}

void pl_glb_drop(pl_glb *glb, bool leave)
{
    if (!glb)
        return;
    if (glb->descriptor >= 0)
        close(glb->descriptor);
    (leave ? pl_output_leave : pl_output_drop)(glb->keys);
    pl_output_drop(glb->output);
    free_parts(glb);
    pl_array *arrays[] = {&glb->bytes,       &glb->views.text,    &glb->accessors.text,
                          &glb->images.text, &glb->textures.text, &glb->materials.text,
                          &glb->shapes,      &glb->casts,         &glb->worn,
                          &glb->paints,      &glb->times};
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++)
        pl_array_free(arrays[i]);
    pl_memory_free(glb->memory, glb->first);
    pl_memory_free(glb->memory, glb->frame);
    pl_memory_free(glb->memory, glb->path);
    pl_memory_free(glb->memory, glb->title);
    pl_memory_free(glb->memory, glb);
}

/* ---- Actors ---------------------------------------------------------------------------------- */

/* Whether something of the shape shows the colour of whoever wears it. */
static bool is_painted(const pl_glb *glb, int shape)
{
    if (shape == PL_GLB_PLANE)
        return true;
    const pl_glb_shape *s = pl_glb_shape_at(glb, shape);
    for (int i = 0; i < s->primitive_count; i++)
        if (s->primitives[i].material < 0)
            return true;
    return false;
}

/* A mesh for every shape in every colour; -1 without memory. */
static int wear(pl_glb *glb, int shape, int material)
{
    const pl_glb_worn *worn = glb->worn.data;
    for (int i = 0; i < (int)glb->worn.count; i++)
        if (worn[i].shape == shape && worn[i].material == material)
            return i;
    pl_glb_worn *made = pl_array_add(&glb->worn, 1);
    if (!made)
        return -1;
    *made = (pl_glb_worn){shape, material};
    return (int)glb->worn.count - 1;
}

pl_status pl_glb_add_actor(pl_glb *glb, const pl_glb_actor *actor, int *number, pl_trouble *trouble)
{
    pl_glb_cast *cast = pl_array_add(&glb->casts, 1);
    if (!cast)
        return pl_glb_no_memory(glb, trouble);
    bool is_plane = actor->surface == PL_GLB_PLANE;
    int joints = is_plane ? 0 : pl_glb_shape_at(glb, actor->surface)->joint_count;
    *cast = (pl_glb_cast){.name = pl_glb_copy(glb->memory, actor->name),
                          .shape = actor->surface,
                          .mesh = -1,
                          .skinned = joints > 0,
                          .material = -1,
                          .paths = actor->paths,
                          .joint_count = joints ? joints : 1,
                          .first = glb->frame_size};
    *number = (int)glb->casts.count - 1;
    if (!cast->name)
        return pl_glb_no_memory(glb, trouble);
    if (is_painted(glb, actor->surface)) {
        cast->material = pl_glb_add_paint(glb, actor->colour, actor->roughness, actor->two_sided);
        if (cast->material < 0)
            return pl_glb_no_memory(glb, trouble);
    }
    if (!is_plane && (cast->mesh = wear(glb, cast->shape, cast->material)) < 0)
        return pl_glb_no_memory(glb, trouble);
    glb->frame_size = pl_glb_path_first(cast, PL_GLB_PATHS);
    return PL_OK;
}

/* ---- The file -------------------------------------------------------------------------------- */

static void turn_back(const float q[4], const double v[3], double out[3])
{
    double back[4] = {-(double)q[0], -(double)q[1], -(double)q[2], (double)q[3]};
    pl_quaternion_rotate(back, v, out);
}

/* A square in the plane as it lies at the start, under everything that ever moves; 10 metres where
   nothing does. */
static pl_status make_plane(pl_glb *glb, pl_glb_cast *cast, pl_trouble *trouble)
{
    static const float up[12] = {0, 1, 0, 0, 1, 0, 0, 1, 0, 0, 1, 0};
    static const float sides[4][2] = {{-1, -1}, {-1, 1}, {1, 1}, {1, -1}};
    static const int32_t triangles[6] = {0, 1, 2, 0, 2, 3};
    const float *at = glb->first + 1 + pl_glb_path_first(cast, PL_GLB_TRANSLATION);
    const float *turned = glb->first + 1 + pl_glb_path_first(cast, PL_GLB_ROTATION);
    double middle[3], local[3], half = 0;
    bool any = glb->lower[0] <= glb->upper[0];
    for (int k = 0; k < 3; k++) {
        middle[k] = any ? (glb->lower[k] + glb->upper[k]) / 2 - (double)at[k] : 0;
        half += any ? pow(glb->upper[k] - glb->lower[k], 2) : 0;
    }
    half = any ? 0.75 * sqrt(half) : 5;
    for (int i = 0; i < (int)glb->shapes.count; i++)
        if (pl_glb_shape_at(glb, i)->joint_count)
            half = fmax(half, (double)pl_glb_shape_at(glb, i)->size);
    turn_back(turned, middle, local);
    float positions[12];
    for (int i = 0; i < 4; i++) {
        positions[3 * i] = (float)(local[0] + half * (double)sides[i][0]);
        positions[3 * i + 1] = 0;
        positions[3 * i + 2] = (float)(local[2] + half * (double)sides[i][1]);
    }
    const pl_glb_surface square = {.name = "plane",
                                   .vertex_count = 4,
                                   .triangle_count = 2,
                                   .positions = positions,
                                   .normals = up,
                                   .triangles = triangles};
    PL_TRY(pl_glb_add_surface(glb, &square, &cast->shape, trouble));
    cast->mesh = wear(glb, cast->shape, cast->material);
    return cast->mesh < 0 ? pl_glb_no_memory(glb, trouble) : PL_OK;
}

static void put_header(pl_glb *glb, uint64_t json, uint64_t bytes)
{
    char header[20], *to = header;
    to = pl_put_u32(to, 0x46546C67); /* glTF */
    to = pl_put_u32(to, 2);
    to = pl_put_u32(to, (uint32_t)(20 + json + (bytes ? 8 + bytes : 0)));
    to = pl_put_u32(to, (uint32_t)json);
    pl_put_u32(to, 0x4E4F534A); /* JSON */
    pl_output_write(glb->output, header, sizeof header);
}

static pl_status write_file(pl_glb *glb, pl_glb_keys *keys, pl_trouble *trouble)
{
    uint64_t bytes = (uint64_t)glb->bytes.count + keys->size;
    pl_glb_text counted = {0}, written = {.output = glb->output};
    pl_glb_put_document(glb, keys, bytes, &counted);
    uint64_t json = (counted.size + 3) / 4 * 4;
    if (28 + json + bytes > UINT32_MAX)
        return pl_glb_too_large(glb, trouble);
    put_header(glb, json, bytes);
    pl_glb_put_document(glb, keys, bytes, &written);
    pl_output_write(glb->output, "   ", (size_t)(json - counted.size));
    if (bytes == 0)
        return PL_OK;
    char chunk[8];
    pl_put_u32(pl_put_u32(chunk, (uint32_t)bytes), 0x004E4942); /* BIN */
    pl_output_write(glb->output, chunk, sizeof chunk);
    if (glb->bytes.count)
        pl_output_write(glb->output, glb->bytes.data, glb->bytes.count);
    return pl_glb_keys_write(glb, keys, trouble);
}

static pl_status finish(pl_glb *glb, pl_trouble *trouble)
{
    pl_glb_keys keys = {0};
    PL_TRY(pl_glb_make_room(glb, trouble));
    for (int i = 0; i < (int)glb->casts.count; i++)
        if (pl_glb_cast_at(glb, i)->shape == PL_GLB_PLANE)
            PL_TRY(make_plane(glb, pl_glb_cast_at(glb, i), trouble));
    if (glb->keys)
        PL_TRY(pl_glb_open_keys(glb, trouble));
    pl_status status = pl_glb_keys_choose(glb, &keys, trouble);
    if (status == PL_OK)
        status = write_file(glb, &keys, trouble);
    pl_glb_keys_free(glb, &keys);
    return status;
}

pl_status pl_glb_publish(pl_glb *glb, pl_trouble *trouble)
{
    pl_status status = finish(glb, trouble);
    if (status == PL_OK) {
        pl_output *output = glb->output;
        glb->output = NULL;
        status = pl_output_publish(output, trouble);
    }
    pl_glb_drop(glb, false);
    return status;
}
