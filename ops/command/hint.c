/* ops/command/hint.c - a job or a tag that nobody has.
 *
 * To the store both are no mistake: a job whose runs are all forgotten has none. So the exit status
 * stays what it is, and the user is told. */
#include "command/hint.h"

#include <stdlib.h>
#include <string.h>

#include <culex/figures.h>
#include <culex/schemas.h>

#include "command/guess.h"
#include "command/print.h"

/* Names that the queue knows, the nearest to what was given among them. */
struct search {
    const char *given;
    char *best;  /* owned */
    char *other; /* owned: any name, for want of a near one */
    size_t distance;
    bool is_known;
};

static void name_see(struct search *search, const char *name)
{
    struct ops_guess guess = ops_guess_begin(search->given, strlen(search->given));
    search->is_known |= strcmp(name, search->given) == 0;
    ops_guess_add(&guess, name);
    if (guess.best != NULL && (search->best == NULL || guess.distance < search->distance)) {
        free(search->best);
        search->best = ops_copy(name, strlen(name));
        search->distance = guess.distance;
    }
    if (search->other == NULL)
        search->other = ops_copy(name, strlen(name));
}

static bool figures_see(const culex_figures *figures, void *user)
{
    if (figures->job != NULL && figures->job[0] != '\0')
        name_see(user, figures->job);
    return true;
}

static bool run_see(const culex_run_info *run, void *user)
{
    name_see(user, run->job);
    return true;
}

static bool tags_see(const culex_run_info *run, void *user)
{
    for (const char *tag = run->tags; *tag != '\0';) {
        size_t len = strcspn(tag, ",");
        char *name = ops_copy(tag, len);
        name_see(user, name);
        free(name);
        tag += len + (tag[len] == ',');
    }
    return true;
}

static bool any_see(const culex_run_info *run, void *user)
{
    bool *is_there = user;
    *is_there = run != NULL;
    return false;
}

static culex_status any_find(struct ops *ops, const char *queue, const culex_list_filter *filter,
                             bool *ret_is_there, culex_error *error)
{
    culex_list_cursor cursor = {.place = 0};
    culex_status status;
    *ret_is_there = false;
    do
        status =
            culex_client_find(ops->client, queue, filter, &cursor, 1, any_see, ret_is_there, error);
    while (status == CULEX_OK && cursor.place != 0 && !*ret_is_there);
    return status;
}

/* Some runs tell the names of many. */
static culex_status names_see(struct ops *ops, const char *queue, culex_run_visitor see,
                              struct search *search, culex_error *error)
{
    enum { RUNS_SEEN = 1000 };
    culex_list_cursor cursor = {.place = 0};
    return culex_client_find(ops->client, queue, NULL, &cursor, RUNS_SEEN, see, search, error);
}

static void search_tell(const char *what, const char *queue, const struct search *search)
{
    char text[CULEX_ERROR_TEXT_SIZE];
    int len =
        snprintf(text, sizeof text, "queue %.64s has no run %s %.100s", queue, what, search->given);
    if (search->best != NULL)
        snprintf(text + len, sizeof text - (size_t)len, "; did you mean %.100s?", search->best);
    else if (search->other != NULL)
        snprintf(text + len, sizeof text - (size_t)len, "; it has some %s %.100s, for one", what,
                 search->other);
    fflush(stdout);
    ops_failure_print(text);
}

static culex_status schemas_see(struct ops *ops, const char *queue, struct search *search,
                                culex_error *error)
{
    culex_schemas *schemas = NULL;
    culex_status status = culex_client_schemas(ops->client, queue, &schemas, error);
    for (size_t i = 0; status == CULEX_OK && i < schemas->count; i++)
        name_see(search, schemas->items[i].wire);
    culex_schemas_free(schemas);
    return status;
}

/* A job with a schema or figures is well written, and its runs are to come or forgotten. */
static void job_hint(struct ops *ops, const char *queue)
{
    culex_error ignored = {.code = CULEX_OK};
    const culex_list_filter filter = {.job = ops->options.job};
    struct search search = {.given = ops->options.job};
    bool is_there;
    if (any_find(ops, queue, &filter, &is_there, &ignored) == CULEX_OK && !is_there &&
        culex_client_figures_by_job(ops->client, queue, CULEX_FIGURES_HOURS_MAX, figures_see,
                                    &search, &ignored) == CULEX_OK &&
        !search.is_known && names_see(ops, queue, run_see, &search, &ignored) == CULEX_OK &&
        !search.is_known && schemas_see(ops, queue, &search, &ignored) == CULEX_OK &&
        !search.is_known)
        search_tell("of job", queue, &search);
    free(search.best);
    free(search.other);
}

static void tag_hint(struct ops *ops, const char *queue)
{
    culex_error ignored = {.code = CULEX_OK};
    const culex_list_filter filter = {.tag = ops->options.tag};
    struct search search = {.given = ops->options.tag};
    bool is_there;
    if (any_find(ops, queue, &filter, &is_there, &ignored) == CULEX_OK && !is_there &&
        names_see(ops, queue, tags_see, &search, &ignored) == CULEX_OK && !search.is_known)
        search_tell("with tag", queue, &search);
    free(search.best);
    free(search.other);
}

void ops_hint_print(struct ops *ops, const char *queue)
{
    if (ops->options.job != NULL)
        job_hint(ops, queue);
    if (ops->options.tag != NULL)
        tag_hint(ops, queue);
}
