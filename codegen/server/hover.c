/* hover.c - what a name or a word means, in Markdown or as plain text. */
#include <inttypes.h>
#include <string.h>

#include "context.h"
#include "duration.h"
#include "lexer.h"
#include "request.h"
#include "setting.h"
#include "shown.h"

enum { CODE_BYTES_MAX = 400 };

struct page {
    struct arena *arena;
    struct buf text;
    bool has_markdown;
};

/* A paragraph of its own words, in which only `code` is marked up. */
static void page_say(struct page *page, const char *text)
{
    if (page->text.len > 0)
        buf_text(&page->text, "\n\n");
    for (; *text != '\0'; text++) {
        if (*text != '`' || page->has_markdown)
            buf_char(&page->text, *text);
    }
}

static bool is_letter(char byte)
{
    return (byte >= '0' && byte <= '9') || ((byte | 0x20) >= 'a' && (byte | 0x20) <= 'z');
}

/* What would start a link, a tag or emphasis. Inside of a name an underscore is none. */
static bool is_markup(const char *text, size_t at)
{
    if (text[at] == '_')
        return at == 0 || !is_letter(text[at - 1]) || !is_letter(text[at + 1]);
    return strchr("\\`*[]<>", text[at]) != NULL;
}

/* A paragraph of the schema's words: they are shown, and never markup. */
static void page_quote(struct page *page, const char *text)
{
    if (text == NULL)
        return;
    text = shown_copy(page->arena, text, strlen(text));
    if (page->text.len > 0)
        buf_text(&page->text, "\n\n");
    for (size_t at = 0; text[at] != '\0'; at++) {
        if (page->has_markdown && is_markup(text, at))
            buf_char(&page->text, '\\');
        buf_char(&page->text, text[at]);
    }
}

/* Longer than any run of backticks in the text. */
static size_t fence_length(const char *text)
{
    size_t longest = 2, run = 0;
    for (; *text != '\0'; text++) {
        run = *text == '`' ? run + 1 : 0;
        longest = run > longest ? run : longest;
    }
    return longest + 1;
}

static void page_code(struct page *page, const char *text, size_t len)
{
    text = shown_copy(page->arena, text, len);
    size_t fence = page->has_markdown ? fence_length(text) : 0;
    if (page->text.len > 0)
        buf_text(&page->text, "\n\n");
    for (size_t i = 0; i < fence; i++)
        buf_char(&page->text, '`');
    buf_printf(&page->text, "%s%s%s", fence > 0 ? "job\n" : "", text, fence > 0 ? "\n" : "");
    for (size_t i = 0; i < fence; i++)
        buf_char(&page->text, '`');
}

/* Bytes from `start` to the end of the statement. */
static size_t statement_length(struct span start)
{
    const struct source *source = start.source;
    const char *from = source->text + start.offset;
    struct lexer lexer = {source->text, from + start.length, source->text + source->size};
    bool is_in_attrs = false;
    for (;;) {
        struct token token = lexer_next(&lexer);
        size_t len = token.offset - start.offset;
        if (len > CODE_BYTES_MAX)
            return CODE_BYTES_MAX;
        switch (token.kind) {
        case TOKEN_END:
        case TOKEN_SEMICOLON:
        case TOKEN_LEFT_BRACE:
        case TOKEN_RIGHT_BRACE:
        case TOKEN_DOC:
        case TOKEN_DOC_AFTER:
            return len;
        case TOKEN_COMMA:
            if (!is_in_attrs)
                return len;
            break;
        default:
            is_in_attrs =
                token.kind != TOKEN_RIGHT_ATTRS && (is_in_attrs || token.kind == TOKEN_LEFT_ATTRS);
            break;
        }
    }
}

static void page_statement(struct page *page, struct span start)
{
    const char *from = start.source->text + start.offset;
    size_t len = statement_length(start);
    while (len > 0 && strchr(" \t\r\n", from[len - 1]) != NULL)
        len--;
    page_code(page, from, len);
}

static void retry_write(struct arena *arena, struct buf *buf, const struct ir_retry *retry)
{
    if (retry->max == 0) {
        buf_text(buf, "none");
        return;
    }
    buf_printf(buf, "{ max %" PRId64 "; ", retry->max);
    if (retry->for_ns >= 0)
        buf_printf(buf, "for %s; ", duration_format(arena, retry->for_ns));
    buf_printf(buf, "backoff %s ", ir_backoff_words[retry->backoff]);
    if (retry->base_ns >= 0)
        buf_text(buf, duration_format(arena, retry->base_ns));
    for (const struct literal *step = retry->steps; step != NULL; step = step->next)
        buf_printf(buf, "%s%s", duration_format(arena, step->duration_ns),
                   step->next != NULL ? ", " : "");
    if (retry->factor != NULL)
        buf_printf(buf, " factor %s", retry->factor);
    if (retry->cap_ns >= 0)
        buf_printf(buf, " cap %s", duration_format(arena, retry->cap_ns));
    if (retry->jitter != JITTER_NONE)
        buf_printf(buf, "; jitter %s", ir_jitter_text(retry));
    buf_text(buf, "; }");
}

