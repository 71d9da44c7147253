/* check_job.c - jobs: params, result, names in the store and in C. */
#include "checker.h"

#include "cname.h"
#include "fingerprint.h"

/* The first run finds nothing stored. */
static void check_metadata(struct checker *checker, const struct ast_decl *decl, struct ir_job *job)
{
    job->metadata = check_fields(checker, job->metadata_c, &decl->metadata, HOME_METADATA);
    check_depth(checker, job->metadata, decl->metadata.span);
    if (job->metadata == NULL && !checker->module->is_broken)
        diag_report(checker->sink, DIAG_EMPTY_TYPE, decl->metadata.span,
                    "'%s' keeps nothing: leave 'metadata' out", job->name);
    for (const struct ir_field *at = job->metadata; at != NULL; at = at->next) {
        if (at->is_required)
            diag_report(checker->sink, DIAG_METADATA_REQUIRED, at->span,
                        "'%s' has neither a default nor 'optional', and the first run finds none",
                        at->name);
    }
}

static struct ir_job *check_job(struct checker *checker, const struct ast_decl *decl,
                                const struct ir_settings *defaults)
{
    const char *package = checker->module->package;
    struct ir_job *job = arena_alloc(checker->arena, sizeof(*job));
    job->name = decl->name.text;
    job->qualified = checker_qualify(checker, package, job->name);
    job->doc = decl->doc;
    job->line = span_line(decl->name.span);
    job->attrs = decl->attrs;
    job->decl = decl;
    job->was = (struct literal *)(uintptr_t)attr_was(decl->attrs);
    job->wire = checker_qualify(checker, package, job->was != NULL ? job->was->text : job->name);
    cname_fill(checker->arena, package, decl, job);
    check_job_attrs(checker, job);
    job->params = check_fields(checker, job->c, &decl->fields, HOME_PARAMS);
    check_depth(checker, job->params, decl->fields.span);
    if (decl->returns.span.source != NULL) {
        job->result = check_fields(checker, job->result_c, &decl->returns, HOME_RETURNS);
        check_depth(checker, job->result, decl->returns.span);
        if (job->result == NULL && !checker->module->is_broken)
            diag_report(checker->sink, DIAG_EMPTY_TYPE, decl->returns.span,
                        "'%s' returns nothing: leave 'returns' out", job->name);
    }
    if (decl->metadata.span.source != NULL)
        check_metadata(checker, decl, job);
    check_job_settings(checker, job, decl, defaults);
    job->fingerprint = fingerprint_fields(job->params);
    return job;
}

/* Two jobs of one module must not share a name on the wire either. */
static void check_job_wire(struct checker *checker, struct map *wires, const struct ast_decl *decl,
                           const struct ir_job *job)
{
    const struct ast_decl *other = map_add(wires, job->wire, (void *)(uintptr_t)decl);
    if (other == NULL)
        return;
    diag_report(checker->sink, DIAG_DUPLICATE_WIRE_NAME, decl->name.span,
                "'%s' and '%s' are both '%s' in the queue", job->name, other->name.text, job->wire);
    diag_note(checker->sink, other->name.span, "'%s' is here", other->name.text);
}

void check_jobs(struct checker *checker, const struct ir_settings *defaults)
{
    struct ir_job **end = &checker->module->ir->jobs;
    struct map wires;
    map_init(&wires, checker->arena);
    for (const struct ast_decl *decl = checker->module->ast->decls; decl; decl = decl->next) {
        if (decl->kind != DECL_JOB || checker_symbol(checker, decl) == NULL)
            continue;
        *end = check_job(checker, decl, defaults);
        check_job_wire(checker, &wires, decl, *end);
        end = &(*end)->next;
    }
}
