/* From text to nodes. First one pass checks the encoding and counts what there can be at most, so
   that memory is asked for once; then a loop over tokens with a stack of open containers. */
#include "io/json.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "io/json_place.h"
#include "io/number.h"

enum {
    PAIRWISE_KEYS = 16
}; /* objects up to this size look for duplicate keys by comparing all pairs */

typedef struct parser {
    pl_json *json;
    pl_trouble *trouble;
    size_t at;             /* the next byte */
    uint32_t strings_used; /* bytes of json->strings */
    int depth;
    uint32_t open[PL_JSON_DEPTH]; /* containers around `at`, outermost first */
    uint32_t key[PL_JSON_DEPTH];  /* in an object: the member being read, 0 = none yet */
} parser;

/* ---- Messages -------------------------------------------------------------------------------- */

/* Where the parser is, from the stack of open containers. */
static void write_path(const parser *p, char *path, size_t size)
{
    const pl_json *json = p->json;
    for (int i = 0; i < p->depth; i++) {
        const pl_json_node *container = &json->nodes[p->open[i]];
        if (container->kind == PL_JSON_ARRAY)
            pl_json_path_index(path, size, container->as.container.count);
        else if (p->key[i])
            pl_json_path_key(path, size, pl_json_string(json, p->key[i]),
                             json->nodes[p->key[i]].as.string.length);
    }
}

PL_PRINTF(3, 4)
static pl_status fail_at(const parser *p, size_t offset, const char *format, ...)
{
    char text[512];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    pl_trouble_set(p->trouble, PL_ERROR_FORMAT, p->json->file, "%s", text);
    if (p->trouble) {
        write_path(p, p->trouble->path, sizeof p->trouble->path);
        pl_json_place(p->json->text, offset, &p->trouble->line, &p->trouble->column);
    }
    return PL_ERROR_FORMAT;
}

static pl_status fail_memory(const parser *p)
{
    return pl_trouble_set(p->trouble, PL_ERROR_MEMORY, p->json->file,
                          "not enough memory to read this file");
}

/* ---- Encoding -------------------------------------------------------------------------------- */

/* Length of the UTF-8 character at `s`, 0 if it is none (overlong, surrogate, beyond U+10FFFF, cut
   off). The 0 behind the text ends any sequence that is cut off. */
static int utf8_length(const unsigned char *s)
{
    if (s[0] < 0x80)
        return 1;
    int length = s[0] >= 0xF0 ? 4 : s[0] >= 0xE0 ? 3 : 2;
    if (s[0] < 0xC2 || s[0] > 0xF4)
        return 0;
    for (int i = 1; i < length; i++)
        if ((s[i] & 0xC0) != 0x80)
            return 0;
    if ((s[0] == 0xE0 && s[1] < 0xA0) || (s[0] == 0xED && s[1] > 0x9F) ||
        (s[0] == 0xF0 && s[1] < 0x90) || (s[0] == 0xF4 && s[1] > 0x8F))
        return 0;
    return length;
}

static pl_status check_encoding(const parser *p)
{
    const unsigned char *text = (const unsigned char *)p->json->text;
    size_t size = p->json->size;
    if (size >= 2 && ((text[0] == 0xFF && text[1] == 0xFE) || (text[0] == 0xFE && text[1] == 0xFF)))
        return fail_at(p, 0, "this is UTF-16; save the file as UTF-8");
    for (size_t i = 0; i < size;) {
        int length = utf8_length(text + i);
        if (length == 0)
            return fail_at(p, i, "byte 0x%02X is not valid UTF-8; save the file as UTF-8",
                           (unsigned)text[i]);
        i += (size_t)length;
    }
    return PL_OK;
}

/* Upper bounds. A value is the document, or first in its array, or behind a comma or a colon; a key
   is first in its object or behind a comma. Strings: their bytes and a 0 each. */
static void count_parts(const char *text, size_t size, size_t *nodes, size_t *bytes)
{
    *nodes = 1;
    *bytes = 1;
    for (size_t i = 0; i < size; i++) {
        char c = text[i];
        if (c == '"') {
            size_t start = ++i;
            while (i < size && text[i] != '"')
                i += text[i] == '\\' ? 2 : 1;
            *bytes += (i < size ? i : size) - start + 1;
        } else if (c == '[' || c == '{' || c == ',' || c == ':') {
            ++*nodes;
        }
    }
}

