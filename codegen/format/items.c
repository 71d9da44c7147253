#include "items.h"

struct scan {
    struct arena *arena;
    struct piece *pieces;
    size_t at; /* a token, or the end */
};

/* A line ends behind a line comment and before documentation, whatever the author wrote. */
static uint8_t breaks_needed(const struct piece *piece)
{
    return piece[-1].kind == PIECE_LINE || (piece->kind == PIECE_LINE && piece->token == TOKEN_DOC);
}

/* To the next token of the same item. Of the line ends between, those that comments need stay. */
static void scan_advance(struct scan *scan)
{
    if (scan->pieces[scan->at].kind == PIECE_END)
        return;
    do {
        struct piece *piece = &scan->pieces[++scan->at];
        piece->breaks = breaks_needed(piece);
        if (piece->kind == PIECE_LINE && piece->newlines > 0)
            piece->breaks = 1;
    } while (piece_is_comment(&scan->pieces[scan->at]));
}

static const struct piece *scan_piece(const struct scan *scan)
{
    return &scan->pieces[scan->at];
}

static bool scan_accept(struct scan *scan, struct item *item, enum token_kind kind)
{
    if (!piece_is(scan_piece(scan), kind))
        return false;
    item->last = scan->at;
    scan_advance(scan);
    return true;
}

static bool is_ending(const struct piece *piece)
{
    return piece->kind == PIECE_END || piece_is(piece, TOKEN_RIGHT_BRACE);
}

/* Between two items, and between an item and what is around it, the author's line ends stay, at
 * most one of them empty; none at the start and the end of a block. */
static void gap_settle(struct piece *pieces, size_t before, size_t next)
{
    bool is_start = pieces[before].kind == PIECE_START;
    bool is_opening = is_start || piece_is(&pieces[before], TOKEN_LEFT_BRACE);
    bool has_break = false;
    for (size_t at = before + 1; at <= next; at++) {
        uint8_t needed = breaks_needed(&pieces[at]);
        pieces[at].breaks = pieces[at].newlines > needed ? pieces[at].newlines : needed;
        if (at == before + 1 && !is_opening && pieces[at].kind == PIECE_LINE &&
            pieces[at].token == TOKEN_DOC_AFTER)
            pieces[at].breaks = 0;
        has_break = has_break || pieces[at].breaks > 0;
    }
    if (is_ending(&pieces[next]))
        pieces[next].breaks = 1;
    else if (!has_break)
        pieces[before + 1].breaks = 1;
    if (is_opening && pieces[before + 1].breaks > 1)
        pieces[before + 1].breaks = 1;
    if (is_start)
        pieces[before + 1].breaks = 0;
}

static struct item *items_scan(struct scan *scan, enum block_kind kind, size_t before);

static enum block_kind block_kind_of(const struct piece *first)
{
    if (piece_is_word(first, "enum"))
        return BLOCK_ENUM;
    if (piece_is_word(first, "job") || piece_is_word(first, "defaults"))
        return BLOCK_SETTINGS;
    if (piece_is_word(first, "retry") || piece_is_word(first, "retry_policy"))
        return BLOCK_POLICY;
    if (piece_is_word(first, "chain"))
        return BLOCK_STEPS;
    return BLOCK_FIELDS; /* of struct, params, returns */
}

static void block_scan(struct scan *scan, struct item *item)
{
    enum block_kind kind = block_kind_of(&scan->pieces[item->first]);
    item->open = scan->at;
    scan_advance(scan);
    item->items = items_scan(scan, kind, item->open);
    item->close = scan->at;
    scan_accept(scan, item, TOKEN_RIGHT_BRACE);
    scan_accept(scan, item, TOKEN_SEMICOLON);
}

/* Ends in `;`, or in a block and perhaps a `;`. */
static void statement_scan(struct scan *scan, struct item *item)
{
    while (scan_piece(scan)->kind != PIECE_END) {
        if (piece_is(scan_piece(scan), TOKEN_LEFT_BRACE)) {
            block_scan(scan, item);
            return;
        }
        if (scan_accept(scan, item, TOKEN_SEMICOLON))
            return;
        scan_advance(scan);
    }
}

static bool literal_scan(struct scan *scan, struct item *item)
{
    bool has_minus = scan_accept(scan, item, TOKEN_MINUS);
    if (scan_piece(scan)->kind != PIECE_TOKEN)
        return has_minus;
    return scan_accept(scan, item, scan_piece(scan)->token);
}

