#include "command/fail.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "command/end.h"
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

/* Those that stand in messages which a command can bring about. */
static const struct ops_word words[] = {
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
    {"Enqueuing a run or starting a worker makes the store",
     "A worker that starts makes the store"},
    {NULL, NULL},
};

static const struct ops_word *word_at(const struct ops_word *of, const char *text)
{
    for (; of->of_c != NULL; of++) {
        if (strncmp(text, of->of_c, strlen(of->of_c)) == 0)
            return of;
    }
    return NULL;
}

char *ops_reword_by(const struct ops_word *of, const char *text)
{
    size_t size = 1;
    for (const char *at = text; *at != '\0'; at++)
        size += word_at(of, at) != NULL ? strlen(word_at(of, at)->is) + 1 : 1;
    char *made = ops_alloc(NULL, size), *to = made;
    while (*text != '\0') {
        const struct ops_word *word = word_at(of, text);
        if (word == NULL) {
            *to++ = *text++;
            continue;
        }
        to = stpcpy(to, word->is);
        text += strlen(word->of_c);
    }
    *to = '\0';
    return made;
}

char *ops_reword(const char *text)
{
    return ops_reword_by(words, text);
}

void ops_failure_print(const char *text)
{
    char *worded = ops_reword(text);
    fprintf(stderr, "%s: ", ops_program);
    ops_print_text(stderr, worded, strlen(worded), true, 0);
    putc('\n', stderr);
    free(worded);
}
