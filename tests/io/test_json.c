/* The JSON reader: what it accepts, what it refuses and where it says the mistake is, exact
   numbers, and that neither depth, size nor missing memory can hurt it. */
#include "support/check.h"

#include <float.h>
#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/rng.h"
#include "io/json.h"
#include "io/number.h"

static pl_json *parse_size(pl_memory *memory, const char *text, size_t size, pl_trouble *trouble)
{
    pl_json *json;
    *trouble = (pl_trouble){0};
    pl_json_parse(memory, "t.json", text, size, &json, trouble);
    return json;
}

static pl_json *parse(pl_memory *memory, const char *text, pl_trouble *trouble)
{
    return parse_size(memory, text, strlen(text), trouble);
}

/* ---- Accepted -------------------------------------------------------------------------------- */

static void accepts_documents(void **state)
{
    (void)state;
    static const char *const good[] = {
        "null",
        " true ",
        "[]",
        "{}",
        "[[[]]]",
        "0",
        "-0",
        "1e5",
        "1E+5",
        "0.5e-3",
        "\"\"",
        "\"\\u00e9\"",
        "{\"a\":1,\"b\":[1,2,{\"c\":null}]}",
        "\xEF\xBB\xBF[1]",
        "\t[\r\n1 , 2 ]\n",
        "\"\\ud83d\\ude00\"",
        "[\"a\\\"b\\\\c\\/\\b\\f\\n\\r\\t\"]",
        "\"\xC3\xA9\xE2\x82\xAC\xF0\x9F\x98\x80\"",
    };
    pl_memory memory;
    pl_memory_init(&memory, NULL, 0);
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        pl_trouble trouble;
        pl_json *json = parse(&memory, good[i], &trouble);
        if (!json)
            fail_msg("%s: %s", good[i], trouble.text);
        pl_json_free(json);
    }
    assert_int_equal(memory.used, 0);
}

static void finds_members_and_elements(void **state)
{
    (void)state;
    pl_memory memory;
    pl_trouble trouble;
    pl_memory_init(&memory, NULL, 0);
    pl_json *json =
        parse(&memory, "{\"a\":[10,[20],{\"x\":30}],\"b\":\"caf\\u00e9\",\"\":true}", &trouble);
    assert_non_null(json);
    uint32_t a = pl_json_member(json, 0, "a");
    assert_int_equal(json->nodes[a].as.container.count, 3);
    assert_true(json->nodes[pl_json_element(json, a, 0)].as.number == 10);
    uint32_t object = pl_json_element(json, a, 2);
    assert_true(json->nodes[pl_json_member(json, object, "x")].as.number == 30);
    assert_int_equal(pl_json_element(json, a, 3), 0);
    assert_int_equal(pl_json_member(json, 0, "c"), 0);
    assert_string_equal(pl_json_string(json, pl_json_member(json, 0, "b")), "caf\xC3\xA9");
    assert_int_equal(pl_json_kind_of(json, pl_json_member(json, 0, "")), PL_JSON_TRUE);
    pl_json_free(json);
}

static void decodes_escapes(void **state)
{
    (void)state;
    pl_memory memory;
    pl_trouble trouble;
    pl_memory_init(&memory, NULL, 0);
    pl_json *json = parse(&memory, "\"\\u0041\\u00e9\\u20ac\\ud83d\\ude00\\n\\\"\"", &trouble);
    assert_non_null(json);
    assert_string_equal(pl_json_string(json, 0), "A\xC3\xA9\xE2\x82\xAC\xF0\x9F\x98\x80\n\"");
    pl_json_free(json);
}

/* ---- Refused --------------------------------------------------------------------------------- */

typedef struct broken {
    const char *text;
    int line, column;
    const char *path, *part; /* of the message */
} broken;

