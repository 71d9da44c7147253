#include "pieces.h"

#include <string.h>

#include "buf.h"
#include "lexer.h"

struct reader {
    struct arena *arena;
    const struct source *source;
    struct buf pieces; /* of struct piece */
    uint32_t seen;     /* bytes so far, for these two: */
    uint32_t column;   /* blanks and characters before `seen` on its line */
    bool is_indented;  /* and none of them is anything but a space */
    uint8_t newlines;  /* before the piece that comes next */
    bool is_in_attrs;
};

static void reach(struct reader *reader, uint32_t offset)
{
    for (; reader->seen < offset; reader->seen++) {
        char byte = reader->source->text[reader->seen];
        reader->column += ((unsigned char)byte & 0xc0) != 0x80;
        reader->is_indented = reader->is_indented && byte == ' ';
        if (byte == '\n') {
            reader->column = 0;
            reader->is_indented = true;
        }
    }
}

static void piece_add(struct reader *reader, struct piece piece)
{
    piece.newlines = reader->newlines;
    reader->newlines = 0;
    buf_append(&reader->pieces, &piece, sizeof(piece));
}

static bool is_blank(char byte)
{
    return byte == ' ' || byte == '\t' || byte == '\r';
}

/* A copy without blanks at ends of lines, which makes "\n" of "\r\n" too. */
static void text_trim(struct reader *reader, struct piece *piece, const char *text, size_t len)
{
    char *copy = arena_copy(reader->arena, text, len);
    size_t used = 0;
    for (size_t at = 0; at <= len; at++) {
        bool is_end = at == len || text[at] == '\n';
        while (is_end && used > 0 && is_blank(copy[used - 1]))
            used--;
        if (at < len)
            copy[used++] = text[at];
        piece->has_lines = piece->has_lines || (at < len && is_end);
    }
    piece->text = copy;
    piece->len = (uint32_t)used;
}

static void comment_add(struct reader *reader, enum piece_kind kind, enum token_kind token,
                        uint32_t from, uint32_t to)
{
    reach(reader, from);
    struct piece piece = {.kind = kind, .token = token, .column = reader->column};
    piece.is_indented = reader->is_indented;
    text_trim(reader, &piece, reader->source->text + from, to - from);
    piece_add(reader, piece);
}

/* Where the comment at `at` ends: before its line end, or behind its mark. */
static uint32_t comment_end(const char *text, uint32_t at, uint32_t to, bool is_line)
{
    if (!is_line)
        at += 2;
    while (at < to && (is_line ? text[at] != '\n' : text[at] != '*' || text[at + 1] != '/'))
        at++;
    return is_line ? at : at + 2;
}

/* Between two tokens there is white space and comments that the lexer skips. */
static void gap_read(struct reader *reader, uint32_t at, uint32_t to)
{
    const char *text = reader->source->text;
    while (at < to) {
        if (text[at] == '/') {
            bool is_line = text[at + 1] == '/';
            uint32_t end = comment_end(text, at, to, is_line);
            comment_add(reader, is_line ? PIECE_LINE : PIECE_BLOCK, TOKEN_END, at, end);
            at = end;
        } else {
            if (text[at] == '\n' && reader->newlines < 2)
                reader->newlines++;
            at++;
        }
    }
}

static void token_add(struct reader *reader, struct token token)
{
    struct piece piece = {.kind = PIECE_TOKEN, .token = token.kind, .len = token.length};
    piece.text = reader->source->text + token.offset;
    if (token.kind == TOKEN_DOC || token.kind == TOKEN_DOC_AFTER) {
        comment_add(reader, PIECE_LINE, token.kind, token.offset, token.offset + token.length);
        return;
    }
    if (token.kind == TOKEN_RIGHT_ATTRS)
        reader->is_in_attrs = false;
    piece.is_in_attrs = reader->is_in_attrs;
    if (token.kind == TOKEN_LEFT_ATTRS)
        reader->is_in_attrs = true;
    if (token.kind == TOKEN_END)
        piece.kind = PIECE_END;
    piece_add(reader, piece);
}

struct piece *pieces_read(struct arena *arena, const struct source *source)
{
    struct reader reader = {.arena = arena, .source = source, .is_indented = true};
    struct lexer lexer;
    struct token token;
    uint32_t behind = 0;
    lexer_init(&lexer, source);
    piece_add(&reader, (struct piece){.kind = PIECE_START});
    do {
        token = lexer_next(&lexer);
        gap_read(&reader, behind, token.offset);
        token_add(&reader, token);
        behind = token.offset + token.length;
    } while (token.kind != TOKEN_END);
    return (void *)reader.pieces.data;
}

bool piece_is_comment(const struct piece *piece)
{
    return piece->kind == PIECE_LINE || piece->kind == PIECE_BLOCK;
}

bool piece_is(const struct piece *piece, enum token_kind token)
{
    return piece->kind == PIECE_TOKEN && piece->token == token;
}

bool piece_is_word(const struct piece *piece, const char *word)
{
    return piece_is(piece, TOKEN_WORD) && strlen(word) == piece->len &&
           memcmp(piece->text, word, piece->len) == 0;
}

static bool is_tight_after(enum token_kind token)
{
    return token == TOKEN_LEFT_PAREN || token == TOKEN_LEFT_BRACKET || token == TOKEN_LEFT_ATTRS ||
           token == TOKEN_DOT || token == TOKEN_AT_MOST || token == TOKEN_MINUS;
}

bool piece_is_spaced(const struct piece *before, const struct piece *piece)
{
    if (before->kind == PIECE_START || piece_is(piece, TOKEN_SEMICOLON) ||
        piece_is(piece, TOKEN_COMMA))
        return false;
    if (piece_is_comment(before) || piece_is_comment(piece))
        return true;
    switch (piece->token) {
    case TOKEN_RIGHT_PAREN:
    case TOKEN_LEFT_BRACKET:
    case TOKEN_RIGHT_BRACKET:
    case TOKEN_RIGHT_ATTRS:
    case TOKEN_AT_MOST:
        return false;
    case TOKEN_DOT:
        return piece->is_leading;
    case TOKEN_LEFT_PAREN:
        return !piece->is_in_attrs;
    case TOKEN_RIGHT_BRACE:
        return before->token != TOKEN_LEFT_BRACE;
    default:
        return !is_tight_after(before->token);
    }
}