/* The setting as it is written, there or in the defaults of its file. */
static void source_write(struct buf *code, const struct ast_setting *setting)
{
    const struct source *source = setting->span.source;
    const char *from = source->text + setting->span.offset;
    struct lexer lexer = {source->text, from, source->text + source->size};
    const char *to = from;
    for (struct token token = lexer_next(&lexer);
         token.kind != TOKEN_SEMICOLON && token.kind != TOKEN_RIGHT_BRACE &&
         token.kind != TOKEN_END && to - from < CODE_BYTES_MAX;
         token = lexer_next(&lexer))
        to = source->text + token.offset + token.length;
    buf_printf(code, "%s%.*s;", code->len > 0 ? "\n" : "", (int)(to - from), from);
}

/* All of a kind that has no value without being written. */
static void sources_write(struct buf *code, const struct ir_settings *settings,
                          enum setting_kind kind)
{
    bool is_limit = kind == SETTING_CONCURRENCY || kind == SETTING_RATE || kind == SETTING_FAIR;
    for (const struct ir_limit *at = settings->limits; is_limit && at != NULL; at = at->next) {
        if (at->kind == kind)
            source_write(code, at->setting);
    }
    for (const struct ir_need *at = settings->needs; kind == SETTING_NEEDS && at != NULL;
         at = at->next)
        source_write(code, at->setting);
    if (!is_limit && kind != SETTING_NEEDS && settings->set[kind] != NULL)
        source_write(code, settings->set[kind]);
}

static void keep_write(struct arena *arena, struct buf *buf, const struct ir_settings *settings)
{
    buf_printf(buf, "success %s, failure %s", duration_format(arena, settings->keep_success_ns),
               duration_format(arena, settings->keep_failure_ns));
    if (settings->keep_log > 0)
        buf_printf(buf, ", log %lld", (long long)settings->keep_log);
}

/* The value in force; false when the setting has no value without being written. */
static bool setting_write(struct arena *arena, struct buf *buf, const struct ir_settings *settings,
                          enum setting_kind kind)
{
    const struct scalar *scalar = scalar_of(kind);
    buf_printf(buf, "%s ", setting_word(kind));
    if (kind == SETTING_QUEUE)
        buf_printf(buf, "\"%s\"", settings->queue);
    else if (kind == SETTING_KEEP)
        keep_write(arena, buf, settings);
    else if (kind == SETTING_RETRY)
        retry_write(arena, buf, &settings->retry);
    else if (scalar != NULL)
        buf_text(buf, scalar_text(arena, scalar, settings));
    else
        return false;
    return true;
}

static const struct ir_job *job_find(const struct module *module, const struct ast_decl *decl)
{
    const struct ir_job *job = module->ir == NULL ? NULL : module->ir->jobs;
    while (job != NULL && (job->name != decl->name.text))
        job = job->next;
    return job;
}

static void page_settings(struct page *page, const struct ir_job *job)
{
    struct buf code = {0};
    for (int kind = 0; kind < SETTING_COUNT; kind++) {
        struct buf line = {0};
        if (setting_write(page->arena, &line, &job->settings, (enum setting_kind)kind))
            buf_printf(&code, "%s%s;", code.len > 0 ? "\n" : "", line.data);
        else
            sources_write(&code, &job->settings, (enum setting_kind)kind);
        buf_release(&line);
    }
    page_say(page, "Settings in force:");
    page_code(page, code.data, code.len);
    buf_release(&code);
}

static void page_stored(struct page *page, const char *name)
{
    page_quote(page, arena_printf(page->arena, "Stored as \"%s\".", name));
}

static const char *was_text(const struct ast_attr *attrs)
{
    const struct ast_attr *attr = ast_attr_find(attrs, "was");
    return attr != NULL && attr->args != NULL && attr->args->kind == LITERAL_STRING
               ? attr->args->text
               : NULL;
}

static void describe_field(struct page *page, const struct ast_field *field)
{
    const char *was = was_text(field->attrs);
    page_statement(page, field->optional.source != NULL ? field->optional : field->type.span);
    page_quote(page, field->doc);
    page_stored(page, was != NULL ? was : field->name.text);
    if (field->shape == SHAPE_LIST)
        page_say(page, "A list, empty by default.");
    else if (field->optional.source != NULL)
        page_say(page, "May be absent.");
    else if (field->value.kind != LITERAL_NONE)
        page_say(page, "The default is written into the run when it is enqueued.");
    else
        page_say(page, "Required.");
    for (const struct ast_attr *at = field->attrs; at != NULL; at = at->next) {
        const struct word *word =
            word_find(at->name.text, PLACE_SET(ON_PARAM) | PLACE_SET(ON_FIELD));
        if (word != NULL)
            page_say(page, arena_printf(page->arena, "`%s`: %s", word->word, word->text));
    }
}

