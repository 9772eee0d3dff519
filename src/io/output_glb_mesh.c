/* Surfaces as views and accessors of one buffer. Numbers are made what glTF demands of them: unit
   normals, weights that sum to one, joints that do not repeat, colours from 0 to 1. */
#include <math.h>
#include <string.h>

#include "io/output_glb_parts.h"

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "glTF's numbers are little-endian");

/* ---- Views and accessors --------------------------------------------------------------------- */

int pl_glb_add_view(pl_glb *glb, const void *bytes, size_t size, int target)
{
    size_t offset = glb->bytes.count, padded = (size + 3) / 4 * 4;
    char *to = pl_array_add(&glb->bytes, padded);
    if (!to)
        return -1;
    memcpy(to, bytes, size);
    memset(to + size, 0, padded - size);
    pl_glb_text text = pl_glb_next(&glb->views);
    pl_glb_print(&text, "{\"buffer\":0,\"byteOffset\":%zu,\"byteLength\":%zu", offset, size);
    if (target)
        pl_glb_print(&text, ",\"target\":%d", target);
    pl_glb_put(&text, "}");
    return text.failed ? -1 : glb->views.count - 1;
}

/* `type` 1 = SCALAR, 2 = VEC2, …, 16 = MAT4. -1 without memory. */
static int add_accessor(pl_glb *glb, const void *bytes, size_t count, int component, int type,
                        int target, const float *bounds)
{
    size_t size = component == PL_GLB_BYTE ? 1 : component == PL_GLB_SHORT ? 2 : 4;
    int view = pl_glb_add_view(glb, bytes, count * (size_t)type * size, target);
    if (view < 0)
        return -1;
    pl_glb_text text = pl_glb_next(&glb->accessors);
    pl_glb_print(&text, "{\"bufferView\":%d,\"componentType\":%d,\"count\":%zu,\"type\":", view,
                 component, count);
    if (type == 1 || type == 16)
        pl_glb_put(&text, type == 1 ? "\"SCALAR\"" : "\"MAT4\"");
    else
        pl_glb_print(&text, "\"VEC%d\"", type);
    if (bounds) {
        pl_glb_put(&text, ",\"min\":");
        pl_glb_put_numbers(&text, bounds, 3, true);
        pl_glb_put(&text, ",\"max\":");
        pl_glb_put_numbers(&text, bounds + 3, 3, true);
    }
    pl_glb_put(&text, "}");
    return text.failed ? -1 : glb->accessors.count - 1;
}

/* What is being added: scratch as large as the largest attribute, and the text of all. */
typedef struct work {
    pl_glb *glb;
    const pl_glb_surface *surface;
    void *scratch;
    pl_array attributes;
    bool failed;
} work;

static void add_attribute(work *w, const char *name, int component, int type, const float *bounds)
{
    if (w->failed)
        return;
    int accessor = add_accessor(w->glb, w->scratch, (size_t)w->surface->vertex_count, component,
                                type, PL_GLB_VERTICES, bounds);
    pl_glb_text text = {.memory = &w->attributes};
    pl_glb_print(&text, "%s\"%s\":%d", w->attributes.count ? "," : "", name, accessor);
    w->failed = accessor < 0 || text.failed;
}

/* ---- Attributes ------------------------------------------------------------------------------ */

static void find_bounds(const pl_glb_surface *surface, float bounds[6])
{
    for (int k = 0; k < 3; k++)
        bounds[k] = bounds[3 + k] = surface->positions[k];
    for (size_t i = 0; i < 3 * (size_t)surface->vertex_count; i++) {
        float value = surface->positions[i], *low = &bounds[i % 3], *high = &bounds[3 + i % 3];
        *low = value < *low ? value : *low;
        *high = value > *high ? value : *high;
    }
}

/* Vectors of 3 or 4 whose first three are made unit; a fourth is a hand, ±1. */
static void make_unit(const float *from, float *to, int vertices, int width, int axis)
{
    for (size_t i = 0; i < (size_t)vertices; i++) {
        const float *v = from + i * (size_t)width;
        float *u = to + i * (size_t)width;
        double x = (double)v[0], y = (double)v[1], z = (double)v[2];
        double length = sqrt(x * x + y * y + z * z);
        bool usable = length > 1e-12 && isfinite(length);
        for (int k = 0; k < 3; k++)
            u[k] = usable ? (float)((double)v[k] / length) : k == axis ? 1.0f : 0.0f;
        if (width == 4)
            u[3] = v[3] < 0 ? -1.0f : 1.0f;
    }
}

