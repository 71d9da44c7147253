#include "core/schema_text.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/utf8.h"

/* Names of schemas are identifiers; whoever makes a type by hand may have others. */
static bool is_plain(const char *name)
{
    return strpbrk(name, "\"\\") == NULL && culex__utf8_is_line(name, strlen(name));
}

culex_status culex__schema_text(const culex_job_type *type, char **ret_text, size_t *ret_len)
{
    static const char format[] =
        "{\"job\":\"%s\",\"wire\":\"%s\",\"fingerprint\":\"%016" PRIx64 "\"}";
    if (!is_plain(type->name) || !is_plain(type->wire))
        return CULEX_EINVAL;
    size_t size = sizeof format + strlen(type->name) + strlen(type->wire) + 16;
    char *text = malloc(size);
    if (text == NULL)
        return CULEX_ENOMEM;
    *ret_len = (size_t)snprintf(text, size, format, type->name, type->wire, type->fingerprint);
    *ret_text = text;
    return CULEX_OK;
}
