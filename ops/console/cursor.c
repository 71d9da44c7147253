#include "console/cursor.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "command/fail.h"

/* FNV-1a. */
uint64_t cursor_mark(uint64_t mark, const char *text)
{
    const uint64_t prime = UINT64_C(0x100000001b3);
    for (const char *at = text; at != NULL && *at != '\0'; at++)
        mark = (mark ^ (unsigned char)*at) * prime;
    return (mark ^ (text != NULL ? 0x100 : 0x101)) * prime;
}

/* "MARK.BODY". */
const char *cursor_seal(const char *body, uint64_t mark, char ret_text[CURSOR_SIZE])
{
    snprintf(ret_text, CURSOR_SIZE, "%016" PRIx64 ".%.*s", cursor_mark(mark, body),
             CURSOR_BODY_SIZE - 1, body);
    return ret_text;
}

culex_status cursor_refuse(culex_error *error)
{
    return ops_usage(error, "cursor: it is none: take next_cursor of the answer before");
}

culex_status cursor_open(const char *text, uint64_t mark, const char **ret_body, culex_error *error)
{
    enum { HEX = 16 };
    char made[CURSOR_SIZE];
    size_t len = strlen(text);
    if (len <= HEX + 1 || len >= CURSOR_SIZE || text[HEX] != '.')
        return cursor_refuse(error);
    *ret_body = text + HEX + 1;
    if (strcmp(cursor_seal(*ret_body, mark, made), text) == 0)
        return CULEX_OK;
    return ops_usage(error, "cursor: it is stale, for it is of another server, of one that was "
                            "started anew, or of other parameters: begin without it");
}

/* ---- of a list --------------------------------------------------------------------------------
 */

/* "PLACE.RUN.QUEUE". */
const char *cursor_format(const struct cursor *cursor, uint64_t mark, char ret_text[CURSOR_SIZE])
{
    char body[CURSOR_BODY_SIZE], run[CULEX_UUID_TEXT_SIZE];
    culex_uuid_format(cursor->place.run, run);
    snprintf(body, sizeof body, "%016" PRIx64 ".%s.%s", cursor->place.place, run, cursor->queue);
    return cursor_seal(body, mark, ret_text);
}

static bool cursor_split(const char *body, struct cursor *ret_cursor)
{
    enum { RUN = 16 + 1, QUEUE = RUN + CULEX_UUID_TEXT_SIZE };
    char run[CULEX_UUID_TEXT_SIZE];
    size_t len = strlen(body);
    if (len <= QUEUE || len - QUEUE >= sizeof ret_cursor->queue || body[RUN - 1] != '.' ||
        body[QUEUE - 1] != '.')
        return false;
    memcpy(run, body + RUN, sizeof run - 1);
    run[sizeof run - 1] = '\0';
    ret_cursor->place.place = strtoull(body, NULL, 16);
    strcpy(ret_cursor->queue, body + QUEUE);
    return culex_uuid_parse(run, &ret_cursor->place.run);
}

culex_status cursor_read(const char *text, uint64_t mark, struct cursor *ret_cursor,
                         culex_error *error)
{
    const char *body = "";
    *ret_cursor = (struct cursor){.queue = ""};
    culex_status status = cursor_open(text, mark, &body, error);
    if (status == CULEX_OK && !cursor_split(body, ret_cursor)) {
        *ret_cursor = (struct cursor){.queue = ""};
        status = cursor_refuse(error);
    }
    return status;
}