static const broken broken_documents[] = {
    {"", 1, 1, "", "empty"},
    {" \n ", 2, 2, "", "empty"},
    {"[1,2", 1, 5, "[2]", "] is missing"},
    {"{\"a\":1", 1, 7, "a", "} is missing"},
    {"{\"a\":1,", 1, 8, "", "} is missing"},
    {"[1,]", 1, 4, "[1]", "comma"},
    {"[,1]", 1, 2, "[0]", "missing before this comma"},
    {"{\"a\":1,}", 1, 8, "", "comma"},
    {"{\"a\" 1}", 1, 6, "a", "colon"},
    {"{\"a\":}", 1, 6, "a", "value is missing"},
    {"{a:1}", 1, 2, "", "double quotes"},
    {"{'a':1}", 1, 2, "", "double quotes"},
    {"['a']", 1, 2, "[0]", "double quotes"},
    {"[1 2]", 1, 4, "[1]", "comma or ]"},
    {"[1}", 1, 3, "[1]", "closed by ]"},
    {"{\"a\":1]", 1, 7, "a", "closed by }"},
    {"[1] 2", 1, 5, "", "behind the end"},
    {"[NaN]", 1, 2, "[0]", "must be finite"},
    {"[-Infinity]", 1, 2, "[0]", "must be finite"},
    {"[Infinity]", 1, 2, "[0]", "must be finite"},
    {"[nan]", 1, 2, "[0]", "must be finite"},
    {"[1e999]", 1, 2, "[0]", "too large"},
    {"[-1e400]", 1, 2, "[0]", "too large"},
    {"[01]", 1, 2, "[0]", "zero"},
    {"[+1]", 1, 2, "[0]", "starts with a digit"},
    {"[.5]", 1, 2, "[0]", "starts with a digit"},
    {"[5.]", 1, 2, "[0]", "decimal point"},
    {"[1e]", 1, 2, "[0]", "exponent"},
    {"[-]", 1, 2, "[0]", "minus"},
    {"[0x10]", 1, 2, "[0]", "not a number"},
    {"[12kg]", 1, 2, "[0]", "without a unit"},
    {"[1.2.3]", 1, 2, "[0]", "not a number"},
    {"[True]", 1, 2, "[0]", "true, false, null"},
    {"[nul]", 1, 2, "[0]", "true, false, null"},
    {"// hello\n1", 1, 1, "", "no comments"},
    {"{\n # x\n}", 2, 2, "", "no comments"},
    {"\"abc", 1, 1, "", "not closed"},
    {"\"a\nb\"", 1, 1, "", "not closed"},
    {"\"a\tb\"", 1, 3, "", "escape"},
    {"\"\\x\"", 1, 2, "", "no such escape"},
    {"\"\\u12\"", 1, 2, "", "four hexadecimal"},
    {"\"\\ud800\"", 1, 2, "", "surrogate"},
    {"\"\\udc00\"", 1, 2, "", "surrogate"},
    {"\"\\ud800\\u0041\"", 1, 2, "", "surrogate"},
    {"\"\\u0000\"", 1, 2, "", "character 0"},
    {"{\"a\":1,\n\"b\":2,\"a\":3}", 2, 7, "a", "second time, first in line 1"},
    {"{\"x\":{\"a\":[0,{\"b\":nope}]}}", 1, 19, "x.a[1].b", "not a value"},
    {"{\"two words\":[zz]}", 1, 15, "[\"two words\"][0]", "not a value"},
    {"[\"\xC3\xA9\", ?]", 1, 7, "[1]", "value should stand"},
    {"\xFF\xFE[\x00", 1, 1, "", "UTF-16"},
    {"[\"\x80\"]", 1, 3, "", "UTF-8"},
    {"[\"\xC0\xAF\"]", 1, 3, "", "UTF-8"},
    {"[\"\xED\xA0\x80\"]", 1, 3, "", "UTF-8"},
    {"[\"\xF5\x80\x80\x80\"]", 1, 3, "", "UTF-8"},
    {"[\"\xE2\x82", 1, 3, "", "UTF-8"},
};

static void says_what_is_wrong_and_where(void **state)
{
    (void)state;
    pl_memory memory;
    pl_memory_init(&memory, NULL, 0);
    for (size_t i = 0; i < sizeof broken_documents / sizeof *broken_documents; i++) {
        const broken *b = &broken_documents[i];
        pl_trouble trouble;
        assert_null(parse(&memory, b->text, &trouble));
        char shown[1200];
        pl_trouble_format(&trouble, shown, sizeof shown);
        if (trouble.line != b->line || trouble.column != b->column ||
            strcmp(trouble.path, b->path) != 0 || !strstr(trouble.text, b->part))
            fail_msg("%s\n  gave %s\n  expected %d:%d: %s: … %s …", b->text, shown, b->line,
                     b->column, b->path, b->part);
        assert_int_equal(trouble.status, PL_ERROR_FORMAT);
    }
    assert_int_equal(memory.used, 0);
}

