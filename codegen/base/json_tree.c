#include "json_tree.h"

#include <string.h>

#include "base/digit.h"
#include "json_in.h"
#include "limits.h"

enum { DEPTH_MAX = 64, DIGITS_MAX = 18 };

struct reader {
    struct json_in in;
    struct arena *arena;
    unsigned nodes;
};

static bool value_read(struct reader *reader, struct json *json, unsigned depth);

static bool fail(struct reader *reader)
{
    reader->in.is_bad = true;
    return false;
}

static bool name_read(struct reader *reader, struct json *json)
{
    char *name;
    size_t len;
    if (!json_in_string(&reader->in, reader->arena, &name, &len))
        return false;
    json->name = name;
    return json_in_expect(&reader->in, ':');
}

static bool list_read(struct reader *reader, struct json *json, unsigned depth)
{
    const struct json **end = &json->first;
    bool is_object = json->kind == JSON_OBJECT;
    bool is_first = true;
    while (json_in_more(&reader->in, is_object ? '}' : ']', &is_first)) {
        struct json *item = arena_alloc(reader->arena, sizeof(*item));
        if ((is_object && !name_read(reader, item)) || !value_read(reader, item, depth + 1))
            return false;
        *end = item;
        end = &item->next;
    }
    return !reader->in.is_bad;
}

static bool number_read(struct reader *reader, struct json *json)
{
    struct json_in *in = &reader->in;
    bool is_negative = json_in_accept(in, '-');
    unsigned digits = 0;
    for (; in->at < in->end && culex__is_digit(*in->at); in->at++) {
        if (digits++ < DIGITS_MAX)
            json->number = json->number * 10 + (*in->at - '0');
    }
    json->kind = JSON_NUMBER;
    json->is_whole = digits > 0 && digits <= DIGITS_MAX;
    json->number = is_negative ? -json->number : json->number;
    while (in->at < in->end && *in->at != '\0' && strchr("+-.0123456789eE", *in->at) != NULL) {
        json->is_whole = false;
        in->at++;
    }
    return digits > 0 || fail(reader);
}

static bool word_read(struct reader *reader, struct json *json)
{
    static const struct {
        const char *word;
        enum json_kind kind;
        int64_t number;
    } words[] = {{"null", JSON_NULL, 0}, {"true", JSON_BOOL, 1}, {"false", JSON_BOOL, 0}};
    struct json_in *in = &reader->in;
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
        size_t len = strlen(words[i].word);
        if ((size_t)(in->end - in->at) < len || memcmp(in->at, words[i].word, len) != 0)
            continue;
        in->at += len;
        json->kind = words[i].kind;
        json->number = words[i].number;
        return true;
    }
    return number_read(reader, json);
}

static bool value_read(struct reader *reader, struct json *json, unsigned depth)
{
    char *text;
    if (depth > DEPTH_MAX || ++reader->nodes > LIMIT_MESSAGE_NODES)
        return fail(reader);
    if (json_in_accept(&reader->in, '{')) {
        json->kind = JSON_OBJECT;
        return list_read(reader, json, depth);
    }
    if (json_in_accept(&reader->in, '[')) {
        json->kind = JSON_ARRAY;
        return list_read(reader, json, depth);
    }
    if (reader->in.at == reader->in.end || *reader->in.at != '"')
        return word_read(reader, json);
    if (!json_in_string(&reader->in, reader->arena, &text, &json->len))
        return false;
    json->kind = JSON_TEXT;
    json->text = text;
    return true;
}

const struct json *json_parse(struct arena *arena, const char *text, size_t len)
{
    struct reader reader = {.in = {.at = text, .end = text + len}, .arena = arena};
    struct json *json = arena_alloc(arena, sizeof(*json));
    if (!value_read(&reader, json, 0))
        return NULL;
    json_in_accept(&reader.in, '\0'); /* Only for the white space before it. */
    return reader.in.at == reader.in.end ? json : NULL;
}

const struct json *json_get(const struct json *json, const char *path)
{
    static const struct json nothing = {0};
    while (json != NULL && *path != '\0') {
        size_t len = strcspn(path, ".");
        const struct json *member = json->kind == JSON_OBJECT ? json->first : NULL;
        while (member != NULL &&
               (strncmp(member->name, path, len) != 0 || member->name[len] != '\0'))
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
    while (item != NULL && (item->kind != JSON_TEXT || strcmp(item->text, text) != 0))
        item = item->next;
    return item != NULL;
}
