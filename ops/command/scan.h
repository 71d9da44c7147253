/* ops/command/scan.h - the parts of a JSON text, without a look at what they mean.
 *
 * What a text is worth is judged by whoever reads it (culex_decode); here only names and borders
 * are looked for, and a text that is damaged has no more parts. */
#ifndef OPS_COMMAND_SCAN_H
#define OPS_COMMAND_SCAN_H

#include <stdbool.h>
#include <stddef.h>

/* A part of a text. */
struct ops_slice {
    const char *text;
    size_t len;
};

/* The members of an object, or the items of a list. */
struct ops_scan {
    const char *at, *end;
    bool is_object;
};

/* Blanks around it are left out. */
struct ops_slice ops_slice_trim(struct ops_slice slice);
bool ops_slice_is(struct ops_slice slice, const char *text);

/* Whether `whole` begins as an object or a list. */
bool ops_scan_begin(struct ops_slice whole, struct ops_scan *ret_scan);
/* The next part; its name, between the quotes, is empty in a list. False at the end, or where the
 * text is damaged. */
bool ops_scan_next(struct ops_scan *scan, struct ops_slice *ret_name, struct ops_slice *ret_value);

/* Behind the last part: whether the text ends there, as it should. */
bool ops_scan_is_over(const struct ops_scan *scan);

#endif
