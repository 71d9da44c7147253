#include "store/list_filter.h"

#include <string.h>

culex_run_state culex__filter_state(const culex_list_filter *filter)
{
    for (unsigned state = 0; state < CULEX_RUN_STATE_COUNT; state++) {
        if (filter->states == CULEX_LIST_STATE(state))
            return (culex_run_state)state;
    }
    return CULEX_LIST_ANY;
}

bool culex__filter_has_state(const culex_list_filter *filter, culex_run_state state)
{
    return filter->states == 0 || (filter->states & CULEX_LIST_STATE(state)) != 0;
}

/* Up: a run of that ms was enqueued at its beginning, as far as anybody knows. */
static int64_t whole_ms(culex_time at)
{
    return at / CULEX_MILLISECOND + (at % CULEX_MILLISECOND > 0);
}

int64_t culex__filter_since_ms(const culex_list_filter *filter)
{
    return filter->has_since ? whole_ms(filter->since) : 0;
}

int64_t culex__filter_before_ms(const culex_list_filter *filter)
{
    return filter->has_before ? whole_ms(filter->before) : CULEX_FILTER_END_MS;
}

static bool has_tag(const char *tags, const char *tag)
{
    size_t len = strlen(tag);
    for (const char *at = tags; at != NULL; at = strchr(at, ',')) {
        at += *at == ',';
        if (strncmp(at, tag, len) == 0 && (at[len] == ',' || at[len] == '\0'))
            return true;
    }
    return false;
}

bool culex__filter_takes(const culex_list_filter *filter, const char *job, const char *tags,
                         const char *error_text, int64_t created_at_ms)
{
    if (created_at_ms < culex__filter_since_ms(filter) ||
        created_at_ms >= culex__filter_before_ms(filter))
        return false;
    return (filter->job == NULL || (job != NULL && strcmp(job, filter->job) == 0)) &&
           (filter->tag == NULL || has_tag(tags, filter->tag)) &&
           (filter->error_part == NULL ||
            (error_text != NULL && strstr(error_text, filter->error_part) != NULL));
}
