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

static void body_format(const struct cursor *cursor, char *ret_text, size_t size)
{
    char run[CULEX_UUID_TEXT_SIZE];
    culex_uuid_format(cursor->place.run, run);
    snprintf(ret_text, size, "%016" PRIx64 ".%s.%s", cursor->place.place, run, cursor->queue);
}

const char *cursor_format(const struct cursor *cursor, uint64_t mark, char ret_text[CURSOR_SIZE])
{
    char body[CURSOR_SIZE - 20];
    body_format(cursor, body, sizeof body);
    snprintf(ret_text, CURSOR_SIZE, "%016" PRIx64 ".%s", cursor_mark(mark, body), body);
    return ret_text;
}

/* "MARK.PLACE.RUN.QUEUE". */
static bool cursor_split(const char *text, struct cursor *ret_cursor)
{
    enum { HEX = 16, RUN = HEX + 1 + HEX + 1, QUEUE = RUN + CULEX_UUID_TEXT_SIZE };
    char run[CULEX_UUID_TEXT_SIZE];
    size_t len = strlen(text);
    if (len <= QUEUE || len - QUEUE >= sizeof ret_cursor->queue || text[HEX] != '.' ||
        text[RUN - 1] != '.' || text[QUEUE - 1] != '.')
        return false;
    memcpy(run, text + RUN, sizeof run - 1);
    run[sizeof run - 1] = '\0';
    ret_cursor->place.place = strtoull(text + HEX + 1, NULL, 16);
    strcpy(ret_cursor->queue, text + QUEUE);
    return culex_uuid_parse(run, &ret_cursor->place.run);
}

culex_status cursor_read(const char *text, uint64_t mark, struct cursor *ret_cursor,
                         culex_error *error)
{
    char made[CURSOR_SIZE];
    *ret_cursor = (struct cursor){.queue = ""};
    if (!cursor_split(text, ret_cursor))
        return ops_usage(error, "cursor: it is none: take next_cursor of the answer before");
    if (strcmp(cursor_format(ret_cursor, mark, made), text) == 0)
        return CULEX_OK;
    *ret_cursor = (struct cursor){.queue = ""};
    return ops_usage(error, "cursor: it is stale, for it is of another server, of one that was "
                            "started anew, or of other parameters: begin without it");
}
