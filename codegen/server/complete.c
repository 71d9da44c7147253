/* complete.c - what may stand at a place. */
#include <dirent.h>
#include <string.h>
#include <sys/stat.h>

#include "context.h"
#include "ir.h"
#include "shown.h"
#include "request.h"

enum item_kind {
    ITEM_FUNCTION = 3,
    ITEM_FIELD = 5,
    ITEM_PROPERTY = 10,
    ITEM_ENUM = 13,
    ITEM_KEYWORD = 14,
    ITEM_SNIPPET = 15,
    ITEM_FILE = 17,
    ITEM_FOLDER = 19,
    ITEM_ENUM_MEMBER = 20,
    ITEM_CONSTANT = 21,
    ITEM_STRUCT = 22
};

struct completion {
    struct request *request;
    struct target target;
    struct context context;
    uint64_t places;
    struct span typed;   /* what an item replaces */
    const char *package; /* of it up to its last dot, which is kept; "": a name without a package */
    unsigned count;
};

/* Leaves the item open. False when there are enough of them. */
static bool item_open(struct completion *completion, const char *label, enum item_kind kind,
                      const char *detail, const char *doc)
{
    struct json_out *json = completion->request->json;
    struct arena *arena = completion->request->arena;
    if (completion->count++ >= LIMIT_ANSWERS)
        return false;
    json_open(json, NULL, '{');
    json_text(json, "label", label);
    json_number(json, "kind", kind);
    if (detail != NULL)
        json_text(json, "detail", detail);
    if (doc != NULL)
        json_text(json, "documentation", shown_copy(arena, doc, strlen(doc)));
    return true;
}

static void item_close(struct completion *completion, const char *text)
{
    struct json_out *json = completion->request->json;
    json_open(json, "textEdit", '{');
    write_range(json, "range", completion->target.analysis, completion->typed);
    json_text(json, "newText", text);
    json_close(json, '}');
    json_close(json, '}');
}

static void offer(struct completion *completion, const char *label, enum item_kind kind,
                  const char *detail, const char *doc)
{
    if (item_open(completion, label, kind, detail, doc))
        item_close(completion, label);
}

/* Documentation of an item is plain text. */
static const char *without_backticks(struct arena *arena, const char *text)
{
    char *copy = arena_alloc(arena, strlen(text) + 1);
    for (char *to = copy; *text != '\0'; text++) {
        if (*text != '`')
            *to++ = *text;
    }
    return copy;
}

/* The type as written of the field that is being written. */
static const char *field_type(const struct completion *completion)
{
    const struct context *context = &completion->context;
    struct buf type = {0};
    unsigned at = context_is(context, context->tokens[0], "optional") ? 1 : 0;
    for (; at < context->count && at < CONTEXT_TOKENS; at++) {
        struct token token = context->tokens[at];
        bool is_dot = token.kind == TOKEN_DOT;
        bool is_next = type.len == 0 || is_dot || type.data[type.len - 1] == '.';
        if (!is_next)
            break;
        buf_append(&type, context->source->text + token.offset, token.length);
    }
    buf_text(&type, "");
    const char *copy = arena_copy(completion->request->arena, type.data, type.len);
    buf_release(&type);
    return copy;
}

/* Whether an attribute, of those that are for some types alone, is for this one. */
static bool is_attr_of(const char *attr, const char *type)
{
    static const char *const lengths[] = {"nonempty", "min_len", "max_len", "len"};
    enum ir_kind kind = ir_kind_find(type);
    if (strcmp(attr, "min") == 0 || strcmp(attr, "max") == 0)
        return ir_kind_has_bounds(kind);
    for (size_t i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++) {
        if (strcmp(attr, lengths[i]) == 0)
            return kind == IR_STRING || kind == IR_BYTES;
    }
    return true;
}

static void offer_words(struct completion *completion)
{
    bool is_of_field = (completion->places & (PLACE_SET(ON_FIELD) | PLACE_SET(ON_PARAM))) != 0;
    const char *type = field_type(completion);
    for (const struct word *word = words; word->word != NULL; word++) {
        if (is_of_field && !is_attr_of(word->word, type))
            continue;
        if (completion->package[0] == '\0' && (word->places & completion->places) != 0)
            offer(completion, word->word, ITEM_KEYWORD, NULL,
                  without_backticks(completion->request->arena, word->text));
    }
}

