/* ops/console/cursor.h - where a list of runs, or work at them, goes on, as a text that whoever
 * lists hands back.
 *
 * It is good for the same question to the same life of the server; of another one it is told that
 * it is stale. It is no secret, and one that is made up does no more harm than a wrong page. */
#ifndef OPS_CONSOLE_CURSOR_H
#define OPS_CONSOLE_CURSOR_H

#include <stdint.h>

#include <culex/client.h>

#include "command/value.h"

struct cursor {
    char queue[OPS_QUEUE_SIZE]; /* "": the list is over */
    culex_list_cursor place;
};

enum { CURSOR_SIZE = 200, CURSOR_BODY_SIZE = CURSOR_SIZE - 17 };

/* Adds a text to what a cursor belongs to; NULL differs from "". */
uint64_t cursor_mark(uint64_t mark, const char *text);
/* Any place, of less than CURSOR_BODY_SIZE bytes, as a cursor; and it out of one, within `text`. */
const char *cursor_seal(const char *body, uint64_t mark, char ret_text[CURSOR_SIZE]);
culex_status cursor_open(const char *text, uint64_t mark, const char **ret_body,
                         culex_error *error);
/* CULEX_EUSAGE: it is none. */
culex_status cursor_refuse(culex_error *error);
/* That of a list. */
const char *cursor_format(const struct cursor *cursor, uint64_t mark, char ret_text[CURSOR_SIZE]);
/* CULEX_EUSAGE for one that is none, or is of another question or another server. */
culex_status cursor_read(const char *text, uint64_t mark, struct cursor *ret_cursor,
                         culex_error *error);

#endif
