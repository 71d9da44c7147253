#include "command/fail.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static culex_status refuse(culex_error *error, culex_status status, const char *format,
                           va_list arguments)
{
    error->code = status;
    error->field[0] = '\0';
    vsnprintf(error->text, sizeof error->text, format, arguments);
    return status;
}

culex_status ops_usage(culex_error *error, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    refuse(error, CULEX_EUSAGE, format, arguments);
    va_end(arguments);
    return CULEX_EUSAGE;
}

culex_status ops_fail(culex_error *error, culex_status status, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    refuse(error, status, format, arguments);
    va_end(arguments);
    return status;
}

culex_status ops_name_failure(culex_status status, const char *what, culex_error *error)
{
    char text[CULEX_ERROR_TEXT_SIZE];
    if (status == CULEX_OK)
        return status;
    memcpy(text, error->text, sizeof text);
    snprintf(error->text, sizeof error->text, "%.64s: %.316s", what, text);
    return status;
}
