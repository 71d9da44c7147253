#include "base/error.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/utf8.h"

/* Long enough for any text we write before it is cut. */
enum { SCRATCH_SIZE = 4096 };

const char *culex_status_text(culex_status code)
{
    switch (code) {
#define STATUS_TEXT(name, number, text)                                                            \
    case CULEX_##name:                                                                             \
        return text;
        CULEX_STATUS_MAP(STATUS_TEXT)
#undef STATUS_TEXT
    }
    return "unknown status";
}

const char *culex_status_name(culex_status code)
{
    switch (code) {
#define STATUS_NAME(name, number, text)                                                            \
    case CULEX_##name:                                                                             \
        return #name;
        CULEX_STATUS_MAP(STATUS_NAME)
#undef STATUS_NAME
    }
    return "unknown";
}

static void error_fill(culex_error *error, culex_status code, const char *field, const char *format,
                       va_list args) CULEX_PRINTF(4, 0);

/* Of one line, as the names in it are: a quoted one may hold what would begin another. */
static void text_set(culex_error *error, const char *text)
{
    static const char escaped[] = "\n\t\r", letters[] = "ntr";
    char line[SCRATCH_SIZE];
    size_t len = 0;
    for (const char *at = text; *at != '\0' && len + 2 < sizeof line; at++) {
        const char *found = strchr(escaped, *at);
        if (found != NULL)
            line[len++] = '\\';
        line[len++] = found != NULL ? letters[found - escaped] : *at;
    }
    culex__utf8_clean(error->text, sizeof error->text, line, len);
}

static void error_fill(culex_error *error, culex_status code, const char *field, const char *format,
                       va_list args)
{
    char scratch[SCRATCH_SIZE];
    assert(code != CULEX_OK);
    if (vsnprintf(scratch, sizeof scratch, format, args) < 0)
        strcpy(scratch, culex_status_text(code));
    error->code = code;
    text_set(error, scratch);
    culex__utf8_clean(error->field, sizeof error->field, field, strlen(field));
}

culex_status culex__fail(culex_error *error, culex_status code, const char *format, ...)
{
    if (error != NULL) {
        va_list args;
        va_start(args, format);
        error_fill(error, code, "", format, args);
        va_end(args);
    }
    return code;
}

culex_status culex__fail_field(culex_error *error, culex_status code, const char *field,
                               const char *format, ...)
{
    if (error != NULL) {
        va_list args;
        va_start(args, format);
        error_fill(error, code, field, format, args);
        va_end(args);
    }
    return code;
}

void culex__error_context(culex_error *error, const char *format, ...)
{
    if (error == NULL)
        return;
    char scratch[SCRATCH_SIZE];
    va_list args;
    va_start(args, format);
    int len = vsnprintf(scratch, sizeof scratch / 2, format, args);
    va_end(args);
    if (len < 0)
        return;
    size_t at = strnlen(scratch, sizeof scratch / 2);
    snprintf(scratch + at, sizeof scratch - at, ": %s", error->text);
    text_set(error, scratch);
}
