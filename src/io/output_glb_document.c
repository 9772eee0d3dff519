/* The JSON of a .glb. Nodes are numbered in the order of the actors: a rigid one has one; a skinned
   one has its mesh (which must be a root and is not moved), the root of its joints, and the joints.
   Accessors of keys follow those of the geometry, in the order of the tracks. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "io/output_glb_parts.h"

static void put_list(pl_glb_text *text, const char *name, const pl_glb_list *list)
{
    if (list->count == 0)
        return;
    pl_glb_print(text, ",\"%s\":[", name);
    pl_glb_put_text(text, list->text.data, list->text.count);
    pl_glb_put(text, "]");
}

static const char *comma(int i)
{
    return i ? "," : "";
}

/* ---- Nodes ----------------------------------------------------------------------------------- */

static const char *const path_names[PL_GLB_PATHS] = {"translation", "rotation", "scale"};

static int node_count(const pl_glb_cast *cast)
{
    return cast->skinned ? 2 + cast->joint_count : 1;
}

/* As it is in the first frame. */
static void put_pose(const pl_glb *glb, pl_glb_text *text, const pl_glb_cast *cast,
                     pl_glb_path path, int joint)
{
    int width = pl_glb_path_width(path);
    if (pl_glb_path_count(cast, path) == 0 || glb->times.count == 0)
        return;
    pl_glb_print(text, ",\"%s\":", path_names[path]);
    pl_glb_put_numbers(
        text, glb->first + 1 + pl_glb_path_first(cast, path) + (size_t)joint * (size_t)width, width,
        false);
}

static void put_rigid(const pl_glb *glb, pl_glb_text *text, const pl_glb_cast *cast)
{
    pl_glb_put(text, "{");
    pl_glb_put_name(text, cast->name, "");
    pl_glb_print(text, ",\"mesh\":%d", cast->mesh);
    put_pose(glb, text, cast, PL_GLB_TRANSLATION, 0);
    put_pose(glb, text, cast, PL_GLB_ROTATION, 0);
    put_pose(glb, text, cast, PL_GLB_SCALE, 0);
    pl_glb_put(text, "}");
}

/* Joints have names that differ in the whole file: some programs find them by name. */
static void put_skinned(const pl_glb *glb, pl_glb_text *text, const pl_glb_cast *cast, int skin,
                        int node)
{
    pl_glb_put(text, "{");
    pl_glb_put_name(text, cast->name, "");
    pl_glb_print(text, ",\"mesh\":%d,\"skin\":%d},{", cast->mesh, skin);
    pl_glb_put_name(text, cast->name, "_particles");
    pl_glb_put(text, ",\"translation\":");
    pl_glb_put_numbers(text, cast->origin, 3, true);
    put_pose(glb, text, cast, PL_GLB_SCALE, 0);
    for (int j = 0; j < cast->joint_count; j++)
        pl_glb_print(text, "%s%d", j ? "," : ",\"children\":[", node + 2 + j);
    pl_glb_put(text, "]}");
    for (int j = 0; j < cast->joint_count; j++) {
        char number[16];
        snprintf(number, sizeof number, "_p%d", j);
        pl_glb_put(text, ",{");
        pl_glb_put_name(text, cast->name, number);
        put_pose(glb, text, cast, PL_GLB_TRANSLATION, j);
        put_pose(glb, text, cast, PL_GLB_ROTATION, j);
        pl_glb_put(text, "}");
    }
}

static void put_nodes(const pl_glb *glb, pl_glb_text *text)
{
    int node = 0, skin = 0;
    for (int i = 0; i < (int)glb->casts.count; i++) {
        const pl_glb_cast *cast = pl_glb_cast_at(glb, i);
        pl_glb_put(text, i ? "," : ",\"nodes\":[");
        if (cast->skinned)
            put_skinned(glb, text, cast, skin++, node);
        else
            put_rigid(glb, text, cast);
        node += node_count(cast);
    }
    pl_glb_put(text, node ? "]" : "");
}

