#include "linter.h"

#include <assert.h>

static const unsigned tier_of[DIAG_COUNT] = {
#define LINT(symbol, slug, tier, explanation) [DIAG_##symbol] = LINT_##tier,
#include "lint_ids.def"
#undef LINT
};

bool linter_seeks(enum diag_id id, const void *context)
{
    const struct linter *linter = context;
    const struct diag_policy *policy = linter->sink->policy;
    return (tier_of[id] & linter->tiers) != 0 ||
           (tier_of[id] != 0 && policy != NULL && policy->shown[id] > 0);
}

bool lint_report(struct linter *linter, enum diag_id id, struct span span, const char *format, ...)
{
    va_list args;
    assert(tier_of[id] != 0); /* or nobody could ask for it */
    if (!linter_seeks(id, linter))
        return false;
    va_start(args, format);
    diag_report(linter->sink, id, span, "%s", arena_vprintf(linter->arena, format, args));
    va_end(args);
    return true;
}
