#include "command/job_name.h"

#include <stdlib.h>
#include <string.h>

#include <culex/figures.h>
#include <culex/schemas.h>

#include "command/guess.h"

static bool any_see(const culex_run_info *run, void *user)
{
    bool *is_there = user;
    *is_there = run != NULL;
    return false;
}

/* Whether a run has the name; *ret_is_sure: it is known. */
static culex_status runs_ask(struct ops *ops, const char *queue, const char *job, bool is_patient,
                             bool *ret_is_there, bool *ret_is_sure, culex_error *error)
{
    const culex_list_filter filter = {.job = job};
    culex_list_cursor cursor = {.place = 0};
    culex_status status;
    *ret_is_there = false;
    do
        status = culex_client_find(ops->client, queue, &filter, &cursor, 1, any_see, ret_is_there,
                                   error);
    while (status == CULEX_OK && is_patient && cursor.place != 0 && !*ret_is_there);
    *ret_is_sure = status == CULEX_OK && (*ret_is_there || cursor.place == 0);
    return status;
}

/* ---- a name without its package ----------------------------------------------------------------
 */

static bool is_end(const char *given, const char *name)
{
    size_t len = strlen(given), whole = strlen(name);
    return whole > len && name[whole - len - 1] == '.' && strcmp(name + whole - len, given) == 0;
}

/* The name of the one schema that ends so. NULL: none does, or one has the name itself. */
static culex_status end_find(const culex_schemas *schemas, const char *given, const char **ret_name,
                             culex_error *error)
{
    const char *other = NULL;
    *ret_name = NULL;
    for (size_t i = 0; i < schemas->count; i++) {
        const char *name = schemas->items[i].wire;
        if (strcmp(name, given) == 0) {
            *ret_name = NULL;
            return CULEX_OK;
        }
        if (!is_end(given, name) || (*ret_name != NULL && strcmp(*ret_name, name) == 0))
            continue;
        if (*ret_name != NULL)
            other = name;
        else
            *ret_name = name;
    }
    return other == NULL ? CULEX_OK
                         : ops_usage(error, "job %.100s: %.100s or %.100s? Say which", given,
                                     *ret_name, other);
}

culex_status ops_job_name_read(struct ops *ops, const char *queue, const char *given,
                               bool is_patient, char **ret_stored, bool *ret_is_sure,
                               culex_error *error)
{
    culex_schemas *schemas = NULL;
    const char *name = NULL;
    bool is_there = false;
    *ret_stored = NULL;
    *ret_is_sure = true;
    culex_status status = culex_client_schemas(ops->client, queue, &schemas, error);
    if (status == CULEX_OK)
        status = end_find(schemas, given, &name, error);
    if (status == CULEX_OK && name != NULL)
        status = runs_ask(ops, queue, given, is_patient, &is_there, ret_is_sure, error);
    if (status == CULEX_OK && (name == NULL || is_there))
        name = given;
    if (status == CULEX_OK)
        *ret_stored = ops_copy(name, strlen(name));
    culex_schemas_free(schemas);
    return status;
}

culex_status ops_job_name_take(struct ops *ops, const char *queue, culex_error *error)
{
    bool is_sure;
    if (ops->options.job == NULL)
        return CULEX_OK;
    culex_status status =
        ops_job_name_read(ops, queue, ops->options.job, true, &ops->job, &is_sure, error);
    if (status == CULEX_OK)
        ops->options.job = ops->job;
    return status;
}

/* ---- a name that nothing has -------------------------------------------------------------------
 */

struct search {
    const char *given;
    char *best; /* owned: the nearest name; NULL for none */
    size_t distance;
    bool is_known, has_schemas;
};

static void name_see(struct search *search, const char *name)
{
    struct ops_guess guess = ops_guess_begin(search->given, strlen(search->given));
    search->is_known |= strcmp(name, search->given) == 0 || is_end(search->given, name);
    ops_guess_add(&guess, name);
    if (guess.best == NULL || (search->best != NULL && guess.distance >= search->distance))
        return;
    free(search->best);
    search->best = ops_copy(name, strlen(name));
    search->distance = guess.distance;
}

static bool figures_see(const culex_figures *figures, void *user)
{
    if (figures->job != NULL && figures->job[0] != '\0')
        name_see(user, figures->job);
    return true;
}

static culex_status queue_see(struct ops *ops, const char *queue, struct search *search,
                              culex_error *error)
{
    culex_schemas *schemas = NULL;
    bool is_there = false, is_sure = true;
    culex_status status = culex_client_schemas(ops->client, queue, &schemas, error);
    for (size_t i = 0; status == CULEX_OK && i < schemas->count; i++)
        name_see(search, schemas->items[i].wire);
    search->has_schemas |= status == CULEX_OK && schemas->count > 0;
    culex_schemas_free(schemas);
    if (status == CULEX_OK && !search->is_known)
        status = culex_client_figures_by_job(ops->client, queue, CULEX_FIGURES_HOURS_MAX,
                                             figures_see, search, error);
    if (status == CULEX_OK && !search->is_known)
        status = runs_ask(ops, queue, search->given, false, &is_there, &is_sure, error);
    search->is_known |= is_there || !is_sure;
    return status == CULEX_ENOTFOUND ? CULEX_OK : status;
}

culex_status ops_job_name_check(struct ops *ops, const char *const *queues, size_t count,
                                const char *job, culex_error *error)
{
    struct search search = {.given = job};
    culex_status status = CULEX_OK;
    for (size_t i = 0; i < count && status == CULEX_OK && !search.is_known; i++)
        status = queue_see(ops, queues[i], &search, error);
    if (status == CULEX_OK && search.has_schemas && !search.is_known)
        status =
            ops_usage(error, "job: %s%.64s has a job %.100s%s%.100s%s",
                      count == 1 ? "nothing in queue " : "no queue", count == 1 ? queues[0] : "",
                      job, search.best != NULL ? "; did you mean " : "",
                      search.best != NULL ? search.best : "", search.best != NULL ? "?" : "");
    free(search.best);
    return status;
}
