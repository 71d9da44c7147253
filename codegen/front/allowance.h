/* allowance.h - what a source's comments keep quiet: found by line and id. */
#ifndef CULEXC_ALLOWANCE_H
#define CULEXC_ALLOWANCE_H

#include "diag.h"

/* One id of one comment. */
struct allowance {
    struct allowance *next;
    struct allowance *same; /* a further one of this id on this line */
    enum diag_id id;
    struct span span;  /* of the id */
    struct span whole; /* of the comment */
    uint32_t line;     /* that it covers */
    bool is_used;
};

/* Adds one to those of a source, whose map was initialised. */
void allowance_keep(struct arena *arena, struct source *source, struct allowance *allowance);

/* Whether a warning at `span` is to be kept quiet; the comment counts as used then. */
bool allowance_covers(struct span span, enum diag_id id);

#endif
