/* ops/console/bulk.c - /queues/{queue}/bulk: one change for many runs, as many as a request has
 * time for. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include <culex/bulk.h>

#include "command/guess.h"
#include "command/job_name.h"
#include "command/value.h"
#include "console/body.h"
#include "console/clock.h"
#include "console/cursor.h"
#include "console/routes.h"

enum { LOOKS_MAX = 1000, SPAN_MS = 2000 };

/* ---- what is asked for ------------------------------------------------------------------------
 */

struct wanted {
    const char *action, *states, *job, *tag, *error, *since, *before, *cursor;
    int32_t limit;
    bool dry;
    bool has_states, has_job, has_tag, has_error, has_since, has_before, has_cursor, has_limit,
        has_dry;
};

#define MEMBER(member, its_kind)                                                                   \
    .name = #member, .wire = #member, .kind = (its_kind), .flags = CULEX_FIELD_OPTIONAL,           \
    .offset = offsetof(struct wanted, member), .has_offset = offsetof(struct wanted, has_##member)

static const culex_field wanted_fields[] = {
    {.name = "action",
     .wire = "action",
     .kind = CULEX_KIND_STRING,
     .flags = CULEX_FIELD_REQUIRED,
     .offset = offsetof(struct wanted, action)},
    {MEMBER(states, CULEX_KIND_STRING)},
    {MEMBER(job, CULEX_KIND_STRING)},
    {MEMBER(tag, CULEX_KIND_STRING)},
    {MEMBER(error, CULEX_KIND_STRING)},
    {MEMBER(since, CULEX_KIND_STRING)},
    {MEMBER(before, CULEX_KIND_STRING)},
    {MEMBER(cursor, CULEX_KIND_STRING)},
    {.name = "limit",
     .wire = "limit",
     .kind = CULEX_KIND_INT32,
     .flags = CULEX_FIELD_OPTIONAL | CULEX_FIELD_MIN | CULEX_FIELD_MAX,
     .offset = offsetof(struct wanted, limit),
     .has_offset = offsetof(struct wanted, has_limit),
     .min = 1,
     .max = LOOKS_MAX},
    {MEMBER(dry, CULEX_KIND_BOOL)},
};
static const culex_struct_type wanted_type = {"the body", sizeof(struct wanted), wanted_fields,
                                              sizeof wanted_fields / sizeof wanted_fields[0]};

#define STATE(name) CULEX_LIST_STATE(CULEX_RUN_##name)
static const struct action {
    const char *name;
    culex_bulk_action action;
    unsigned states;
    const char *names; /* of the states */
} actions[] = {
    {"retry", CULEX_BULK_RETRY, STATE(DEAD), "dead"},
    {"delete", CULEX_BULK_DELETE, STATE(DONE) | STATE(DEAD) | STATE(CANCELLED),
     "done, dead and cancelled"},
    {"cancel", CULEX_BULK_CANCEL, STATE(SCHEDULED) | STATE(WAITING) | STATE(ACTIVE),
     "scheduled, waiting and active"},
};
#undef STATE

static culex_status action_read(const char *text, const struct action **ret_action,
                                culex_error *error)
{
    struct ops_guess guess = ops_guess_begin(text, strlen(text));
    for (size_t i = 0; i < sizeof actions / sizeof actions[0]; i++) {
        *ret_action = &actions[i];
        if (strcmp(actions[i].name, text) == 0)
            return CULEX_OK;
        ops_guess_add(&guess, actions[i].name);
    }
    return body_blame(ops_usage(error, "action: retry, delete or cancel, not %.64s%s%s%s", text,
                                guess.best != NULL ? "; did you mean " : "",
                                guess.best != NULL ? guess.best : "",
                                guess.best != NULL ? "?" : ""),
                      "action", error);
}

static culex_status states_read(const struct wanted *wanted, const struct action *action,
                                unsigned *ret_states, culex_error *error)
{
    culex_status status = CULEX_OK;
    if (wanted->has_states)
        status = ops_value_states("states", wanted->states, ret_states, error);
    if (status == CULEX_OK && (*ret_states & ~action->states) != 0)
        status =
            ops_usage(error, "states: %s is for runs that are %s", action->name, action->names);
    return body_blame(status, "states", error);
}

static culex_status times_read(const struct wanted *wanted, culex_list_filter *filter,
                               culex_error *error)
{
    culex_status status = CULEX_OK;
    if (wanted->has_since)
        status = body_blame(ops_value_time("since", wanted->since, &filter->since, error), "since",
                            error);
    if (status == CULEX_OK && wanted->has_before)
        status = body_blame(ops_value_time("before", wanted->before, &filter->before, error),
                            "before", error);
    return status;
}

/* Which runs are meant has to be said: nobody empties a store by a forgotten word, or by a variable
 * that is empty. */
static culex_status narrow_check(const struct wanted *wanted, culex_error *error)
{
    const struct {
        const char *name, *text;
        bool is_there;
    } words[] = {{"states", wanted->states, wanted->has_states},
                 {"job", wanted->job, wanted->has_job},
                 {"tag", wanted->tag, wanted->has_tag},
                 {"error", wanted->error, wanted->has_error},
                 {"since", wanted->since, wanted->has_since},
                 {"before", wanted->before, wanted->has_before}};
    bool is_narrow = false;
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        if (words[i].is_there && words[i].text[0] == '\0')
            return body_blame(ops_usage(error, "%s is empty", words[i].name), words[i].name, error);
        is_narrow |= words[i].is_there;
    }
    return is_narrow ? CULEX_OK
                     : ops_usage(error, "which runs? Say states, job, tag, error, since or before");
}

