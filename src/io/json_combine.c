/* Several documents made one, as if the last had been written with the others' contents. Nodes keep
   the place they were read from. */
#include <string.h>

#include "io/json.h"

/* A member of one of the documents. */
typedef struct member {
    int document;
    uint32_t key; /* its node there */
} member;

typedef struct combiner {
    pl_memory *memory;
    pl_json **documents;
    int count;
    uint32_t *offset_base, *string_base; /* of each document, in the whole */
    pl_json_node *nodes;
    uint32_t node_count;
} combiner;

static uint32_t root_member(const combiner *c, int document, const char *key)
{
    return pl_json_member(c->documents[document], 0, key);
}

/* ---- Nodes ----------------------------------------------------------------------------------- */

/* A node with all it contains. */
static void copy(combiner *c, int document, uint32_t node)
{
    const pl_json *from = c->documents[document];
    uint32_t end = pl_json_next(from, node), shift = c->node_count - node;
    for (uint32_t i = node; i < end; i++) {
        pl_json_node made = from->nodes[i];
        made.offset += c->offset_base[document];
        if (made.kind == PL_JSON_STRING)
            made.as.string.start += c->string_base[document];
        else if (made.kind >= PL_JSON_ARRAY)
            made.as.container.end += shift;
        c->nodes[c->node_count++] = made;
    }
}

/* A container whose contents follow; close_container knows how many there are. */
static uint32_t open_container(combiner *c, int document, uint32_t like)
{
    pl_json_node made = c->documents[document]->nodes[like];
    made.offset += c->offset_base[document];
    c->nodes[c->node_count] = made;
    return c->node_count++;
}

static void close_container(combiner *c, uint32_t container, uint32_t count)
{
    c->nodes[container].as.container.count = count;
    c->nodes[container].as.container.end = c->node_count;
}

/* ---- Members, of equal ones the last --------------------------------------------------------- */

typedef struct member_list {
    member *members; /* in the order in which the keys first appear */
    uint32_t count;
    uint32_t *table; /* numbers of members + 1 */
    size_t capacity;
} member_list;

static const pl_json_node *key_node(const combiner *c, const member *m)
{
    return &c->documents[m->document]->nodes[m->key];
}

static const char *key_text(const combiner *c, const member *m)
{
    return pl_json_string(c->documents[m->document], m->key);
}

static size_t find_slot(const combiner *c, const member_list *list, const member *m)
{
    uint32_t length = key_node(c, m)->as.string.length;
    const char *text = key_text(c, m);
    uint64_t hash = UINT64_C(0xCBF29CE484222325);
    for (uint32_t i = 0; i < length; i++)
        hash = (hash ^ (unsigned char)text[i]) * UINT64_C(0x100000001B3);
    for (size_t slot = (hash ^ hash >> 32) & (list->capacity - 1);;
         slot = (slot + 1) & (list->capacity - 1)) {
        if (!list->table[slot])
            return slot;
        const member *other = &list->members[list->table[slot] - 1];
        if (key_node(c, other)->as.string.length == length &&
            memcmp(key_text(c, other), text, length) == 0)
            return slot;
    }
}

/* The members of the objects `values` (one per document; UINT32_MAX = has none). */
static bool list_members(const combiner *c, const uint32_t *values, member_list *list)
{
    size_t most = 0;
    *list = (member_list){.capacity = 16};
    for (int d = 0; d < c->count; d++)
        most += values[d] == UINT32_MAX ? 0 : c->documents[d]->nodes[values[d]].as.container.count;
    while (list->capacity < 2 * most)
        list->capacity *= 2;
    list->members = PL_NEW(c->memory, member, most);
    list->table = PL_NEW(c->memory, uint32_t, list->capacity);
    if (!list->members || !list->table)
        return false;
    for (int d = 0; d < c->count; d++) {
        const pl_json *json = c->documents[d];
        uint32_t end = values[d] == UINT32_MAX ? 0 : pl_json_next(json, values[d]);
        for (uint32_t key = values[d] + 1; key < end; key = pl_json_next(json, key + 1)) {
            const member m = {d, key};
            size_t slot = find_slot(c, list, &m);
            if (!list->table[slot])
                list->table[slot] = ++list->count;
            list->members[list->table[slot] - 1] = m;
        }
    }
    return true;
}

static void free_list(const combiner *c, member_list *list)
{
    pl_memory_free(c->memory, list->members);
    pl_memory_free(c->memory, list->table);
}

/* ---- Values ---------------------------------------------------------------------------------- */

/* Where the documents have a member, and whether all of these are of a kind; a value that is not
   goes into the result as it is, for the reader to complain about. */
static bool find_values(const combiner *c, const char *key, pl_json_kind kind, uint32_t *values,
                        member *odd)
{
    bool alike = true;
    for (int d = 0; d < c->count; d++) {
        uint32_t node = root_member(c, d, key);
        values[d] = node ? node : UINT32_MAX;
        if (node && pl_json_kind_of(c->documents[d], node) != kind) {
            alike = false;
            *odd = (member){d, node};
        }
    }
    return alike;
}

