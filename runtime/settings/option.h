/* settings/option.h - the table of all options of our programs (option.c): each with its variable,
 * kind, bounds and help text. */
#ifndef CULEX_SETTINGS_OPTION_H
#define CULEX_SETTINGS_OPTION_H

#include <stddef.h>

#include "settings/settings.h"

enum culex_option_kind {
    CULEX_OPTION_TEXT,
    CULEX_OPTION_ADDRESS, /* to listen at */
    CULEX_OPTION_QUEUES,
    CULEX_OPTION_OFFERS,
    CULEX_OPTION_NUMBER,
    CULEX_OPTION_DURATION,
    CULEX_OPTION_CHOICE,
    CULEX_OPTION_FLAG,
    CULEX_OPTION_CONFIG,
    CULEX_OPTION_CHECK_CONFIG,
    CULEX_OPTION_DOCTOR,
    CULEX_OPTION_ENDED,
    CULEX_OPTION_ALLOW_EMPTY,
    CULEX_OPTION_HELP,
    CULEX_OPTION_VERSION
};

/* Whose option it is. */
enum culex_option_owner { CULEX_OPTION_OF_WORKER, CULEX_OPTION_OF_ALL, CULEX_OPTION_OF_LIVE };

/* A choice has its words in `value`, as "a|b|c"; the n-th word means the n-th value. */
struct culex_option {
    const char *name;     /* --name */
    const char *variable; /* NULL: command line only */
    enum culex_option_kind kind;
    const char *value; /* how the help names it; the words of a choice */
    size_t offset;     /* in culex_worker_options */
    int64_t min;       /* NUMBER; DURATION in ms */
    int64_t max;
    const char *help;
    enum culex_option_owner owner;
};

/* Where an option's value goes. */
#define CULEX_OPTION_AT(member) offsetof(culex_worker_options, member)

#define CULEX_OPTION_DAY_MS INT64_C(86400000)

/* Bounds of a worker's options, in text and in code: a batch's is CULEX_BATCH_MAX. */
enum { CULEX_OPTION_CONCURRENCY_MAX = 1024, CULEX_OPTION_LEASE_MS_MIN = 200 };
#define CULEX_OPTION_SPAN_MS_MAX CULEX_OPTION_DAY_MS

enum { CULEX_OPTION_MAX = 38 };

extern const struct culex_option culex__options[];
extern const size_t culex__option_count; /* at most CULEX_OPTION_MAX */

bool culex__option_is_for(const struct culex_option *option, enum culex_program program);

/* Those that say where the store is. */
bool culex__option_is_store(const struct culex_option *option);

/* What is said of the store by more than the command line and its variable: see storesettings.h. */
bool culex__option_is_layered(const struct culex_option *option);

bool culex__option_takes_value(const struct culex_option *option);

#endif
