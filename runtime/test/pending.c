#include "test/pending.h"

#include <stdlib.h>
#include <string.h>

#include "test/failure.h"
#include "test/kit.h"

/* Calls `visit` for each pending run. */
struct walk {
    culex_test *test;
    const char *wire; /* NULL: all */
    struct culex_pending *pending;
    bool (*visit)(struct walk *walk, const culex_run_info *run);
    struct tally *tally;
    bool is_well;
};

static bool run_visit(const culex_run_info *run, void *user)
{
    struct walk *walk = user;
    if (walk->wire == NULL || strcmp(run->job, walk->wire) == 0)
        walk->is_well = walk->visit(walk, run);
    return walk->is_well;
}

static bool state_walk(struct walk *walk, const char *queue, culex_run_state state)
{
    culex_error error = {0};
    culex_list_cursor cursor = {.place = 0};
    do {
        if (culex_client_list(walk->test->observer, queue, state, &cursor, 0, run_visit, walk,
                              &error) != CULEX_OK)
            return culex__test_fail(walk->test, "queue %s: %s", queue, error.text);
    } while (cursor.place != 0 && walk->is_well);
    return walk->is_well;
}

static bool queue_visit(const char *queue, void *user)
{
    struct walk *walk = user;
    walk->is_well =
        state_walk(walk, queue, CULEX_RUN_WAITING) && state_walk(walk, queue, CULEX_RUN_SCHEDULED);
    return walk->is_well;
}

static bool walk_go(struct walk *walk)
{
    culex_error error = {0};
    walk->is_well = true;
    if (culex_client_queues(walk->test->observer, queue_visit, walk, &error) != CULEX_OK)
        return culex__test_fail(walk->test, "the store: %s", error.text);
    return walk->is_well;
}

/* --- all of a job
 * --------------------------------------------------------------------------------- */

static bool row_add(struct walk *walk, const culex_run_info *run)
{
    struct culex_pending *pending = walk->pending;
    struct culex_pending_run *grown =
        realloc(pending->rows, (pending->count + 1) * sizeof *pending->rows);
    if (grown == NULL)
        return culex__test_fail(walk->test, "out of memory");
    pending->rows = grown;
    grown[pending->count] = (struct culex_pending_run){run->id, strdup(run->queue)};
    if (grown[pending->count].queue == NULL)
        return culex__test_fail(walk->test, "out of memory");
    pending->count++;
    return true;
}

bool culex__pending_find(culex_test *test, const culex_job_type *type,
                         struct culex_pending *ret_pending)
{
    *ret_pending = (struct culex_pending){0};
    struct walk walk = {.test = test,
                        .wire = type != NULL ? type->wire : NULL,
                        .pending = ret_pending,
                        .visit = row_add};
    return walk_go(&walk);
}

void culex__pending_free(struct culex_pending *pending)
{
    for (size_t i = 0; i < pending->count; i++)
        free(pending->rows[i].queue);
    free(pending->rows);
}

/* --- one
 * ------------------------------------------------------------------------------------------ */

static bool info_keep(culex_test *test, culex_run_info *info)
{
    culex_run_info **grown =
        realloc(test->infos.rows, (test->infos.count + 1) * sizeof(culex_run_info *));
    if (grown == NULL) {
        culex_run_info_free(info);
        return culex__test_fail(test, "out of memory");
    }
    test->infos.rows = grown;
    grown[test->infos.count++] = info;
    return true;
}

const culex_run_info *culex__pending_read(culex_test *test, const char *queue, culex_uuid id)
{
    culex_error error = {0};
    culex_run_info *info = NULL;
    if (culex_client_get(test->observer, queue, id, &info, &error) != CULEX_OK) {
        culex__test_fail(test, "queue %s: %s", queue, error.text);
        return NULL;
    }
    return info_keep(test, info) ? info : NULL;
}

struct seek {
    culex_test *test;
    culex_uuid id;
    const culex_run_info *found;
};

static bool seek_visit(const char *queue, void *user)
{
    struct seek *seek = user;
    seek->found = culex__pending_read(seek->test, queue, seek->id);
    return seek->found == NULL;
}

const culex_run_info *culex__run_seek(culex_test *test, culex_uuid id)
{
    struct seek seek = {.test = test, .id = id};
    culex_error error = {0};
    char text[CULEX_UUID_TEXT_SIZE];
    culex_status status = culex_client_queues(test->observer, seek_visit, &seek, &error);
    culex_uuid_format(id, text);
    if (status != CULEX_OK)
        culex__test_fail(test, "the store: %s", error.text);
    else if (seek.found == NULL)
        culex__test_fail(test,
                         "the store has no run %s: it never had, or the run is done and forgotten "
                         "(by the job's `keep`)",
                         text);
    return seek.found;
}

/* --- by job
 * --------------------------------------------------------------------------------------- */

enum { TALLY_MAX = 8 /* jobs that are named */ };

struct tally {
    struct {
        char *job;
        size_t count;
    } rows[TALLY_MAX];
    size_t count, others;
};

static bool tally_add(struct walk *walk, const culex_run_info *run)
{
    struct tally *tally = walk->tally;
    for (size_t i = 0; i < tally->count; i++) {
        if (strcmp(tally->rows[i].job, run->job) == 0) {
            tally->rows[i].count++;
            return true;
        }
    }
    char *job = tally->count < TALLY_MAX ? strdup(run->job) : NULL;
    if (job == NULL) {
        tally->others++;
        return true;
    }
    tally->rows[tally->count].job = job;
    tally->rows[tally->count++].count = 1;
    return true;
}

void culex__pending_tell(culex_test *test)
{
    struct tally tally = {.count = 0};
    struct walk walk = {.test = test, .visit = tally_add, .tally = &tally};
    if (!walk_go(&walk))
        return;
    culex__test_add(test, "; pending: %s", tally.count == 0 ? "nothing" : "");
    for (size_t i = 0; i < tally.count; i++) {
        culex__test_add(test, "%s%zu of %s", i > 0 ? ", " : "", tally.rows[i].count,
                        tally.rows[i].job);
        free(tally.rows[i].job);
    }
    if (tally.others > 0)
        culex__test_add(test, ", %zu others", tally.others);
}
