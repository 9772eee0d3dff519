/* Words, lines and numbers of mesh files. */
#include "mesh_cases.h"

#include <locale.h>

#include "io/mesh_bytes.h"
#include "io/mesh_text.h"

static pl_text text_of(const char *text)
{
    return pl_text_make("t", text, strlen(text));
}

static pl_word word_of(const char *text)
{
    return (pl_word){text, strlen(text)};
}

static void goes_by_lines(void **state)
{
    (void)state;
    pl_text text = text_of("a b # c\n\n  d\\\n e#f \\x\r\n# g \\\nh\\");
    text.comment = '#';
    text.continued = true;
    assert_true(pl_word_is(pl_text_word_in_line(&text), "a"));
    assert_true(pl_word_is(pl_text_peek(&text), "b"));
    assert_true(pl_word_is(pl_text_word_in_line(&text), "b"));
    assert_int_equal(pl_text_word_in_line(&text).length, 0);
    assert_int_equal(pl_text_word_in_line(&text).length, 0);
    assert_true(pl_text_next_line(&text));
    assert_int_equal(pl_text_word_in_line(&text).length, 0);
    assert_true(pl_text_next_line(&text));
    assert_int_equal(text.line, 3);
    assert_true(pl_word_is(pl_text_word_in_line(&text), "d"));
    assert_true(pl_word_is(pl_text_word_in_line(&text), "e#f"));
    assert_int_equal(text.line, 4);
    assert_true(pl_word_is(pl_text_rest(&text), "\\x"));
    assert_true(pl_text_next_line(&text));
    assert_int_equal(pl_text_word_in_line(&text).length, 0);
    assert_true(pl_text_next_line(&text));
    assert_int_equal(text.line, 6);
    assert_true(pl_word_is(pl_text_word_in_line(&text), "h\\"));
    assert_false(pl_text_next_line(&text));
    assert_false(pl_text_next_line(&text));
    assert_int_equal(pl_text_rest(&text).length, 0);
}

static void goes_freely(void **state)
{
    (void)state;
    pl_text text = text_of("1\r\n\r\n 2.5 # no\n-3\n");
    text.comment = '#';
    double value;
    int64_t number;
    pl_error error;
    assert_int_equal(pl_text_int(&text, "n", 0, 9, &number, &error), PL_OK);
    assert_int_equal(number, 1);
    assert_int_equal(pl_text_double(&text, "x", &value, &error), PL_OK);
    assert_true(value == 2.5);
    assert_int_equal(pl_text_int(&text, "n", 0, 9, &number, &error), PL_ERROR_FORMAT);
    assert_string_equal(error.where, "t:4");
    assert_non_null(strstr(error.text, "from 0 to 9, not '-3'"));
    assert_int_equal(pl_text_double(&text, "the weight", &value, &error), PL_ERROR_FORMAT);
    assert_non_null(strstr(error.text, "the weight is missing: the file ends"));
    text = text_of("");
    assert_int_equal(pl_text_word(&text).length, 0);
    assert_false(pl_text_next_line(&text));
}

static void check_number(const char *text)
{
    char *end;
    double wanted = strtod(text, &end), got = 7;
    assert_true(*end == 0);
    pl_number_kind kind = pl_word_double(word_of(text), &got);
    if (kind != (isfinite(wanted) ? PL_NUMBER_GOOD : PL_NUMBER_NOT_FINITE) ||
        (isfinite(wanted) && memcmp(&got, &wanted, sizeof got) != 0))
        fail_msg("%s: %.17g, not %.17g", text, got, wanted);
}

static void numbers_are_exact(void **state)
{
    (void)state;
    static const char *const some[] = {"0",
                                       "-0",
                                       "+1",
                                       "1.",
                                       ".5",
                                       "-.5",
                                       "1e0",
                                       "1.e3",
                                       "1E+3",
                                       "1e-3",
                                       "00012.5",
                                       "1e22",
                                       "1e23",
                                       "1e-400",
                                       "1e400",
                                       "-1e400",
                                       "5e-324",
                                       "2e-324",
                                       "9007199254740993",
                                       "9007199254740992.5",
                                       "0e999999999999",
                                       "1.7976931348623157e308",
                                       "1.7976931348623159e308",
                                       "0.00000000000000000000000000000000000000000000001e47"};
    for (size_t i = 0; i < sizeof some / sizeof *some; i++)
        check_number(some[i]);
    pl_rng rng = pl_rng_make(11);
    char text[1200];
    for (int i = 0; i < 60000; i++) {
        uint64_t bits = pl_random_u64(&rng);
        double value;
        memcpy(&value, &bits, sizeof value);
        if (!isfinite(value))
            continue;
        static const char *const formats[] = {"%.17g", "%.6g", "%.9g", "%.20e"};
        snprintf(text, sizeof text, formats[i % 4], value);
        check_number(text);
        double small = (pl_random_double(&rng) - 0.5) * 1000;
        snprintf(text, sizeof text, i % 2 ? "%.6f" : "%.16f", small);
        check_number(text);
    }
    memset(text, '3', 999);
    text[999] = 0;
    check_number(text);
    text[1] = '.';
    check_number(text);
}