static void join(combiner *c, const uint32_t *values, const member *last)
{
    uint32_t array = open_container(c, last->document, last->key + 1), count = 0;
    for (int d = 0; d < c->count; d++) {
        const pl_json *json = c->documents[d];
        uint32_t end = values[d] == UINT32_MAX ? 0 : pl_json_next(json, values[d]);
        for (uint32_t i = values[d] + 1; i < end; i = pl_json_next(json, i), count++)
            copy(c, d, i);
    }
    close_container(c, array, count);
}

static bool merge(combiner *c, const uint32_t *values, const member *last)
{
    member_list list;
    bool good = list_members(c, values, &list);
    uint32_t object = open_container(c, last->document, last->key + 1);
    for (uint32_t i = 0; good && i < list.count; i++) {
        copy(c, list.members[i].document, list.members[i].key);
        copy(c, list.members[i].document, list.members[i].key + 1);
    }
    close_container(c, object, good ? list.count : 0);
    free_list(c, &list);
    return good;
}

static bool write_member(combiner *c, const member *last, pl_json_rule rule, uint32_t *values)
{
    member odd = {0};
    pl_json_kind kind = rule == PL_JSON_JOINED ? PL_JSON_ARRAY : PL_JSON_OBJECT;
    copy(c, last->document, last->key);
    if (rule == PL_JSON_LAST || rule == PL_JSON_OWN) {
        copy(c, last->document, last->key + 1);
    } else if (!find_values(c, key_text(c, last), kind, values, &odd)) {
        copy(c, odd.document, odd.key);
    } else if (rule == PL_JSON_JOINED) {
        join(c, values, last);
    } else {
        return merge(c, values, last);
    }
    return true;
}

static bool write_document(combiner *c, pl_json_rule rule(const char *key))
{
    member_list list = {0};
    uint32_t *values = PL_NEW(c->memory, uint32_t, c->count), written = 0;
    bool good = values && list_members(c, values, &list); /* zeros: all the documents themselves */
    uint32_t root = good ? open_container(c, c->count - 1, 0) : 0;
    for (uint32_t i = 0; good && i < list.count; i++) {
        const member *m = &list.members[i];
        pl_json_rule how = rule(key_text(c, m));
        if (how == PL_JSON_LEFT || (how == PL_JSON_OWN && m->document != c->count - 1))
            continue;
        good = write_member(c, m, how, values);
        written++;
    }
    if (good)
        close_container(c, root, written);
    free_list(c, &list);
    pl_memory_free(c->memory, values);
    return good;
}

/* ---- The whole ------------------------------------------------------------------------------- */

/* Offsets and strings of the last document stay; the others follow. */
static bool lay_out(combiner *c)
{
    pl_json *last = c->documents[c->count - 1];
    uint64_t offset = last->size + 1, bytes = last->string_bytes, nodes = last->node_count;
    for (int d = 0; d + 1 < c->count; d++) {
        c->offset_base[d] = (uint32_t)offset;
        c->string_base[d] = (uint32_t)bytes;
        offset += c->documents[d]->size + 1;
        bytes += c->documents[d]->string_bytes;
        nodes += c->documents[d]->node_count;
    }
    if (offset > UINT32_MAX)
        return false;
    c->nodes = PL_NEW(c->memory, pl_json_node, nodes);
    char *strings = PL_NEW(c->memory, char, bytes + 1);
    last->sources = PL_NEW(c->memory, pl_json_source, c->count);
    if (strings) {
        memcpy(strings, last->strings, last->string_bytes);
        for (int d = 0; d + 1 < c->count; d++)
            memcpy(strings + c->string_base[d], c->documents[d]->strings,
                   c->documents[d]->string_bytes);
        pl_memory_free(c->memory, last->strings);
        last->strings = strings;
        last->string_bytes = (uint32_t)bytes;
    }
    return c->nodes && strings && last->sources;
}

/* The last document takes the nodes, and the others' texts for messages. */
static void take_over(combiner *c)
{
    pl_json *last = c->documents[c->count - 1];
    pl_memory_free(c->memory, last->nodes);
    last->nodes = c->nodes;
    last->node_count = c->node_count;
    c->nodes = NULL;
    for (int d = 0; d + 1 < c->count; d++) {
        pl_json *other = c->documents[d];
        last->sources[last->source_count++] = (pl_json_source){.file = other->file,
                                                               .text = other->text,
                                                               .size = other->size,
                                                               .base = c->offset_base[d]};
        other->file = other->text = NULL;
    }
}

pl_status pl_json_combine(pl_json **documents, int count, pl_json_rule rule(const char *key),
                          pl_trouble *trouble)
{
    pl_json *last = documents[count - 1];
    combiner c = {.memory = last->memory, .documents = documents, .count = count};
    c.offset_base = PL_NEW(c.memory, uint32_t, count);
    c.string_base = PL_NEW(c.memory, uint32_t, count);
    bool good = c.offset_base && c.string_base && lay_out(&c) && write_document(&c, rule);
    if (good)
        take_over(&c);
    pl_status status = good ? PL_OK
                            : pl_trouble_set(trouble, PL_ERROR_MEMORY, last->file,
                                             "not enough memory to read this scene");
    for (int d = 0; d + 1 < count; d++) {
        pl_json_free(documents[d]);
        documents[d] = NULL;
    }
    pl_memory_free(c.memory, c.nodes);
    pl_memory_free(c.memory, c.offset_base);
    pl_memory_free(c.memory, c.string_base);
    return status;
}
