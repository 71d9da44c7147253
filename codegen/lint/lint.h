/* lint.h - style and risk rules for valid schemas.
 *
 * The rules stand in front/lint_ids.def, each in a tier. */
#ifndef CULEXC_LINT_H
#define CULEXC_LINT_H

#include "check.h"

/* MINIMAL is contained in BASIC, BASIC in STANDARD, STANDARD in STRICT; COMMENTS stands alone. */
enum lint_tier {
    LINT_MINIMAL = 1,
    LINT_BASIC = 2,
    LINT_STANDARD = 4,
    LINT_STRICT = 8,
    LINT_COMMENTS = 16
};

/* The tier called `word` and those in it, as bits; 0 when there is none of that name. */
unsigned lint_tiers_named(const char *word);

/* Offers the names of all tiers to a misspelt one. */
void lint_tiers_offer(struct suggestion *suggestion);

/* What files use of those that they import, so that it is not called unused there. */
struct lint_uses {
    struct map names; /* file and name */
};

void lint_uses_init(struct lint_uses *uses, struct arena *arena);

/* Adds what the files of a compilation, which was checked, use of each other. */
void lint_uses_add(struct lint_uses *uses, const struct compilation *compilation);

/* Reports warnings about `module` alone, not about what it imports. The module was checked and
 * has no errors. `uses` of other files may be NULL. */
void lint_module(struct compilation *compilation, const struct module *module, unsigned tiers,
                 const struct lint_uses *uses);

#endif
