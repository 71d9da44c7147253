/* lexer.re - the tokens of the .job language, as rules for re2c.
 *
 * The text is in memory as a whole with a NUL behind it; re2c checks that NUL
 * against the limit, so a NUL inside the file is an ordinary stray byte. Rules
 * work on bytes: the source was checked to be UTF-8 before. */
#include "lexer.h"

#include <stdbool.h>

static const char *const kind_texts[TOKEN_COUNT] = {
#define X(kind, text) text,
    TOKEN_KINDS(X)
#undef X
};

const char *token_kind_text(enum token_kind kind)
{
    return kind_texts[kind];
}

void lexer_init(struct lexer *lexer, const struct source *source)
{
    lexer->start = source->text;
    lexer->cursor = source->text;
    lexer->limit = source->text + source->size;
}

static struct token token_make(const struct lexer *lexer, const char *from, enum token_kind kind,
                               enum token_fault fault)
{
    return (struct token){kind, fault, (uint32_t)(from - lexer->start),
                          (uint32_t)(lexer->cursor - from)};
}

/* Swallows the rest of the file; the token itself is only the opening. */
static struct token comment_unterminated(struct lexer *lexer, const char *from)
{
    struct token token = token_make(lexer, from, TOKEN_STRAY, FAULT_UNTERMINATED);
    lexer->cursor = lexer->limit;
    return token;
}

struct token lexer_next(struct lexer *lexer)
{
    const char *marker;
    const char *from;
#define TOKEN(kind) return token_make(lexer, from, TOKEN_##kind, FAULT_NONE)
#define FAULTY(kind, fault) return token_make(lexer, from, TOKEN_##kind, FAULT_##fault)
next:
    from = lexer->cursor;
    /*!re2c
    re2c:eof = 0;
    re2c:yyfill:enable = 0;
    re2c:define:YYCTYPE = "unsigned char";
    re2c:define:YYCURSOR = "lexer->cursor";
    re2c:define:YYLIMIT = "lexer->limit";
    re2c:define:YYMARKER = marker;
    re2c:yych:conversion = 1;

    digits = [0-9] ("_"? [0-9])*;
    hex = [0-9a-fA-F];
    exponent = [eE] [+-]? [0-9]+;
    unit = "ns" | "us" | "ms" | [smhdw];

    $                                       { TOKEN(END); }
    *                                       { TOKEN(STRAY); }
    [\xc0-\xff] [\x80-\xbf]*                { TOKEN(STRAY); }
    [ \t\r\n]+                              { goto next; }

    // Of rules that match the same text the first one wins.
    "////" [^\n]*                           { goto next; }
    "///<" [^\n]*                           { TOKEN(DOC_AFTER); }
    "///" [^\n]*                            { TOKEN(DOC); }
    "//" [^\n]*                             { goto next; }
    "/*" ([^*] | ("*"+ [^*/]))* "*"+ "/"    { goto next; }
    "/*"                                    { return comment_unterminated(lexer, from); }

    [a-zA-Z_] [a-zA-Z_0-9]*                 { TOKEN(WORD); }

    digits                                  { TOKEN(INT); }
    "0" [xX] hex ("_"? hex)*                { TOKEN(INT); }
    "0" [bB] [01] ("_"? [01])*              { TOKEN(INT); }
    [0-9]+ "." [0-9]+ exponent?             { TOKEN(FLOAT); }
    [0-9]+ exponent                         { TOKEN(FLOAT); }
    ([0-9]+ unit)+                          { TOKEN(DURATION); }
    [0-9]+ [KMG]                            { TOKEN(SIZE); }
    [0-9] [a-zA-Z_0-9.]*                    { FAULTY(INT, NUMBER); }

    "\"" ([^"\\\n] | "\\" [^\n])* "\""      { TOKEN(STRING); }
    "\"" ([^"\\\n] | "\\" [^\n])* "\\"?     { FAULTY(STRING, UNTERMINATED); }
    "'" ([^'\\\n] | "\\" [^\n])* "'"        { TOKEN(CHAR); }
    "'" ([^'\\\n] | "\\" [^\n])* "\\"?      { FAULTY(CHAR, UNTERMINATED); }
    "x\"" [^"\n]* "\""                      { TOKEN(BYTES); }
    "x\"" [^"\n]*                           { FAULTY(BYTES, UNTERMINATED); }

    "[["                                    { TOKEN(LEFT_ATTRS); }
    "]]"                                    { TOKEN(RIGHT_ATTRS); }
    "{"                                     { TOKEN(LEFT_BRACE); }
    "}"                                     { TOKEN(RIGHT_BRACE); }
    "("                                     { TOKEN(LEFT_PAREN); }
    ")"                                     { TOKEN(RIGHT_PAREN); }
    "["                                     { TOKEN(LEFT_BRACKET); }
    "]"                                     { TOKEN(RIGHT_BRACKET); }
    ";"                                     { TOKEN(SEMICOLON); }
    ","                                     { TOKEN(COMMA); }
    ":"                                     { TOKEN(COLON); }
    "."                                     { TOKEN(DOT); }
    "="                                     { TOKEN(EQUALS); }
    "<="                                    { TOKEN(AT_MOST); }
    "-"                                     { TOKEN(MINUS); }
    */
#undef TOKEN
#undef FAULTY
}
