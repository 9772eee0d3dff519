/* Values of a document replaced or added by their paths, as the command line gives them. The nodes
   are one array in the order of the text, so a new value is spliced into it. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "io/json.h"
#include "io/suggest.h"

enum { STEPS = 64, WORD = 256 };

/* One step of a path: a key or name, or the number of an element. */
typedef struct step {
    bool is_index;
    uint32_t index;
    char name[WORD];
} step;

typedef struct setter {
    pl_json *json;
    pl_trouble *trouble;
    const char *value;     /* what stands behind the = */
    char place[WORD];      /* "--set bodies.bar.young": what messages name */
    int step_count, taken; /* steps of the path; those that lead to what is there already */
    step steps[STEPS];
    uint32_t way[STEPS + 1]; /* the nodes on it, the document first */
} setter;

#define FAIL(s, ...) pl_trouble_set((s)->trouble, PL_ERROR_FORMAT, (s)->place, __VA_ARGS__)

static pl_status no_memory(const setter *s)
{
    return pl_trouble_set(s->trouble, PL_ERROR_MEMORY, s->place,
                          "not enough memory for this value");
}

/* ---- Paths ----------------------------------------------------------------------------------- */

static pl_status read_bracket(setter *s, const char **at, step *to)
{
    const char *c = *at + 1;
    if (*c == '"') {
        size_t length = strcspn(c + 1, "\"");
        if (c[1 + length] != '"' || c[2 + length] != ']' || length >= WORD)
            return FAIL(s, "a name in brackets is written [\"like this\"]");
        memcpy(to->name, c + 1, length);
        *at = c + length + 3;
        return PL_OK;
    }
    char *end;
    unsigned long index = strtoul(c, &end, 10);
    if (*c < '0' || *c > '9' || *end != ']' || index > INT32_MAX)
        return FAIL(s, "brackets hold the number of an element, from 0, as in bodies[2]");
    to->is_index = true;
    to->index = (uint32_t)index;
    *at = end + 1;
    return PL_OK;
}

static pl_status read_path(setter *s, const char *text)
{
    const char *at = text;
    while (*at != '=') {
        if (s->step_count == STEPS)
            return FAIL(s, "the path has more than %d steps", STEPS);
        step *to = &s->steps[s->step_count++];
        if (*at == '[' && at != text) {
            PL_TRY(read_bracket(s, &at, to));
            continue;
        }
        bool joined = at == text || *at == '.';
        at += at != text && joined;
        size_t length = strcspn(at, ".[=");
        if (!joined || length == 0 || length >= WORD)
            return FAIL(s, "a path is written like bodies.bar.young or bodies[2].position");
        memcpy(to->name, at, length);
        at += length;
    }
    s->value = at + 1;
    return PL_OK;
}

/* The path as far as it was followed. */
static const char *path_so_far(const setter *s, char out[WORD])
{
    size_t used = 0;
    out[0] = 0;
    for (int i = 0; i < s->taken && used < WORD - 1; i++) {
        const step *t = &s->steps[i];
        int n = t->is_index ? snprintf(out + used, WORD - used, "[%u]", (unsigned)t->index)
                            : snprintf(out + used, WORD - used, "%s%s", i ? "." : "", t->name);
        used += (size_t)n;
    }
    return out;
}

/* ---- Following ------------------------------------------------------------------------------- */

/* "; known are a, b, c": as many as there is room for. */
static void add_known(char *list, size_t size, const char *name)
{
    size_t used = strlen(list);
    if (used + strlen(name) + 16 < size)
        snprintf(list + used, size - used, "%s%s", used ? ", " : "; known are ", name);
    else if (used >= 3 && strcmp(list + used - 3, "...") != 0)
        snprintf(list + used, size - used, ", ...");
}

static pl_status find_named(setter *s, uint32_t array, const char *name, uint32_t *found)
{
    const pl_json *json = s->json;
    const char *best = NULL;
    char hint[96], path[WORD], known[128] = "";
    uint32_t end = pl_json_next(json, array);
    for (uint32_t i = array + 1; i < end; i = pl_json_next(json, i)) {
        uint32_t other = pl_json_member(json, i, "name");
        if (!other || pl_json_kind_of(json, other) != PL_JSON_STRING)
            continue;
        *found = i;
        if (strcmp(pl_json_string(json, other), name) == 0)
            return PL_OK;
        pl_suggest(name, pl_json_string(json, other), &best);
        add_known(known, sizeof known, pl_json_string(json, other));
    }
    return FAIL(s, "nothing in %s has the name \"%.64s\"%s", path_so_far(s, path), name,
                best       ? pl_suggest_text(best, hint, sizeof hint)
                : known[0] ? known
                           : "; elements without a name have numbers: [0]");
}

