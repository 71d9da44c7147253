/* check_chain.c - chains: what a step returns has to be what the next one takes.
 *
 * A value fits where each that the result may hold is one that the param takes, and where it stays
 * as hidden as it was. What a result has and the params behind it do not is dropped; that is told
 * where a name is close to that of a param which gets nothing. */
#include "checker.h"

#include <string.h>

#include "cname.h"
#include "limits.h"
#include "suggest.h"

/* Of less letters than this, two names that differ in two are two words. */
enum { SHORT_NAME = 6 };

/* Two steps, one behind the other. */
struct link {
    struct checker *checker;
    struct span span; /* of the later step */
    const struct ir_job *from, *to;
};

static const struct ir_field *field_find(const struct ir_field *fields, const char *name)
{
    while (fields != NULL && strcmp(fields->name, name) != 0)
        fields = fields->next;
    return fields;
}

/* As it is declared: "string", "shop.lang[]", "int32[<=4]". */
static const char *type_text(struct arena *arena, const struct ir_field *field)
{
    const char *name = field->enumeration != NULL ? field->enumeration->name
                       : field->structure != NULL ? field->structure->name
                       : field->user != NULL      ? field->user->name
                                                  : ir_kinds[field->kind].word;
    if (field->shape == SHAPE_SINGLE)
        return name;
    if (field->count < 0)
        return arena_printf(arena, "%s[]", name);
    return arena_printf(arena, "%s[%s%lld]", name, field->shape == SHAPE_LIST ? "<=" : "",
                        (long long)field->count);
}

static bool is_same_type(const struct ir_field *field, const struct ir_field *param)
{
    return field->kind == param->kind && field->enumeration == param->enumeration &&
           field->structure == param->structure && field->user == param->user &&
           field->shape == param->shape &&
           (field->shape != SHAPE_ARRAY || field->count == param->count);
}

/* ---- limits: -1 and VALUE_NONE stand for none ---- */

static bool is_within_most(int64_t most, int64_t allowed)
{
    return allowed < 0 || (most >= 0 && most <= allowed);
}

static bool is_within_least(int64_t least, int64_t allowed)
{
    return allowed <= 0 || least >= allowed;
}

static bool is_within_min(const struct ir_value *min, const struct ir_value *allowed)
{
    return allowed->kind == VALUE_NONE ||
           (min->kind != VALUE_NONE && value_compare(min, allowed) >= 0);
}

static bool is_within_max(const struct ir_value *max, const struct ir_value *allowed)
{
    return allowed->kind == VALUE_NONE ||
           (max->kind != VALUE_NONE && value_compare(max, allowed) <= 0);
}

/* NULL: the param takes all that the field may hold. */
static const char *limit_broken(struct arena *arena, const struct ir_field *field,
                                const struct ir_field *param)
{
    if (field->is_optional && param->is_required)
        return "it may be absent";
    if (!is_within_min(&field->min, &param->min))
        return "it may be below the param's [[min]]";
    if (!is_within_max(&field->max, &param->max))
        return "it may be above the param's [[max]]";
    if (!is_within_least(field->min_len, param->min_len))
        return arena_printf(arena, "it may have less than %lld byte%s", (long long)param->min_len,
                            param->min_len == 1 ? "" : "s");
    if (!is_within_most(field->max_len, param->max_len))
        return arena_printf(arena, "it may have more than %lld byte%s", (long long)param->max_len,
                            param->max_len == 1 ? "" : "s");
    if (field->shape == SHAPE_LIST && !is_within_most(field->count, param->count))
        return arena_printf(arena, "it may have more than %lld elements", (long long)param->count);
    return NULL;
}

/* ---- reports ---- */

static void note_both(const struct link *link, const struct ir_field *field,
                      const struct ir_field *param)
{
    diag_note(link->checker->sink, param->span, "the param of '%s' is here", link->to->name);
    diag_note(link->checker->sink, field->span, "what '%s' returns is here", link->from->name);
}

static void report_type(const struct link *link, const struct ir_field *field,
                        const struct ir_field *param)
{
    struct checker *checker = link->checker;
    diag_report(checker->sink, DIAG_CHAIN_UNFIT, link->span,
                "'%s' returns '%s' as '%.200s', and '%s' takes it as '%.200s'", link->from->name,
                field->name, type_text(checker->arena, field), link->to->name,
                type_text(checker->arena, param));
    note_both(link, field, param);
    diag_help(checker->sink, "give both one type, or another name to one of them");
}