/* Words with what usually follows them, for editors that let people fill it in. */
static void offer_snippets(struct completion *completion)
{
    enum { FORMAT_SNIPPET = 2 };
    static const struct {
        uint64_t places;
        const char *word, *what, *text;
    } snippets[] = {
#define P(place)                          PLACE_SET(place)
#define SNIPPET(places, word, what, text) {places, word, what, text},
#include "snippets.def"
#undef SNIPPET
#undef P
    };
    if (!completion->request->server->has_snippets || completion->package[0] != '\0')
        return;
    for (size_t i = 0; i < sizeof(snippets) / sizeof(snippets[0]); i++) {
        if ((snippets[i].places & completion->places) == 0 ||
            !item_open(completion, snippets[i].word, ITEM_SNIPPET, snippets[i].what, NULL))
            continue;
        json_number(completion->request->json, "insertTextFormat", FORMAT_SNIPPET);
        item_close(completion, snippets[i].text);
    }
}

/* Shortest name by which this file can mean the declaration; with its package where one was begun.
 */
static const char *usable_name(struct completion *completion, const struct module *module,
                               const struct ast_decl *decl)
{
    struct target *target = &completion->target;
    const struct symbol *symbol =
        symbol_find(&target->analysis->compilation, target->module, decl->name.text);
    bool is_short = symbol != NULL && symbol->decl == decl && completion->package[0] == '\0';
    if (module->package == NULL || is_short)
        return decl->name.text;
    return arena_printf(completion->request->arena, "%s.%s", module->package, decl->name.text);
}

/* Kinds of declarations that are meant by name. */
enum wanted { WANTED_TYPE, WANTED_POLICY, WANTED_JOB };

static bool is_wanted(enum wanted wanted, enum ast_decl_kind kind)
{
    switch (wanted) {
    case WANTED_POLICY:
        return kind == DECL_POLICY;
    case WANTED_JOB:
        return kind == DECL_JOB;
    case WANTED_TYPE:
        break;
    }
    return kind == DECL_ENUM || kind == DECL_STRUCT || kind == DECL_TYPE;
}

static void offer_decls(struct completion *completion, const struct module *module,
                        enum wanted wanted)
{
    for (const struct ast_decl *at = module->ast->decls; at != NULL; at = at->next) {
        enum item_kind kind = at->kind == DECL_POLICY ? ITEM_CONSTANT
                              : at->kind == DECL_ENUM ? ITEM_ENUM
                              : at->kind == DECL_JOB  ? ITEM_FUNCTION
                                                      : ITEM_STRUCT;
        const char *name = usable_name(completion, module, at);
        bool is_of_package = strncmp(name, completion->package, strlen(completion->package)) == 0;
        if (is_wanted(wanted, at->kind) && is_of_package)
            offer(completion, name, kind, ast_decl_word(at->kind), at->doc);
    }
}

static void offer_names(struct completion *completion, enum wanted wanted)
{
    const struct module *module = completion->target.module;
    offer_decls(completion, module, wanted);
    for (const struct module_import *at = module->imports; at != NULL; at = at->next)
        offer_decls(completion, at->module, wanted);
}

static const struct ast_decl *decl_around(const struct completion *completion)
{
    const struct ast_decl *decl = completion->target.module->ast->decls;
    struct token name = completion->context.decl;
    while (decl != NULL && (name.length == 0 || decl->name.span.offset != name.offset))
        decl = decl->next;
    return decl;
}

static void offer_params(struct completion *completion)
{
    const struct ast_decl *decl = decl_around(completion);
    const struct ast_field *at = decl == NULL ? NULL : decl->fields.first;
    for (; at != NULL; at = at->next)
        offer(completion, at->name.text, ITEM_FIELD, at->type.text, at->doc);
}

static void offer_defaults(struct completion *completion)
{
    struct target *target = &completion->target;
    const char *type = field_type(completion);
    const struct symbol *symbol = symbol_find(&target->analysis->compilation, target->module, type);
    if (strcmp(type, "bool") != 0)
        completion->places = 0;
    const struct ast_enum_value *at = symbol == NULL ? NULL : symbol->decl->values;
    for (; at != NULL; at = at->next)
        offer(completion, at->name.text, ITEM_ENUM_MEMBER, symbol->qualified, at->doc);
}

/* Whether it is the file that the import stands in. */
static bool is_itself(const struct completion *completion, const char *path)
{
    const char *resolved = path_resolve(completion->request->arena, path);
    return resolved != NULL && strcmp(resolved, completion->target.document->path) == 0;
}