static void add_directions(work *w)
{
    const pl_glb_surface *s = w->surface;
    if (!s->normals)
        return;
    make_unit(s->normals, w->scratch, s->vertex_count, 3, 1);
    add_attribute(w, "NORMAL", PL_GLB_FLOAT, 3, NULL);
    if (!s->tangents)
        return;
    make_unit(s->tangents, w->scratch, s->vertex_count, 4, 0);
    add_attribute(w, "TANGENT", PL_GLB_FLOAT, 4, NULL);
}

static void add_look(work *w)
{
    const pl_look *look = w->surface->look;
    size_t n = (size_t)w->surface->vertex_count;
    float *to = w->scratch;
    for (int set = 0; look && set < look->uv_set_count; set++) {
        static const char *const names[PL_MAX_UV_SETS] = {"TEXCOORD_0", "TEXCOORD_1", "TEXCOORD_2",
                                                          "TEXCOORD_3", "TEXCOORD_4", "TEXCOORD_5",
                                                          "TEXCOORD_6", "TEXCOORD_7"};
        memcpy(to, look->uvs[set], 2 * n * sizeof *to);
        add_attribute(w, names[set], PL_GLB_FLOAT, 2, NULL);
    }
    if (!look || !look->colours)
        return;
    for (size_t i = 0; i < 4 * n; i++)
        to[i] = fminf(fmaxf(look->colours[i], 0), 1);
    add_attribute(w, "COLOR_0", PL_GLB_FLOAT, 4, NULL);
}

/* ---- Weights --------------------------------------------------------------------------------- */

typedef struct hold {
    int32_t joint;
    float weight;
} hold;

/* The joints of a vertex, the heaviest first: readers that know only four take those. Weights that
   are 0 name no joint. The sum is one to the last bit that matters: what rounding left goes to the
   heaviest. Returns how many there are. */
static int sort_holds(const pl_glb_surface *s, size_t vertex, hold out[PL_MAX_INFLUENCES])
{
    int count = 0;
    double sum = 0, rest = 1;
    for (size_t k = 0; k < (size_t)s->influence_count; k++) {
        hold next = {s->influences[vertex * (size_t)s->influence_count + k],
                     s->weights[vertex * (size_t)s->influence_count + k]};
        if (next.joint < 0 || !(next.weight > 0))
            continue;
        int at = count++;
        for (; at > 0 && out[at - 1].weight < next.weight; at--)
            out[at] = out[at - 1];
        out[at] = next;
        sum += (double)next.weight;
    }
    for (int k = count - 1; k >= 0; k--) {
        out[k].weight = k ? (float)((double)out[k].weight / sum) : (float)rest;
        rest -= (double)out[k].weight;
    }
    return count;
}

static bool joints_are_bytes(const pl_glb_surface *s)
{
    return s->joint_count <= 256;
}

/* Joints or weights of a set of four. */
static void fill_set(const pl_glb_surface *s, int set, bool weights, void *out)
{
    for (size_t v = 0; v < (size_t)s->vertex_count; v++) {
        hold holds[PL_MAX_INFLUENCES] = {{0, 0}};
        int count = sort_holds(s, v, holds);
        for (int k = 0; k < 4; k++) {
            const hold *h = &holds[4 * set + k];
            bool used = 4 * set + k < count;
            if (weights)
                ((float *)out)[4 * v + (size_t)k] = used ? h->weight : 0;
            else if (joints_are_bytes(s))
                ((uint8_t *)out)[4 * v + (size_t)k] = used ? (uint8_t)h->joint : 0;
            else
                ((uint16_t *)out)[4 * v + (size_t)k] = used ? (uint16_t)h->joint : 0;
        }
    }
}

static int set_count(const pl_glb_surface *s)
{
    return s->joint_count ? (s->influence_count + 3) / 4 : 0;
}

static void add_set(work *w, int set, pl_glb_shape *shape)
{
    static const char *const names[][2] = {{"JOINTS_0", "WEIGHTS_0"}, {"JOINTS_1", "WEIGHTS_1"}};
    int component = joints_are_bytes(w->surface) ? PL_GLB_BYTE : PL_GLB_SHORT;
    for (int pass = 0; pass < 2; pass++) {
        fill_set(w->surface, set, pass, w->scratch);
        shape->held[set][pass] = w->glb->bytes.count;
        add_attribute(w, names[set][pass], pass ? PL_GLB_FLOAT : component, 4, NULL);
    }
}

