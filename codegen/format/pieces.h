/* pieces.h - a schema as a row of tokens and comments: everything but the white space. */
#ifndef CULEXC_PIECES_H
#define CULEXC_PIECES_H

#include "token.h"

#include "source.h"

enum piece_kind {
    PIECE_START, /* before the text; always the first */
    PIECE_TOKEN,
    PIECE_LINE,  /* a comment up to the end of its line; documentation too, see `token` */
    PIECE_BLOCK, /* a comment with an end of its own */
    PIECE_END    /* behind the text; always the last */
};

struct piece {
    enum piece_kind kind;
    enum token_kind token; /* of tokens; DOC and DOC_AFTER of documentation */
    const char *text;      /* without blanks at ends of lines */
    uint32_t len;
    uint32_t column;  /* of comments: blanks and characters before it on its line */
    uint8_t newlines; /* line ends before it: 0, 1, or 2 for more */
    uint8_t breaks;   /* the same in the layout, when it is not written on one line */
    bool is_indented; /* of comments: nothing but spaces stands before it on its line */
    bool has_lines;   /* of block comments: runs over several lines */
    bool is_in_attrs; /* between [[ and ]] */
    bool is_leading;  /* the dot of `.name` */
};

/* The pieces of a source without syntax errors: malloc()ed, texts in `arena` or of the source. */
struct piece *pieces_read(struct arena *arena, const struct source *source);

bool piece_is_comment(const struct piece *piece);
bool piece_is(const struct piece *piece, enum token_kind token);
bool piece_is_word(const struct piece *piece, const char *word);

/* Whether a space stands before `piece` when `before` is on the same line. */
bool piece_is_spaced(const struct piece *before, const struct piece *piece);

#endif