/* ---- Scalars --------------------------------------------------------------------------------- */

static pl_json_node *add_node(parser *p, pl_json_kind kind, size_t offset)
{
    pl_json_node *node = &p->json->nodes[p->json->node_count++];
    node->kind = kind;
    node->offset = (uint32_t)offset;
    return node;
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool is_word(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || is_digit(c);
}

static pl_status read_number(parser *p)
{
    const char *text = p->json->text;
    size_t start = p->at, i = start + (text[start] == '-');
    if (strncmp(text + i, "Infinity", 8) == 0 || strncmp(text + i, "NaN", 3) == 0)
        return fail_at(p, start, "a number must be finite; give a value that is");
    if (!is_digit(text[i]))
        return fail_at(p, start, "a minus sign must be followed by a digit");
    if (text[i] == '0' && is_digit(text[i + 1]))
        return fail_at(p, start, "a number must not start with a zero that is not needed");
    while (is_digit(text[i]))
        i++;
    if (text[i] == '.') {
        if (!is_digit(text[i + 1]))
            return fail_at(p, start, "a decimal point must be followed by a digit");
        for (i++; is_digit(text[i]);)
            i++;
    }
    if (text[i] == 'e' || text[i] == 'E') {
        i += text[i + 1] == '-' || text[i + 1] == '+' ? 2 : 1;
        if (!is_digit(text[i]))
            return fail_at(p, start, "an exponent needs at least one digit");
        while (is_digit(text[i]))
            i++;
    }
    if (is_word(text[i]) || text[i] == '.')
        return fail_at(p, start, "this is not a number; write it like -12.5e3, without a unit");
    double value = pl_number_parse(text + start, i - start);
    if (!isfinite(value))
        return fail_at(p, start, "this number is too large; the largest is about 1.8e308");
    add_node(p, PL_JSON_NUMBER, start)->as.number = value;
    p->at = i;
    return PL_OK;
}

static int hex_value(char c)
{
    if (is_digit(c))
        return c - '0';
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

/* The four digits behind \u; -1 if they are none. */
static int32_t read_hex4(const char *s)
{
    int32_t value = 0;
    for (int i = 0; i < 4; i++) {
        int digit = hex_value(s[i]);
        if (digit < 0)
            return -1;
        value = value * 16 + digit;
    }
    return value;
}

static size_t encode_utf8(uint32_t code, char *out)
{
    if (code < 0x80) {
        out[0] = (char)code;
        return 1;
    }
    size_t length = code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
    static const unsigned char lead[] = {0, 0, 0xC0, 0xE0, 0xF0};
    for (size_t i = length - 1; i > 0; i--, code >>= 6)
        out[i] = (char)(0x80 | (code & 0x3F));
    out[0] = (char)(lead[length] | code);
    return length;
}

/* At the u of \uXXXX; what it stands for goes to *out. Never longer than the escape itself. */
static pl_status read_unicode(parser *p, char **out)
{
    const char *text = p->json->text;
    size_t start = p->at - 1;
    int32_t code = read_hex4(text + p->at + 1);
    if (code < 0)
        return fail_at(p, start, "\\u must be followed by four hexadecimal digits");
    p->at += 5;
    if (code >= 0xDC00 && code <= 0xDFFF)
        return fail_at(p, start, "the second half of a surrogate pair stands alone");
    if (code >= 0xD800 && code <= 0xDBFF) {
        int32_t low =
            text[p->at] == '\\' && text[p->at + 1] == 'u' ? read_hex4(text + p->at + 2) : -1;
        if (low < 0xDC00 || low > 0xDFFF)
            return fail_at(p, start,
                           "the first half of a surrogate pair must be followed by the second");
        p->at += 6;
        code = 0x10000 + ((code - 0xD800) << 10) + (low - 0xDC00);
    }
    if (code == 0)
        return fail_at(p, start, "a text must not contain the character 0");
    *out += encode_utf8((uint32_t)code, *out);
    return PL_OK;
}

static pl_status read_escape(parser *p, char **out)
{
    static const char from[] = "\"\\/bfnrt", to[] = "\"\\/\b\f\n\r\t";
    char c = p->json->text[++p->at];
    if (c == 'u')
        return read_unicode(p, out);
    const char *found = c ? strchr(from, c) : NULL;
    if (!found)
        return fail_at(
            p, p->at - 1,
            "there is no such escape; known are \\\" \\\\ \\/ \\b \\f \\n \\r \\t \\uXXXX");
    *(*out)++ = to[found - from];
    p->at++;
    return PL_OK;
}

static pl_status read_string(parser *p)
{
    pl_json *json = p->json;
    size_t start = p->at++;
    char *out = json->strings + p->strings_used;
    for (;;) {
        unsigned char c = (unsigned char)json->text[p->at];
        if (c == '"')
            break;
        if (c == '\n' || (c == 0 && p->at >= json->size))
            return fail_at(p, start, "this text is not closed; put a \" at its end");
        if (c < 0x20)
            return fail_at(
                p, p->at,
                "a control character inside a text must be written as an escape (\\t, \\u%04x)",
                (unsigned)c);
        if (c == '\\') {
            pl_status status = read_escape(p, &out);
            if (status != PL_OK)
                return status;
        } else {
            *out++ = (char)c;
            p->at++;
        }
    }
    p->at++;
    pl_json_node *node = add_node(p, PL_JSON_STRING, start);
    node->as.string.start = p->strings_used;
    node->as.string.length = (uint32_t)(out - (json->strings + p->strings_used));
    *out++ = 0;
    p->strings_used = (uint32_t)(out - json->strings);
    return PL_OK;
}

/* Something that is no value: guess what was meant. */
static pl_status fail_value(const parser *p)
{
    const char *s = p->json->text + p->at;
    char c = *s;
    if (p->at >= p->json->size)
        return fail_at(p, p->at, "the file ends where a value should be");
    if (c == '\'')
        return fail_at(p, p->at, "a text stands in double quotes: \"like this\"");
    if (c == '/' || c == '#')
        return fail_at(p, p->at, "JSON has no comments; put remarks into \"about\"");
    if (c == '+' || c == '.')
        return fail_at(p, p->at, "a number starts with a digit or a minus sign");
    if (c == ']' || c == '}')
        return fail_at(p, p->at,
                       "a value is missing before this bracket; remove the comma in front of it");
    if (c == ',')
        return fail_at(p, p->at, "a value is missing before this comma");
    if (!is_word(c))
        return fail_at(p, p->at, "a value should stand here");
    int length = 0;
    while (length < 32 && is_word(s[length]))
        length++;
    if (strncmp(s, "NaN", 3) == 0 || strncmp(s, "nan", 3) == 0 || strncmp(s, "Inf", 3) == 0 ||
        strncmp(s, "inf", 3) == 0)
        return fail_at(p, p->at,
                       "%.*s is not allowed: a number must be finite; give a value that is", length,
                       s);
    return fail_at(
        p, p->at,
        "%.*s is not a value; a text stands in double quotes, and the words are true, false, null",
        length, s);
}

static pl_status read_word(parser *p)
{
    static const struct {
        const char *text;
        pl_json_kind kind;
    } words[] = {{"true", PL_JSON_TRUE}, {"false", PL_JSON_FALSE}, {"null", PL_JSON_NULL}};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        size_t length = strlen(words[i].text);
        if (strncmp(p->json->text + p->at, words[i].text, length) == 0 &&
            !is_word(p->json->text[p->at + length])) {
            add_node(p, words[i].kind, p->at);
            p->at += length;
            return PL_OK;
        }
    }
    return fail_value(p);
}

/* ---- Duplicate keys -------------------------------------------------------------------------- */

static bool same_key(const pl_json *json, uint32_t a, uint32_t b)
{
    uint32_t length = json->nodes[a].as.string.length;
    return length == json->nodes[b].as.string.length &&
           memcmp(pl_json_string(json, a), pl_json_string(json, b), length) == 0;
}

static pl_status fail_duplicate(parser *p, uint32_t first, uint32_t second)
{
    const pl_json *json = p->json;
    int line, column;
    char name[64];
    pl_json_place(json->text, json->nodes[first].offset, &line, &column);
    pl_copy_text(name, sizeof name, pl_json_string(json, first),
                 json->nodes[first].as.string.length);
    p->key[p->depth - 1] = second;
    return fail_at(p, json->nodes[second].offset,
                   "the key \"%s\" stands here for the second time, first in line %d; "
                   "keep one of them",
                   name, line);
}

static uint64_t hash_key(const pl_json *json, uint32_t node)
{
    const unsigned char *s = (const unsigned char *)pl_json_string(json, node);
    uint64_t hash = UINT64_C(0xCBF29CE484222325);
    for (uint32_t i = 0; i < json->nodes[node].as.string.length; i++)
        hash = (hash ^ s[i]) * UINT64_C(0x100000001B3);
    return hash ^ hash >> 32;
}

static pl_status check_keys_by_hash(parser *p, uint32_t object, uint32_t count)
{
    pl_json *json = p->json;
    size_t capacity = 64;
    while (capacity < 2 * (size_t)count)
        capacity *= 2;
    uint32_t *table = PL_NEW(json->memory, uint32_t, capacity);
    if (!table)
        return fail_memory(p);
    pl_status status = PL_OK;
    uint32_t end = json->node_count;
    for (uint32_t k = object + 1; k < end && status == PL_OK; k = pl_json_next(json, k + 1)) {
        size_t slot = hash_key(json, k) & (capacity - 1);
        while (table[slot] && !same_key(json, table[slot], k))
            slot = (slot + 1) & (capacity - 1);
        if (table[slot])
            status = fail_duplicate(p, table[slot], k);
        table[slot] = k;
    }
    pl_memory_free(json->memory, table);
    return status;
}

static pl_status check_keys(parser *p, uint32_t object)
{
    pl_json *json = p->json;
    uint32_t count = json->nodes[object].as.container.count, end = json->node_count;
    if (count > PAIRWISE_KEYS)
        return check_keys_by_hash(p, object, count);
    for (uint32_t k = object + 1; k < end; k = pl_json_next(json, k + 1))
        for (uint32_t earlier = object + 1; earlier < k; earlier = pl_json_next(json, earlier + 1))
            if (same_key(json, earlier, k))
                return fail_duplicate(p, earlier, k);
    return PL_OK;
}

/* ---- Containers ------------------------------------------------------------------------------ */

static void skip_space(parser *p)
{
    const char *text = p->json->text;
    while (text[p->at] == ' ' || text[p->at] == '\n' || text[p->at] == '\t' || text[p->at] == '\r')
        p->at++;
}

static pl_status open_container(parser *p, pl_json_kind kind)
{
    if (p->depth == PL_JSON_DEPTH) {
        p->depth = 4; /* the whole path would hide the message */
        return fail_at(p, p->at, "brackets are nested deeper than %d levels", PL_JSON_DEPTH);
    }
    p->open[p->depth] = p->json->node_count;
    p->key[p->depth] = 0;
    p->depth++;
    add_node(p, kind, p->at++);
    return PL_OK;
}

static pl_status close_container(parser *p)
{
    pl_json_node *container = &p->json->nodes[p->open[p->depth - 1]];
    container->as.container.end = p->json->node_count;
    if (container->kind == PL_JSON_OBJECT) {
        pl_status status = check_keys(p, p->open[p->depth - 1]);
        if (status != PL_OK)
            return status;
    }
    p->at++;
    p->depth--;
    return PL_OK;
}

static pl_status read_key(parser *p)
{
    const char *text = p->json->text;
    char c = text[p->at];
    p->key[p->depth - 1] = 0;
    if (c == '}')
        return fail_at(p, p->at,
                       "a comma must be followed by a key; remove the comma before this bracket");
    if (c == '/' || c == '#')
        return fail_at(p, p->at, "JSON has no comments; put remarks into \"about\"");
    if (c != '"')
        return fail_at(p, p->at,
                       p->at < p->json->size ? "a key in double quotes should stand here"
                                             : "the file ends inside an object; a } is missing");
    uint32_t key = p->json->node_count;
    pl_status status = read_string(p);
    if (status != PL_OK)
        return status;
    p->key[p->depth - 1] = key;
    skip_space(p);
    if (text[p->at] != ':')
        return fail_at(p, p->at, "a colon should stand between a key and its value");
    p->at++;
    skip_space(p);
    return PL_OK;
}

static pl_status read_value(parser *p)
{
    char c = p->json->text[p->at];
    if (c == '-' || is_digit(c))
        return read_number(p);
    if (c == '"')
        return read_string(p);
    if (c == '[' || c == '{')
        return open_container(p, c == '[' ? PL_JSON_ARRAY : PL_JSON_OBJECT);
    return read_word(p);
}

/* Behind a value inside the innermost container: a comma or the end. */
static pl_status read_separator(parser *p, bool object)
{
    char c = p->json->text[p->at];
    if (c == (object ? '}' : ']'))
        return close_container(p);
    if (c == ',') {
        p->at++;
        skip_space(p);
        return PL_OK;
    }
    if (p->at >= p->json->size)
        return fail_at(p, p->at, "the file ends inside %s; a %c is missing",
                       object ? "an object" : "an array", object ? '}' : ']');
    if (c == '}' || c == ']')
        return fail_at(p, p->at, "%s is closed by %c, not %c", object ? "an object" : "an array",
                       object ? '}' : ']', c);
    return fail_at(p, p->at, "a comma or %c should stand here", object ? '}' : ']');
}

/* One turn: the next value of the innermost container, or what ends it. */
static pl_status read_inside(parser *p)
{
    pl_json_node *container = &p->json->nodes[p->open[p->depth - 1]];
    bool object = container->kind == PL_JSON_OBJECT;
    bool fresh = p->json->node_count == p->open[p->depth - 1] + 1;
    pl_status status = PL_OK;
    skip_space(p);
    if (fresh && p->json->text[p->at] == (object ? '}' : ']'))
        return close_container(p);
    if (!fresh) {
        int depth = p->depth;
        container->as.container.count++;
        status = read_separator(p, object);
        if (status != PL_OK || p->depth < depth)
            return status;
    }
    if (object)
        status = read_key(p);
    return status == PL_OK ? read_value(p) : status;
}

static pl_status read_document(parser *p)
{
    const char *text = p->json->text;
    if (p->json->size >= 3 && memcmp(text, "\xEF\xBB\xBF", 3) == 0)
        p->at = 3;
    skip_space(p);
    if (p->at >= p->json->size)
        return fail_at(p, p->at, "the file is empty");
    pl_status status = read_value(p);
    while (status == PL_OK && p->depth > 0)
        status = read_inside(p);
    if (status != PL_OK)
        return status;
    skip_space(p);
    if (p->at < p->json->size)
        return fail_at(p, p->at, "there is something behind the end of the document");
    return PL_OK;
}

/* ---- Memory ---------------------------------------------------------------------------------- */

static char *copy_bytes(pl_memory *memory, const char *bytes, size_t size)
{
    char *copy = PL_NEW(memory, char, size + 1);
    if (copy && size)
        memcpy(copy, bytes, size);
    return copy;
}

static pl_status prepare(parser *p, const char *text, size_t size)
{
    pl_json *json = p->json;
    size_t nodes, bytes;
    json->text = copy_bytes(json->memory, text, size);
    json->size = size;
    if (!json->text)
        return fail_memory(p);
    pl_status status = check_encoding(p);
    if (status != PL_OK)
        return status;
    count_parts(text, size, &nodes, &bytes);
    json->nodes = PL_NEW(json->memory, pl_json_node, nodes);
    json->strings = PL_NEW(json->memory, char, bytes);
    return json->nodes && json->strings ? PL_OK : fail_memory(p);
}

pl_status pl_json_parse(pl_memory *memory, const char *file, const char *text, size_t size,
                        pl_json **json, pl_trouble *trouble)
{
    *json = NULL;
    if (size > INT32_MAX)
        return pl_trouble_set(trouble, PL_ERROR_FORMAT, file, "the file is larger than 2 GiB");
    pl_json *made = PL_NEW(memory, pl_json, 1);
    char *name = made ? copy_bytes(memory, file, strlen(file)) : NULL;
    if (!name) {
        pl_memory_free(memory, made);
        return pl_trouble_set(trouble, PL_ERROR_MEMORY, file,
                              "not enough memory to read this file");
    }
    *made = (pl_json){.memory = memory, .file = name};
    parser p = {.json = made, .trouble = trouble};
    pl_status status = prepare(&p, text, size);
    if (status == PL_OK)
        status = read_document(&p);
    made->string_bytes = p.strings_used;
    if (status != PL_OK) {
        pl_json_free(made);
        return status;
    }
    *json = made;
    return PL_OK;
}