void pl_glb_set_weights(pl_glb *glb, int surface, int influence_count, const int32_t *influences,
                        const float *weights)
{
    const pl_glb_shape *shape = (const pl_glb_shape *)glb->shapes.data + surface;
    const pl_glb_surface s = {.vertex_count = shape->vertex_count,
                              .joint_count = shape->joint_count,
                              .influence_count = influence_count,
                              .influences = influences,
                              .weights = weights};
    for (int set = 0; set < set_count(&s); set++)
        for (int pass = 0; pass < 2; pass++)
            fill_set(&s, set, pass, (char *)glb->bytes.data + shape->held[set][pass]);
}

/* Translations by −x̄, column by column. */
static bool add_inverse_binds(pl_glb *glb, const pl_glb_surface *s, int *accessor)
{
    float *matrices = PL_NEW(glb->memory, float, 16 * (size_t)s->joint_count);
    if (!matrices)
        return false;
    for (size_t i = 0; i < (size_t)s->joint_count; i++) {
        float *m = matrices + 16 * i;
        m[0] = m[5] = m[10] = m[15] = 1;
        for (size_t k = 0; k < 3; k++)
            m[12 + k] = -s->joints[3 * i + k];
    }
    *accessor = add_accessor(glb, matrices, (size_t)s->joint_count, PL_GLB_FLOAT, 16,
                             PL_GLB_NO_TARGET, NULL);
    pl_memory_free(glb->memory, matrices);
    return *accessor >= 0;
}

/* ---- Triangles ------------------------------------------------------------------------------- */

/* The material of a triangle in the file, -1 = none. */
static int32_t material_of(const pl_look *look, const int32_t *map, size_t triangle)
{
    if (!look || look->material_count == 0)
        return -1;
    int32_t material = look->triangle_materials ? look->triangle_materials[triangle] : 0;
    return material < 0 ? -1 : map[material];
}

static int add_indices(work *w, const int32_t *materials, int32_t material)
{
    const pl_glb_surface *s = w->surface;
    bool small = s->vertex_count < 65535; /* the last of 16 bits is no vertex in glTF */
    size_t count = 0;
    for (size_t t = 0; t < (size_t)s->triangle_count; t++)
        for (size_t k = 0; k < 3 && materials[t] == material; k++) {
            int32_t vertex = s->triangles[3 * t + k];
            if (small)
                ((uint16_t *)w->scratch)[count++] = (uint16_t)vertex;
            else
                ((uint32_t *)w->scratch)[count++] = (uint32_t)vertex;
        }
    return add_accessor(w->glb, w->scratch, count, small ? PL_GLB_SHORT : PL_GLB_INT, 1,
                        PL_GLB_INDICES, NULL);
}

/* One primitive per material, in the order in which triangles name them; `materials` has one per
   triangle. */
static bool add_primitives(work *w, const int32_t *materials, pl_array *primitives)
{
    for (int t = 0; t < w->surface->triangle_count; t++) {
        bool found = false;
        const pl_glb_primitive *made = primitives->data;
        for (size_t i = primitives->count; i-- > 0 && !found;)
            found = made[i].material == materials[t];
        if (found)
            continue;
        int indices = add_indices(w, materials, materials[t]);
        pl_glb_primitive *next = pl_array_add(primitives, 1);
        if (indices < 0 || !next)
            return false;
        *next = (pl_glb_primitive){indices, materials[t]};
    }
    return true;
}

static pl_status add_triangles(work *w, pl_glb_shape *shape, pl_trouble *trouble)
{
    pl_glb *glb = w->glb;
    const pl_glb_surface *s = w->surface;
    size_t named = s->look ? (size_t)s->look->material_count : 0;
    int32_t *map = PL_NEW(glb->memory, int32_t, named);
    int32_t *materials = PL_NEW(glb->memory, int32_t, s->triangle_count);
    pl_array primitives = pl_array_make(glb->memory, sizeof(pl_glb_primitive));
    pl_status status = map && materials ? PL_OK : pl_glb_no_memory(glb, trouble);
    if (status == PL_OK && named)
        status = pl_glb_add_materials(glb, s, map, trouble);
    for (size_t t = 0; t < (size_t)s->triangle_count && status == PL_OK; t++)
        materials[t] = material_of(s->look, map, t);
    if (status == PL_OK && !add_primitives(w, materials, &primitives))
        status = pl_glb_no_memory(glb, trouble);
    pl_memory_free(glb->memory, map);
    pl_memory_free(glb->memory, materials);
    shape->primitives = primitives.data;
    shape->primitive_count = (int)primitives.count;
    return status;
}