static void check_limits(const struct link *link, const struct ir_field *field,
                         const struct ir_field *param)
{
    struct diag_sink *sink = link->checker->sink;
    const char *limit = limit_broken(link->checker->arena, field, param);
    if (limit == NULL)
        return;
    diag_report(sink, DIAG_CHAIN_UNFIT, link->span, "'%s' may return a '%s' that '%s' refuses: %s",
                link->from->name, field->name, link->to->name, limit);
    note_both(link, field, param);
    diag_help(sink,
              "say the same in 'returns' of '%s', so that such a result is refused where it "
              "is set, or take it from the param",
              link->from->name);
}

/* What was hidden stays so. */
static void check_hidden(const struct link *link, const struct ir_field *field,
                         const struct ir_field *param)
{
    const char *mark = field->is_encrypted && !param->is_encrypted ? "encrypted"
                       : field->is_secret && !param->is_secret     ? "secret"
                                                                   : NULL;
    if (mark == NULL)
        return;
    diag_report(link->checker->sink, DIAG_CHAIN_EXPOSED, link->span,
                "'%s' is %s where '%s' returns it, and no longer where '%s' takes it", field->name,
                mark, link->from->name, link->to->name);
    note_both(link, field, param);
    diag_help(link->checker->sink, "mark the param [[%s]]", mark);
}

static void report_missing(const struct link *link, const struct ir_field *param)
{
    struct checker *checker = link->checker;
    struct suggestion near = suggestion_start(param->name);
    for (const struct ir_field *at = link->from->result; at != NULL; at = at->next) {
        if (field_find(link->to->params, at->name) == NULL)
            suggestion_offer(&near, at->name);
    }
    diag_report(checker->sink, DIAG_CHAIN_UNFIT, link->span,
                "'%s' needs '%s', which '%s' does not return", link->to->name, param->name,
                link->from->name);
    diag_note(checker->sink, param->span, "the param is here");
    if (near.best != NULL)
        diag_note(checker->sink, field_find(link->from->result, near.best)->span,
                  "did you mean '%s'? it needs the name of the param", near.best);
    else
        diag_note(checker->sink, link->from->decl->returns.span, "what '%s' returns is here",
                  link->from->name);
    diag_help(checker->sink,
              "add '%.200s %s;' to 'returns' of '%s', or give the param a default or 'optional'",
              type_text(checker->arena, param), param->name, link->from->name);
}

/* A type that is not known was reported where it stands. */
static bool is_poisoned(const struct ir_field *field)
{
    return field->kind == IR_KIND_COUNT;
}

static void check_param(const struct link *link, const struct ir_field *param)
{
    const struct ir_field *field = field_find(link->from->result, param->name);
    if (is_poisoned(param) || (field != NULL && is_poisoned(field)))
        return;
    if (field == NULL && param->is_required)
        report_missing(link, param);
    if (field == NULL)
        return;
    if (!is_same_type(field, param)) {
        report_type(link, field, param);
        return;
    }
    check_limits(link, field, param);
    check_hidden(link, field, param);
}

static void check_dropped(const struct link *link, const struct ir_field *field)
{
    struct suggestion near = suggestion_start(field->name);
    if (field_find(link->to->params, field->name) != NULL)
        return;
    for (const struct ir_field *at = link->to->params; at != NULL; at = at->next) {
        if (!at->is_required && field_find(link->from->result, at->name) == NULL)
            suggestion_offer(&near, at->name);
    }
    if (near.best == NULL || (near.distance > 1 && strlen(field->name) < SHORT_NAME))
        return;
    diag_report(link->checker->sink, DIAG_CHAIN_DROPPED, link->span,
                "'%s' of what '%s' returns goes nowhere: did you mean the param '%s'?", field->name,
                link->from->name, near.best);
    note_both(link, field, field_find(link->to->params, near.best));
    diag_help(link->checker->sink, "a value goes on under one name: give both the same");
}

static void check_link(const struct link *link)
{
    struct diag_sink *sink = link->checker->sink;
    if (link->from->decl->returns.span.source == NULL) {
        diag_report(sink, DIAG_CHAIN_NO_RESULT, link->span,
                    "'%s' cannot follow '%s', which returns nothing", link->to->name,
                    link->from->name);
        diag_note(sink, link->from->decl->name.span, "'%s' is here", link->from->name);
        diag_help(sink, "add 'returns { ... }' to '%s', with the params of '%s'", link->from->name,
                  link->to->name);
        return;
    }
    for (const struct ir_field *at = link->to->params; at != NULL; at = at->next)
        check_param(link, at);
    for (const struct ir_field *at = link->from->result; at != NULL; at = at->next)
        check_dropped(link, at);
}

/* ---- steps ---- */

