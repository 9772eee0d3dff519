#include "base/error.h"

#include <string.h>

#include "support/check.h"

static void every_status_has_a_text(void **state)
{
    (void)state;
    for (int s = PL_OK; s <= PL_ERROR_IO; s++) {
        assert_true(strlen(pl_status_text((pl_status)s)) > 0);
        for (int other = PL_OK; other < s; other++)
            assert_string_not_equal(pl_status_text((pl_status)s), pl_status_text((pl_status)other));
    }
    assert_string_equal(pl_status_text((pl_status)12345), "unknown status");
}

static void failing_fills_the_error(void **state)
{
    (void)state;
    pl_error error;
    memset(&error, 0xFF, sizeof error);
    pl_status status = pl_fail(&error, PL_ERROR_FORMAT, PL_WHERE("particles[%d].radii", 12),
                               "must be positive, not %g", -1.5);
    assert_int_equal(status, PL_ERROR_FORMAT);
    assert_int_equal(error.status, PL_ERROR_FORMAT);
    assert_string_equal(error.where, "particles[12].radii");
    assert_string_equal(error.text, "must be positive, not -1.5");
    assert_int_equal(pl_fail(NULL, PL_ERROR_IO, "x", "y"), PL_ERROR_IO);
    pl_fail(&error, PL_ERROR_IO, NULL, "%s", "no");
    assert_string_equal(error.where, "");
}

static void an_error_can_be_put_into_another(void **state)
{
    (void)state;
    pl_error error;
    pl_fail(&error, PL_ERROR_FORMAT, "radius", "is negative");
    pl_fail(&error, error.status, PL_WHERE("bodies[3].%s", error.where), "body 3: %s", error.text);
    assert_string_equal(error.where, "bodies[3].radius");
    assert_string_equal(error.text, "body 3: is negative");
}

static void long_texts_are_cut(void **state)
{
    (void)state;
    char text[1000];
    memset(text, 'x', sizeof text - 1);
    text[sizeof text - 1] = 0;
    pl_error error;
    pl_fail(&error, PL_ERROR_IO, text, "%s", text);
    assert_int_equal(strlen(error.where), sizeof error.where - 1);
    assert_int_equal(strlen(error.text), sizeof error.text - 1);
    assert_int_equal(strlen(PL_WHERE("%s", text)), sizeof(pl_where) - 1);
}

static struct {
    int calls, line;
    char condition[64], message[64], file[64];
} heard;

static void listen(const char *condition, const char *file, int line, const char *message)
{
    heard.calls++;
    heard.line = line;
    strncpy(heard.condition, condition, sizeof heard.condition - 1);
    strncpy(heard.message, message, sizeof heard.message - 1);
    strncpy(heard.file, file, sizeof heard.file - 1);
}

static pl_status checked(int count, pl_error *error)
{
    PL_CHECK(count < 100, PL_ERROR_FORMAT, error, "count", "at most 99, not %d", count);
    PL_REQUIRE(count > 0, PL_ERROR_ARGUMENT, error, "count", "must be positive, not %d", count);
    return PL_OK;
}

static pl_status passed_on(int count, pl_error *error)
{
    PL_TRY(checked(count, error));
    return PL_OK;
}

static void broken_promises_reach_the_handler(void **state)
{
    (void)state;
    pl_set_assert_function(listen);
    pl_error error;
    assert_int_equal(passed_on(5, &error), PL_OK);
    assert_int_equal(passed_on(100, &error), PL_ERROR_FORMAT);
    assert_int_equal(heard.calls, 0);
    assert_int_equal(passed_on(-2, &error), PL_ERROR_ARGUMENT);
    pl_set_assert_function(NULL);
    assert_int_equal(heard.calls, 1);
    assert_string_equal(heard.condition, "count > 0");
    assert_string_equal(heard.message, "must be positive, not -2");
    assert_string_equal(heard.file, "tests/base/test_error.c");
    assert_true(heard.line > 0);
    assert_string_equal(error.text, "must be positive, not -2");
#ifdef NDEBUG
    assert_int_equal(passed_on(-2, NULL), PL_ERROR_ARGUMENT);
#endif
    assert_int_equal(heard.calls, 1);
}

static void keep_message(void *user, pl_log_level level, const char *message)
{
    if (level == PL_LOG_WARNING)
        strncpy(user, message, 63);
}

static void messages_reach_the_logger(void **state)
{
    (void)state;
    char kept[64] = "";
    pl_logger logger = {keep_message, kept};
    pl_logger_say(&logger, PL_LOG_WARNING, "%d bodies", 7);
    assert_string_equal(kept, "7 bodies");
    pl_logger_say(NULL, PL_LOG_ERROR, "nobody listens");
    logger.function = NULL;
    pl_logger_say(&logger, PL_LOG_ERROR, "nobody listens");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_status_has_a_text),
        cmocka_unit_test(failing_fills_the_error),
        cmocka_unit_test(an_error_can_be_put_into_another),
        cmocka_unit_test(long_texts_are_cut),
        cmocka_unit_test(broken_promises_reach_the_handler),
        cmocka_unit_test(messages_reach_the_logger),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
