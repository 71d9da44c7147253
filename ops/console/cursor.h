/* ops/console/cursor.h - where a list of runs goes on, as a text that whoever lists hands back.
 *
 * It is good for the same question to the same life of the server; of another one it is told that
 * it is stale. It is no secret, and one that is made up does no more harm than a wrong page. */
#ifndef OPS_CONSOLE_CURSOR_H
#define OPS_CONSOLE_CURSOR_H

#include <stdint.h>

#include <culex/client.h>

struct cursor {
    char queue[65]; /* "": the list is over */
    culex_list_cursor place;
};

enum { CURSOR_SIZE = 200 };

/* Adds a text to what a cursor belongs to; NULL differs from "". */
uint64_t cursor_mark(uint64_t mark, const char *text);
const char *cursor_format(const struct cursor *cursor, uint64_t mark, char ret_text[CURSOR_SIZE]);
/* CULEX_EUSAGE for one that is none, or is of another question or another server. */
culex_status cursor_read(const char *text, uint64_t mark, struct cursor *ret_cursor,
                         culex_error *error);

#endif
