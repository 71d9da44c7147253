#include "command/print.h"

#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>
#include <wchar.h>

#include "command/end.h"

void *ops_alloc(void *old, size_t size)
{
    void *made = realloc(old, size);
    if (made != NULL || size == 0)
        return made;
    fprintf(stderr, "%s: out of memory\n", ops_program);
    exit(OPS_EXIT_FAILED);
}

char *ops_copy(const char *text, size_t len)
{
    char *made = ops_alloc(NULL, len + 1);
    memcpy(made, text, len);
    made[len] = '\0';
    return made;
}

/* --- texts ------------------------------------------------------------------------------------ */

/* How many bytes the first character has, 0 when they are no UTF-8 (RFC 3629). */
static size_t character_read(const char *text, size_t len, uint32_t *ret_code)
{
    static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
    unsigned char first = (unsigned char)text[0];
    size_t size = first < 0x80 ? 1 : first < 0xc0 ? 0 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
    if (size == 0 || first > 0xf4 || size > len)
        return 0;
    *ret_code = size == 1 ? first : first & (0x7fU >> size);
    for (size_t i = 1; i < size; i++) {
        if (((unsigned char)text[i] & 0xc0) != 0x80)
            return 0;
        *ret_code = *ret_code << 6 | ((unsigned char)text[i] & 0x3f);
    }
    bool is_surrogate = *ret_code >= 0xd800 && *ret_code < 0xe000;
    return *ret_code < least[size] || is_surrogate || *ret_code > 0x10ffff ? 0 : size;
}

/* Control characters, and those by which a text could be shown in another order. */
static bool is_harmful(uint32_t code)
{
    return code < 0x20 || (code >= 0x7f && code < 0xa0) || code == 0x61c ||
           (code >= 0x200e && code <= 0x200f) || (code >= 0x2028 && code <= 0x202e) ||
           (code >= 0x2066 && code <= 0x2069);
}

size_t ops_character_size(const char *text, size_t len)
{
    uint32_t code;
    return character_read(text, len, &code);
}

bool ops_is_harmless(const char *text, size_t len)
{
    while (len > 0) {
        uint32_t code = 0;
        size_t size = character_read(text, len, &code);
        if (size == 0 || is_harmful(code))
            return false;
        text += size;
        len -= size;
    }
    return true;
}

void ops_print_text(FILE *out, const char *text, size_t len, bool is_multiline, int indent)
{
    while (len > 0) {
        uint32_t code = 0;
        size_t size = character_read(text, len, &code);
        if (size == 0)
            fprintf(out, "\\x%02x", (unsigned)(unsigned char)text[0]);
        else if (code == '\n' && is_multiline)
            fprintf(out, "\n%*s", indent, "");
        else if (is_harmful(code))
            fprintf(out, "\\u{%" PRIX32 "}", code);
        else
            fwrite(text, 1, size, out);
        size += size == 0;
        text += size;
        len -= size;
    }
}

const char *ops_time_format(int64_t ms, char ret_text[OPS_TIME_SIZE])
{
    time_t seconds = (time_t)(ms / 1000);
    struct tm when;
    if (ms == 0 || gmtime_r(&seconds, &when) == NULL ||
        strftime(ret_text, OPS_TIME_SIZE, "%Y-%m-%d %H:%M:%SZ", &when) == 0)
        strcpy(ret_text, "-");
    return ret_text;
}

const char *ops_span_format(int64_t us, char ret_text[OPS_SPAN_SIZE])
{
    static const struct {
        const char *name;
        double length;
        double until; /* above which the next one is better */
    } units[] = {{"us", 1, 1e3},        {"ms", 1e3, 1e6},        {"s", 1e6, 120e6},
                 {"min", 60e6, 7200e6}, {"h", 3600e6, 172800e6}, {"d", 86400e6, 0}};
    size_t unit = 0;
    double span = (double)us;
    while (units[unit].until > 0 && span >= units[unit].until)
        unit++;
    double shown = span / units[unit].length;
    snprintf(ret_text, OPS_SPAN_SIZE, "%.*f %s", shown < 10 && unit > 0 ? 1 : 0, shown,
             units[unit].name);
    return ret_text;
}