static void finds_duplicates_in_large_objects(void **state)
{
    (void)state;
    enum { KEYS = 20000 };
    pl_memory memory;
    pl_trouble trouble;
    pl_memory_init(&memory, NULL, 0);
    char *text = malloc(KEYS * 16);
    assert_non_null(text);
    for (int twice = 0; twice < 2; twice++) {
        size_t used = 0;
        for (int i = 0; i < KEYS; i++)
            used += (size_t)sprintf(text + used, "%s\"k%d\":%d", i ? "," : "{",
                                    i == KEYS - 1 && twice ? 7 : i, i);
        used += (size_t)sprintf(text + used, "}");
        pl_json *json = parse_size(&memory, text, used, &trouble);
        if (twice) {
            assert_null(json);
            assert_string_equal(trouble.path, "k7");
        } else {
            assert_non_null(json);
        }
        pl_json_free(json);
    }
    free(text);
}

static void stands_any_depth(void **state)
{
    (void)state;
    enum { DEPTH = 3000000 };
    pl_memory memory;
    pl_trouble trouble;
    pl_memory_init(&memory, NULL, 0);
    char *text = malloc(DEPTH);
    assert_non_null(text);
    memset(text, '[', DEPTH);
    assert_null(parse_size(&memory, text, DEPTH, &trouble));
    assert_non_null(strstr(trouble.text, "nested deeper"));
    assert_int_equal(trouble.column, PL_JSON_DEPTH + 1);
    memset(text + PL_JSON_DEPTH, ']', PL_JSON_DEPTH);
    pl_json *json = parse_size(&memory, text, 2 * PL_JSON_DEPTH, &trouble);
    assert_non_null(json);
    pl_json_free(json);
    free(text);
}

/* ---- Numbers --------------------------------------------------------------------------------- */

static double parse_number(const char *text)
{
    return pl_number_parse(text, strlen(text));
}

static void numbers_are_exact(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        double value;
    } cases[] = {{"0.1", 0.1},
                 {"-0", -0.0},
                 {"1e22", 1e22},
                 {"1e23", 1e23},
                 {"9007199254740993", 9007199254740992.0},
                 {"2.2250738585072011e-308", 2.2250738585072011e-308},
                 {"4.9406564584124654e-324", 4.9406564584124654e-324},
                 {"1.7976931348623157e308", DBL_MAX},
                 {"123456789012345678901234567890", 123456789012345678901234567890.0},
                 {"0.000000000000000000000000000001", 1e-30},
                 {"1e-400", 0},
                 {"3.141592653589793238462643383279", M_PI}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        double value = parse_number(cases[i].text);
        if (memcmp(&value, &cases[i].value, sizeof value) != 0)
            fail_msg("%s gave %.17g", cases[i].text, value);
    }
}

static void numbers_read_back_as_written(void **state)
{
    (void)state;
    pl_rng rng = pl_rng_make(7);
    for (int i = 0; i < 200000; i++) {
        uint64_t bits = pl_random_u64(&rng);
        double value, back;
        char text[PL_NUMBER_TEXT];
        memcpy(&value, &bits, sizeof value);
        if (i % 3 == 0)
            value = (float)(pl_random_double(&rng) * 10 - 5);
        if (!isfinite(value))
            continue;
        int length = pl_number_format(value, text);
        back = pl_number_parse(text, (size_t)length);
        if (memcmp(&value, &back, sizeof value) != 0)
            fail_msg("%.17g became %s and that %.17g", value, text, back);
        assert_true(back == strtod(text, NULL));
    }
}

