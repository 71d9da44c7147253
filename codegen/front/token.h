/* token.h - the words of the language.
 *
 * Kinds stand in one table; the second column is how a message calls them. */
#ifndef CULEXC_TOKEN_H
#define CULEXC_TOKEN_H

#include <stdint.h>

#define TOKEN_KINDS(X)                                                                             \
    X(END, "the end of the file")                                                                  \
    X(WORD, "a name")                                                                              \
    X(INT, "a whole number")                                                                       \
    X(FLOAT, "a number")                                                                           \
    X(DURATION, "a duration")                                                                      \
    X(SIZE, "a size")                                                                              \
    X(STRING, "a string")                                                                          \
    X(BYTES, "bytes")                                                                              \
    X(CHAR, "a character")                                                                         \
    X(LEFT_BRACE, "'{'")                                                                           \
    X(RIGHT_BRACE, "'}'")                                                                          \
    X(LEFT_PAREN, "'('")                                                                           \
    X(RIGHT_PAREN, "')'")                                                                          \
    X(LEFT_BRACKET, "'['")                                                                         \
    X(RIGHT_BRACKET, "']'")                                                                        \
    X(LEFT_ATTRS, "'[['")                                                                          \
    X(RIGHT_ATTRS, "']]'")                                                                         \
    X(SEMICOLON, "';'")                                                                            \
    X(COMMA, "','")                                                                                \
    X(COLON, "':'")                                                                                \
    X(DOT, "'.'")                                                                                  \
    X(EQUALS, "'='")                                                                               \
    X(AT_MOST, "'<='")                                                                             \
    X(MINUS, "'-'")                                                                                \
    X(DOC, "a comment")       /* /// before what it describes */                                   \
    X(DOC_AFTER, "a comment") /* ///< behind it */                                                 \
    X(STRAY, "a stray character")

enum token_kind {
#define X(kind, text) TOKEN_##kind,
    TOKEN_KINDS(X)
#undef X
        TOKEN_COUNT
};

/* What is wrong with a token that was recognised all the same. The lexer only
 * marks it; the parser reports it once and goes on with the token's kind. */
enum token_fault {
    FAULT_NONE,
    FAULT_UNTERMINATED, /* string, character, bytes or comment without an end */
    FAULT_NUMBER        /* digits followed by something that is no unit */
};

struct token {
    enum token_kind kind;
    enum token_fault fault;
    uint32_t offset;
    uint32_t length;
};

#endif
