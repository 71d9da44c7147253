#include "doc.h"

#include <string.h>

#include "limits.h"
#include "page.h"
#include "setting.h"
#include "words.h"

/* What one page is made from. */
struct writer {
    struct page page;
    struct arena *arena;
    const struct module *module;
};

static void write_code(struct writer *writer, const char *text)
{
    page_code(&writer->page, text, strlen(text));
}

static void write_words(struct writer *writer, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static void write_words(struct writer *writer, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    page_text(&writer->page, arena_vprintf(writer->arena, format, args));
    va_end(args);
}

/* As the author wrote it. */
static void write_literal(struct writer *writer, const struct literal *literal)
{
    const struct span *span = &literal->span;
    page_code(&writer->page, span->source->text + span->offset, span->length);
}

static void write_literals(struct writer *writer, const struct literal *list)
{
    for (; list != NULL; list = list->next) {
        write_literal(writer, list);
        if (list->next != NULL)
            write_words(writer, ", ");
    }
}

/* Documentation behind other words of a list. */
static void write_doc(struct writer *writer, const char *doc)
{
    if (doc == NULL)
        return;
    write_words(writer, " ");
    page_text(&writer->page, doc);
}

/* The next item of a list: a setting's name, or what is to be said first. */
static void write_entry(struct writer *writer, const char *term)
{
    writer->page.markup->entry(&writer->page);
    write_code(writer, term);
    writer->page.markup->behind(&writer->page);
}

static void write_subsection(struct writer *writer, const char *word)
{
    writer->page.markup->section(&writer->page, 2, word, NULL);
}

/* What stands before the name of a field. */
static void write_term(struct writer *writer, const struct ast_field *ast,
                       const struct ir_field *field)
{
    struct buf term = {0};
    if (field->is_optional)
        buf_text(&term, "optional ");
    buf_printf(&term, "%s %s", ast->type.text, field->name);
    if (field->shape == SHAPE_LIST && field->count >= 0)
        buf_printf(&term, "[<=%lld]", (long long)field->count);
    else if (field->shape == SHAPE_LIST)
        buf_text(&term, "[]");
    else if (field->shape == SHAPE_ARRAY)
        buf_printf(&term, "[%lld]", (long long)field->count);
    writer->page.markup->entry(&writer->page);
    page_code(&writer->page, term.data, term.len);
    writer->page.markup->behind(&writer->page);
    buf_release(&term);
}

static void write_limit(struct writer *writer, const struct ast_attr *attr)
{
    static const struct {
        const char *name, *before, *after;
    } words[] = {{"nonempty", "; not empty", ""},
                 {"min_len", "; at least ", " bytes"},
                 {"max_len", "; at most ", " bytes"},
                 {"len", "; exactly ", " bytes"},
                 {"min", "; from ", ""},
                 {"max", "; up to ", ""},
                 {"encrypted", "; encrypted in the store, and kept out of logs", ""},
                 {"secret", "; secret: kept out of logs and error texts", ""}};
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
        if (strcmp(attr->name.text, words[i].name) != 0)
            continue;
        write_words(writer, "%s", words[i].before);
        if (attr->args != NULL)
            write_literal(writer, attr->args);
        write_words(writer, "%s", words[i].after);
    }
    if (strcmp(attr->name.text, "must_understand") == 0)
        write_words(writer, "; a worker that does not know it gives the run back");
}

static void write_deprecated(struct writer *writer, const char *deprecated)
{
    if (deprecated == NULL)
        return;
    write_words(writer, *deprecated == '\0' ? "Deprecated." : "Deprecated: ");
    page_text(&writer->page, deprecated);
}

static void write_field(struct writer *writer, const struct ast_field *ast,
                        const struct ir_field *field)
{
    write_term(writer, ast, field);
    if (ast->value.kind != LITERAL_NONE && field->is_secret) {
        write_words(writer, "has a default");
    } else if (ast->value.kind != LITERAL_NONE) {
        write_words(writer, "default ");
        write_literal(writer, &ast->value);
    } else {
        write_words(writer, field->is_optional           ? "may be absent"
                            : field->shape == SHAPE_LIST ? "may be empty"
                                                         : "required");
    }
    for (const struct ast_attr *attr = ast->attrs; attr != NULL; attr = attr->next)
        write_limit(writer, attr);
    write_words(writer, ".");
    write_doc(writer, field->doc);
    if (field->deprecated != NULL)
        write_words(writer, " ");
    write_deprecated(writer, field->deprecated);
}

static void write_fields(struct writer *writer, const struct ast_field *ast,
                         const struct ir_field *field)
{
    for (; ast != NULL && field != NULL; ast = ast->next, field = field->next)
        write_field(writer, ast, field);
}