/* --- tables ----------------------------------------------------------------------------------- */

static size_t table_width;

void ops_table_width_set(size_t width)
{
    table_width = width;
}

size_t ops_terminal_width(void)
{
    const char *columns = getenv("COLUMNS");
    struct winsize size;
    if (!isatty(STDOUT_FILENO))
        return 0;
    if (columns != NULL && strtoul(columns, NULL, 10) > 0)
        return strtoul(columns, NULL, 10);
    return ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 ? size.ws_col : 0;
}

static struct ops_column column_read(const char *head)
{
    struct ops_column column = {.rank = 0};
    for (; *head != '\0' && strchr(">@~?123456789", *head) != NULL; head++) {
        column.is_number |= *head == '>';
        column.is_time |= *head == '@';
        column.may_be_short |= *head == '~';
        column.may_be_empty |= *head == '?';
        column.rank = *head >= '1' && *head <= '9' ? *head - '0' : column.rank;
    }
    column.name = head;
    column.full = strlen(head);
    return column;
}

void ops_table_begin(struct ops_table *table, const char *const *heads)
{
    *table = (struct ops_table){.columns = 0};
    for (; heads[table->columns] != NULL; table->columns++)
        table->of[table->columns] = column_read(heads[table->columns]);
}

/* The places of the first character: two for those of some scripts, none for what is put upon the
 * one before it. The system tells by the locale that main.c sets; without it each takes one. */
static size_t character_width(const char *text, size_t *ret_size)
{
    uint32_t code = 0;
    size_t size = character_read(text, strlen(text), &code);
    int width = wcwidth((wchar_t)code);
    *ret_size = size > 0 ? size : 1;
    return size > 0 && width >= 0 ? (size_t)width : 1;
}

static size_t width_of(const char *text)
{
    size_t width = 0, size;
    for (; *text != '\0'; text += size)
        width += character_width(text, &size);
    return width;
}

/* `text` is harmless, and becomes the table's. */
static void cell_add(struct ops_table *table, char *text)
{
    assert(table->columns > 0);
    struct ops_column *column = &table->of[table->count % table->columns];
    size_t width = width_of(text);
    if (table->count == table->capacity) {
        table->capacity = table->capacity > 0 ? table->capacity * 2 : 64;
        table->cells = ops_alloc(table->cells, table->capacity * sizeof *table->cells);
    }
    if (width > column->full)
        column->full = width;
    column->has_text |= text[0] != '\0';
    table->cells[table->count++] = text;
}

void ops_table_text(struct ops_table *table, const char *text)
{
    char *made = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&made, &size);
    if (out != NULL) {
        ops_print_text(out, text, strlen(text), false, 0);
        if (fclose(out) != 0)
            out = NULL;
    }
    if (out == NULL)
        made = ops_copy("?", 1);
    cell_add(table, made);
}

void ops_table_count(struct ops_table *table, uint64_t count)
{
    char text[24];
    int len = snprintf(text, sizeof text, "%" PRIu64, count);
    cell_add(table, ops_copy(text, (size_t)len));
}

void ops_table_time(struct ops_table *table, int64_t ms)
{
    char text[OPS_TIME_SIZE];
    ops_time_format(ms, text);
    cell_add(table, ops_copy(text, strlen(text)));
}

void ops_table_span(struct ops_table *table, int64_t us)
{
    char text[OPS_SPAN_SIZE];
    ops_span_format(us, text);
    cell_add(table, ops_copy(text, strlen(text)));
}

/* --- to the width of a terminal ----------------------------------------------------------------
 */

enum { GAP = 2, SHORT_TIME = 11, SHORT_WANTED = 14, SHORT_LEAST = 6 };

