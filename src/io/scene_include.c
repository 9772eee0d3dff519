/* A scene with the files it includes. Each file is read once, before the one that names it, and all
   become one document: lists one behind the other, named things by name. */
#include <stdio.h>
#include <string.h>

#include "io/file.h"
#include "io/number.h"
#include "io/scene_parts.h"

enum { DEPTH = 16, LARGEST = 1 << 30, LONGEST_PATH = 4096 };

typedef struct loader {
    pl_memory *memory;
    const pl_scene_source *source;
    pl_trouble *trouble;
    int count, room;
    pl_json **documents; /* included ones before those that include them */
    int depth;
    const char *chain[DEPTH + 1]; /* files that are being read, the scene itself first */
    char own[LONGEST_PATH];       /* its name, simplified */
} loader;

static pl_status no_memory(const loader *l)
{
    return pl_trouble_set(l->trouble, PL_ERROR_MEMORY, l->source->file,
                          "not enough memory to read this scene");
}

#define FAIL(l, json, node, ...)                                                                   \
    pl_json_fail((json), (node), (l)->trouble, PL_ERROR_FORMAT, __VA_ARGS__)

/* ---- Names ----------------------------------------------------------------------------------- */

/* Takes "./" and "name/../" out, so that a file has one name. */
static void simplify(char *path)
{
    char *start = path + (path[0] == '/'), *out = start;
    for (const char *in = start; *in;) {
        size_t length = strcspn(in, "/"), whole = length + (in[length] == '/');
        char *before = out > start ? out - 1 : out; /* where the part before begins */
        while (before > start && before[-1] != '/')
            before--;
        bool up = length == 2 && strncmp(in, "..", 2) == 0;
        if (up && out > start && strncmp(before, "../", 3) != 0) {
            out = before;
        } else if (length > 1 || (length == 1 && in[0] != '.')) {
            memmove(out, in, whole);
            out += whole;
        }
        in += whole;
    }
    *out = 0;
}

static pl_status find_file(const loader *l, const pl_json *json, uint32_t node,
                           char path[LONGEST_PATH])
{
    const char *name = pl_json_string(json, node), *slash = strrchr(json->file, '/');
    int directory = slash && name[0] != '/' ? (int)(slash + 1 - json->file) : 0;
    if (snprintf(path, LONGEST_PATH, "%.*s%s", directory, json->file, name) >= LONGEST_PATH)
        return FAIL(l, json, node, "the name is too long");
    simplify(path);
    return PL_OK;
}

/* "a.json → b.json → a.json", shortened in the middle where it is long. */
static void write_chain(const loader *l, const char *file, char *out, size_t size)
{
    size_t used = 0;
    out[0] = 0;
    for (int i = 0; i <= l->depth && used < size; i++) {
        bool shown = l->depth <= 6 || i < 3 || i > l->depth - 3;
        const char *name = i < l->depth ? l->chain[i] : file, *slash = strrchr(name, '/');
        if (!shown && i == 3)
            used += (size_t)snprintf(out + used, size - used, " -> ...");
        if (shown)
            used += (size_t)snprintf(out + used, size - used, "%s%.48s", i ? " -> " : "",
                                     slash ? slash + 1 : name);
    }
}

/* ---- Reading --------------------------------------------------------------------------------- */

static pl_status open_file(void *user, pl_memory *memory, const char *path, char **bytes,
                           size_t *size, pl_trouble *trouble)
{
    (void)user;
    return pl_file_read(memory, path, LARGEST, bytes, size, trouble);
}

static pl_status keep(loader *l, pl_json *json)
{
    if (l->count == l->room) {
        int room = l->room ? 2 * l->room : 8;
        pl_json **larger = PL_NEW(l->memory, pl_json *, room);
        if (!larger)
            return no_memory(l);
        if (l->count)
            memcpy(larger, l->documents, sizeof *larger * (size_t)l->count);
        pl_memory_free(l->memory, l->documents);
        l->documents = larger;
        l->room = room;
    }
    l->documents[l->count++] = json;
    return PL_OK;
}

/* Included files must say which version they are, too. */
static pl_status check_included(const loader *l, const pl_json *json)
{
    if (pl_json_kind_of(json, 0) != PL_JSON_OBJECT)
        return FAIL(l, json, 0, "must be an object, not %s",
                    pl_json_kind_name(pl_json_kind_of(json, 0)));
    uint32_t version = pl_json_member(json, 0, "pliant");
    if (!version)
        return FAIL(
            l, json, 0,
            "the key \"pliant\" is missing; write \"pliant\": 1 (the version of the format)");
    if (pl_json_kind_of(json, version) != PL_JSON_NUMBER)
        return FAIL(l, json, version, "must be 1, not %s",
                    pl_json_kind_name(pl_json_kind_of(json, version)));
    if (json->nodes[version].as.number != 1) {
        char shown[PL_NUMBER_TEXT];
        pl_number_format(json->nodes[version].as.number, shown);
        return FAIL(l, json, version, "must be 1, not %s", shown);
    }
    return PL_OK;
}

