#include "core/queue_name.h"

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"
#include "base/limits.h"

static bool queue_char_is_allowed(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '-' || c == '.' || c == ':';
}

culex_status culex__queue_check(const char *queue, culex_error *error)
{
    if (queue == NULL || queue[0] == '\0')
        return culex__fail(error, CULEX_EINVAL, "a queue needs a name");
    for (size_t i = 0; queue[i] != '\0'; i++) {
        if (i >= CULEX_QUEUE_NAME_MAX)
            return culex__fail(error, CULEX_ELIMIT, "a queue name has at most %d bytes",
                               CULEX_QUEUE_NAME_MAX);
        if (!queue_char_is_allowed(queue[i]))
            return culex__fail(error, CULEX_EINVAL,
                               "queue name '%s': only letters, digits and _ - . : are allowed",
                               queue);
    }
    return CULEX_OK;
}
