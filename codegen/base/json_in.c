#include "json_in.h"

#include <assert.h>
#include <string.h>

#include "core/number.h"
#include "limits.h"

struct json_in json_in_text(const char *text, size_t len)
{
    assert(text != NULL || len == 0);
    const char *start = len > 0 ? text : ""; /* NULL may not be added to */
    return (struct json_in){
        .text = {.start = start, .at = start, .end = start + len, .takes_any_bytes = true}};
}

bool json_in_fail(struct json_in *in, const char *fault)
{
    if (!in->is_bad)
        in->fault = fault;
    in->is_bad = true;
    in->text.end = in->text.at; /* Nothing more is read. */
    return false;
}

/* What the functions of core/json.h return: NULL, or a fault where the text stands. */
static bool succeed(struct json_in *in, const char *fault)
{
    return fault == NULL || json_in_fail(in, fault);
}

size_t json_in_offset(const struct json_in *in)
{
    return (size_t)(in->text.at - in->text.start);
}

char json_in_peek(struct json_in *in)
{
    return culex__json_peek(&in->text);
}

/* Consumes `byte`, after white space, when it comes next. */
static bool byte_accept(struct json_in *in, char byte)
{
    return culex__json_take(&in->text, byte);
}

bool json_in_at_end(struct json_in *in)
{
    culex__json_peek(&in->text);
    return in->text.at == in->text.end;
}

bool json_in_expect(struct json_in *in, char byte)
{
    static const char bytes[] = "{[:,";
    static const char *const faults[] = {"no object where one must be", "no list where one must be",
                                         "no ':' after a name",
                                         "no ',' and no end of the object or list"};
    const char *known = strchr(bytes, byte);
    assert(byte != '\0' && known != NULL);
    return byte_accept(in, byte) || json_in_fail(in, faults[known - bytes]);
}

bool json_in_more(struct json_in *in, char close, bool *is_first)
{
    bool was_first = *is_first;
    *is_first = false;
    if (in->is_bad || byte_accept(in, close))
        return false;
    return was_first || json_in_expect(in, ',');
}

bool json_in_string(struct json_in *in, struct arena *arena, char **ret_text, size_t *ret_len)
{
    struct culex__json_text found;
    if (json_in_peek(in) != '"')
        return json_in_fail(in, "no text where one must be");
    if (!succeed(in, culex__json_string(&in->text, &found)))
        return false;
    *ret_text = arena_alloc(arena, found.len + 1);
    *ret_len = culex__json_unescape(&found, *ret_text);
    return true;
}

bool json_in_any_number(struct json_in *in, bool *ret_is_whole, int64_t *ret_number)
{
    struct culex__json_text text;
    json_in_peek(in);
    if (!succeed(in, culex__json_number(&in->text, &text)))
        return false;
    *ret_is_whole = culex__int64_parse(text.data, text.len, ret_number);
    return true;
}

bool json_in_number(struct json_in *in, int64_t *ret_number)
{
    bool is_whole;
    json_in_peek(in);
    const char *start = in->text.at;
    if (!json_in_any_number(in, &is_whole, ret_number))
        return false;
    if (is_whole)
        return true;
    in->text.at = start;
    return json_in_fail(in, "number that is not whole or needs more than 64 bits");
}

bool json_in_word(struct json_in *in, const char *word)
{
    json_in_peek(in);
    return culex__json_word(&in->text, word);
}

bool json_in_bool(struct json_in *in, bool *ret_value)
{
    *ret_value = json_in_word(in, "true");
    return *ret_value || json_in_word(in, "false") ||
           json_in_fail(in, "neither true nor false where one must be");
}

bool json_in_skip(struct json_in *in)
{
    return succeed(in, culex__json_skip(&in->text, LIMIT_JSON_DEPTH));
}