static pl_status read_includes(loader *l, const pl_json *json);

/* Reads a file that another names, and before it what it includes itself. */
static pl_status include(loader *l, const pl_json *from, uint32_t node)
{
    char path[LONGEST_PATH], chain[420], *bytes = NULL;
    size_t size = 0;
    pl_trouble trouble = {0};
    if (pl_json_kind_of(from, node) != PL_JSON_STRING || !*pl_json_string(from, node))
        return FAIL(l, from, node, "must be the name of a scene file");
    PL_TRY(find_file(l, from, node, path));
    write_chain(l, path, chain, sizeof chain);
    for (int i = 0; i < l->depth; i++)
        if (strcmp(l->chain[i], path) == 0)
            return FAIL(l, from, node, "the files include each other in a circle: %s", chain);
    for (int i = 0; i < l->count; i++)
        if (strcmp(l->documents[i]->file, path) == 0)
            return PL_OK;
    if (l->depth > DEPTH)
        return FAIL(l, from, node, "files are included more than %d deep: %s", DEPTH, chain);
    pl_scene_open *open = l->source->open ? l->source->open : open_file;
    pl_status status = open(l->source->user, l->memory, path, &bytes, &size, &trouble);
    if (status == PL_ERROR_MEMORY)
        return no_memory(l);
    if (status != PL_OK)
        return FAIL(l, from, node, "%.200s %s", path, trouble.text);
    pl_json *json;
    status = pl_json_parse(l->memory, path, bytes, size, &json, l->trouble);
    pl_memory_free(l->memory, bytes);
    if (status != PL_OK)
        return status;
    status = check_included(l, json);
    if (status == PL_OK)
        status = read_includes(l, json);
    if (status == PL_OK)
        status = keep(l, json);
    if (status != PL_OK)
        pl_json_free(json);
    return status;
}

static pl_status read_includes(loader *l, const pl_json *json)
{
    uint32_t node = pl_json_member(json, 0, "include");
    if (!node)
        return PL_OK;
    pl_json_kind kind = pl_json_kind_of(json, node);
    if (kind != PL_JSON_STRING && kind != PL_JSON_ARRAY)
        return FAIL(l, json, node, "must be the name of a scene file, or an array of them, not %s",
                    pl_json_kind_name(kind));
    l->chain[l->depth] = l->depth ? json->file : l->own;
    l->depth++;
    uint32_t end = pl_json_next(json, node);
    for (uint32_t i = kind == PL_JSON_ARRAY ? node + 1 : node; i < end; i = pl_json_next(json, i))
        PL_TRY(include(l, json, i));
    l->depth--;
    return PL_OK;
}

/* ---- Together -------------------------------------------------------------------------------- */

static pl_json_rule rule_of(const char *key)
{
    static const struct {
        const char *key;
        pl_json_rule rule;
    } rules[] = {
        {"include", PL_JSON_LEFT},     {"pliant", PL_JSON_OWN},         {"$schema", PL_JSON_OWN},
        {"name", PL_JSON_OWN},         {"about", PL_JSON_OWN},          {"world", PL_JSON_MERGED},
        {"models", PL_JSON_MERGED},    {"materials", PL_JSON_MERGED},   {"bodies", PL_JSON_JOINED},
        {"colliders", PL_JSON_JOINED}, {"attachments", PL_JSON_JOINED}, {"pins", PL_JSON_JOINED},
        {"drive", PL_JSON_JOINED},     {"forces", PL_JSON_JOINED},      {"events", PL_JSON_JOINED}};
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++)
        if (strcmp(rules[i].key, key) == 0)
            return rules[i].rule;
    return PL_JSON_LAST;
}

pl_status pl_scene_load(pl_memory *memory, const pl_scene_source *source, pl_json **json,
                        pl_trouble *trouble)
{
    loader l = {.memory = memory, .source = source, .trouble = trouble};
    pl_json *own;
    *json = NULL;
    snprintf(l.own, sizeof l.own, "%s", source->file);
    simplify(l.own);
    PL_TRY(pl_json_parse(memory, source->file, source->text, source->size, &own, trouble));
    bool includes = pl_json_kind_of(own, 0) == PL_JSON_OBJECT && pl_json_member(own, 0, "include");
    pl_status status = includes ? read_includes(&l, own) : PL_OK;
    if (status == PL_OK && includes)
        status = keep(&l, own);
    int others = status == PL_OK && includes ? l.count - 1 : l.count;
    if (status == PL_OK && includes)
        status = pl_json_combine(l.documents, l.count, rule_of, trouble);
    else
        for (int i = 0; i < others; i++)
            pl_json_free(l.documents[i]);
    pl_memory_free(memory, l.documents);
    if (status != PL_OK)
        pl_json_free(own);
    *json = status == PL_OK ? own : NULL;
    return status;
}