static void numbers_ignore_the_locale(void **state)
{
    (void)state;
    static const char *const names[] = {"de_DE.UTF-8", "fr_FR.UTF-8", "de_DE", "nl_NL.UTF-8"};
    const char *found = NULL;
    for (size_t i = 0; i < sizeof names / sizeof *names && !found; i++)
        found = setlocale(LC_NUMERIC, names[i]);
    if (!found)
        skip();
    char text[PL_NUMBER_TEXT];
    pl_number_format(0.1234567890123, text);
    double slow = parse_number("0.12345678901234567890123");
    pl_number_format_short(2.5, text);
    setlocale(LC_NUMERIC, "C");
    assert_true(slow == 0.12345678901234567890123);
    assert_string_equal(text, "2.5");
}

/* ---- Size and memory ------------------------------------------------------------------------- */

static void millions_of_numbers_are_compact(void **state)
{
    (void)state;
    enum { COUNT = 1000000 };
    pl_memory memory;
    pl_trouble trouble;
    pl_memory_init(&memory, NULL, 0);
    char *text = malloc((size_t)COUNT * 20);
    assert_non_null(text);
    size_t used = 0;
    text[used++] = '[';
    for (int i = 0; i < COUNT; i++)
        used += (size_t)sprintf(text + used, "%s%d.%03d", i ? "," : "", i, i % 1000);
    text[used++] = ']';
    pl_json *json = parse_size(&memory, text, used, &trouble);
    assert_non_null(json);
    assert_int_equal(json->node_count, COUNT + 1);
    assert_true(json->nodes[COUNT].as.number == 999999.999);
    assert_true(memory.peak < used + (size_t)COUNT * 17 + 4096);
    pl_json_free(json);
    free(text);
}

static void every_lack_of_memory_is_clean(void **state)
{
    (void)state;
    static const char text[] =
        "{\"a\":1,\"b\":2,\"c\":3,\"d\":4,\"e\":5,\"f\":6,\"g\":7,\"h\":8,\"i\":9,\"j\":10,"
        "\"k\":11,\"l\":12,\"m\":13,\"n\":14,\"o\":15,\"p\":16,\"q\":17,\"r\":\"s\"}";
    for (int fail = 0; fail < 100; fail++) {
        pl_memory memory;
        pl_trouble trouble;
        pl_memory_init(&memory, NULL, 0);
        memory.fail_at = fail;
        pl_json *json = parse(&memory, text, &trouble);
        bool done = json != NULL;
        if (!done)
            assert_int_equal(trouble.status, PL_ERROR_MEMORY);
        pl_json_free(json);
        assert_int_equal(memory.used, 0);
        if (done)
            return;
    }
    fail_msg("never succeeded");
}

/* Cut off and damaged in every place: never a crash, never a leak. */
static void stands_damaged_text(void **state)
{
    (void)state;
    static const char text[] =
        "{\"a\": [1, -2.5e3, \"x\\u00e9\\ud83d\\ude00\\n\"], \"b\": {\"c\": null, \"d\": true}}";
    enum { SIZE = sizeof text - 1 };
    pl_memory memory;
    pl_trouble trouble;
    pl_memory_init(&memory, NULL, 0);
    for (size_t cut = 0; cut < SIZE; cut++)
        assert_null(parse_size(&memory, text, cut, &trouble));
    char damaged[SIZE];
    for (size_t i = 0; i < SIZE; i++)
        for (int byte = 0; byte < 256; byte++) {
            memcpy(damaged, text, SIZE);
            damaged[i] = (char)byte;
            pl_json_free(parse_size(&memory, damaged, SIZE, &trouble));
        }
    assert_int_equal(memory.used, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(accepts_documents),
        cmocka_unit_test(finds_members_and_elements),
        cmocka_unit_test(decodes_escapes),
        cmocka_unit_test(says_what_is_wrong_and_where),
        cmocka_unit_test(finds_duplicates_in_large_objects),
        cmocka_unit_test(stands_any_depth),
        cmocka_unit_test(numbers_are_exact),
        cmocka_unit_test(numbers_read_back_as_written),
        cmocka_unit_test(numbers_ignore_the_locale),
        cmocka_unit_test(millions_of_numbers_are_compact),
        cmocka_unit_test(every_lack_of_memory_is_clean),
        cmocka_unit_test(stands_damaged_text),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
