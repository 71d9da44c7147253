#include "core/queue_name.h"

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "base/error.h"
#include "base/limits.h"
#include "base/secret_name.h"

#define CHOICE "_.-"

/* Each call of a store asks it; strspn() would make a table of all letters each time. */
static bool is_allowed(char c, const char *marks)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           (c != '\0' && strchr(marks, c) != NULL);
}

static culex_status name_check(const char *queue, const char *marks, const char *rule,
                               culex_error *error)
{
    if (queue == NULL || queue[0] == '\0')
        return culex__fail(error, CULEX_EINVAL, "a queue needs a name");
    size_t len = strnlen(queue, CULEX_QUEUE_NAME_MAX + 1);
    size_t good = 0;
    while (good < len && is_allowed(queue[good], marks))
        good++;
    if (good < len)
        return culex__fail(error, CULEX_EINVAL,
                           "queue name '%s': only " CULEX_QUEUE_LETTERS " are allowed, %s",
                           culex__text_shown(queue), rule);
    if (len > CULEX_QUEUE_NAME_MAX)
        return culex__fail(error, CULEX_ELIMIT, "a queue name has at most %d bytes",
                           CULEX_QUEUE_NAME_MAX);
    return CULEX_OK;
}

culex_status culex__queue_choice_check(const char *queue, culex_error *error)
{
    return name_check(queue, CHOICE, "in schemas as in programs", error);
}

culex_status culex__queue_check(const char *queue, culex_error *error)
{
    return name_check(queue, CHOICE ":", "and ':' in that of an old queue", error);
}
