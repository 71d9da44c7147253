#include "json_tree.h"

#include <string.h>

#include "base/digit.h"
#include "json_in.h"
#include "limits.h"

struct reader {
    struct json_in in;
    struct arena *arena;
    unsigned nodes;
};

static bool value_read(struct reader *reader, struct json *json, unsigned depth);

static bool text_read(struct reader *reader, const char **ret_text, size_t *ret_len)
{
    char *text;
    if (!json_in_string(&reader->in, reader->arena, &text, ret_len))
        return false;
    *ret_text = text;
    return true;
}

static bool item_read(struct reader *reader, struct json *item, bool is_member, unsigned depth)
{
    if (is_member &&
        (!text_read(reader, &item->name, &item->name_len) || !json_in_expect(&reader->in, ':')))
        return false;
    return value_read(reader, item, depth);
}

/* `depth` counts this list or object. */
static bool list_read(struct reader *reader, struct json *json, unsigned depth)
{
    const struct json **end = &json->first;
    bool is_object = json->kind == JSON_OBJECT;
    bool is_first = true;
    if (depth > LIMIT_JSON_DEPTH)
        return json_in_fail(&reader->in, "too many objects and lists inside each other");
    json_in_expect(&reader->in, is_object ? '{' : '[');
    while (json_in_more(&reader->in, is_object ? '}' : ']', &is_first)) {
        struct json *item = arena_alloc(reader->arena, sizeof(*item));
        if (!item_read(reader, item, is_object, depth))
            return false;
        *end = item;
        end = &item->next;
    }
    return !reader->in.is_bad;
}

static bool word_read(struct reader *reader, struct json *json)
{
    static const struct {
        const char *word;
        enum json_kind kind;
        int64_t number;
    } words[] = {{"null", JSON_NULL, 0}, {"true", JSON_BOOL, 1}, {"false", JSON_BOOL, 0}};
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
        if (!json_in_word(&reader->in, words[i].word))
            continue;
        json->kind = words[i].kind;
        json->number = words[i].number;
        return true;
    }
    return json_in_fail(&reader->in, "no value where one must be");
}

static enum json_kind kind_of(char first)
{
    return first == '{'                             ? JSON_OBJECT
           : first == '['                           ? JSON_ARRAY
           : first == '"'                           ? JSON_TEXT
           : first == '-' || culex__is_digit(first) ? JSON_NUMBER
                                                    : JSON_NULL;
}

static bool value_read(struct reader *reader, struct json *json, unsigned depth)
{
    if (++reader->nodes > LIMIT_MESSAGE_NODES)
        return json_in_fail(&reader->in, "too many values");
    json->kind = kind_of(json_in_peek(&reader->in));
    switch (json->kind) {
    case JSON_OBJECT:
    case JSON_ARRAY:
        return list_read(reader, json, depth + 1);
    case JSON_TEXT:
        return text_read(reader, &json->text, &json->len);
    case JSON_NUMBER:
        return json_in_any_number(&reader->in, &json->is_whole, &json->number);
    case JSON_NULL:
    case JSON_BOOL:
        break;
    }
    return word_read(reader, json);
}

const struct json *json_parse(struct arena *arena, const char *text, size_t len,
                              struct json_fault *ret_fault)
{
    struct reader reader = {.in = json_in_text(text, len), .arena = arena};
    struct json *json = arena_alloc(arena, sizeof(*json));
    if (value_read(&reader, json, 0) &&
        (json_in_at_end(&reader.in) || json_in_fail(&reader.in, "more behind the end")))
        return json;
    *ret_fault = (struct json_fault){reader.in.fault, json_in_offset(&reader.in)};
    return NULL;
}

const struct json *json_get(const struct json *json, const char *path)
{
    static const struct json nothing = {0};
    while (json != NULL && *path != '\0') {
        size_t len = strcspn(path, ".");
        const struct json *member = json->kind == JSON_OBJECT ? json->first : NULL;
        while (member != NULL && (member->name_len != len || memcmp(member->name, path, len) != 0))
            member = member->next;
        json = member;
        path += len + (path[len] == '.');
    }
    return json == NULL ? &nothing : json;
}

const char *json_string(const struct json *json)
{
    return json->kind == JSON_TEXT && strlen(json->text) == json->len ? json->text : NULL;
}

bool json_count(const struct json *json, uint32_t *ret_count)
{
    if (json->kind != JSON_NUMBER || !json->is_whole || json->number < 0 ||
        json->number > INT32_MAX)
        return false;
    *ret_count = (uint32_t)json->number;
    return true;
}

bool json_has_text(const struct json *array, const char *text)
{
    const struct json *item = array->kind == JSON_ARRAY ? array->first : NULL;
    while (item != NULL && (json_string(item) == NULL || strcmp(item->text, text) != 0))
        item = item->next;
    return item != NULL;
}