static size_t columns_width(const struct ops_table *table)
{
    size_t width = 0;
    for (size_t i = 0; i < table->columns; i++)
        width += table->of[i].width > 0 ? table->of[i].width + GAP : 0;
    return width > 0 ? width - GAP : 0;
}

/* Full widths, but for what is left out: ranks above `rank`, and what has nothing to show. */
static void columns_reset(struct ops_table *table, int rank)
{
    for (size_t i = 0; i < table->columns; i++) {
        struct ops_column *column = &table->of[i];
        bool is_out = column->rank > rank || (column->may_be_empty && !column->has_text);
        column->width = is_out ? 0 : column->full;
    }
}

/* The widest one is shortened first. */
static bool text_shorten(struct ops_table *table, size_t least)
{
    struct ops_column *widest = NULL;
    for (size_t i = 0; i < table->columns; i++) {
        struct ops_column *column = &table->of[i];
        if (column->may_be_short && column->width > least && column->width > strlen(column->name) &&
            (widest == NULL || column->width > widest->width))
            widest = column;
    }
    if (widest != NULL)
        widest->width--;
    return widest != NULL;
}

static void times_shorten(struct ops_table *table)
{
    for (size_t i = 0; i < table->columns; i++) {
        struct ops_column *column = &table->of[i];
        if (column->is_time && column->width > SHORT_TIME)
            column->width = SHORT_TIME;
    }
}

static bool columns_fit(struct ops_table *table, int rank, size_t least)
{
    columns_reset(table, rank);
    if (columns_width(table) > table_width)
        times_shorten(table);
    while (columns_width(table) > table_width && text_shorten(table, least))
        ;
    return columns_width(table) <= table_width;
}

/* Whether all columns are there. */
static bool table_fit(struct ops_table *table)
{
    enum { RANKS = 9 };
    int rank = RANKS;
    columns_reset(table, RANKS);
    if (table_width == 0)
        return true;
    while (rank > 0 && !columns_fit(table, rank, SHORT_WANTED))
        rank--;
    if (rank == 0)
        columns_fit(table, 0, SHORT_LEAST);
    for (size_t i = 0; i < table->columns; i++) {
        if (table->of[i].rank > rank)
            return false;
    }
    return true;
}

/* What fits into so many places, and blanks to fill them. */
static void characters_print(FILE *out, const char *text, size_t places)
{
    size_t size, width;
    for (; *text != '\0'; text += size, places -= width) {
        width = character_width(text, &size);
        if (width > places)
            break;
        fwrite(text, 1, size, out);
    }
    fprintf(out, "%*s", (int)places, "");
}

static void text_print(const struct ops_column *column, FILE *out, const char *text)
{
    enum { YEAR = 5 }; /* "2026-" */
    size_t width = width_of(text);
    if (width <= column->width) {
        fputs(text, out);
    } else if (column->is_time) {
        characters_print(out, text + YEAR, column->width);
    } else {
        characters_print(out, text, column->width - 2);
        fputs("..", out);
    }
}

static bool is_last(const struct ops_table *table, size_t column)
{
    for (size_t i = column + 1; i < table->columns; i++) {
        if (table->of[i].width > 0)
            return false;
    }
    return true;
}

static void cell_print(const struct ops_table *table, FILE *out, size_t at, const char *text)
{
    const struct ops_column *column = &table->of[at];
    size_t width = width_of(text);
    int pad = width < column->width ? (int)(column->width - width) : 0;
    bool is_end = is_last(table, at);
    if (column->width > 0 && at > 0 && (!is_end || text[0] != '\0'))
        fputs("  ", out);
    if (column->is_number && column->width > 0)
        fprintf(out, "%*s", pad, "");
    if (column->width > 0)
        text_print(column, out, text);
    if (!column->is_number && !is_end && column->width > 0)
        fprintf(out, "%*s", pad, "");
    if (at + 1 == table->columns)
        putc('\n', out);
}