static pl_status find_element(setter *s, uint32_t array, uint32_t index, uint32_t *found)
{
    char path[WORD];
    uint32_t count = s->json->nodes[array].as.container.count;
    *found = pl_json_element(s->json, array, index);
    if (*found)
        return PL_OK;
    if (count == 0)
        return FAIL(s, "%s is empty", path_so_far(s, path));
    return FAIL(s, "%s has no element %u; the last is number %u", path_so_far(s, path),
                (unsigned)index, (unsigned)count - 1);
}

/* From way[taken] one step on, unless the rest has to be made. */
static pl_status follow(setter *s, bool *missing)
{
    const step *to = &s->steps[s->taken];
    uint32_t at = s->way[s->taken], found = 0;
    pl_json_kind kind = pl_json_kind_of(s->json, at);
    char path[WORD];
    if (kind == PL_JSON_ARRAY) {
        PL_TRY(to->is_index ? find_element(s, at, to->index, &found)
                            : find_named(s, at, to->name, &found));
    } else if (kind == PL_JSON_OBJECT && to->is_index) {
        return FAIL(s, "%s is an object: name one of its keys, not a number",
                    s->taken ? path_so_far(s, path) : "the scene");
    } else if (kind == PL_JSON_OBJECT) {
        found = pl_json_member(s->json, at, to->name);
        *missing = !found;
        if (!found)
            return PL_OK;
    } else {
        char shown[64] = "";
        if (kind == PL_JSON_STRING)
            pl_copy_text(shown, sizeof shown, pl_json_string(s->json, at),
                         s->json->nodes[at].as.string.length);
        return FAIL(s, "%s is %s%s%s%s and has no parts; set it as a whole", path_so_far(s, path),
                    kind == PL_JSON_STRING ? "the text" : pl_json_kind_name(kind),
                    shown[0] ? " \"" : "", shown, shown[0] ? "\"" : "");
    }
    s->way[++s->taken] = found;
    return PL_OK;
}

static pl_status follow_all(setter *s)
{
    bool missing = false;
    while (s->taken < s->step_count && !missing)
        PL_TRY(follow(s, &missing));
    for (int i = s->taken; i < s->step_count; i++)
        if (s->steps[i].is_index) {
            char path[WORD];
            s->taken = i;
            return FAIL(s, "there is no list %s; set it as a whole", path_so_far(s, path));
        }
    return PL_OK;
}

/* ---- Values ---------------------------------------------------------------------------------- */

/* What does not look like JSON at its beginning, or is no number after all, is a text. */
static pl_status read_value(const setter *s, pl_json **value)
{
    pl_trouble trouble;
    pl_memory *memory = s->json->memory;
    size_t length = strlen(s->value);
    if (length == 0)
        return FAIL(s, "a value is missing behind the =; \"\" is an empty text");
    pl_status status = pl_json_parse(memory, s->place, s->value, length, value, &trouble);
    if (status == PL_ERROR_MEMORY)
        return no_memory(s);
    if (status == PL_OK)
        return PL_OK;
    if (strchr("[{\"", s->value[0])) {
        /* The reader speaks of files. */
        bool of_file = strncmp(trouble.text, "the file", 8) == 0;
        return FAIL(s, "the value is not JSON: at its character %d, %s%s", trouble.column,
                    of_file ? "it" : "", trouble.text + (of_file ? 8 : 0));
    }
    char *quoted = PL_NEW(memory, char, 2 * length + 3);
    if (!quoted)
        return no_memory(s);
    size_t used = 0;
    quoted[used++] = '"';
    for (const char *c = s->value; *c; c++) {
        if (*c == '"' || *c == '\\')
            quoted[used++] = '\\';
        quoted[used++] = *c;
    }
    quoted[used++] = '"';
    status = pl_json_parse(memory, s->place, quoted, used, value, s->trouble);
    pl_memory_free(memory, quoted);
    return status;
}

/* ---- Splicing -------------------------------------------------------------------------------- */

static pl_json_source *add_source(pl_json *json, const char *name)
{
    pl_json_source *larger = PL_NEW(json->memory, pl_json_source, json->source_count + 1);
    char *file = larger ? PL_NEW(json->memory, char, strlen(name) + 1) : NULL;
    if (!file) {
        pl_memory_free(json->memory, larger);
        return NULL;
    }
    uint32_t base = (uint32_t)json->size + 1;
    for (int i = 0; i < json->source_count; i++) {
        larger[i] = json->sources[i];
        base = larger[i].base + (uint32_t)larger[i].size + 1;
    }
    memcpy(file, name, strlen(name) + 1);
    pl_memory_free(json->memory, json->sources);
    json->sources = larger;
    larger[json->source_count] = (pl_json_source){.file = file, .base = base, .is_option = true};
    return &larger[json->source_count++];
}

