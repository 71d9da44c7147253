#include "answer.h"

#include <string.h>

#include "diag_print.h"
#include "json_in.h"
#include "limits.h"

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
        diag_say("%s answers with a file that %s: '%.256s'", taking->what, fault, name);
    taking->is_told = taking->in.is_bad = true;
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
    taking->in.is_bad |= strlen(text) != len;
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
        if (strcmp(member, "name") == 0)
            file->name = text_take(taking);
        else if (strcmp(member, "content") == 0)
            json_in_string(&taking->in, taking->arena, &content, &file->len);
        else
            json_in_skip(&taking->in);
    }
    file->content = content;
    taking->in.is_bad |= file->name == NULL || content == NULL;
    if (taking->in.is_bad)
        return;
    const char *fault = name_fault(file->name);
    if (fault == NULL && map_add(&taking->answer->by_name, file->name, file) != NULL)
        fault = "comes twice";
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
    taking->in.is_bad |= error->message == NULL || error->line < 0 || error->column < 0;
    *taking->errors_end = error;
    taking->errors_end = &error->next;
}

static void list_take(struct taking *taking, void (*take)(struct taking *taking))
{
    bool is_first = true;
    json_in_expect(&taking->in, '[');
    while (json_in_more(&taking->in, ']', &is_first)) {
        if (!json_in_expect(&taking->in, '{'))
            return;
        take(taking);
        taking->in.is_bad |= ++taking->count > LIMIT_ANSWER_FILES;
    }
}

bool answer_take(struct arena *arena, const char *what, const struct buf *text,
                 struct answer *ret_answer)
{
    struct taking taking = {.arena = arena,
                            .what = what,
                            .in = {.at = text->data, .end = text->data + text->len},
                            .answer = ret_answer,
                            .files_end = &ret_answer->files,
                            .errors_end = &ret_answer->errors};
    const char *member;
    bool is_first = true;
    *ret_answer = (struct answer){0};
    map_init(&ret_answer->by_name, arena);
    taking.in.is_bad = text->len == 0 || !json_in_expect(&taking.in, '{');
    while ((member = member_next(&taking, &is_first)) != NULL) {
        if (strcmp(member, "files") == 0)
            list_take(&taking, file_take);
        else if (strcmp(member, "errors") == 0)
            list_take(&taking, error_take);
        else
            json_in_skip(&taking.in);
    }
    bool is_whole = !taking.in.is_bad && json_in_at_end(&taking.in);
    if (!is_whole && !taking.is_told && what != NULL)
        diag_say("%s does not answer as schemas/plugin.md says", what);
    return is_whole;
}