static void write_duration(struct writer *writer, const char *term, int64_t ns, const char *unset)
{
    write_entry(writer, term);
    if (ns < 0)
        write_words(writer, "%s.", unset);
    else
        write_words(writer, "%s.", words_duration(writer->arena, (double)ns / 1e9));
}

static void write_by(struct writer *writer, const struct ast_names *by)
{
    for (const struct ast_names *at = by; at != NULL; at = at->next) {
        write_words(writer, at == by ? " for each " : ", ");
        write_code(writer, at->name.text);
    }
}

static void write_queue(struct writer *writer, const struct ir_settings *settings)
{
    write_entry(writer, "queue");
    write_code(writer, settings->queue);
    write_words(writer, settings->priority > 0 ? ", priority %lld of 9." : ".",
                (long long)settings->priority);
}

static void write_spread(struct writer *writer, const struct ast_spread *spread, bool is_all)
{
    if (spread->jitter.kind != LITERAL_NONE) {
        write_words(writer, ", each delayed at random by up to ");
        write_literal(writer, &spread->jitter);
    }
    bool may_overlap =
        is_all || (spread->overlap.text != NULL && strcmp(spread->overlap.text, "allow") == 0);
    write_words(writer, may_overlap ? "; runs may overlap."
                                    : "; a tick is left out while the run before it lives.");
}

static void write_every(struct writer *writer, const struct ast_every *every)
{
    write_entry(writer, "every");
    write_literal(writer, &every->interval);
    write_words(writer, ", once across all workers");
    write_spread(writer, &every->spread, false);
}

static void write_cron(struct writer *writer, const struct ast_cron *cron)
{
    write_entry(writer, "cron");
    write_literal(writer, &cron->fields);
    write_words(writer, " in the time zone ");
    write_literal(writer, &cron->zone);
    const char *missed = cron->missed.text == NULL ? "once" : cron->missed.text;
    write_words(writer, "; missed times: %s", missed);
    write_spread(writer, &cron->spread, strcmp(missed, "all") == 0);
}

static void write_keep(struct writer *writer, const struct ir_settings *settings)
{
    write_entry(writer, "keep");
    write_words(writer, "the record for %s after success, ",
                words_duration(writer->arena, (double)settings->keep_success_ns / 1e9));
    write_words(writer, "%s after the last failure",
                words_duration(writer->arena, (double)settings->keep_failure_ns / 1e9));
    if (settings->keep_log == 1)
        write_words(writer, "; the last log line of a run.");
    else if (settings->keep_log > 1)
        write_words(writer, "; the last %lld log lines of a run.", (long long)settings->keep_log);
    else
        write_words(writer, ".");
}

static void write_window(struct writer *writer, const struct ast_unique *unique)
{
    if (unique->time.kind != LITERAL_NONE) {
        write_words(writer, ", for ");
        write_literal(writer, &unique->time);
    }
    for (const struct ast_names *at = unique->states; at != NULL; at = at->next)
        write_words(writer, "%s%s", at == unique->states ? ", while " : " or ", at->name.text);
    write_words(writer, ".");
    if (unique->on_conflict.text != NULL)
        write_words(writer, " On a conflict: %s.", unique->on_conflict.text);
}

static void write_unique(struct writer *writer, const struct ast_unique *unique)
{
    write_entry(writer, "unique");
    write_words(writer, unique->all.text != NULL ? "one run at a time for all params together"
                                                 : "one run at a time");
    write_by(writer, unique->by);
    if (unique->debounce.kind == LITERAL_NONE) {
        write_window(writer, unique);
        return;
    }
    write_words(writer, ", due ");
    write_literal(writer, &unique->debounce);
    write_words(writer, " after the last enqueue.");
}

static void write_rate(struct writer *writer, const struct ast_limit *rate)
{
    write_words(writer, " starts in ");
    write_literal(writer, &rate->per);
    write_by(writer, rate->by);
    if (rate->burst.kind != LITERAL_NONE) {
        write_words(writer, ", in bursts of up to ");
        write_literal(writer, &rate->burst);
    }
}

static void write_limits(struct writer *writer, const struct ir_limit *limit)
{
    for (; limit != NULL; limit = limit->next) {
        const struct ast_limit *ast = &limit->setting->limit;
        write_entry(writer, setting_word(limit->kind));
        if (limit->kind != SETTING_FAIR)
            write_literal(writer, &ast->count);
        if (limit->kind == SETTING_RATE)
            write_rate(writer, ast);
        else
            write_words(writer, limit->kind == SETTING_FAIR ? "turns" : " runs at a time");
        if (limit->kind != SETTING_RATE)
            write_by(writer, ast->by);
        write_words(writer, ".");
    }
}

