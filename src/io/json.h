/* A strict reader for JSON (RFC 8259) that remembers where everything stood, so that every message
   can name line, column and path. The document is one array of nodes, 16 bytes each, in the order
   of the text: a container is followed by its contents, an object's members are a key (a string
   node) and its value. No recursion; three allocations, each bounded by the size of the text.
   Documents can be joined (json_combine.c) and values set by their paths (json_set.c): every node
   still knows where it came from.

   Stricter than the RFC where it leaves a choice: duplicate keys, numbers beyond the range of
   double and nesting deeper than PL_JSON_DEPTH are errors. A byte order mark is skipped. */
#ifndef PL_IO_JSON_H
#define PL_IO_JSON_H

#include "base/memory.h"
#include "io/trouble.h"

enum { PL_JSON_DEPTH = 256 };

typedef enum pl_json_kind {
    PL_JSON_NULL,
    PL_JSON_FALSE,
    PL_JSON_TRUE,
    PL_JSON_NUMBER,
    PL_JSON_STRING,
    PL_JSON_ARRAY,
    PL_JSON_OBJECT
} pl_json_kind;

typedef struct pl_json_node {
    union {
        double number;
        struct {
            uint32_t start, length; /* of a string, in `strings`; a 0 follows it */
        } string;
        struct {
            uint32_t count,
                end; /* elements or members; index of the first node behind the container */
        } container;
    } as;
    uint32_t offset; /* bytes from the start of the text, or of a source behind it */
    uint32_t kind;
} pl_json_node;

/* Another text that parts of the document come from: an included file, or a word of the command
   line, which has no lines. */
typedef struct pl_json_source {
    char *file, *text;
    size_t size;
    uint32_t base; /* offsets of its nodes begin here */
    bool is_option;
} pl_json_source;

typedef struct pl_json {
    pl_memory *memory;
    char *file;
    char *text; /* a copy, a 0 behind it */
    size_t size;
    pl_json_node *nodes; /* the first is the document's value */
    uint32_t node_count;
    char *strings;
    uint32_t string_bytes; /* of `strings` */
    int source_count;
    pl_json_source *sources; /* beside the text itself, by ascending base */
} pl_json;

/* `file` is only a name for messages. On failure *json is NULL. */
pl_status pl_json_parse(pl_memory *memory, const char *file, const char *text, size_t size,
                        pl_json **json, pl_trouble *trouble);
void pl_json_free(pl_json *json); /* NULL is allowed */

/* The node behind this one and all it contains: the next element, or the next key. */
static inline uint32_t pl_json_next(const pl_json *json, uint32_t node)
{
    const pl_json_node *n = &json->nodes[node];
    return n->kind >= PL_JSON_ARRAY ? n->as.container.end : node + 1;
}

static inline pl_json_kind pl_json_kind_of(const pl_json *json, uint32_t node)
{
    return (pl_json_kind)json->nodes[node].kind;
}

static inline const char *pl_json_string(const pl_json *json, uint32_t node)
{
    return json->strings + json->nodes[node].as.string.start;
}

/* The value of a member, 0 when there is none (the document itself is never a member). */
uint32_t pl_json_member(const pl_json *json, uint32_t object, const char *key);

/* Element `index` of an array, 0 when there is none. Takes time proportional to the index. */
uint32_t pl_json_element(const pl_json *json, uint32_t array, uint32_t index);

/* The file a node was read from: for names of files beside it. */
const char *pl_json_file_of(const pl_json *json, uint32_t node);

/* Sets a value by its path: "path=value" as behind the option (which messages name). The path is
   keys with dots, [numbers] of elements, or the "name" of an element that is an object; what is
   missing on the way is made. The value is JSON, or else a text as it stands. */
pl_status pl_json_set(pl_json *json, const char *option, const char *assignment,
                      pl_trouble *trouble);

/* How the members of a document are combined with those of the documents behind it. */
typedef enum pl_json_rule {
    PL_JSON_LAST,   /* the last document's that has it */
    PL_JSON_OWN,    /* only the last document's */
    PL_JSON_JOINED, /* arrays one behind the other */
    PL_JSON_MERGED, /* objects: all members, of equal ones the last */
    PL_JSON_LEFT    /* left out */
} pl_json_rule;

/* Joins documents whose values are objects into the last one; the others are freed, whatever
   happens. */
pl_status pl_json_combine(pl_json **documents, int count, pl_json_rule rule(const char *key),
                          pl_trouble *trouble);

/* "an array", "a string": for messages. */
const char *pl_json_kind_name(pl_json_kind kind);

/* Fills in file, line, column and path of a node, then the sentence. Returns the status. */
pl_status pl_json_fail(const pl_json *json, uint32_t node, pl_trouble *trouble, pl_status status,
                       const char *format, ...) PL_PRINTF(5, 6);

#endif
