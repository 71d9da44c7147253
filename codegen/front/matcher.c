#include "matcher.h"

#include <ctype.h>
#include <string.h>

#include "buf.h"

const char *matcher_text(const struct matcher *matcher, size_t at)
{
    return matcher->source->text + matcher->tokens[at].offset;
}

const char *matcher_copy(const struct matcher *matcher, size_t from, size_t to)
{
    const char *text = matcher_text(matcher, from);
    const struct token *last = &matcher->tokens[to - 1];
    size_t len = last->offset + last->length - matcher->tokens[from].offset;
    return arena_copy(matcher->arena, text, len > TEXT_MAX ? TEXT_MAX : len);
}

bool matcher_at(const struct matcher *matcher, size_t at, enum token_kind kind)
{
    return at < matcher->count && matcher->tokens[at].kind == kind;
}

/* A param as it is written here. */
static const char *field_text(const struct matcher *matcher)
{
    bool is_list = *matcher->type.shape != '\0' && !isdigit((unsigned char)matcher->type.shape[1]);
    bool is_optional = matcher->type.is_optional && !is_list && matcher->value == NULL;
    return arena_printf(matcher->arena, "%s%s %s%s%s%s%s", is_optional ? "optional " : "",
                        matcher->type.name, matcher->texts['N'], matcher->type.shape,
                        matcher->type.attr, matcher->value == NULL ? "" : " = ",
                        matcher->value == NULL ? "" : matcher->value);
}

static bool is_word_byte(char byte)
{
    return isalnum((unsigned char)byte) || byte == '_';
}

/* Puts in what was taken for the single capital letters; F is a whole param, T a type. */
const char *matcher_expand(struct matcher *matcher, const char *template)
{
    struct buf text = {0};
    for (const char *at = template; *at != '\0'; at++) {
        bool is_single = *at >= 'A' && *at <= 'Z' && !is_word_byte(at[1]) &&
                         (at == template || !is_word_byte(at[-1]));
        const char *taken = !is_single   ? NULL
                            : *at == 'F' ? field_text(matcher)
                            : *at == 'T' ? matcher->type.name
                                         : matcher->texts[(unsigned char)*at];
        if (taken != NULL)
            buf_text(&text, taken);
        else
            buf_char(&text, *at);
    }
    const char *copy = arena_copy(matcher->arena, text.data == NULL ? "" : text.data, text.len);
    buf_release(&text);
    return copy;
}

/* The tokens of one line: what belongs together seldom stands on two. */
void matcher_fill(struct matcher *matcher, struct lexer lexer, struct token token)
{
    const char *text = matcher->source->text;
    const char *limit = text + matcher->source->size;
    const char *end = memchr(text + token.offset, '\n', matcher->source->size - token.offset);
    matcher->line_end = end == NULL ? limit : end;
    while (matcher->line_end > text + token.offset && matcher->line_end[-1] == '\r')
        matcher->line_end--;
    for (; token.kind != TOKEN_END && matcher->count < TOKENS_MAX &&
           text + token.offset < matcher->line_end;
         token = lexer_next(&lexer)) {
        if (token.kind != TOKEN_DOC && token.kind != TOKEN_DOC_AFTER)
            matcher->tokens[matcher->count++] = token;
    }
}

void matcher_reset(struct matcher *matcher)
{
    memset(matcher->texts, 0, sizeof(matcher->texts));
    matcher->type = (struct type_taken){.shape = "", .attr = "", .is_plain = true};
    matcher->value = NULL;
    matcher->is_whole_line = false;
    matcher->from = 0;
    matcher->is_guess = false;
}

struct span matcher_span(const struct matcher *matcher, size_t count)
{
    const struct token *first = &matcher->tokens[matcher->from],
                       *last = &matcher->tokens[count - 1];
    uint32_t end = matcher->is_whole_line ? (uint32_t)(matcher->line_end - matcher->source->text)
                                          : last->offset + last->length;
    return (struct span){matcher->source, first->offset, end - first->offset};
}
