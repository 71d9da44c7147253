#include "command/fail.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "command/print.h"

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

/* --- words ------------------------------------------------------------------------------------ */

struct word {
    const char *of_c, *of_command;
};

/* Those that stand in messages which a command can bring about; a longer one before its beginning.
 */
static const struct word words[] = {
    {"filter.error_part", "--error"},
    {"filter.since", "--since"},
    {"filter.before", "--before"},
    {"filter.states", "--state"},
    {"filter.tag", "--tag"},
    {"filter.job", "--job"},
    {"culex_client_resume", "culex resume"},
    {"culex_client_pause", "culex pause"},
    {"culex_client_fsck", "culex fsck --repair"},
    {"culex_client_stats", "culex queues"},
    {"culex_client_limits", "culex limit"},
    {"culex_client_metadata_read", "reading metadata"},
};

static const struct word *word_at(const char *text)
{
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        if (strncmp(text, words[i].of_c, strlen(words[i].of_c)) == 0)
            return &words[i];
    }
    return NULL;
}

char *ops_reword(const char *text)
{
    size_t size = 1;
    for (const char *at = text; *at != '\0'; at++)
        size += word_at(at) != NULL ? strlen(word_at(at)->of_command) + 1 : 1;
    char *made = ops_alloc(NULL, size), *to = made;
    while (*text != '\0') {
        const struct word *word = word_at(text);
        if (word == NULL) {
            *to++ = *text++;
            continue;
        }
        to = stpcpy(to, word->of_command);
        text += strlen(word->of_c);
    }
    *to = '\0';
    return made;
}

void ops_failure_print(const char *text)
{
    char *worded = ops_reword(text);
    fputs("culex: ", stderr);
    ops_print_text(stderr, worded, strlen(worded), true, 0);
    putc('\n', stderr);
    free(worded);
}
