/* setting.h - the table of settings (settings.def), and the numbers that they give.
 *
 * A setting is added there. One that is a single number needs nothing else in the compiler; one
 * of another form needs its part of the tree (ast.h), a parser (parse_setting.c), its part of the
 * model (ir.h) and a check (check_setting.c). */
#ifndef CULEXC_SETTING_H
#define CULEXC_SETTING_H

#include <stddef.h>

#include "ir.h"

#define NS_PER_MS INT64_C(1000000)
#define NS_PER_S  INT64_C(1000000000)

const char *setting_word(enum setting_kind kind);

/* Belongs to one job, and has no place in `defaults`. */
bool setting_is_of_job(enum setting_kind kind);

/* A job may have several, each by other params, or of another name. */
bool setting_may_repeat(enum setting_kind kind);

/* What a job has that sets nothing. `queue` is NULL: it is the job's own. */
struct ir_settings settings_default(bool is_periodic);
struct ir_retry retry_default(bool is_periodic);

/* The params by which it counts, or NULL. */
const struct ast_names *setting_by(const struct ast_setting *setting);

enum scalar_form { FORM_COUNT, FORM_DURATION, FORM_SIZE };

/* Places in scalars[], by the member. */
enum scalar_place {
#define SCALAR(symbol, member, form, unset, least, most, what) SCALAR_##member,
#include "settings.def"
    SCALAR_COUNT
};

/* A number that a setting gives. */
struct scalar {
    const char *key; /* in the model */
    enum setting_kind setting;
    enum scalar_form form;
    size_t offset;              /* in struct ir_settings */
    int64_t unset, least, most; /* `unset` -1: not set, there is no limit */
    const char *what;           /* in complaints about counts and sizes */
};

/* Ends with a zeroed one. */
extern const struct scalar scalars[SCALAR_COUNT + 1];

/* The first number that a setting gives, or NULL. */
const struct scalar *scalar_of(enum setting_kind kind);

int64_t scalar_get(const struct scalar *scalar, const struct ir_settings *settings);
void scalar_set(const struct scalar *scalar, struct ir_settings *settings, int64_t number);

/* As it would be written: "1h30m", "none". */
const char *scalar_text(struct arena *arena, const struct scalar *scalar,
                        const struct ir_settings *settings);

#endif
