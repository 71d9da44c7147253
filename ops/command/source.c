#include "command/source.h"

#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include <culex/metadata.h>
#include <culex/schedules.h>

#include "command/guess.h"

/* --- which queues ----------------------------------------------------------------------------- */

static bool is_meant_by(const char *word, const char *queue)
{
    return fnmatch(word, queue, FNM_NOESCAPE) == 0;
}

bool ops_source_is_meant(const struct ops *ops, const char *queue)
{
    for (size_t i = 0; i < ops->argument_count; i++) {
        if (is_meant_by(ops->arguments[i], queue))
            return true;
    }
    return ops->argument_count == 0;
}

static culex_status word_check(const char *word, const struct ops_names *names, culex_error *error)
{
    struct ops_guess guess = ops_guess_begin(word, strlen(word));
    for (size_t i = 0; i < names->count; i++) {
        if (is_meant_by(word, names->of[i]))
            return CULEX_OK;
        ops_guess_add(&guess, names->of[i]);
    }
    return ops_fail(error, CULEX_ENOTFOUND, "there is no queue %.64s%s%s%s", word,
                    guess.best != NULL ? "; did you mean " : "",
                    guess.best != NULL ? guess.best : "", guess.best != NULL ? "?" : "");
}

static bool name_add(const char *queue, void *user)
{
    struct ops_names *names = user;
    names->of = ops_alloc(names->of, (names->count + 1) * sizeof *names->of);
    names->of[names->count++] = ops_copy(queue, strlen(queue));
    return true;
}

culex_status ops_source_names(struct ops *ops, culex_client *client, struct ops_names *ret_names,
                              culex_error *error)
{
    *ret_names = (struct ops_names){.of = NULL};
    culex_status status = culex_client_queues(client, name_add, ret_names, error);
    for (size_t i = 0; i < ops->argument_count && status == CULEX_OK; i++)
        status = word_check(ops->arguments[i], ret_names, error);
    size_t kept = 0;
    for (size_t i = 0; i < ret_names->count; i++) {
        if (ops_source_is_meant(ops, ret_names->of[i]))
            ret_names->of[kept++] = ret_names->of[i];
        else
            free(ret_names->of[i]);
    }
    ret_names->count = kept;
    return status;
}

/* --- one of them ------------------------------------------------------------------------------ */

static bool limit_add(const culex_limit_info *limit, void *user)
{
    struct ops_source *source = user;
    source->limits = ops_alloc(source->limits, (source->limit_count + 1) * sizeof *source->limits);
    source->limits[source->limit_count++] =
        (struct ops_source_limit){.name = ops_copy(limit->name, strlen(limit->name)),
                                  .kind = limit->kind,
                                  .declared = limit->declared,
                                  .set = limit->is_set ? limit->in_force : (culex_limit_value){0}};
    return true;
}

static culex_status limits_read(struct ops_source *source, culex_error *error)
{
    for (size_t i = 0; i < source->limit_count; i++)
        free(source->limits[i].name);
    source->limit_count = 0;
    culex_status status =
        culex_client_limits(source->client, source->queue, limit_add, source, error);
    return status == CULEX_ENOTFOUND ? CULEX_OK : status;
}

static bool metadata_count(const culex_metadata_info *metadata, void *user)
{
    struct ops_source *source = user;
    (void)metadata;
    source->metadata++;
    return true;
}

static bool schedule_count(const culex_schedule_info *schedule, void *user)
{
    struct ops_source *source = user;
    source->schedules += schedule->is_paused;
    return true;
}

culex_status ops_source_read(culex_client *client, const char *queue, struct ops_source *ret_source,
                             culex_error *error)
{
    *ret_source = (struct ops_source){.client = client, .queue = queue};
    culex_status status = culex_client_stats(client, queue, &ret_source->stats, error);
    if (status == CULEX_OK)
        status = limits_read(ret_source, error);
    if (status == CULEX_OK)
        status = culex_client_metadata(client, queue, metadata_count, ret_source, error);
    if (status == CULEX_OK)
        status = culex_client_schedules(client, queue, schedule_count, ret_source, error);
    return status;
}

void ops_source_free(struct ops_source *source)
{
    for (size_t i = 0; i < source->limit_count; i++)
        free(source->limits[i].name);
    free(source->limits);
    source->limits = NULL;
    source->limit_count = 0;
}

uint64_t ops_source_count(const struct ops_source *source, unsigned states)
{
    uint64_t count = 0;
    for (int state = 0; state < CULEX_RUN_STATE_COUNT; state++)
        count += (states & CULEX_LIST_STATE(state)) != 0 ? source->stats.count[state] : 0;
    return count;
}

/* --- its runs --------------------------------------------------------------------------------- */

static bool limits_name(const struct ops_source *source, struct ops_record *record)
{
    for (size_t i = 0; i < record->limit_count; i++) {
        size_t at = 0;
        while (at < source->limit_count &&
               strcmp(source->limits[at].name, record->limits[i].name) != 0)
            at++;
        if (at == source->limit_count)
            return false;
        record->limits[i].kind = source->limits[at].kind;
        record->limits[i].value = source->limits[at].declared;
    }
    return true;
}

culex_status ops_source_run(struct ops_source *source, culex_uuid id, struct ops_record *ret_record,
                            culex_run_info **ret_info, culex_error *error)
{
    culex_run_info *info = NULL;
    culex_status status = culex_client_get(source->client, source->queue, id, &info, error);
    *ret_info = info;
    if (status != CULEX_OK)
        return status;
    *ret_record = (struct ops_record){.run = *info};
    bool is_good = ops_record_limits_cut(info->limits, ret_record);
    if (is_good && !limits_name(source, ret_record)) {
        status = limits_read(source, error); /* one that came with a newer run */
        is_good = status == CULEX_OK && limits_name(source, ret_record);
    }
    if (status == CULEX_OK && !is_good)
        return ops_fail(error, CULEX_ECORRUPT, "its limits cannot be read; culex fsck tells more");
    return status;
}

enum { PAGE = 100 };

struct page {
    culex_uuid ids[PAGE];
    size_t count;
};

static bool id_add(const culex_run_info *run, void *user)
{
    struct page *page = user;
    page->ids[page->count++] = run->id;
    return page->count < PAGE;
}

culex_status ops_source_walk(const struct ops_source *source, culex_run_state state,
                             ops_source_page page, void *user, culex_error *error)
{
    culex_list_cursor cursor = {.place = 0};
    culex_status status;
    do {
        struct page ids = {.count = 0};
        status = culex_client_list(source->client, source->queue, state, &cursor, PAGE, id_add,
                                   &ids, error);
        if (status == CULEX_OK && ids.count > 0)
            status = page(user, ids.ids, ids.count, error);
    } while (status == CULEX_OK && cursor.place != 0);
    return status;
}