static void put_scene(const pl_glb *glb, pl_glb_text *text)
{
    int node = 0;
    float rate = (float)glb->rate;
    pl_glb_put(text, ",\"scene\":0,\"scenes\":[{");
    pl_glb_put_name(text, glb->title[0] ? glb->title : "pliant", "");
    for (int i = 0; i < (int)glb->casts.count; i++) {
        const pl_glb_cast *cast = pl_glb_cast_at(glb, i);
        pl_glb_print(text, "%s%d", i ? "," : ",\"nodes\":[", node);
        if (cast->skinned)
            pl_glb_print(text, ",%d", node + 1);
        node += node_count(cast);
    }
    pl_glb_put(text, node ? "]" : "");
    pl_glb_print(text, ",\"extras\":{\"generator\":\"pliant %s\",\"frames\":%zu", pl_version(),
                 glb->times.count);
    if (rate > 0) {
        pl_glb_put(text, ",\"fps\":");
        pl_glb_put_number(text, rate, false);
    }
    pl_glb_put(text, "}}]");
}

static void put_skins(const pl_glb *glb, pl_glb_text *text)
{
    int node = 0, skin = 0;
    for (int i = 0; i < (int)glb->casts.count; i++) {
        const pl_glb_cast *cast = pl_glb_cast_at(glb, i);
        if (cast->skinned) {
            pl_glb_print(text, "%s{\"inverseBindMatrices\":%d,\"skeleton\":%d,\"joints\":[",
                         skin++ ? "," : ",\"skins\":[",
                         pl_glb_shape_at(glb, cast->shape)->inverse_binds, node + 1);
            for (int j = 0; j < cast->joint_count; j++)
                pl_glb_print(text, "%s%d", comma(j), node + 2 + j);
            pl_glb_put(text, "]}");
        }
        node += node_count(cast);
    }
    pl_glb_put(text, skin ? "]" : "");
}

static void put_meshes(const pl_glb *glb, pl_glb_text *text)
{
    const pl_glb_worn *worn = glb->worn.data;
    for (int i = 0; i < (int)glb->worn.count; i++) {
        const pl_glb_shape *shape = pl_glb_shape_at(glb, worn[i].shape);
        pl_glb_put(text, i ? ",{" : ",\"meshes\":[{");
        pl_glb_put_name(text, shape->name, "");
        pl_glb_put(text, ",\"primitives\":[");
        for (int k = 0; k < shape->primitive_count; k++) {
            const pl_glb_primitive *p = &shape->primitives[k];
            pl_glb_print(text, "%s{\"attributes\":{", comma(k));
            pl_glb_put(text, shape->attributes);
            pl_glb_print(text, "},\"indices\":%d,\"material\":%d}", p->indices,
                         p->material < 0 ? worn[i].material : p->material);
        }
        pl_glb_put(text, "]}");
    }
    pl_glb_put(text, glb->worn.count ? "]" : "");
}

/* ---- Keys ------------------------------------------------------------------------------------ */

static void put_times(const pl_glb *glb, pl_glb_text *text, uint64_t offset, size_t count,
                      size_t last)
{
    const float *times = glb->times.data;
    pl_glb_print(text,
                 ",{\"bufferView\":%d,\"byteOffset\":%" PRIu64
                 ",\"componentType\":5126,\"count\":%zu,\"type\":\"SCALAR\",\"min\":",
                 glb->views.count, offset, count);
    pl_glb_put_numbers(text, times, 1, true);
    pl_glb_put(text, ",\"max\":");
    pl_glb_put_numbers(text, times + last, 1, true);
    pl_glb_put(text, "}");
}

/* Their bytes are a view of their own, behind those of the geometry. */
static void put_key_accessors(const pl_glb *glb, pl_glb_text *text, const pl_glb_keys *keys)
{
    size_t last = glb->times.count - 1;
    uint64_t offset = 0;
    if (keys->shared) {
        put_times(glb, text, 0, glb->times.count, last);
        offset = glb->times.count * sizeof(float);
    }
    for (int i = 0; i < keys->track_count; i++) {
        const pl_glb_kept *kept = &keys->kept[i];
        uint64_t next = offset + pl_glb_track_size(&keys->tracks[i], kept);
        if (kept->count == 0)
            continue;
        if (kept->own_times) {
            put_times(glb, text, offset, kept->count, kept->count == 1 ? 0 : last);
            offset += kept->count * sizeof(float);
        }
        pl_glb_print(text,
                     ",{\"bufferView\":%d,\"byteOffset\":%" PRIu64
                     ",\"componentType\":5126,\"count\":%" PRIu32 ",\"type\":\"VEC%d\"}",
                     glb->views.count, offset, kept->count,
                     pl_glb_path_width(keys->tracks[i].path));
        offset = next;
    }
}

