/* diag.h - what the compiler has to say about a schema.
 *
 * Stages report into a sink; the sink keeps what was said, in order, drops what
 * was said twice and stops at LIMIT_ERRORS. Printing is a separate step, so a
 * new format is a new printer (diag_print.c) and nothing else. */
#ifndef CULEXC_DIAG_H
#define CULEXC_DIAG_H

#include <stdbool.h>
#include <stdio.h>

#include "arena.h"
#include "source.h"
#include "suggest.h"

/* DIAG_OFF stands only in the tables: a warning that is given when -WID asks for it. */
enum diag_severity { DIAG_ERROR, DIAG_WARNING, DIAG_OFF };

/* Three tables, one space of ids: errors and warnings of a schema, rules of style and risk
 * (culexc lint), and what a change breaks (culexc breaking). */
enum diag_id {
#define DIAG(symbol, slug, severity, explanation)               DIAG_##symbol,
#define LINT(symbol, slug, tier, explanation)                   DIAG_##symbol,
#define BREAKING(symbol, slug, category, severity, explanation) DIAG_##symbol,
#include "diag_ids.def"
#include "lint_ids.def"
#include "breaking_ids.def"
#undef DIAG
#undef LINT
#undef BREAKING
    DIAG_COUNT
};

enum diag_table { TABLE_SCHEMA, TABLE_LINT, TABLE_BREAKING };

/* What -W made of the severities; a zeroed one leaves them alone. Positive is yes, negative no,
 * 0 undecided. What is an error by the tables stays one. */
struct diag_policy {
    int shown[DIAG_COUNT];
    int error[DIAG_COUNT];
    bool is_strict;      /* warnings are errors, except those decided otherwise */
    unsigned errors_max; /* 0: LIMIT_ERRORS */
};

/* How sure a fix is; the names are those of rustc. A later one is surer. */
enum diag_applicability {
    FIX_UNSPECIFIED,       /* nobody has thought about it */
    FIX_HAS_PLACEHOLDERS,  /* parts of it are to be replaced by hand */
    FIX_MAYBE_INCORRECT,   /* probably what was meant; it compiles, or leads on */
    FIX_MACHINE_APPLICABLE /* what was meant, for sure: `check --fix` applies it */
};

/* A change of the text that removes the cause: `span` (it may be empty) becomes `text`. */
struct diag_fix {
    struct diag_fix *next;
    struct span span;
    const char *text;
};

/* A second place that explains the first. */
struct diag_note {
    struct diag_note *next;
    struct span span; /* no source: a note without a place */
    const char *text;
};

struct diag {
    struct diag *next;
    enum diag_id id;
    enum diag_severity severity;
    struct span span;
    const char *text;
    const char *help; /* NULL or one sentence */
    struct diag_note *notes;
    struct diag_fix *fixes;                /* all of them together are one fix */
    enum diag_applicability applicability; /* of all of them together */
};

struct diag_sink {
    struct arena *arena;              /* borrowed; holds all texts */
    const struct diag_policy *policy; /* borrowed; NULL: as the tables say */
    struct diag *first;
    struct diag *last;
    struct diag *current; /* takes help and notes; NULL when the last report was dropped */
    unsigned errors;
    unsigned warnings;
    bool is_full;           /* more errors were found than are kept */
    bool has_more_warnings; /* the same of warnings */
    bool has_faults;        /* something was an error by the tables, so that more may be missing */
};

void diag_sink_init(struct diag_sink *sink, struct arena *arena);

void diag_report(struct diag_sink *sink, enum diag_id id, struct span span, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* These two add to the report made last. */
void diag_note(struct diag_sink *sink, struct span span, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
void diag_help(struct diag_sink *sink, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* FIX_MACHINE_APPLICABLE is for a change of keywords or punctuation that has one meaning only: it
 * is applied without asking. What touches a name that somebody declared, an attribute, or what may
 * be a misspelling of something else is FIX_MAYBE_INCORRECT. Of several changes the least sure
 * one counts. */
void diag_fix(struct diag_sink *sink, enum diag_applicability applicability, struct span span,
              const char *format, ...) __attribute__((format(printf, 4, 5)));

/* "machine-applicable" and so on. */
const char *diag_applicability_word(enum diag_applicability applicability);

/* "did you mean 'best'?" of the text at `span`, with a fix that is as sure as the suggestion.
 * Nothing when no word comes close. */
void diag_suggest(struct diag_sink *sink, struct span span, const struct suggestion *suggestion);

/* Sorts by place; call once, before printing. */
void diag_sort(struct diag_sink *sink);

const char *diag_slug(enum diag_id id);
/* What, why and what to do: prose in one line, then maybe an empty line and an example, whose lines
 * are indented by four. */
const char *diag_explanation(enum diag_id id);
/* Bytes of an explanation before its example. */
size_t diag_prose_length(const char *explanation);
enum diag_severity diag_default_severity(enum diag_id id);
enum diag_table diag_table_of(enum diag_id id);
const char *diag_tier(enum diag_id id); /* tier of a lint rule, category of a change; else NULL */

/* The id called `slug`. Without one DIAG_COUNT, and *ret_near (may be NULL) is what it was meant
 * to be. */
enum diag_id diag_find(const char *slug, struct suggestion *ret_near);

#endif