static void reserved_scan(struct scan *scan, struct item *item)
{
    scan_accept(scan, item, TOKEN_WORD);
    while (piece_is(scan_piece(scan), TOKEN_STRING) || piece_is(scan_piece(scan), TOKEN_INT) ||
           piece_is(scan_piece(scan), TOKEN_MINUS)) {
        literal_scan(scan, item);
        if (!scan_accept(scan, item, TOKEN_COMMA))
            break;
    }
    scan_accept(scan, item, TOKEN_SEMICOLON);
}

static void attrs_scan(struct scan *scan, struct item *item)
{
    if (!scan_accept(scan, item, TOKEN_LEFT_ATTRS))
        return;
    while (!scan_accept(scan, item, TOKEN_RIGHT_ATTRS) && scan_piece(scan)->kind != PIECE_END)
        scan_advance(scan);
}

static void value_scan(struct scan *scan, struct item *item)
{
    literal_scan(scan, item); /* its name */
    if (scan_accept(scan, item, TOKEN_EQUALS))
        literal_scan(scan, item);
    attrs_scan(scan, item);
    scan_accept(scan, item, TOKEN_COMMA);
}

/* `optional`, a path, then the name. */
static size_t field_name(const struct piece *pieces, const struct item *item)
{
    size_t at = item->first + piece_is_word(&pieces[item->first], "optional");
    at += piece_is(&pieces[at], TOKEN_DOT);
    while (at + 2 < item->last && piece_is(&pieces[at + 1], TOKEN_DOT))
        at += 2;
    return at + 1;
}

/* The longest first word of settings that makes the others line up behind it. */
enum { WORD_ALIGNED = 8 };

static void marks_set(const struct piece *pieces, struct item *item, enum block_kind kind)
{
    const struct piece *first = &pieces[item->first];
    for (size_t at = item->first; at <= item->last; at++) {
        if (piece_is_comment(&pieces[at]))
            return;
        if (kind != BLOCK_FILE && piece_is(&pieces[at], TOKEN_LEFT_ATTRS) && item->open == 0)
            item->marks[1] = at;
    }
    if (kind == BLOCK_FIELDS && !piece_is_word(first, "reserved"))
        item->marks[0] = field_name(pieces, item);
    if ((kind == BLOCK_SETTINGS || kind == BLOCK_POLICY) && first->len <= WORD_ALIGNED &&
        !piece_is(first + 1, TOKEN_SEMICOLON))
        item->marks[0] = item->first + 1;
}

/* A dot that no name is before stands apart from what is. */
static void dot_set(struct piece *pieces, const struct item *item, enum block_kind kind)
{
    const struct piece *first = &pieces[item->first];
    bool has_word = (kind == BLOCK_FIELDS && piece_is_word(first, "optional")) ||
                    (kind == BLOCK_SETTINGS && piece_is_word(first, "retry"));
    pieces[item->first + has_word].is_leading = true;
}

static struct item *item_scan(struct scan *scan, enum block_kind kind)
{
    struct item *item = arena_alloc(scan->arena, sizeof(*item));
    bool is_listed = kind == BLOCK_FIELDS || kind == BLOCK_ENUM;
    item->first = item->last = scan->at;
    if (is_listed && piece_is_word(scan_piece(scan), "reserved"))
        reserved_scan(scan, item);
    else if (kind == BLOCK_ENUM)
        value_scan(scan, item);
    else
        statement_scan(scan, item);
    dot_set(scan->pieces, item, kind);
    marks_set(scan->pieces, item, kind);
    return item;
}

static struct item *items_scan(struct scan *scan, enum block_kind kind, size_t before)
{
    struct item *items = NULL;
    struct item **end = &items;
    gap_settle(scan->pieces, before, scan->at);
    while (!is_ending(scan_piece(scan))) {
        *end = item_scan(scan, kind);
        gap_settle(scan->pieces, (*end)->last, scan->at);
        end = &(*end)->next;
    }
    return items;
}

struct item *items_read(struct arena *arena, struct piece *pieces)
{
    struct scan scan = {.arena = arena, .pieces = pieces};
    scan_advance(&scan);
    return items_scan(&scan, BLOCK_FILE, 0);
}