/* Entries of `folder` that an import could name. */
static void offer_files(struct completion *completion, const char *root, const char *below)
{
    struct arena *arena = completion->request->arena;
    const char *folder = arena_printf(arena, "%s/%s", *root == '\0' ? "." : root, below);
    DIR *dir = opendir(folder);
    struct dirent *entry;
    unsigned seen = 0;
    while (dir != NULL && seen++ < LIMIT_ANSWERS && (entry = readdir(dir)) != NULL) {
        struct stat info;
        const char *name = entry->d_name;
        const char *path = arena_printf(arena, "%s/%s", folder, name);
        size_t len = strlen(name);
        if (name[0] == '.' || stat(path, &info) != 0 || is_itself(completion, path))
            continue;
        if (S_ISDIR(info.st_mode))
            offer(completion, arena_printf(arena, "%s%s/", below, name), ITEM_FOLDER, NULL, NULL);
        else if (len > 4 && strcmp(name + len - 4, ".job") == 0)
            offer(completion, arena_printf(arena, "%s%s", below, name), ITEM_FILE, NULL, NULL);
    }
    if (dir != NULL)
        closedir(dir);
}

/* Between the quotes of an import: everything up to the last slash is a folder. */
static void offer_imports(struct completion *completion)
{
    struct arena *arena = completion->request->arena;
    const struct compilation *compilation = &completion->target.analysis->compilation;
    struct span *typed = &completion->typed;
    typed->offset = completion->context.at.offset + 1;
    typed->length = (uint32_t)completion->target.offset - typed->offset;
    const char *text = arena_copy(arena, typed->source->text + typed->offset, typed->length);
    const char *slash = strrchr(text, '/');
    const char *below = arena_copy(arena, text, slash == NULL ? 0 : (size_t)(slash - text) + 1);
    const char *path = completion->target.document->path;
    slash = strrchr(path, '/');
    if (text[0] == '/' || strstr(text, "..") != NULL)
        return;
    for (size_t i = 0; i < compilation->include_count; i++)
        offer_files(completion, compilation->include_dirs[i], below);
    if (slash != NULL)
        offer_files(completion, arena_copy(arena, path, (size_t)(slash - path)), below);
}

/* The word before the cursor, with the package before it. */
static struct span typed_find(const struct target *target)
{
    static const char letters[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.";
    const char *text = target->source->text;
    size_t start = target->offset;
    while (start > 0 && text[start - 1] != '\0' && strchr(letters, text[start - 1]) != NULL)
        start--;
    return (struct span){target->source, (uint32_t)start, (uint32_t)(target->offset - start)};
}

/* "shop." of "shop.mo". */
static const char *package_find(struct arena *arena, struct span typed)
{
    const char *text = arena_copy(arena, typed.source->text + typed.offset, typed.length);
    const char *dot = strrchr(text, '.');
    return arena_copy(arena, text, dot == NULL ? 0 : (size_t)(dot - text) + 1);
}

static void offer_all(struct completion *completion)
{
    uint64_t places = completion->places;
    bool is_text = completion->context.at.kind == TOKEN_STRING;
    if (is_text && (places & PLACE_SET(IMPORT_PATH)) != 0)
        offer_imports(completion);
    if (is_text)
        return;
    if ((places & PLACE_SET(DEFAULT)) != 0)
        offer_defaults(completion);
    offer_words(completion);
    offer_snippets(completion);
    if ((places & PLACE_SET(TYPE)) != 0)
        offer_names(completion, WANTED_TYPE);
    if ((places & PLACE_SET(RETRY)) != 0)
        offer_names(completion, WANTED_POLICY);
    if ((places & PLACE_SET(STEP)) != 0)
        offer_names(completion, WANTED_JOB);
    if ((places & PLACE_SET(PARAM_NAME)) != 0)
        offer_params(completion);
}

void answer_completion(struct request *request)
{
    struct completion completion = {.request = request};
    if (!request_target(request, &completion.target))
        return;
    completion.context = context_at(completion.target.source, completion.target.offset);
    completion.places = context_places(&completion.context);
    completion.typed = typed_find(&completion.target);
    completion.package = package_find(request->arena, completion.typed);
    json_open(request->json, "result", '[');
    offer_all(&completion);
    json_close(request->json, ']');
}