static void report_unknown(struct checker *checker, const struct ast_name *name)
{
    struct suggestion near = suggestion_start(name->text);
    if (checker->module->is_broken) /* It may be declared where a syntax error was. */
        return;
    for (const struct ast_decl *at = checker->module->ast->decls; at != NULL; at = at->next) {
        if (at->kind == DECL_JOB)
            suggestion_offer(&near, at->name.text);
    }
    near.is_doubtful = true;
    diag_report(checker->sink, DIAG_UNKNOWN_JOB, name->span, "unknown job '%.200s'", name->text);
    if (near.best != NULL)
        diag_suggest(checker->sink, name->span, &near);
    else if (strchr(name->text + 1, '.') != NULL)
        diag_help(checker->sink, "add 'import \"FILE.job\";' of the file that declares it");
}

/* The job that a step names; NULL after a report, or when it was refused. */
static const struct ir_job *step_resolve(struct checker *checker, const struct ast_name *name)
{
    const struct symbol *symbol = checker_find(checker, name->text);
    if (symbol == NULL) {
        report_unknown(checker, name);
        return NULL;
    }
    if (symbol->decl->kind != DECL_JOB) {
        diag_report(checker->sink, DIAG_UNKNOWN_JOB, name->span, "'%s' is a %s, not a job",
                    symbol->qualified, ast_decl_word(symbol->decl->kind));
        diag_note(checker->sink, symbol->decl->name.span, "declared here");
        return NULL;
    }
    const struct ir_job *job = symbol->module->ir != NULL ? symbol->module->ir->jobs : NULL;
    while (job != NULL && job->decl != symbol->decl)
        job = job->next;
    return job;
}

/* A run that another one stands for would take the rest of the chain with it. */
static void check_step(struct checker *checker, const struct ast_name *name,
                       const struct ir_job *job)
{
    if (job->is_retired) {
        diag_report(checker->sink, DIAG_CHAIN_STEP, name->span,
                    "'%s' is retired: its runs end dead, and a chain with them", job->name);
        diag_note(checker->sink, job->decl->name.span, "'%s' is here", job->name);
    }
    if (job->settings.unique == NULL)
        return;
    diag_report(checker->sink, DIAG_CHAIN_STEP, name->span,
                "'%s' is unique: where another run stands for one of a chain, the chain would end",
                job->name);
    diag_note(checker->sink,
              job->settings.set[SETTING_UNIQUE] != NULL ? job->settings.set[SETTING_UNIQUE]->span
                                                        : job->decl->name.span,
              "'unique' is here");
    diag_help(checker->sink, "take a job without it for the chain");
}

/* The steps that are jobs; each is compared with the one written before it. */
static struct ir_step *check_steps(struct checker *checker, const struct ast_decl *decl)
{
    struct ir_step *first = NULL;
    struct ir_step **end = &first;
    const struct ir_job *before = NULL;
    unsigned count = 0;
    for (const struct ast_names *at = decl->steps; at != NULL; at = at->next) {
        const struct ir_job *job = step_resolve(checker, &at->name);
        if (++count == CULEX_CHAIN_STEPS_MAX + 1)
            diag_report(checker->sink, DIAG_TOO_MANY, at->name.span, "a chain has at most %d steps",
                        CULEX_CHAIN_STEPS_MAX);
        if (job != NULL)
            check_step(checker, &at->name, job);
        if (job != NULL && before != NULL)
            check_link(&(struct link){checker, at->name.span, before, job});
        before = job;
        if (job == NULL)
            continue;
        *end = arena_alloc(checker->arena, sizeof(**end));
        (*end)->job = job;
        end = &(*end)->next;
    }
    if (count < 2 && !checker->module->is_broken)
        diag_report(checker->sink, DIAG_CHAIN_SHORT, decl->name.span,
                    "'%s' has %s: a chain has two steps at the least", decl->name.text,
                    count == 0 ? "no step" : "one step");
    return first;
}

static struct ir_chain *check_chain(struct checker *checker, const struct ast_decl *decl)
{
    struct ir_chain *chain = arena_alloc(checker->arena, sizeof(*chain));
    chain->name = decl->name.text;
    chain->qualified = checker_qualify(checker, checker->module->package, chain->name);
    chain->doc = decl->doc;
    chain->line = span_line(decl->name.span);
    chain->decl = decl;
    cname_fill(checker->arena, checker->module->package, decl, chain);
    chain->steps = check_steps(checker, decl);
    return chain;
}

void check_chains(struct checker *checker)
{
    struct ir_chain **end = &checker->module->ir->chains;
    for (const struct ast_decl *decl = checker->module->ast->decls; decl; decl = decl->next) {
        if (decl->kind != DECL_CHAIN || checker_symbol(checker, decl) == NULL)
            continue;
        *end = check_chain(checker, decl);
        end = &(*end)->next;
    }
}
