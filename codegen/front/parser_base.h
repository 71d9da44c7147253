/* parser_base.h - what the parts of the parser share, from the ground up: tokens, what stands
 * ahead, expectations, items and recovery, values. A parse function returns false after it
 * reported; its caller then recovers. */
#ifndef CULEXC_PARSER_BASE_H
#define CULEXC_PARSER_BASE_H

#include "ast.h"
#include "buf.h"
#include "diag.h"
#include "habit.h"
#include "lexer.h"

/* The item of a block that is being read: what a habit is looked for in. */
struct parser_item {
    enum habit_place place;
    struct lexer lexer; /* behind `token` */
    struct token token;
    bool is_told;       /* a habit was reported: whatever else is wrong comes from it */
    bool is_passed;     /* what made it be told is behind the parser */
    struct habit habit; /* that one */
};

struct parser {
    struct diag_sink *sink;
    struct arena *arena;
    const struct source *source;
    struct lexer lexer;
    struct token token;     /* the next one, not consumed */
    struct token previous;  /* the one consumed last */
    struct buf doc;         /* documentation that stands before `token` */
    const char **doc_after; /* takes what ///< comments say; NULL: nobody */
    struct buf behind;      /* what they have said so far */
    bool has_errors;
    bool is_after_stray; /* a reported token was dropped just before `token` */
    struct parser_item item;
    bool is_item_broken; /* the item before was skipped: what follows may be out of place */
    struct diag *lacks_now, *lacks_before; /* what was said of a missing ';': now, an item before */
};

/* ---- parser_habit.c ---- */

/* Reports what the item is known for, once, and goes on behind it. */
bool parser_tell_item(struct parser *parser, enum diag_id id);

/* The same for what stands where nothing of the kind can: it is passed over like a comment. */
bool parser_tell_token(struct parser *parser, enum diag_id id, struct token token);

/* Goes on at `end`, when that is ahead; the token is fetched by parser_advance(). */
void parser_skip_to(struct parser *parser, uint32_t end);

/* ---- parser_token.c ---- */

void parser_advance(struct parser *parser);
/* Whom ///< comments describe from here on: `doc` (NULL: nobody) gets them, behind what it has,
 * when it is somebody else's turn. */
void parser_doc_behind(struct parser *parser, const char **doc);
struct span parser_span(const struct parser *parser);
/* Of the token that was consumed last. */
struct span parser_span_before(const struct parser *parser);
bool parser_at(const struct parser *parser, enum token_kind kind);
bool parser_at_word(const struct parser *parser, const char *word);

/* Consumes the token when it is there. */
bool parser_accept(struct parser *parser, enum token_kind kind);
bool parser_accept_word(struct parser *parser, const char *word);

/* ---- parser_ahead.c ---- */

/* The kind of the token that is `ahead` of the current one. */
enum token_kind parser_kind_ahead(const struct parser *parser, unsigned ahead);

/* One of `words`, which a NULL ends. */
bool parser_at_word_of(const struct parser *parser, const char *const *words);

/* Whether a declaration plainly starts here: inside a block, its '}' is missing then. */
bool parser_at_declaration(const struct parser *parser);

/* "job NAME ;" is a declaration too, but where it could be a param. */
bool parser_at_short_job(const struct parser *parser);

/* A word that an item of a job starts with; and whether it plainly is a setting or block of a job
 * where params are expected. */
bool parser_at_item_of_job(const struct parser *parser);
bool parser_at_setting(const struct parser *parser);

/* ---- parser_expect.c ---- */

/* Whether what was reported before is the cause of what is wrong here. */
bool parser_is_excused(const struct parser *parser);

/* Reports what is known about the item at hand, or else about the token; false when nothing is. */
bool parser_tell(struct parser *parser, enum diag_id id);

/* Reports "expected WHAT, found ...", whatever else is known. */
void parser_report_expected(struct parser *parser, const char *what);

/* The same, unless it is excused or a habit stands there: always false. */
bool parser_expected(struct parser *parser, const char *what);
bool parser_expect(struct parser *parser, enum token_kind kind);

/* The '}' of a block that `open` began. */
bool parser_close(struct parser *parser, struct span open);

/* Like parser_expect, but a `;` that is plainly missing is reported and imagined. */
bool parser_semicolon(struct parser *parser);

/* Reports an unknown word and suggests one of `words` (a NULL ends them): false. */
bool parser_unknown(struct parser *parser, enum diag_id id, const char *what,
                    const char *const *words);

/* ---- parser_item.c ---- */

/* Skips to the end of the broken item: past `;`, past a block, or before `}` or a declaration. */
void parser_recover(struct parser *parser);

/* An item starts at the token. */
void parser_item_start(struct parser *parser, enum habit_place place);

/* True before a further item of a block, which then starts. */
bool parser_item_next(struct parser *parser, enum habit_place place);

/* An item of a block was read; a broken one is skipped. Returns is_whole. */
bool parser_item_end(struct parser *parser, bool is_whole);

/* ---- parser_value.c ---- */

bool parser_name(struct parser *parser, struct ast_name *ret_name);
bool parser_path(struct parser *parser, struct ast_name *ret_path);
/* The same for what is declared elsewhere; a dot before it, which stays in the text, says that
 * nothing is to be put before it. */
bool parser_reference(struct parser *parser, struct ast_name *ret_path);

/* One value of any kind, a minus allowed. */
bool parser_literal(struct parser *parser, struct literal *ret_literal);

/* One value of the kind that `token` starts. */
bool parser_literal_of(struct parser *parser, enum token_kind kind, struct literal *ret_literal);
bool parser_number(struct parser *parser, struct literal *ret_literal);

/* `item {"," item}` appended to a list. */
bool parser_literals(struct parser *parser, enum token_kind kind, struct literal **ret_list);

/* ---- parse_setting.c ---- */

extern const char *const job_words[]; /* what an item of a job starts with */
bool parse_setting(struct parser *parser, bool is_in_job, struct ast_setting **ret_setting);
bool parse_policy(struct parser *parser, struct ast_policy **ret_policy);

#endif
