/* fuzz_json - any bytes as JSON: both readers refuse them at a place inside, or both take them, and
 * what is written of the tree reads as the same tree. */
#include <stdlib.h>
#include <string.h>

#include "base/utf8.h"
#include "fuzz.h"
#include "json_in.h"
#include "json_out.h"
#include "json_tree.h"
#include "limits.h"

unsigned fuzz_taken;

static void require(bool holds)
{
    if (!holds)
        abort();
}

/* A name has no length for the writer, and it makes U+FFFD of what is not UTF-8. */
static bool is_written_whole(const char *text, size_t len)
{
    return strlen(text) == len && culex__utf8_is_valid(text, len);
}

/* False when the text is another value than the tree: a number that is not whole, a name or text
 * that the writer changes. */
static bool tree_write(const struct json *json, struct json_out *out)
{
    bool is_whole = json->name == NULL || is_written_whole(json->name, json->name_len);
    bool is_object = json->kind == JSON_OBJECT;
    switch (json->kind) {
    case JSON_NULL:
        json_null(out, json->name);
        return is_whole;
    case JSON_BOOL:
        json_bool(out, json->name, json->number != 0);
        return is_whole;
    case JSON_NUMBER:
        json_number(out, json->name, json->number);
        return is_whole && json->is_whole;
    case JSON_TEXT:
        json_text_len(out, json->name, json->text, json->len);
        return is_whole && culex__utf8_is_valid(json->text, json->len);
    case JSON_ARRAY:
    case JSON_OBJECT:
        break;
    }
    json_open(out, json->name, is_object ? '{' : '[');
    for (const struct json *item = json->first; item != NULL; item = item->next)
        is_whole &= tree_write(item, out);
    json_close(out, is_object ? '}' : ']');
    return is_whole;
}

static bool is_same(const struct json *left, const struct json *right)
{
    if (left->kind != right->kind || left->number != right->number || left->len != right->len ||
        left->name_len != right->name_len || left->is_whole != right->is_whole)
        return false;
    if (left->kind == JSON_TEXT && memcmp(left->text, right->text, left->len) != 0)
        return false;
    if (left->name_len > 0 && memcmp(left->name, right->name, left->name_len) != 0)
        return false;
    const struct json *mine = left->first, *other = right->first;
    while (mine != NULL && other != NULL && is_same(mine, other)) {
        mine = mine->next;
        other = other->next;
    }
    return mine == NULL && other == NULL;
}

/* What is written once is JSON, and is written again as the same bytes. */
static void round_check(struct arena *arena, const struct json *tree, bool is_compact)
{
    struct json_out once = {.is_compact = is_compact}, twice = {.is_compact = is_compact};
    struct json_fault fault;
    bool is_whole = tree_write(tree, &once);
    const struct json *again = json_parse(arena, once.buf.data, once.buf.len, &fault);
    require(again != NULL && (!is_whole || is_same(tree, again)));
    require(tree_write(again, &twice));
    require(once.buf.len == twice.buf.len &&
            memcmp(once.buf.data, twice.buf.data, once.buf.len) == 0);
    buf_release(&once.buf);
    buf_release(&twice.buf);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena arena = {0};
    struct json_fault fault = {0};
    struct json_in in = json_in_text((const char *)data, size);
    const struct json *tree = json_parse(&arena, (const char *)data, size, &fault);
    bool is_skipped = json_in_skip(&in) && json_in_at_end(&in);
    /* No value is shorter than a byte, and a comma or bracket stands behind it. */
    if (size <= LIMIT_MESSAGE_NODES)
        require(is_skipped == (tree != NULL));
    if (tree == NULL)
        require(fault.text != NULL && fault.offset <= size);
    else {
        round_check(&arena, tree, true);
        round_check(&arena, tree, false);
        fuzz_taken++;
    }
    arena_release(&arena);
    return 0;
}
