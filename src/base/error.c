#include "base/error.h"

#include <stdarg.h>
#include <stdio.h>

const char *pl_status_text(pl_status status)
{
    switch (status) {
    case PL_OK:
        return "no error";
    case PL_ERROR_ARGUMENT:
        return "invalid argument";
    case PL_ERROR_HANDLE:
        return "stale or foreign handle";
    case PL_ERROR_MEMORY:
        return "out of memory";
    case PL_ERROR_STATE:
        return "not possible in this state";
    case PL_ERROR_FORMAT:
        return "invalid format";
    case PL_ERROR_IO:
        return "input or output failed";
    }
    return "unknown status";
}

pl_status pl_fail(pl_error *error, pl_status status, const char *where, const char *format, ...)
{
    if (!error)
        return status;
    /* The arguments may point into the error that is being filled (to put a prefix in front of it):
       build it aside. */
    pl_error made = {.status = status};
    if (where)
        snprintf(made.where, sizeof made.where, "%s", where);
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(made.text, sizeof made.text, format, arguments);
    va_end(arguments);
    *error = made;
    return status;
}

pl_where pl_where_format(const char *format, ...)
{
    pl_where where;
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(where.text, sizeof where.text, format, arguments);
    va_end(arguments);
    return where;
}

void pl_logger_say(const pl_logger *logger, pl_log_level level, const char *format, ...)
{
    if (!logger || !logger->function)
        return;
    char message[512];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
    logger->function(logger->user, level, message);
}
