/* A line is at most WIDTH characters where that can be. Everything that decides about the layout
 * is the same in the text that comes out, so that formatting that changes nothing: which tokens
 * and comments there are, how wide they are in one line, and these choices of the author's, which
 * are kept:
 *
 * 1. A block stays on one line when it is written on one and fits.
 * 2. A comment stays behind what it is behind, or on a line of its own.
 * 3. An empty line between two items stays. */
#include "format.h"

#include <stdlib.h>

#include "items.h"
#include "limits.h"
#include "parser.h"

enum {
    WIDTH = 100,
    INDENT = 4,
    INDENT_WRAPPED = 8 /* of the further lines of an item */
};

/* Without `out` it only measures. */
struct writer {
    const struct piece *pieces;
    struct buf *out;
    size_t column; /* in characters */
};

/* How far behind their start the items of a section have their marks; 0: wherever they are. */
struct columns {
    size_t marks[MARK_COUNT];
};

static void write_text(struct writer *writer, const char *text, size_t len)
{
    for (size_t at = 0; at < len; at++) {
        writer->column += ((unsigned char)text[at] & 0xc0) != 0x80;
        if (text[at] == '\n')
            writer->column = 0;
    }
    if (writer->out != NULL)
        buf_append(writer->out, text, len);
}

/* At least one space. */
static void write_spaces(struct writer *writer, size_t column)
{
    do
        write_text(writer, " ", 1);
    while (writer->column < column);
}

static void write_line_ends(struct writer *writer, unsigned count, size_t indent)
{
    for (; count > 0; count--)
        write_text(writer, "\n", 1);
    if (indent > 0)
        write_spaces(writer, indent);
}

/* One item in one line. */
static void write_line(struct writer *writer, const struct item *item, struct columns columns)
{
    const struct piece *pieces = writer->pieces;
    size_t start = writer->column;
    for (size_t at = item->first; at <= item->last; at++) {
        size_t column = 0;
        for (size_t mark = 0; mark < MARK_COUNT; mark++) {
            if (at == item->marks[mark] && columns.marks[mark] > 0)
                column = start + columns.marks[mark];
        }
        if (at > item->first && (column > 0 || piece_is_spaced(&pieces[at - 1], &pieces[at])))
            write_spaces(writer, column);
        write_text(writer, pieces[at].text, pieces[at].len);
    }
}

static size_t line_width(const struct writer *writer, const struct item *item,
                         struct columns columns)
{
    struct writer ruler = {.pieces = writer->pieces};
    write_line(&ruler, item, columns);
    return ruler.column;
}

/* Whether an item at `indent` is to be written on one line. */
static bool is_single(const struct writer *writer, const struct item *item, size_t indent)
{
    for (size_t at = item->first; at <= item->last; at++) {
        const struct piece *piece = &writer->pieces[at];
        bool is_inside = at > item->open && at <= item->close && item->close > item->open + 1;
        if (piece->kind == PIECE_LINE || piece->has_lines || (is_inside && piece->newlines > 0))
            return false;
    }
    return indent + line_width(writer, item, (struct columns){0}) <= WIDTH;
}

static bool is_breakable(const struct piece *piece)
{
    return piece_is_spaced(piece - 1, piece) && piece->kind != PIECE_LINE &&
           !piece_is(piece, TOKEN_LEFT_BRACE) && !piece_is(piece - 1, TOKEN_EQUALS);
}

/* Characters from piece `at` to where the next line could begin. */
static size_t chunk_width(const struct writer *writer, size_t at, size_t last)
{
    struct writer ruler = {.pieces = writer->pieces};
    for (size_t next = at; next <= last; next++) {
        const struct piece *piece = &writer->pieces[next];
        if (next > at && (piece->breaks > 0 || is_breakable(piece)))
            break;
        if (next > at && piece_is_spaced(piece - 1, piece))
            write_spaces(&ruler, 0);
        for (size_t i = 0; i < piece->len && piece->text[i] != '\n'; i++)
            write_text(&ruler, piece->text + i, 1);
        if (piece->has_lines)
            break;
    }
    return ruler.column;
}