static void describe_value(struct page *page, const struct thing *thing)
{
    const struct ir_enum *type = thing->module->ir == NULL ? NULL : thing->module->ir->enums;
    char number[WIDE_TEXT_BYTES];
    while (type != NULL && type->values != NULL &&
           strcmp(strrchr(type->name, '.') ? strrchr(type->name, '.') + 1 : type->name,
                  thing->decl->name.text) != 0)
        type = type->next;
    page_statement(page, thing->value->name.span);
    page_quote(page, thing->value->doc);
    const struct ir_enum_value *at = type == NULL ? NULL : type->values;
    while (at != NULL && at->name != thing->value->name.text)
        at = at->next;
    if (at == NULL)
        return;
    wide_format(at->number, number);
    page_quote(page, arena_printf(page->arena, "Stored as \"%s\"; %s in C is %s.",
                                  thing->value->name.text, at->c, number));
}

static void describe_decl(struct page *page, const struct thing *thing)
{
    const struct ast_decl *decl = thing->decl;
    const char *package = thing->module->package;
    const char *head = arena_printf(page->arena, "%s %s%s%s", ast_decl_word(decl->kind),
                                    package ? package : "", package ? "." : "", decl->name.text);
    const struct ir_job *job = decl->kind == DECL_JOB ? job_find(thing->module, decl) : NULL;
    page_code(page, head, strlen(head));
    page_quote(page, decl->doc);
    if (job == NULL) {
        struct span span = decl_whole(decl);
        page_code(page, span.source->text + span.offset,
                  span.length > CODE_BYTES_MAX ? CODE_BYTES_MAX : span.length);
        return;
    }
    page_stored(page, job->wire);
    if (job->is_retired)
        page_say(page, "Retired: no longer enqueued.");
    page_settings(page, job);
}

static void describe_thing(struct page *page, const struct thing *thing)
{
    const struct word *word = NULL;
    switch (thing->kind) {
    case THING_DECL:
        describe_decl(page, thing);
        break;
    case THING_FIELD:
        describe_field(page, thing->field);
        break;
    case THING_VALUE:
        describe_value(page, thing);
        break;
    case THING_FILE:
        page_quote(page, thing->module->path);
        break;
    case THING_BUILTIN:
        word = word_find(ir_kinds[thing->builtin].word, PLACE_SET(TYPE));
        page_say(page, arena_printf(page->arena, "`%s`: %s", word->word, word->text));
        break;
    case THING_NONE:
        break;
    }
}

/* The declaration whose name stands at `token`. */
static const struct ast_decl *decl_at(const struct module *module, struct token token)
{
    const struct ast_decl *decl = module->ast->decls;
    while (decl != NULL && (token.length == 0 || decl->name.span.offset != token.offset))
        decl = decl->next;
    return decl;
}

/* The value in force of the setting that `word` names, when that is inside a job. */
static void describe_setting(struct page *page, const struct target *target,
                             const struct context *context, const char *word)
{
    const struct ast_decl *decl = decl_at(target->module, context->decl);
    const struct ir_job *job =
        decl == NULL || decl->kind != DECL_JOB ? NULL : job_find(target->module, decl);
    for (int kind = 0; job != NULL && kind < SETTING_COUNT; kind++) {
        struct buf line = {0};
        if (strcmp(setting_word((enum setting_kind)kind), word) == 0 &&
            setting_write(page->arena, &line, &job->settings, (enum setting_kind)kind)) {
            page_say(page, "In force here:");
            page_code(page, line.data, line.len);
        }
        buf_release(&line);
    }
}

static void describe_word(struct page *page, const struct target *target,
                          const struct context *context)
{
    struct token token = context->at;
    if (token.kind != TOKEN_WORD || token.length == 0)
        return;
    const char *text = arena_copy(page->arena, target->source->text + token.offset, token.length);
    uint64_t places = context_places(context);
    const struct word *word = word_find(text, places);
    if (word == NULL)
        return;
    page_say(page, arena_printf(page->arena, "`%s`: %s", word->word, word->text));
    if ((places & word->places & (PLACE_SET(SETTING))) != 0)
        describe_setting(page, target, context, text);
}

static void answer_page(struct request *request, const struct page *page, struct analysis *analysis,
                        struct span span)
{
    struct json_out *json = request->json;
    if (page->text.len == 0) {
        json_null(json, "result");
        return;
    }
    json_open(json, "result", '{');
    json_open(json, "contents", '{');
    json_text(json, "kind", page->has_markdown ? "markdown" : "plaintext");
    json_text_len(json, "value", page->text.data, page->text.len);
    json_close(json, '}');
    write_range(json, "range", analysis, span);
    json_close(json, '}');
}

void answer_hover(struct request *request)
{
    struct target target;
    const struct mark *mark;
    struct page page = {.arena = request->arena, .has_markdown = request->server->has_markdown};
    if (!request_mark(request, &target, &mark))
        return;
    struct context context = context_at(target.source, target.offset);
    struct span span = {target.source, context.at.offset, context.at.length};
    if (mark != NULL) {
        span = mark->span;
        describe_thing(&page, &mark->thing);
    } else {
        describe_word(&page, &target, &context);
    }
    answer_page(request, &page, target.analysis, span);
    buf_release(&page.text);
}