/* ---- Shapes ---------------------------------------------------------------------------------- */

static float distance(const float *a, const float *b)
{
    double sum = 0;
    for (int k = 0; k < 3; k++)
        sum += ((double)a[k] - (double)b[k]) * ((double)a[k] - (double)b[k]);
    return (float)sqrt(sum);
}

/* Joints that carry nothing are followed as if they carried something near them. */
static bool find_levers(pl_glb *glb, const pl_glb_surface *s, pl_glb_shape *shape)
{
    int count = s->joint_count ? s->joint_count : 1;
    static const float middle[3] = {0, 0, 0};
    shape->levers = PL_NEW(glb->memory, float, count);
    if (!shape->levers)
        return false;
    for (int i = 0; i < count; i++)
        shape->levers[i] = shape->size / 16;
    for (size_t v = 0; v < (size_t)s->vertex_count; v++) {
        const float *p = s->positions + 3 * v;
        if (!s->joint_count)
            shape->levers[0] = fmaxf(shape->levers[0], distance(p, middle));
        for (size_t k = 0; k < (size_t)s->influence_count && s->joint_count; k++) {
            int32_t joint = s->influences[v * (size_t)s->influence_count + k];
            if (joint >= 0)
                shape->levers[joint] =
                    fmaxf(shape->levers[joint], distance(p, s->joints + 3 * (size_t)joint));
        }
    }
    return true;
}

static void add_attributes(work *w, pl_glb_shape *shape)
{
    const pl_glb_surface *s = w->surface;
    float bounds[6];
    find_bounds(s, bounds);
    shape->size = distance(bounds, bounds + 3);
    memcpy(w->scratch, s->positions, 3 * (size_t)s->vertex_count * sizeof *s->positions);
    add_attribute(w, "POSITION", PL_GLB_FLOAT, 3, bounds);
    add_directions(w);
    add_look(w);
    for (int set = 0; set < set_count(s); set++)
        add_set(w, set, shape);
}

static pl_status fill_shape(work *w, pl_glb_shape *shape, pl_trouble *trouble)
{
    pl_glb *glb = w->glb;
    const pl_glb_surface *s = w->surface;
    size_t largest =
        (size_t)(s->vertex_count > s->triangle_count ? s->vertex_count : s->triangle_count);
    w->scratch = PL_NEW(glb->memory, float, 4 * largest);
    shape->name = pl_glb_copy(glb->memory, s->name);
    shape->vertex_count = s->vertex_count;
    shape->joint_count = s->joint_count;
    if (!w->scratch || !shape->name)
        return pl_glb_no_memory(glb, trouble);
    add_attributes(w, shape);
    char *end = w->failed ? NULL : pl_array_add(&w->attributes, 1);
    if (!end || !find_levers(glb, s, shape) ||
        (s->joint_count && !add_inverse_binds(glb, s, &shape->inverse_binds)))
        return pl_glb_no_memory(glb, trouble);
    *end = 0;
    return add_triangles(w, shape, trouble);
}

pl_status pl_glb_add_surface(pl_glb *glb, const pl_glb_surface *surface, int *number,
                             pl_trouble *trouble)
{
    if (surface->joint_count > PL_GLB_MOST_JOINTS)
        return pl_trouble_set(trouble, PL_ERROR_ARGUMENT, glb->path,
                              "\"%s\" has %d particles, but a .glb can have %d joints in a body; "
                              "write a .pc2 instead, which has no such limit",
                              surface->name, surface->joint_count, PL_GLB_MOST_JOINTS);
    pl_glb_shape *shape = pl_array_add(&glb->shapes, 1);
    if (!shape)
        return pl_glb_no_memory(glb, trouble);
    *shape = (pl_glb_shape){0};
    *number = (int)glb->shapes.count - 1;
    work w = {
        .glb = glb, .surface = surface, .attributes = pl_array_make(glb->memory, sizeof(char))};
    pl_status status = fill_shape(&w, shape, trouble);
    shape->attributes = w.attributes.data;
    pl_memory_free(glb->memory, w.scratch);
    return status;
}