static void write_needs(struct writer *writer, const struct ir_need *need)
{
    for (; need != NULL; need = need->next) {
        write_entry(writer, "needs");
        write_literal(writer, &need->setting->need.units);
        write_words(writer, " of ");
        write_literal(writer, &need->setting->need.name);
        write_words(writer, ", which the worker must offer.");
    }
}

/* Whether a setting is shown as it was written; the other numbers have sentences of their own. */
static bool is_plain(const struct ast_setting *setting)
{
    return scalar_of(setting->kind) != NULL && setting->kind != SETTING_PRIORITY &&
           setting->kind != SETTING_TIMEOUT && setting->kind != SETTING_EXPIRES &&
           setting->kind != SETTING_KEEP;
}

static void write_plain(struct writer *writer, const struct ir_settings *settings)
{
    for (int kind = 0; kind < SETTING_COUNT; kind++) {
        const struct ast_setting *setting = settings->set[kind];
        if (setting == NULL || !is_plain(setting))
            continue;
        write_entry(writer, setting_word(setting->kind));
        write_literal(writer, &setting->value);
        write_words(writer, ".");
    }
}

static void write_settings(struct writer *writer, const struct ir_job *job)
{
    const struct ir_settings *settings = &job->settings;
    const struct ast_setting *const *set = settings->set;
    write_subsection(writer, "Settings");
    write_queue(writer, settings);
    if (set[SETTING_EVERY] != NULL)
        write_every(writer, &set[SETTING_EVERY]->every);
    if (set[SETTING_CRON] != NULL)
        write_cron(writer, &set[SETTING_CRON]->cron);
    write_duration(writer, "timeout", settings->timeout_ns, "none");
    write_entry(writer, "retry");
    write_words(writer, "%s", words_retry(writer->arena, &settings->retry));
    write_duration(writer, "expires", settings->expires_ns, "never");
    write_keep(writer, settings);
    write_plain(writer, settings);
    if (set[SETTING_UNIQUE] != NULL)
        write_unique(writer, &set[SETTING_UNIQUE]->unique);
    write_limits(writer, settings->limits);
    write_needs(writer, settings->needs);
    if (set[SETTING_TAGS] == NULL)
        return;
    write_entry(writer, "tags");
    write_literals(writer, settings->tags);
    write_words(writer, ".");
}

/* Former names of what has one; the oldest is the one in the store. */
static void write_was(struct writer *writer, const char *name, const struct ast_attr *attrs)
{
    for (; attrs != NULL; attrs = attrs->next) {
        if (strcmp(attrs->name.text, "was") != 0)
            continue;
        write_entry(writer, name);
        write_words(writer, "was called ");
        write_literals(writer, attrs->args);
        write_words(writer, "; the first name stays the one in the store.");
    }
}

static void write_changes_of(struct writer *writer, const struct ast_fields *fields)
{
    for (const struct ast_field *field = fields->first; field != NULL; field = field->next)
        write_was(writer, field->name.text, field->attrs);
    if (fields->reserved == NULL)
        return;
    write_entry(writer, "reserved");
    write_literals(writer, fields->reserved);
    write_words(writer, ": used once, never to be used again.");
}

static bool has_changes(const struct ast_attr *attrs, const struct ast_fields *fields)
{
    bool found = fields->reserved != NULL || ast_attr_find(attrs, "was") != NULL;
    for (const struct ast_field *field = fields->first; field != NULL; field = field->next)
        found = found || ast_attr_find(field->attrs, "was") != NULL;
    return found;
}

static void write_changes(struct writer *writer, const struct ast_decl *decl)
{
    if (!has_changes(decl->attrs, &decl->fields) && !has_changes(NULL, &decl->returns) &&
        !has_changes(NULL, &decl->metadata))
        return;
    write_subsection(writer, "Schema changes");
    write_was(writer, decl->name.text, decl->attrs);
    write_changes_of(writer, &decl->fields);
    write_changes_of(writer, &decl->returns);
    write_changes_of(writer, &decl->metadata);
}

static void write_job(struct writer *writer, const struct ast_decl *decl, const struct ir_job *job)
{
    writer->page.markup->section(&writer->page, 1, "Job", job->qualified);
    page_prose(&writer->page, decl->doc);
    if (job->is_retired)
        page_prose(&writer->page, "Retired: it is no longer enqueued, only queued runs are left.");
    if (job->deprecated != NULL) {
        writer->page.markup->paragraph(&writer->page);
        write_deprecated(writer, job->deprecated);
        buf_char(writer->page.out, '\n');
    }
    if (job->params != NULL)
        write_subsection(writer, "Params");
    write_fields(writer, decl->fields.first, job->params);
    if (job->result != NULL)
        write_subsection(writer, "Result");
    write_fields(writer, decl->returns.first, job->result);
    if (job->metadata != NULL)
        write_subsection(writer, "Metadata");
    write_fields(writer, decl->metadata.first, job->metadata);
    write_settings(writer, job);
    write_changes(writer, decl);
}

