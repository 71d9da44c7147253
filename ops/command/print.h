/* ops/command/print.h - what the commands print: texts of others made harmless, tables, JSON. */
#ifndef OPS_COMMAND_PRINT_H
#define OPS_COMMAND_PRINT_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include <culex/types.h>

/* --- texts -------------------------------------------------------------------------------------
 */

/* A text of the store's, for a terminal: control characters, those that turn the direction of
 * writing, and bytes that are no UTF-8 are escaped. Line ends are kept when `is_multiline`, each
 * followed by `indent` blanks. */
void ops_print_text(FILE *out, const char *text, size_t len, bool is_multiline, int indent);

/* Bytes of the first character, 0 when they are no UTF-8; `len` is 1 or more. */
size_t ops_character_size(const char *text, size_t len);
/* UTF-8, of which nothing would be escaped. */
bool ops_is_harmless(const char *text, size_t len);

enum { OPS_TIME_SIZE = 32, OPS_SPAN_SIZE = 32 };
/* "2026-11-30 09:30:15Z", "-" for 0. */
const char *ops_time_format(int64_t ms, char ret_text[OPS_TIME_SIZE]);
/* "1.2 ms", "35 s", "2 h": two digits at least, three at most. */
const char *ops_span_format(int64_t us, char ret_text[OPS_SPAN_SIZE]);

/* --- tables ------------------------------------------------------------------------------------
 */

enum { OPS_TABLE_COLUMNS_MAX = 16 };

/* Rows are kept until the table is printed, when the widths are known. */
struct ops_table {
    size_t columns;
    struct ops_column {
        const char *name;
        bool is_number, is_time, may_be_short, may_be_empty, has_text;
        int rank;     /* 1 to 9: left out where there is no room, the greatest first */
        size_t full;  /* the widest cell */
        size_t width; /* as it is printed; 0: left out */
    } of[OPS_TABLE_COLUMNS_MAX];
    char **cells; /* owned, as each of them */
    size_t count, capacity;
};

/* Tables are fitted to so many places from now on; 0: as wide as they are, which is how it begins.
 * Ids and numbers are never shortened. */
void ops_table_width_set(size_t width);
/* The places of the terminal that standard output is, by $COLUMNS or as it says; 0: it is none. */
size_t ops_terminal_width(void);

/* `heads`, borrowed, ends with NULL. Before the name of a column may stand, in any order: '>', it
 * has numbers; '@', times of ops_table_time; '~', texts that may be shortened; '?', it is left out
 * while all its cells are empty; a digit, its rank. */
void ops_table_begin(struct ops_table *table, const char *const *heads);
/* The next cell; the text may be anybody's. */
void ops_table_text(struct ops_table *table, const char *text);
void ops_table_count(struct ops_table *table, uint64_t count);
void ops_table_time(struct ops_table *table, int64_t ms);
void ops_table_span(struct ops_table *table, int64_t us);
/* Prints the rows below their heads; the last column is not padded. */
void ops_table_print(struct ops_table *table, FILE *out);
/* Forgets them. */
void ops_table_end(struct ops_table *table);

/* --- JSON --------------------------------------------------------------------------------------
 */

/* A value that is being written. */
struct ops_json {
    FILE *out;
    bool has_before; /* a member or an item stands before the next one */
};

/* Begin an object or an array, as the member `name` of what is open, or nameless in an array and
 * at first. */
void ops_json_object(struct ops_json *json, const char *name);
void ops_json_array(struct ops_json *json, const char *name);
/* End it; what was at the outmost ends its line with. */
void ops_json_object_end(struct ops_json *json);
void ops_json_array_end(struct ops_json *json);
void ops_json_line_end(struct ops_json *json);
/* Bytes that are no UTF-8 become U+FFFD. NULL is null. */
void ops_json_text(struct ops_json *json, const char *name, const char *text);
void ops_json_text_of(struct ops_json *json, const char *name, const char *text, size_t len);
void ops_json_count(struct ops_json *json, const char *name, uint64_t count);
void ops_json_int(struct ops_json *json, const char *name, int64_t number);
void ops_json_bool(struct ops_json *json, const char *name, bool is_true);
void ops_json_id(struct ops_json *json, const char *name, culex_uuid id);
/* `len` bytes that are JSON already. */
void ops_json_raw(struct ops_json *json, const char *name, const char *text, size_t len);
/* The same, of JSON with the texts of strangers in it: what harms a terminal is escaped. */
void ops_json_value(struct ops_json *json, const char *name, const char *text, size_t len);

/* Ends the program when there is no memory: nothing that it does needs to be undone. */
void *ops_alloc(void *old, size_t size);
char *ops_copy(const char *text, size_t len);

#endif