static culex_status bulk_make(const struct wanted *wanted, const struct action *action,
                              culex_bulk *ret_bulk, culex_error *error)
{
    culex_list_filter filter = {.job = wanted->has_job ? wanted->job : NULL,
                                .tag = wanted->has_tag ? wanted->tag : NULL,
                                .error_part = wanted->has_error ? wanted->error : NULL,
                                .has_since = wanted->has_since,
                                .has_before = wanted->has_before};
    culex_status status = narrow_check(wanted, error);
    if (status == CULEX_OK)
        status = states_read(wanted, action, &filter.states, error);
    if (status == CULEX_OK)
        status = times_read(wanted, &filter, error);
    *ret_bulk = (culex_bulk){
        .action = action->action, .is_dry = wanted->has_dry && wanted->dry, .filter = filter};
    return status;
}

/* ---- where it goes on -------------------------------------------------------------------------
 */

/* What a cursor belongs to: the words, for "2h" is another time in the next request. */
static uint64_t question_mark(const struct request *request, const struct wanted *wanted)
{
    const char *const words[] = {request->parts[0],
                                 wanted->action,
                                 wanted->has_states ? wanted->states : NULL,
                                 wanted->has_job ? wanted->job : NULL,
                                 wanted->has_tag ? wanted->tag : NULL,
                                 wanted->has_error ? wanted->error : NULL,
                                 wanted->has_since ? wanted->since : NULL,
                                 wanted->has_before ? wanted->before : NULL,
                                 wanted->has_dry && wanted->dry ? "dry" : NULL};
    uint64_t mark = cursor_mark(request->console->mark, "bulk");
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        mark = cursor_mark(mark, words[i]);
    return mark;
}

/* "STATE.LEFT.PLACE.RUN", where STATE has a letter before it: whether it has begun. */
static void cursor_write(const culex_bulk_cursor *cursor, char *ret_text, size_t size)
{
    char run[CULEX_UUID_TEXT_SIZE];
    culex_uuid_format(cursor->list.run, run);
    snprintf(ret_text, size, "%c%u.%" PRIu64 ".%016" PRIx64 ".%s", cursor->has_begun ? 'b' : 'n',
             cursor->state, cursor->left, cursor->list.place, run);
}

static bool cursor_parse(const char *text, culex_bulk_cursor *ret_cursor)
{
    char *end;
    ret_cursor->has_begun = text[0] == 'b';
    if (text[0] == '\0')
        return false;
    ret_cursor->state = (unsigned)strtoul(text + 1, &end, 10);
    ret_cursor->left = *end == '.' ? strtoull(end + 1, &end, 10) : 0;
    ret_cursor->list.place = *end == '.' ? strtoull(end + 1, &end, 16) : 0;
    return *end == '.' && ret_cursor->state < CULEX_RUN_STATE_COUNT &&
           culex_uuid_parse(end + 1, &ret_cursor->list.run);
}

static culex_status cursor_take(const struct request *request, const struct wanted *wanted,
                                culex_bulk_cursor *ret_cursor, culex_error *error)
{
    const char *body = "";
    *ret_cursor = (culex_bulk_cursor){.is_over = false};
    if (!wanted->has_cursor)
        return CULEX_OK;
    culex_status status = cursor_open(wanted->cursor, question_mark(request, wanted), &body, error);
    if (status == CULEX_OK && !cursor_parse(body, ret_cursor))
        status = cursor_refuse(error);
    return body_blame(status, "cursor", error);
}

/* ---- the work ---------------------------------------------------------------------------------
 */

