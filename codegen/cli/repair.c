/* repair.c - rounds of fixes, and which of their texts is the best. */
#include "repair.h"

#include <assert.h>

#include "fix.h"
#include "limits.h"

static bool is_better(const struct attempt *a, const struct attempt *b)
{
    return a->errors != b->errors ? a->errors < b->errors : a->warnings < b->warnings;
}

/* The file's own text. */
static void attempt_first(struct attempt *first, const struct source *source)
{
    buf_append(&first->text, "\xef\xbb\xbf", source->skipped);
    buf_append(&first->text, source->text, source->size);
}

/* Judges the text that was compiled, and makes the next of it; false when there is none. */
static bool attempt_next(struct repair *repair, const struct compilation *compilation,
                         const struct module *module)
{
    assert(repair->count < REPAIR_ROUNDS); /* The last round has none after it. */
    struct attempt *now = &repair->attempts[repair->count++];
    now->errors = compilation->sink.errors;
    now->warnings = compilation->sink.warnings;
    if (is_better(now, &repair->attempts[repair->best]))
        repair->best = repair->count - 1;
    if (repair->count == REPAIR_ROUNDS)
        return false;
    buf_append(&now[1].log, now->log.data, now->log.len);
    unsigned fixed = fix_apply(&compilation->sink, module->source, &now[1].text, &now[1].log);
    now[1].fixes = now->fixes + fixed;
    return fixed > 0;
}

/* Compiles one text. False when nothing comes after it; the first of all may not be there. */
static bool round_take(struct repair *repair, const struct cli *cli, const struct overlay *overlays,
                       const char *path)
{
    struct attempt *now = &repair->attempts[repair->count];
    struct compilation compilation;
    compilation_init(&compilation);
    struct overlay own = {.path = path_resolve(&compilation.arena, path), .next = overlays};
    own.text = now->text.data, own.size = now->text.len;
    compilation.overlays = repair->count == 0 ? overlays : &own;
    const struct module *module = cli_load(cli, &compilation, path);
    if (module != NULL && repair->count == 0)
        attempt_first(now, module->source);
    bool is_going_on = module != NULL && attempt_next(repair, &compilation, module);
    compilation_release(&compilation);
    return is_going_on;
}

bool repair_find(struct repair *repair, const struct cli *cli, const struct overlay *overlays,
                 const char *path)
{
    struct cli all = *cli; /* However few errors are shown, as many as can be are counted. */
    struct diag_policy policy = *cli->policy;
    policy.errors_max = LIMIT_ERRORS_MAX;
    all.policy = &policy;
    *repair = (struct repair){0};
    while (round_take(repair, &all, overlays, path)) {
    }
    return repair->count > 0;
}

void repair_release(struct repair *repair)
{
    for (unsigned i = 0; i < REPAIR_ROUNDS; i++) {
        buf_release(&repair->attempts[i].text);
        buf_release(&repair->attempts[i].log);
    }
}