/* Some pieces of an item, in as many lines as they need. */
static void write_wrapped(struct writer *writer, const struct item *item, size_t from, size_t to,
                          size_t indent)
{
    for (size_t at = from; at <= to; at++) {
        const struct piece *piece = &writer->pieces[at];
        if (at > item->first) {
            bool is_full = is_breakable(piece) &&
                           writer->column + 1 + chunk_width(writer, at, item->last) > WIDTH;
            if (piece->breaks > 0 || is_full)
                write_line_ends(writer, 1, indent + INDENT_WRAPPED);
            else if (piece_is_spaced(piece - 1, piece))
                write_spaces(writer, 0);
        }
        write_text(writer, piece->text, piece->len);
    }
}

/* A comment of several lines keeps its shape when its first line moves. */
static void write_moved(struct writer *writer, const struct piece *piece, size_t indent)
{
    for (size_t at = 0; at < piece->len; at++) {
        write_text(writer, piece->text + at, 1);
        if (piece->text[at] != '\n')
            continue;
        size_t extra = indent > piece->column ? indent - piece->column : 0;
        size_t surplus = piece->column > indent ? piece->column - indent : 0;
        for (; surplus > 0 && piece->text[at + 1] == ' '; surplus--)
            at++;
        if (extra > 0 && piece->text[at + 1] != '\n')
            write_spaces(writer, extra);
    }
}

/* Whether the comment goes on with what the comment behind an item says. */
static bool is_continuation(const struct piece *piece)
{
    const struct piece *before = piece - 1;
    if (piece->kind != PIECE_LINE || before->kind != PIECE_LINE || piece->breaks != 1)
        return false;
    if (piece->token == TOKEN_DOC_AFTER || before->token == TOKEN_DOC_AFTER)
        return piece->token == before->token;
    return piece->token != TOKEN_DOC && piece->column == before->column;
}

/* The comments between two items or an item and its block, up to where `next` begins. */
static void write_gap(struct writer *writer, size_t next, size_t indent, size_t comments)
{
    size_t at = next;
    size_t trail = 0; /* where the newest comment behind the item is */
    while (piece_is_comment(&writer->pieces[at - 1]))
        at--;
    for (size_t first = at; at < next; at++) {
        const struct piece *piece = &writer->pieces[at];
        if (at == first && piece->breaks == 0 && piece[-1].kind != PIECE_START) {
            write_spaces(writer, comments);
            trail = writer->column;
        } else if (trail > 0 && is_continuation(piece)) {
            write_line_ends(writer, 1, trail);
        } else if (piece->breaks > 0) {
            write_line_ends(writer, piece->breaks, indent);
            trail = 0;
        } else if (piece[-1].kind != PIECE_START) {
            write_spaces(writer, 0);
            trail = trail > 0 ? writer->column : 0;
        }
        if (piece->is_indented && (piece->breaks > 0 || piece[-1].kind == PIECE_START))
            write_moved(writer, piece, indent);
        else
            write_text(writer, piece->text, piece->len);
    }
}

static void write_next(struct writer *writer, size_t next, size_t indent)
{
    const struct piece *piece = &writer->pieces[next];
    if (piece->breaks > 0)
        write_line_ends(writer, piece->breaks, indent);
    else if (piece_is_spaced(piece - 1, piece))
        write_spaces(writer, 0);
}

/* A section is a run of items of one line each without an empty line between: the first item that
 * is not part of the section that `item` starts. */
static const struct item *section_end(const struct writer *writer, const struct item *item,
                                      size_t indent)
{
    while (is_single(writer, item, indent)) {
        const struct item *before = item;
        item = item->next;
        if (item == NULL)
            return NULL;
        for (size_t at = before->last + 1; at <= item->first; at++) {
            if (writer->pieces[at].breaks > 1)
                return item;
        }
    }
    return item;
}

static size_t larger(size_t a, size_t b)
{
    return a > b ? a : b;
}