/* The accessors of a track, counted on. */
static void find_accessors(const pl_glb *glb, const pl_glb_keys *keys, int track, int *next,
                           int *input, int *output)
{
    *input = keys->kept[track].own_times ? (*next)++ : glb->accessors.count;
    *output = (*next)++;
}

static int first_accessor(const pl_glb *glb, const pl_glb_keys *keys)
{
    return glb->accessors.count + (keys->shared ? 1 : 0);
}

static void put_samplers(const pl_glb *glb, pl_glb_text *text, const pl_glb_keys *keys)
{
    int next = first_accessor(glb, keys), input, output, count = 0;
    for (int i = 0; i < keys->track_count; i++) {
        if (keys->kept[i].count == 0)
            continue;
        find_accessors(glb, keys, i, &next, &input, &output);
        pl_glb_print(text, "%s{\"input\":%d,\"output\":%d%s}", comma(count++), input, output,
                     keys->tracks[i].path == PL_GLB_SCALE ? ",\"interpolation\":\"STEP\"" : "");
    }
}

static void put_channels(const pl_glb *glb, pl_glb_text *text, const pl_glb_keys *keys)
{
    int count = 0, node = 0, cast = 0;
    for (int i = 0; i < keys->track_count; i++) {
        const pl_glb_track *track = &keys->tracks[i];
        for (; cast < track->cast; cast++)
            node += node_count(pl_glb_cast_at(glb, cast));
        bool skinned = pl_glb_cast_at(glb, cast)->skinned;
        int at = node + (!skinned ? 0 : track->joint < 0 ? 1 : 2 + track->joint);
        if (keys->kept[i].count == 0)
            continue;
        pl_glb_print(text, "%s{\"sampler\":%d,\"target\":{\"node\":%d,\"path\":\"%s\"}}",
                     comma(count), count, at, path_names[track->path]);
        count++;
    }
}

static void put_animation(const pl_glb *glb, pl_glb_text *text, const pl_glb_keys *keys)
{
    if (keys->used == 0)
        return;
    pl_glb_put(text, ",\"animations\":[{");
    pl_glb_put_name(text, glb->title[0] ? glb->title : "pliant", "");
    pl_glb_put(text, ",\"samplers\":[");
    put_samplers(glb, text, keys);
    pl_glb_put(text, "],\"channels\":[");
    put_channels(glb, text, keys);
    pl_glb_put(text, "]}]");
}

/* ---- All ------------------------------------------------------------------------------------- */

static void put_buffer(const pl_glb *glb, pl_glb_text *text, const pl_glb_keys *keys,
                       uint64_t bytes)
{
    if (bytes == 0)
        return;
    pl_glb_put(text, ",\"accessors\":[");
    pl_glb_put_text(text, glb->accessors.text.data, glb->accessors.text.count);
    if (keys->used)
        put_key_accessors(glb, text, keys);
    pl_glb_put(text, "],\"bufferViews\":[");
    pl_glb_put_text(text, glb->views.text.data, glb->views.text.count);
    if (keys->used)
        pl_glb_print(text, ",{\"buffer\":0,\"byteOffset\":%zu,\"byteLength\":%" PRIu64 "}",
                     glb->bytes.count, keys->size);
    pl_glb_print(text, "],\"buffers\":[{\"byteLength\":%" PRIu64 "}]", bytes);
}

void pl_glb_put_document(pl_glb *glb, const pl_glb_keys *keys, uint64_t bytes, pl_glb_text *text)
{
    pl_glb_print(text, "{\"asset\":{\"version\":\"2.0\",\"generator\":\"pliant %s\"}",
                 pl_version());
    put_scene(glb, text);
    put_nodes(glb, text);
    put_meshes(glb, text);
    put_list(text, "materials", &glb->materials);
    put_list(text, "textures", &glb->textures);
    put_list(text, "images", &glb->images);
    put_skins(glb, text);
    put_animation(glb, text, keys);
    put_buffer(glb, text, keys, bytes);
    pl_glb_put(text, "}");
}