static bool add_strings(const setter *s, const pl_json *value, uint32_t *keys, uint32_t *texts)
{
    pl_json *json = s->json;
    size_t bytes = json->string_bytes + (size_t)value->string_bytes + 1;
    for (int i = s->taken; i < s->step_count; i++)
        bytes += strlen(s->steps[i].name) + 1;
    char *larger = bytes < UINT32_MAX ? PL_NEW(json->memory, char, bytes) : NULL;
    if (!larger)
        return false;
    memcpy(larger, json->strings, json->string_bytes);
    uint32_t used = json->string_bytes;
    for (int i = s->taken; i < s->step_count; i++) {
        size_t length = strlen(s->steps[i].name) + 1;
        keys[i] = used;
        memcpy(larger + used, s->steps[i].name, length);
        used += (uint32_t)length;
    }
    *texts = used;
    memcpy(larger + used, value->strings, value->string_bytes);
    json->string_bytes = used + value->string_bytes;
    pl_memory_free(json->memory, json->strings);
    json->strings = larger;
    return true;
}

static void copy_nodes(pl_json_node *to, const pl_json_node *from, uint32_t count, uint32_t shift)
{
    for (uint32_t i = 0; i < count; i++) {
        to[i] = from[i];
        if (to[i].kind >= PL_JSON_ARRAY)
            to[i].as.container.end += shift;
    }
}

/* Keys and objects that are missing, then the value, at node number `at` of the new array. */
static void write_new(const setter *s, const pl_json *value, const uint32_t *keys, uint32_t texts,
                      uint32_t place, pl_json_node *nodes, uint32_t at, uint32_t end)
{
    for (int i = s->taken; i < s->step_count; i++) {
        pl_json_node *key = &nodes[at++];
        *key = (pl_json_node){.kind = PL_JSON_STRING, .offset = place};
        key->as.string.start = keys[i];
        key->as.string.length = (uint32_t)strlen(s->steps[i].name);
        if (i + 1 == s->step_count)
            break;
        nodes[at] = (pl_json_node){.kind = PL_JSON_OBJECT, .offset = place};
        nodes[at].as.container.count = 1;
        nodes[at++].as.container.end = end;
    }
    copy_nodes(nodes + at, value->nodes, value->node_count, at);
    for (uint32_t i = at; i < end; i++) {
        nodes[i].offset = place;
        if (nodes[i].kind == PL_JSON_STRING)
            nodes[i].as.string.start += texts;
    }
}

static bool splice(setter *s, const pl_json *value)
{
    pl_json *json = s->json;
    uint32_t keys[STEPS], texts;
    int made = s->step_count - s->taken;
    uint32_t last = s->way[s->taken];
    /* Replaced: the value at the end of the way. Added: behind the last member of the object
       there. */
    uint32_t at = made ? pl_json_next(json, last) : last, behind = pl_json_next(json, last);
    uint32_t added = value->node_count + (made ? 2 * (uint32_t)made - 1 : 0);
    uint64_t total = (uint64_t)json->node_count - (behind - at) + added;
    pl_json_node *nodes = total < UINT32_MAX ? PL_NEW(json->memory, pl_json_node, total) : NULL;
    pl_json_source *source = nodes ? add_source(json, s->place) : NULL;
    if (!source || !add_strings(s, value, keys, &texts)) {
        pl_memory_free(json->memory, nodes);
        return false;
    }
    uint32_t shift = added - (behind - at);
    copy_nodes(nodes, json->nodes, at, 0);
    write_new(s, value, keys, texts, source->base, nodes, at, at + added);
    copy_nodes(nodes + at + added, json->nodes + behind, json->node_count - behind, shift);
    for (int i = 0; i < s->taken + (made > 0); i++)
        nodes[s->way[i]].as.container.end += shift;
    if (made)
        nodes[last].as.container.count++;
    pl_memory_free(json->memory, json->nodes);
    json->nodes = nodes;
    json->node_count = (uint32_t)total;
    return true;
}

pl_status pl_json_set(pl_json *json, const char *option, const char *assignment,
                      pl_trouble *trouble)
{
    setter s = {.json = json, .trouble = trouble};
    size_t length = strcspn(assignment, "=");
    snprintf(s.place, sizeof s.place, "%s%s%.*s", option, length ? " " : "",
             (int)(length < 200 ? length : 200), assignment);
    if (!assignment[length] || length == 0)
        return FAIL(&s, "needs a path and a value, as in bodies.bar.young=2e4");
    PL_TRY(read_path(&s, assignment));
    PL_TRY(follow_all(&s));
    pl_json *value = NULL;
    PL_TRY(read_value(&s, &value));
    bool good = splice(&s, value);
    pl_json_free(value);
    return good ? PL_OK : no_memory(&s);
}