struct work {
    const struct request *request;
    int64_t end_ms;
};

static bool has_time(const culex_bulk_counts *counts, void *user)
{
    const struct work *work = user;
    (void)counts;
    return ms_now() < work->end_ms && !atomic_load(&work->request->console->is_ending);
}

static void counts_audit(struct request *request, const struct wanted *wanted,
                         const culex_bulk_counts *counts)
{
    request->audited_as = "runs";
    snprintf(request->audited, sizeof request->audited,
             "%.16s%s: looked at %" PRIu64 ", matched %" PRIu64 ", done %" PRIu64
             ", skipped %" PRIu64,
             wanted->action, wanted->has_dry && wanted->dry ? ", dry" : "", counts->looked,
             counts->matched, counts->done, counts->skipped);
}

static void counts_tell(struct request *request, const struct wanted *wanted,
                        const culex_bulk_counts *counts, const culex_bulk_cursor *cursor)
{
    struct ops_json *json = &request->json;
    char body[CURSOR_BODY_SIZE], text[CURSOR_SIZE];
    ops_json_object(json, NULL);
    ops_json_count(json, "looked", counts->looked);
    ops_json_count(json, "matched", counts->matched);
    ops_json_count(json, "done", counts->done);
    ops_json_count(json, "skipped", counts->skipped);
    if (!cursor->is_over) {
        cursor_write(cursor, body, sizeof body);
        ops_json_text(json, "next_cursor", cursor_seal(body, question_mark(request, wanted), text));
    }
    ops_json_object_end(json);
    ops_json_line_end(json);
}

/* A name without its package is taken where it is certain which job is meant, and by no guess. */
static culex_status job_read(struct request *request, const struct wanted *wanted, char **ret_job,
                             culex_error *error)
{
    bool is_sure = true;
    *ret_job = NULL;
    if (!wanted->has_job)
        return CULEX_OK;
    culex_status status = ops_job_name_read(&request->ops, request->parts[0], wanted->job, false,
                                            ret_job, &is_sure, error);
    if (status == CULEX_OK && !is_sure)
        status = ops_usage(error, "job: %.100s? The queue has too many runs to tell; say it whole",
                           *ret_job);
    return body_blame(status, "job", error);
}

/* Nothing of a job in the first request: that may be so, or it is called otherwise. */
static culex_status job_check(struct request *request, const struct wanted *wanted,
                              const culex_bulk_counts *counts, culex_error *error)
{
    const char *const queues[] = {request->parts[0]};
    if (!wanted->has_job || counts->matched > 0 || wanted->has_cursor)
        return CULEX_OK;
    return body_blame(ops_job_name_check(&request->ops, queues, 1, wanted->job, error), "job",
                      error);
}

/* What was done is audited also where it ends with a failure. */
static culex_status bulk_do(struct request *request, const struct wanted *wanted,
                            const culex_bulk *bulk, culex_bulk_cursor *cursor, culex_error *error)
{
    struct work work = {request, ms_now() + SPAN_MS};
    culex_bulk_counts counts = {.looked = 0};
    size_t most = wanted->has_limit ? (size_t)wanted->limit : LOOKS_MAX;
    culex_status status = culex_client_bulk(request->ops.client, request->parts[0], bulk, cursor,
                                            most, has_time, &work, &counts, error);
    counts_audit(request, wanted, &counts);
    if (status == CULEX_OK)
        status = job_check(request, wanted, &counts, error);
    if (status == CULEX_OK)
        counts_tell(request, wanted, &counts, cursor);
    return status;
}

static culex_status wanted_do(struct request *request, const struct wanted *wanted,
                              culex_error *error)
{
    const struct action *action = NULL;
    culex_bulk bulk;
    culex_bulk_cursor cursor;
    char *job = NULL;
    culex_status status = action_read(wanted->action, &action, error);
    if (status == CULEX_OK)
        status = bulk_make(wanted, action, &bulk, error);
    if (status == CULEX_OK)
        status = cursor_take(request, wanted, &cursor, error);
    if (status == CULEX_OK)
        status = job_read(request, wanted, &job, error);
    if (job != NULL)
        bulk.filter.job = job;
    if (status == CULEX_OK)
        status = bulk_do(request, wanted, &bulk, &cursor, error);
    free(job);
    return status;
}

culex_status route_queue_bulk(struct request *request, culex_error *error)
{
    const void *value;
    culex_arena *arena = culex_arena_create();
    culex_status status = body_decode(request, &wanted_type, arena, &value, error);
    if (status == CULEX_OK)
        status = wanted_do(request, value, error);
    culex_arena_free(arena);
    return status;
}