static void refuses_what_is_no_number(void **state)
{
    (void)state;
    static const char *const bad[] = {"",     "-",   "+",   ".",    "-.",    "e5",     "1e",
                                      "1e+",  "1..", "1,5", "0x10", "1f",    "--1",    "1-",
                                      "1e5.", "abc", "n",   "1 ",   "1e5e5", "infinit"};
    double value;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_int_equal(pl_word_double(word_of(bad[i]), &value), PL_NUMBER_BAD);
    static const char *const infinite[] = {"nan",    "NaN",     "-nan",    "inf",      "-Infinity",
                                           "1.#INF", "-1.#IND", "1.#QNAN", "-nan(ind)"};
    for (size_t i = 0; i < sizeof infinite / sizeof *infinite; i++)
        assert_int_equal(pl_word_double(word_of(infinite[i]), &value), PL_NUMBER_NOT_FINITE);
    char huge[2000];
    memset(huge, '1', sizeof huge);
    assert_int_equal(pl_word_double((pl_word){huge, sizeof huge}, &value), PL_NUMBER_BAD);
}

static void whole_numbers(void **state)
{
    (void)state;
    int64_t value;
    assert_true(pl_word_int(word_of("922337203685477580"), &value));
    assert_true(value == 922337203685477580);
    assert_true(pl_word_int(word_of("-12"), &value) && value == -12);
    assert_true(pl_word_int(word_of("+7"), &value) && value == 7);
    static const char *const bad[] = {"", "-", "1.0", "9999999999999999999", "1e3", "0x1", "1-"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_false(pl_word_int(word_of(bad[i]), &value));
}

/* Numbers read alike where the host writes 0,5. */
static void obeys_no_locale(void **state)
{
    (void)state;
    static const char *const some[] = {"de_DE.UTF-8", "de_DE.utf8", "fr_FR.UTF-8", "fr_FR.utf8"};
    bool found = false;
    for (int i = 0; i < 4 && !found; i++)
        found = setlocale(LC_ALL, some[i]) != NULL;
    double value = 0;
    assert_int_equal(pl_word_double(word_of("0.12345678901234567890"), &value), PL_NUMBER_GOOD);
    assert_true(value == 0.12345678901234567890);
    assert_int_equal(pl_word_double(word_of("0,5"), &value), PL_NUMBER_BAD);
    setlocale(LC_ALL, "C");
}

static void shortens_names(void **state)
{
    (void)state;
    char name[400];
    for (int length = 0; length < 399; length++) {
        for (int i = 0; i < length; i++)
            name[i] = "\xC3\xA4"[i % 2];
        name[length] = 0;
        pl_where where = pl_mesh_where_byte(name, SIZE_MAX);
        assert_non_null(strstr(where.text, ":byte 18446744073709551615"));
        assert_true(length < 96 || strncmp(where.text, "...\xC3", 4) == 0);
    }
    assert_string_equal(pl_mesh_where_line("a\nb", 3).text, "a?b:3");
    pl_word word = {"0123456789012345678901234567890123456789x", 41};
    assert_string_equal(PL_SHOW(word), "0123456789012345678901234567890123456789...");
}

static void bytes_stop_at_the_end(void **state)
{
    (void)state;
    static const uint8_t data[] = {1, 2, 3, 4, 5, 6, 7, 8, 0x3F, 0x80, 0, 0};
    pl_bytes little = pl_bytes_make(data, sizeof data, false);
    pl_bytes big = pl_bytes_make(data, sizeof data, true);
    assert_int_equal(pl_bytes_u16(&little), 0x0201);
    assert_int_equal(pl_bytes_u16(&big), 0x0102);
    assert_int_equal(pl_bytes_u32(&little), 0x06050403);
    assert_int_equal(pl_bytes_u32(&big), 0x03040506);
    assert_int_equal(pl_bytes_u8(&little), 7);
    big.at = 8;
    assert_true(pl_bytes_f32(&big) == 1.0f);
    big.at = 0;
    assert_true(pl_bytes_u64(&big) == UINT64_C(0x0102030405060708));
    little.at = 0;
    assert_true(pl_bytes_u64(&little) == UINT64_C(0x0807060504030201));
    assert_false(little.short_of);
    little.at = 9;
    assert_true(pl_bytes_u32(&little) == 0 && little.short_of);
    assert_int_equal(pl_bytes_left(&little), 0);
    assert_null(pl_bytes_take(&big, SIZE_MAX));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(goes_by_lines),     cmocka_unit_test(goes_freely),
        cmocka_unit_test(numbers_are_exact), cmocka_unit_test(refuses_what_is_no_number),
        cmocka_unit_test(whole_numbers),     cmocka_unit_test(obeys_no_locale),
        cmocka_unit_test(shortens_names),    cmocka_unit_test(bytes_stop_at_the_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
