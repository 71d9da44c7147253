#include "answer.h"

#include <stdlib.h>
#include <string.h>

#include "base/utf8.h"
#include "json_in.h"
#include "limits.h"
#include "say.h"

struct taking {
    struct arena *arena;
    const char *what;
    struct json_in in;
    struct answer *answer;
    struct answer_file **files_end;
    struct answer_error **errors_end;
    unsigned count;
    bool is_told; /* a message was given */
};

static void refuse(struct taking *taking, const char *fault, const char *name)
{
    if (!taking->is_told && taking->what != NULL)
        say("%s answers with a file that %s: '%.256s'", taking->what, fault, name);
    taking->is_told = true;
    json_in_fail(&taking->in, fault);
}

/* Why no file may be called so, or NULL. */
static const char *name_fault(const char *name)
{
    static const char allowed[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.+-";
    if (strlen(name) > LIMIT_PATH_BYTES)
        return "has too long a name";
    for (const char *part = name;; part++) {
        size_t len = strspn(part, allowed);
        if (len == 0 || part[0] == '.' || part[0] == '-')
            return "may not be called that";
        part += len;
        if (*part == '\0')
            return NULL;
        if (*part != '/')
            return "may not be called that";
    }
}

/* A text without a NUL inside, or null. */
static const char *text_take(struct taking *taking)
{
    char *text = NULL;
    size_t len = 0;
    if (!json_in_string(&taking->in, taking->arena, &text, &len))
        return NULL;
    if (strlen(text) != len || !culex__utf8_is_valid(text, len))
        json_in_fail(&taking->in, "a text that has a NUL or is not UTF-8");
    return text;
}

/* A member that an object may have, and where its value goes. */
struct member {
    const char *name; /* NULL: of any other name, its value is skipped */
    const char **text;
    size_t *len; /* of a text that may hold anything; NULL: as text_take has it */
    int64_t *number;
    void (*item_take)(struct taking *taking); /* of a list of objects */
    bool is_seen;
};

static void list_take(struct taking *taking, void (*item_take)(struct taking *taking))
{
    bool is_first = true;
    json_in_expect(&taking->in, '[');
    while (json_in_more(&taking->in, ']', &is_first)) {
        if (!json_in_expect(&taking->in, '{'))
            return;
        item_take(taking);
        if (++taking->count > LIMIT_ANSWER_FILES)
            json_in_fail(&taking->in, "too many files and errors");
    }
}

static void value_take(struct taking *taking, const struct member *member)
{
    char *text = NULL;
    if (member->name == NULL)
        json_in_skip(&taking->in);
    else if (member->item_take != NULL)
        list_take(taking, member->item_take);
    else if (member->number != NULL)
        json_in_number(&taking->in, member->number);
    else if (member->len == NULL)
        *member->text = text_take(taking);
    else if (json_in_string(&taking->in, taking->arena, &text, member->len))
        *member->text = text;
}

/* An object behind its bracket. `members` ends with one that has no name. */
static void object_take(struct taking *taking, struct member *members)
{
    bool is_first = true;
    while (json_in_more(&taking->in, '}', &is_first)) {
        const char *name = text_take(taking);
        struct member *member = members;
        if (!json_in_expect(&taking->in, ':'))
            return;
        while (member->name != NULL && strcmp(member->name, name) != 0)
            member++;
        if (member->name != NULL && member->is_seen)
            json_in_fail(&taking->in, "a member comes twice");
        member->is_seen = true;
        value_take(taking, member);
    }
}

static void file_take(struct taking *taking)
{
    struct answer_file *file = arena_alloc(taking->arena, sizeof(*file));
    struct member members[] = {{.name = "name", .text = &file->name},
                               {.name = "content", .text = &file->content, .len = &file->len},
                               {0}};
    object_take(taking, members);
    if (file->name == NULL || file->content == NULL)
        json_in_fail(&taking->in, "a file has no name or no content");
    if (taking->in.is_bad)
        return;
    const char *fault = name_fault(file->name);
    if (fault == NULL && map_add(&taking->answer->by_name, file->name, file) != NULL)
        fault = "comes twice";
    if (fault == NULL && !culex__utf8_is_valid(file->content, file->len))
        fault = "is not UTF-8";
    if (fault != NULL)
        refuse(taking, fault, file->name);
    *taking->files_end = file;
    taking->files_end = &file->next;
}

static void error_take(struct taking *taking)
{
    struct answer_error *error = arena_alloc(taking->arena, sizeof(*error));
    struct member members[] = {{.name = "file", .text = &error->file},
                               {.name = "message", .text = &error->message},
                               {.name = "line", .number = &error->line},
                               {.name = "column", .number = &error->column},
                               {0}};
    object_take(taking, members);
    if (error->message == NULL || error->line < 0 || error->column < 0)
        json_in_fail(&taking->in, "an error has no message, or a place below 0");
    *taking->errors_end = error;
    taking->errors_end = &error->next;
}

/* --- names that are no two files in every file system --- */

struct folded {
    const char *key; /* without capitals; a '/' as what sorts before every other byte */
    const char *name;
};

static struct folded name_fold(struct arena *arena, const char *name)
{
    char *key = arena_copy(arena, name, strlen(name));
    for (char *at = key; *at != '\0'; at++) {
        if (*at >= 'A' && *at <= 'Z')
            *at = (char)(*at | 0x20);
        else if (*at == '/')
            *at = '\1';
    }
    return (struct folded){key, name};
}

static int folded_compare(const void *left, const void *right)
{
    return strcmp(((const struct folded *)left)->key, ((const struct folded *)right)->key);
}

/* What is wrong with the first of two neighbours in the order of their keys, or NULL. */
static const char *neighbours_fault(struct arena *arena, const struct folded *pair)
{
    size_t len = strlen(pair[0].key);
    if (strncmp(pair[0].key, pair[1].key, len) != 0 || pair[1].key[len] > '\1')
        return NULL;
    return arena_printf(arena,
                        pair[1].key[len] == '\0' ? "differs from '%.256s' by case alone"
                                                 : "has to be a folder for '%.256s'",
                        pair[1].name);
}

static void names_check(struct taking *taking)
{
    size_t count = taking->answer->by_name.count, i = 0;
    struct folded *all = arena_alloc(taking->arena, (count + 1) * sizeof(*all));
    for (const struct answer_file *at = taking->answer->files; at != NULL; at = at->next)
        all[i++] = name_fold(taking->arena, at->name);
    qsort(all, count, sizeof(*all), folded_compare);
    for (i = 1; i < count; i++) {
        const char *fault = neighbours_fault(taking->arena, &all[i - 1]);
        if (fault != NULL)
            refuse(taking, fault, all[i - 1].name);
    }
}

bool answer_take(struct arena *arena, const char *what, const struct buf *text,
                 struct answer *ret_answer)
{
    struct taking taking = {.arena = arena,
                            .what = what,
                            .in = json_in_text(text->data, text->len),
                            .answer = ret_answer,
                            .files_end = &ret_answer->files,
                            .errors_end = &ret_answer->errors};
    struct member members[] = {{.name = "files", .item_take = file_take},
                               {.name = "errors", .item_take = error_take},
                               {0}};
    *ret_answer = (struct answer){0};
    map_init(&ret_answer->by_name, arena);
    json_in_expect(&taking.in, '{');
    object_take(&taking, members);
    if (!taking.in.is_bad)
        names_check(&taking);
    if (!json_in_at_end(&taking.in))
        json_in_fail(&taking.in, "more behind the end");
    if (taking.in.is_bad && !taking.is_told && what != NULL)
        say("%s does not answer as schemas/plugin.md says: after %zu bytes, %s", what,
            json_in_offset(&taking.in), taking.in.fault);
    return !taking.in.is_bad;
}