/* Lines up mark after mark; one line that gets too long by that leaves all as they are. */
static struct columns section_columns(const struct writer *writer, const struct item *from,
                                      const struct item *to, size_t indent)
{
    struct columns columns = {0};
    size_t width = 0;
    for (size_t mark = 0; mark < MARK_COUNT; mark++) {
        size_t column = 0;
        for (const struct item *item = from; item != NULL && item != to; item = item->next) {
            struct item head = *item;
            if (item->marks[mark] == 0)
                continue;
            head.last = item->marks[mark] - 1;
            column = larger(column, line_width(writer, &head, columns) + 1);
        }
        columns.marks[mark] = column;
    }
    for (const struct item *item = from; item != NULL && item != to; item = item->next)
        width = larger(width, line_width(writer, item, columns));
    return indent + width <= WIDTH ? columns : (struct columns){0};
}

/* Where the comments behind the items of a section are. */
static size_t section_comments(const struct writer *writer, const struct item *from,
                               const struct item *to, struct columns columns, size_t indent)
{
    size_t width = 0;
    for (const struct item *item = from; item != NULL && item != to; item = item->next) {
        const struct piece *behind = &writer->pieces[item->last + 1];
        if (piece_is_comment(behind) && behind->breaks == 0)
            width = larger(width, line_width(writer, item, columns));
    }
    return indent + width + 1;
}

static void write_items(struct writer *writer, const struct item *items, size_t end, size_t indent);

static void write_item(struct writer *writer, const struct item *item, size_t indent)
{
    if (item->open == 0) {
        write_wrapped(writer, item, item->first, item->last, indent);
        return;
    }
    size_t first = item->items == NULL ? item->close : item->items->first;
    write_wrapped(writer, item, item->first, item->open, indent);
    write_gap(writer, first, indent + INDENT, 0);
    write_items(writer, item->items, item->close, indent + INDENT);
    write_next(writer, item->close, indent);
    write_text(writer, "}", 1);
    write_wrapped(writer, item, item->close + 1, item->last, indent);
}

static void write_behind(struct writer *writer, const struct item *item, size_t end, size_t indent,
                         size_t comments)
{
    write_gap(writer, item->next == NULL ? end : item->next->first, indent, comments);
}

/* A section, or an item that takes several lines. Returns what follows. */
static const struct item *write_section(struct writer *writer, const struct item *items, size_t end,
                                        size_t indent)
{
    const struct item *stop = section_end(writer, items, indent);
    if (stop == items) {
        write_next(writer, items->first, indent);
        write_item(writer, items, indent);
        write_behind(writer, items, end, indent, 0);
        return items->next;
    }
    struct columns columns = section_columns(writer, items, stop, indent);
    size_t comments = section_comments(writer, items, stop, columns, indent);
    for (const struct item *item = items; item != NULL && item != stop; item = item->next) {
        write_next(writer, item->first, indent);
        write_line(writer, item, columns);
        write_behind(writer, item, end, indent, comments);
    }
    return stop;
}

static void write_items(struct writer *writer, const struct item *items, size_t end, size_t indent)
{
    while (items != NULL)
        items = write_section(writer, items, end, indent);
}

static void write_file(struct writer *writer, struct arena *arena, struct piece *pieces)
{
    const struct item *items = items_read(arena, pieces);
    size_t end = 0;
    while (pieces[end].kind != PIECE_END)
        end++;
    write_gap(writer, items == NULL ? end : items->first, 0, 0);
    write_items(writer, items, end, 0);
    write_next(writer, end, 0);
}

bool format_source(struct diag_sink *sink, const struct source *source, struct buf *out)
{
    unsigned errors = sink->errors;
    size_t before = out->len;
    parse_file(sink, source);
    if (sink->errors > errors)
        return false;
    struct piece *pieces = pieces_read(sink->arena, source);
    struct writer writer = {.pieces = pieces, .out = out};
    write_file(&writer, sink->arena, pieces);
    free(pieces);
    if (out->len - before <= LIMIT_FILE_BYTES)
        return true;
    out->len = before;
    diag_report(sink, DIAG_TOO_MANY, (struct span){source, 0, 0},
                "in its layout, this file would be larger than a schema may be");
    return false;
}
