#include "setting.h"

#include <assert.h>
#include <inttypes.h>
#include <string.h>

#include "duration.h"
#include "limits.h"

static const struct {
    const char *word;
    bool is_of_job;
} infos[SETTING_COUNT] = {
#define IS_OF_JOB_SETTING                        false
#define IS_OF_JOB_JOB                            true
#define SETTING(symbol, word, place, form, text) [SETTING_##symbol] = {word, IS_OF_JOB_##place},
#include "settings.def"
};

const char *setting_word(enum setting_kind kind)
{
    assert(kind < SETTING_COUNT);
    return infos[kind].word;
}

bool setting_is_of_job(enum setting_kind kind)
{
    return infos[kind].is_of_job;
}

bool setting_may_repeat(enum setting_kind kind)
{
    return kind == SETTING_CONCURRENCY || kind == SETTING_RATE || kind == SETTING_NEEDS;
}

const struct ast_names *setting_by(const struct ast_setting *setting)
{
    switch (setting->kind) {
    case SETTING_UNIQUE:
        return setting->unique.by;
    case SETTING_CONCURRENCY:
    case SETTING_RATE:
    case SETTING_FAIR:
        return setting->limit.by;
    default:
        return NULL;
    }
}

enum { NONE = -1 };

const struct scalar scalars[SCALAR_COUNT + 1] = {
#define SCALAR(symbol, member, form, unset, least, most, what)                                     \
    {#member,     SETTING_##symbol,                                                                \
     FORM_##form, offsetof(struct ir_settings, member),                                            \
     unset,       least,                                                                           \
     most,        what},
#include "settings.def"
    {0},
};

const struct scalar *scalar_of(enum setting_kind kind)
{
    const struct scalar *scalar = scalars;
    while (scalar->key != NULL && scalar->setting != kind)
        scalar++;
    return scalar->key != NULL ? scalar : NULL;
}

int64_t scalar_get(const struct scalar *scalar, const struct ir_settings *settings)
{
    int64_t number;
    memcpy(&number, (const char *)settings + scalar->offset, sizeof(number));
    return number;
}

void scalar_set(const struct scalar *scalar, struct ir_settings *settings, int64_t number)
{
    memcpy((char *)settings + scalar->offset, &number, sizeof(number));
}

const char *scalar_text(struct arena *arena, const struct scalar *scalar,
                        const struct ir_settings *settings)
{
    int64_t number = scalar_get(scalar, settings);
    if (number < 0)
        return "none";
    if (scalar->form == FORM_DURATION)
        return duration_format(arena, number);
    return arena_printf(arena, scalar->form == FORM_SIZE ? "%" PRId64 " bytes" : "%" PRId64,
                        number);
}

struct ir_retry retry_default(bool is_periodic)
{
    return (struct ir_retry){.max = is_periodic ? 0 : 4, /* The next tick is the retry. */
                             .for_ns = -1,
                             .backoff = BACKOFF_POLYNOMIAL,
                             .base_ns = 2 * NS_PER_S,
                             .factor = "2",
                             .cap_ns = -1};
}

struct ir_settings settings_default(bool is_periodic)
{
    struct ir_settings settings = {.retry = retry_default(is_periodic)};
    for (const struct scalar *scalar = scalars; scalar->key != NULL; scalar++)
        scalar_set(scalar, &settings, scalar->unset);
    return settings;
}