void ops_table_print(struct ops_table *table, FILE *out)
{
    const size_t columns = table->columns;
    assert(columns > 0);
    bool is_whole = table_fit(table);
    for (size_t i = 0; i < columns; i++)
        cell_print(table, out, i, table->of[i].name);
    for (size_t i = 0; i < table->count; i++)
        cell_print(table, out, i % columns, table->cells[i]);
    fflush(out);
    if (!is_whole)
        fprintf(stderr, "%s: for want of room columns are left out; --wide shows them\n",
                ops_program);
}

void ops_table_end(struct ops_table *table)
{
    for (size_t i = 0; i < table->count; i++)
        free(table->cells[i]);
    free(table->cells);
    *table = (struct ops_table){.columns = 0};
}

/* --- JSON ------------------------------------------------------------------------------------- */

/* What harms a terminal is escaped; in a text that is no JSON yet quotes are, too. */
static void escaped_print(FILE *out, const char *text, size_t len, bool is_plain)
{
    while (len > 0) {
        uint32_t code = 0;
        size_t size = character_read(text, len, &code);
        if (size == 0)
            fputs("\\ufffd", out);
        else if (is_plain && (code == '"' || code == '\\'))
            fprintf(out, "\\%c", (int)code);
        else if (is_harmful(code))
            fprintf(out, "\\u%04" PRIx32, code);
        else
            fwrite(text, 1, size, out);
        size += size == 0;
        text += size;
        len -= size;
    }
}

static void quoted_print(FILE *out, const char *text, size_t len)
{
    putc('"', out);
    escaped_print(out, text, len, true);
    putc('"', out);
}

static void member_begin(struct ops_json *json, const char *name)
{
    if (json->has_before)
        putc(',', json->out);
    json->has_before = true;
    if (name == NULL)
        return;
    quoted_print(json->out, name, strlen(name));
    putc(':', json->out);
}

static void group_begin(struct ops_json *json, const char *name, char letter)
{
    member_begin(json, name);
    putc(letter, json->out);
    json->has_before = false;
}

static void group_end(struct ops_json *json, char letter)
{
    putc(letter, json->out);
    json->has_before = true;
}

void ops_json_object(struct ops_json *json, const char *name)
{
    group_begin(json, name, '{');
}

void ops_json_array(struct ops_json *json, const char *name)
{
    group_begin(json, name, '[');
}

void ops_json_object_end(struct ops_json *json)
{
    group_end(json, '}');
}

void ops_json_array_end(struct ops_json *json)
{
    group_end(json, ']');
}

void ops_json_line_end(struct ops_json *json)
{
    putc('\n', json->out);
    json->has_before = false;
}

void ops_json_text_of(struct ops_json *json, const char *name, const char *text, size_t len)
{
    member_begin(json, name);
    quoted_print(json->out, text, len);
}

void ops_json_text(struct ops_json *json, const char *name, const char *text)
{
    if (text != NULL)
        ops_json_text_of(json, name, text, strlen(text));
    else
        ops_json_raw(json, name, "null", 4);
}

void ops_json_count(struct ops_json *json, const char *name, uint64_t count)
{
    member_begin(json, name);
    fprintf(json->out, "%" PRIu64, count);
}

void ops_json_int(struct ops_json *json, const char *name, int64_t number)
{
    member_begin(json, name);
    fprintf(json->out, "%" PRId64, number);
}

void ops_json_bool(struct ops_json *json, const char *name, bool is_true)
{
    member_begin(json, name);
    fputs(is_true ? "true" : "false", json->out);
}

void ops_json_id(struct ops_json *json, const char *name, culex_uuid id)
{
    char text[CULEX_UUID_TEXT_SIZE];
    culex_uuid_format(id, text);
    ops_json_text(json, name, text);
}

void ops_json_value(struct ops_json *json, const char *name, const char *text, size_t len)
{
    member_begin(json, name);
    escaped_print(json->out, text, len, false);
}

void ops_json_raw(struct ops_json *json, const char *name, const char *text, size_t len)
{
    member_begin(json, name);
    fwrite(text, 1, len, json->out);
}