static void write_chain(struct writer *writer, const struct ir_chain *chain)
{
    struct page *page = &writer->page;
    page->markup->section(page, 1, "Chain", chain->qualified);
    page_prose(page, chain->doc);
    page->markup->paragraph(page);
    for (const struct ir_step *step = chain->steps; step != NULL; step = step->next)
        write_words(writer, "%s%s", step == chain->steps ? "" : ", then ", step->job->qualified);
    write_words(writer, ": each with what the one before it returned.");
    buf_char(page->out, '\n');
}

static void write_enum(struct writer *writer, const struct ast_decl *decl,
                       const struct ir_enum *type)
{
    char number[WIDE_TEXT_BYTES];
    struct page *page = &writer->page;
    page->markup->section(page, 1, "Enum", type->name);
    page_prose(page, decl->doc);
    page->markup->table(page);
    for (const struct ir_enum_value *value = type->values; value != NULL; value = value->next) {
        wide_format(value->number, number);
        page->markup->row(page, value->name, number);
        if (value->doc != NULL)
            page_text(page, value->doc);
        if (value->doc != NULL && value->deprecated != NULL)
            write_words(writer, " ");
        write_deprecated(writer, value->deprecated);
        page->markup->row_end(page);
    }
    if (decl->reserved == NULL)
        return;
    page->markup->paragraph(page);
    write_words(writer, "Reserved, never to be used again: ");
    write_literals(writer, decl->reserved);
    write_words(writer, ".");
    buf_char(page->out, '\n');
}

static void write_user(struct writer *writer, const struct ir_user *type)
{
    struct page *page = &writer->page;
    page->markup->section(page, 1, "Type", type->name);
    page_prose(page, type->doc);
    page->markup->paragraph(page);
    write_words(writer,
                "A value is of %s, from the header %s. In a payload it is a text of at most "
                "%d bytes, which %s reads and %s writes.",
                type->c, type->header, LIMIT_USER_TEXT, type->parse, type->format);
    buf_char(page->out, '\n');
}

static void write_struct(struct writer *writer, const struct ir_struct *type)
{
    const struct ast_decl *decl = type->decl;
    writer->page.markup->section(&writer->page, 1, "Struct", type->name);
    page_prose(&writer->page, decl->doc);
    write_fields(writer, decl->fields.first, type->fields);
    if (!has_changes(NULL, &decl->fields))
        return;
    write_subsection(writer, "Schema changes");
    write_changes_of(writer, &decl->fields);
}

static void write_synopsis(struct writer *writer)
{
    struct buf code = {0};
    writer->page.markup->section(&writer->page, 1, "Synopsis", NULL);
    buf_printf(&code, "#include \"%s\"\n", writer->module->header);
    for (const struct ir_job *job = writer->module->ir->jobs; job != NULL; job = job->next)
        words_prototypes(writer->arena, job, &code);
    for (const struct ir_chain *at = writer->module->ir->chains; at != NULL; at = at->next)
        words_chain(writer->arena, at, &code);
    writer->page.markup->block(&writer->page, code.data);
    buf_release(&code);
}

void doc_write(struct arena *arena, const struct module *module, enum doc_format format,
               struct buf *out)
{
    struct writer writer = {.arena = arena, .module = module};
    const struct ir_file *file = module->ir;
    writer.page.out = out;
    writer.page.markup = format == DOC_MAN ? &markup_man : &markup_markdown;
    writer.page.markup->title(&writer.page, module->header);
    write_words(&writer, "generated from the schema %s.job", module->stem);
    if (module->package != NULL)
        write_words(&writer, ", package %s", module->package);
    write_synopsis(&writer);
    const struct ast_decl *decl = ast_decl_next(module->ast->decls, DECL_JOB);
    for (const struct ir_job *job = file->jobs; job != NULL && decl != NULL; job = job->next) {
        write_job(&writer, decl, job);
        decl = ast_decl_next(decl->next, DECL_JOB);
    }
    for (const struct ir_chain *chain = file->chains; chain != NULL; chain = chain->next)
        write_chain(&writer, chain);
    decl = ast_decl_next(module->ast->decls, DECL_ENUM);
    for (const struct ir_enum *type = file->enums; type != NULL && decl != NULL;
         type = type->next) {
        write_enum(&writer, decl, type);
        decl = ast_decl_next(decl->next, DECL_ENUM);
    }
    for (const struct ir_user *type = file->users; type != NULL; type = type->next)
        write_user(&writer, type);
    for (const struct ir_struct *type = file->structs; type != NULL; type = type->next)
        write_struct(&writer, type);
    if (out->data[out->len - 1] != '\n')
        buf_char(out, '\n');
}
