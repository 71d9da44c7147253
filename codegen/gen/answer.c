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
    bool has_files, has_errors;
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

/* The name of the next member of an object; NULL at its end. */
static const char *member_next(struct taking *taking, bool *is_first)
{
    if (!json_in_more(&taking->in, '}', is_first))
        return NULL;
    const char *name = text_take(taking);
    return json_in_expect(&taking->in, ':') ? name : NULL;
}

static void file_take(struct taking *taking)
{
    struct answer_file *file = arena_alloc(taking->arena, sizeof(*file));
    const char *member;
    bool is_first = true;
    char *content = NULL;
    while ((member = member_next(taking, &is_first)) != NULL) {
        bool is_name = strcmp(member, "name") == 0;
        bool is_content = strcmp(member, "content") == 0;
        if ((is_name && file->name != NULL) || (is_content && content != NULL))
            json_in_fail(&taking->in, "a file has two names or two contents");
        if (is_name)
            file->name = text_take(taking);
        else if (is_content)
            json_in_string(&taking->in, taking->arena, &content, &file->len);
        else
            json_in_skip(&taking->in);
    }
    file->content = content;
    if (file->name == NULL || content == NULL)
        json_in_fail(&taking->in, "a file has no name or no content");
    if (taking->in.is_bad)
        return;
    const char *fault = name_fault(file->name);
    if (fault == NULL && map_add(&taking->answer->by_name, file->name, file) != NULL)
        fault = "comes twice";
    if (fault == NULL && !culex__utf8_is_valid(content, file->len))
        fault = "is not UTF-8";
    if (fault != NULL)
        refuse(taking, fault, file->name);
    *taking->files_end = file;
    taking->files_end = &file->next;
}

static void error_take(struct taking *taking)
{
    struct answer_error *error = arena_alloc(taking->arena, sizeof(*error));
    const char *member;
    bool is_first = true;
    while ((member = member_next(taking, &is_first)) != NULL) {
        if (strcmp(member, "file") == 0)
            error->file = text_take(taking);
        else if (strcmp(member, "message") == 0)
            error->message = text_take(taking);
        else if (strcmp(member, "line") == 0)
            json_in_number(&taking->in, &error->line);
        else if (strcmp(member, "column") == 0)
            json_in_number(&taking->in, &error->column);
        else
            json_in_skip(&taking->in);
    }
    if (error->message == NULL || error->line < 0 || error->column < 0)
        json_in_fail(&taking->in, "an error has no message, or a place below 0");
    *taking->errors_end = error;
    taking->errors_end = &error->next;
}

static void list_take(struct taking *taking, bool *has, void (*take)(struct taking *taking))
{
    bool is_first = true;
    if (*has)
        json_in_fail(&taking->in, "'files' or 'errors' comes twice");
    *has = true;
    json_in_expect(&taking->in, '[');
    while (json_in_more(&taking->in, ']', &is_first)) {
        if (!json_in_expect(&taking->in, '{'))
            return;
        take(taking);
        if (++taking->count > LIMIT_ANSWER_FILES)
            json_in_fail(&taking->in, "too many files and errors");
    }
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
    const char *member;
    bool is_first = true;
    *ret_answer = (struct answer){0};
    map_init(&ret_answer->by_name, arena);
    json_in_expect(&taking.in, '{');
    while ((member = member_next(&taking, &is_first)) != NULL) {
        if (strcmp(member, "files") == 0)
            list_take(&taking, &taking.has_files, file_take);
        else if (strcmp(member, "errors") == 0)
            list_take(&taking, &taking.has_errors, error_take);
        else
            json_in_skip(&taking.in);
    }
    if (!taking.in.is_bad)
        names_check(&taking);
    if (!json_in_at_end(&taking.in))
        json_in_fail(&taking.in, "more behind the end");
    if (taking.in.is_bad && !taking.is_told && what != NULL)
        say("%s does not answer as schemas/plugin.md says: after %zu bytes, %s", what,
            json_in_offset(&taking.in), taking.in.fault);
    return !taking.in.is_bad;
}
