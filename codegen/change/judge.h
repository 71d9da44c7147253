/* judge.h - what the parts of a comparison share: who is compared, and how a finding is told. */
#ifndef CULEXC_JUDGE_H
#define CULEXC_JUDGE_H

#include "change.h"
#include "live.h"

struct judge {
    const struct change *change;
    struct arena scratch;
    struct map seen;     /* pairs of types that were compared */
    const char *version; /* of the params of a history; NULL: the newest that was locked */
    bool is_result;      /* clients read, workers write */
    bool is_metadata;    /* runs of any version read and write it */
    bool is_retired;     /* the new job: only what keeps its runs from ending matters */
    bool is_forgiven;    /* no run of the old version is stored */
    unsigned forgiven;   /* findings that were left out for that */
};

/* Where a finding is shown, what was there before, and who may allow it. */
struct spot {
    struct span span;
    const char *was;                 /* NULL or the old state ... */
    const struct lock_field *before; /* ... which may be that of a field */
    const struct lock_allow *own, *block;
    const struct lock_allow *past_own, *past_block; /* as the lock remembers */
    const struct map *past;                         /* fields of then, by wire; or NULL */
};

/* The fields of a block by their names, and the names that it gave up. */
struct block_names {
    const struct lock_block *block;
    struct map wires, names, reserved, gone;
};

/* Starts a comparison; the caller chooses what is compared, and ends it with judge_release(). */
void judge_init(struct judge *judge, const struct change *change);
void judge_release(struct judge *judge);

/* True when this pair of types, of params or of results, is compared for the first time. */
bool judge_is_new(struct judge *judge, const struct lock_type *before,
                  const struct lock_type *after);

/* What stands behind the package in a qualified name. */
const char *judge_last_part(const char *name);

/* At a job's name. */
struct spot judge_spot(const struct lock_job *job);

/* True when the finding was reported, so that help may be added to it. */
bool judge_report(struct judge *judge, enum diag_id id, const struct spot *spot, const char *format,
                  ...) __attribute__((format(printf, 4, 5)));

/* judge_field.c: all fields of a block, and of the structs in them; `owner` says where removed
 * fields are reported. */
void judge_block(struct judge *judge, const struct lock_block *before,
                 const struct lock_block *after, const struct spot *owner);

/* judge_enum.c: an enum that a field had, and the one that it has; each pair once. */
void judge_enums(struct judge *judge, const struct lock_type *before,
                 const struct lock_type *after);

/* judge_setting.c */
void judge_settings(struct judge *judge, const struct lock_job *before,
                    const struct lock_job *after);

/* judge_type_name.c: types that were renamed, except those in `met` (by the old name), which
 * were reported with the param or result that uses them. */
void judge_type_names(const struct change *change, const struct map *met);

/* judge_chain.c: chains that are gone, and those of other steps. */
void judge_chains(const struct change *change);

/* judge_lost.c: jobs that are on one side only. */
void judge_lost(const struct change *change);

#endif
