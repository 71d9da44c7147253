#include "command/carry.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "command/ask.h"

enum { CARGO_MAX = 200, CARGO_BYTES = 2 * 1024 * 1024, KEY_SIZE = 64 };

struct ops_cargo {
    struct ops_record record;
    culex_run_info *info; /* owned; NULL: the record is in the arena */
    char key[KEY_SIZE];
};

void ops_carry_begin(struct ops_carry *carry, struct ops *ops)
{
    static const char *const heads[] = {"~QUEUE", ">LOOKED",  ">CAME",    ">BEFORE",
                                        ">LEFT",  ">REFUSED", ">REMOVED", NULL};
    *carry = (struct ops_carry){.ops = ops,
                                .states = CULEX_LIST_STATE(CULEX_RUN_WAITING) |
                                          CULEX_LIST_STATE(CULEX_RUN_SCHEDULED),
                                .cargo = ops_alloc(NULL, CARGO_MAX * sizeof *carry->cargo),
                                .arena = culex_arena_create()};
    if (ops->options.states != 0)
        carry->states = ops->options.states;
    ops_table_begin(&carry->table, heads);
}

static void cargo_drop(struct ops_carry *carry)
{
    for (size_t i = 0; i < carry->cargo_count; i++)
        culex_run_info_free(carry->cargo[i].info);
    carry->cargo_count = carry->cargo_bytes = 0;
    culex_arena_reset(carry->arena);
}

static void limits_drop(struct ops_carry *carry)
{
    for (size_t i = 0; i < carry->limit_count; i++)
        free((char *)(uintptr_t)carry->limits[i].name);
    carry->limit_count = 0;
}

void ops_carry_end(struct ops_carry *carry)
{
    cargo_drop(carry);
    limits_drop(carry);
    free(carry->limits);
    free(carry->cargo);
    culex_arena_free(carry->arena);
    ops_table_end(&carry->table);
}

void ops_carry_queue(struct ops_carry *carry, const char *queue, bool is_paused)
{
    snprintf(carry->queue, sizeof carry->queue, "%s", queue);
    carry->is_paused = is_paused;
    carry->capacity = carry->dead_limit = 0;
    carry->counts = (struct ops_carry_counts){.looked = 0};
    limits_drop(carry);
}

void ops_carry_limit(struct ops_carry *carry, const char *name, const culex_limit_value *value)
{
    carry->limits = ops_alloc(carry->limits, (carry->limit_count + 1) * sizeof *carry->limits);
    carry->limits[carry->limit_count++] =
        (culex_transfer_limit){.name = ops_copy(name, strlen(name)), .value = *value};
}

bool ops_carry_wants(const struct ops_carry *carry, culex_run_state state)
{
    return (carry->states & CULEX_LIST_STATE(state)) != 0;
}

/* --- a run, as it goes on --------------------------------------------------------------------- */

/* What is left of a time that ends then; 0: it has no end. */
static int64_t time_left(int64_t end_ms, int64_t now_ms)
{
    if (end_ms == 0)
        return 0;
    return end_ms > now_ms ? end_ms - now_ms : 1;
}

/* Attempts that are left, and the times that count from now. One that is dead begins anew, as by
 * culex retry. */
static void run_go_on(const culex_run_info *run, int64_t now_ms, culex_transfer_run *ret_run)
{
    bool has_failed = run->failures + run->crashes + run->losses > 0;
    uint32_t used = run->failures + run->crashes;
    ret_run->attempts_max = run->attempts_max;
    ret_run->retry_for_ms = run->retry_for_ms;
    if (run->state == CULEX_RUN_DEAD)
        return;
    if (run->state == CULEX_RUN_SCHEDULED && run->at_ms > now_ms) {
        ret_run->at = run->at_ms * CULEX_MILLISECOND;
        ret_run->expires_ms = time_left(run->expires_at_ms, run->at_ms);
    } else
        ret_run->expires_ms = time_left(run->expires_at_ms, now_ms);
    ret_run->attempts_max = run->attempts_max > used ? run->attempts_max - used : 1;
    if (has_failed && run->retry_for_ms > 0)
        ret_run->retry_for_ms = time_left(run->expires_at_ms, now_ms);
}

static void key_go_on(const culex_run_info *run, int64_t now_ms, culex_transfer_run *ret_run)
{
    if (run->unique_key[0] == '\0' || (run->unique_until_ms != 0 && run->unique_until_ms <= now_ms))
        return;
    ret_run->unique_key = run->unique_key;
    ret_run->unique_while = run->unique_while;
    ret_run->unique_for_ms = time_left(run->unique_until_ms, now_ms);
}

static culex_transfer_run run_make(const struct ops_cargo *cargo, int64_t now_ms)
{
    const culex_run_info *run = &cargo->record.run;
    culex_transfer_run made = {.key = cargo->key,
                               .job = run->job,
                               .fingerprint = run->fingerprint,
                               .payload = run->payload,
                               .priority = run->priority,
                               .timeout_ms = run->timeout_ms,
                               .keep_success_ms = run->keep_success_ms,
                               .keep_failure_ms = run->keep_failure_ms,
                               .tags = run->tags,
                               .limits = cargo->record.limits,
                               .limit_count = cargo->record.limit_count};
    run_go_on(run, now_ms, &made);
    key_go_on(run, now_ms, &made);
    return made;
}

/* --- out of the store that it came from ------------------------------------------------------- */

static bool is_unbegun(culex_run_state state)
{
    return state == CULEX_RUN_WAITING || state == CULEX_RUN_SCHEDULED;
}

/* It goes on where it comes from: nobody is to begin it here as well. One that is at work is not
 * asked to stop: the other may come to nothing. */
static culex_status copy_withdraw(struct ops_carry *carry, const struct ops_cargo *cargo,
                                  culex_uuid copy, culex_error *error)
{
    char text[CULEX_UUID_TEXT_SIZE];
    culex_run_info *info = NULL;
    culex_run_state state = CULEX_RUN_ACTIVE;
    culex_client *client = carry->ops->client;
    culex_status status = culex_client_get(client, carry->queue, copy, &info, error);
    if (status == CULEX_OK && is_unbegun(info->state))
        status = culex_client_cancel(client, carry->queue, copy, &state, error);
    culex_run_info_free(info);
    culex_uuid_format(cargo->record.run.id, text);
    if (status == CULEX_OK && state == CULEX_RUN_CANCELLED) {
        carry->counts.changed++;
        fprintf(stderr,
                "culex: %s was begun where it comes from meanwhile; its copy is cancelled\n", text);
        return CULEX_OK;
    }
    if (status != CULEX_OK && status != CULEX_ESTATE && status != CULEX_ENOTFOUND)
        return status;
    carry->counts.doubled++;
    fprintf(stderr, "culex: %s was begun where it comes from, and its copy was begun, too\n", text);
    return CULEX_OK;
}

/* What has become of a run where it comes from, since it was read there. */
enum fate {
    FATE_OURS,      /* it is as it was, and is cancelled now */
    FATE_GONE,      /* another call like this one has brought and deleted it */
    FATE_BEGUN,     /* somebody executes it there, or has done so */
    FATE_CANCELLED, /* by somebody else, or by another call like this one */
    FATE_STOPPED    /* it was begun between two calls, and is asked to stop */
};

static enum fate fate_of(const culex_run_info *now, const culex_run_info *then)
{
    if (now->state == CULEX_RUN_CANCELLED)
        return FATE_CANCELLED;
    return is_unbegun(now->state) && now->attempt == then->attempt ? FATE_OURS : FATE_BEGUN;
}

static culex_status fate_read(struct ops_carry *carry, culex_client *from,
                              const culex_run_info *then, enum fate *ret_fate, culex_error *error)
{
    culex_run_info *now = NULL;
    culex_status status = culex_client_get(from, carry->queue, then->id, &now, error);
    *ret_fate = status == CULEX_OK ? fate_of(now, then) : FATE_GONE;
    culex_run_info_free(now);
    return status == CULEX_ENOTFOUND ? CULEX_OK : status;
}

/* A cancel asks a run that is at work to stop, so it is only for one that is not. A second try of a
 * cancel whose answer was lost finds that of the first. */
static culex_status source_cancel(struct ops_carry *carry, culex_client *from,
                                  const culex_run_info *run, enum fate *ret_fate,
                                  culex_error *error)
{
    culex_run_state state = CULEX_RUN_ACTIVE;
    culex_status status = fate_read(carry, from, run, ret_fate, error);
    if (status != CULEX_OK || *ret_fate != FATE_OURS)
        return status;
    status = culex_client_cancel(from, carry->queue, run->id, &state, error);
    if (status == CULEX_OK)
        *ret_fate = state == CULEX_RUN_CANCELLED ? FATE_OURS : FATE_STOPPED;
    if (status == CULEX_ESTATE) {
        status = fate_read(carry, from, run, ret_fate, error);
        *ret_fate = *ret_fate == FATE_CANCELLED ? FATE_OURS : *ret_fate;
    }
    if (status == CULEX_ENOTFOUND)
        *ret_fate = FATE_GONE;
    return status == CULEX_ENOTFOUND ? CULEX_OK : status;
}

/* Its copy stays: to lose it would be worse. */
static void copy_keep(struct ops_carry *carry, const culex_run_info *run, enum fate fate)
{
    char text[CULEX_UUID_TEXT_SIZE];
    culex_uuid_format(run->id, text);
    if (fate == FATE_CANCELLED) {
        carry->counts.changed++;
        fprintf(stderr,
                "culex: %s was cancelled where it comes from meanwhile; its copy is here: cancel "
                "it, too, if that was meant\n",
                text);
    } else if (fate == FATE_STOPPED) {
        carry->counts.doubled++;
        fprintf(
            stderr,
            "culex: %s was begun where it comes from in that instant, and is asked to stop; its "
            "copy is here, too\n",
            text);
    }
}

static culex_status source_delete(struct ops_carry *carry, culex_client *from,
                                  const struct ops_cargo *cargo, culex_uuid copy,
                                  culex_error *error)
{
    const culex_run_info *run = &cargo->record.run;
    culex_status status = culex_client_delete(from, carry->queue, run->id, error);
    carry->counts.removed += status == CULEX_OK;
    if (status == CULEX_ESTATE && run->state == CULEX_RUN_DEAD) /* somebody has revived it */
        return copy_withdraw(carry, cargo, copy, error);
    return status == CULEX_ENOTFOUND ? CULEX_OK : status;
}

static culex_status source_remove(struct ops_carry *carry, culex_client *from,
                                  const struct ops_cargo *cargo, culex_uuid copy,
                                  culex_error *error)
{
    const culex_run_info *run = &cargo->record.run;
    enum fate fate = FATE_OURS;
    culex_status status = CULEX_OK;
    if (run->state != CULEX_RUN_DEAD)
        status = source_cancel(carry, from, run, &fate, error);
    if (status != CULEX_OK)
        return status;
    if (fate == FATE_OURS)
        return source_delete(carry, from, cargo, copy, error);
    if (fate == FATE_BEGUN)
        return copy_withdraw(carry, cargo, copy, error);
    copy_keep(carry, run, fate);
    return CULEX_OK;
}

/* --- into this one ---------------------------------------------------------------------------- */

/* Ids of runs are told apart over all stores: who has one of these is the store that they come
 * from, whatever has become of the others. */
static culex_status strangers_check(struct ops_carry *carry, culex_error *error)
{
    culex_status status = CULEX_ENOTFOUND;
    for (size_t i = 0; i < carry->cargo_count && status == CULEX_ENOTFOUND; i++) {
        culex_run_info *info = NULL;
        status = culex_client_get(carry->ops->client, carry->queue, carry->cargo[i].record.run.id,
                                  &info, error);
        culex_run_info_free(info);
    }
    if (status == CULEX_OK)
        return ops_usage(error, "this is the store that the runs come from");
    return status == CULEX_ENOTFOUND ? CULEX_OK : status;
}

/* One that came before and is no more here was executed, or somebody has deleted it; nobody knows
 * which, and where it comes from it may be the last one. */
static culex_status gone_check(struct ops_carry *carry, const struct ops_cargo *cargo,
                               culex_uuid copy, bool *ret_is_gone, culex_error *error)
{
    enum { NAMED_MAX = 100 };
    char text[CULEX_UUID_TEXT_SIZE];
    culex_run_info *info = NULL;
    culex_status status = culex_client_get(carry->ops->client, carry->queue, copy, &info, error);
    culex_run_info_free(info);
    *ret_is_gone = status == CULEX_ENOTFOUND;
    carry->counts.gone += *ret_is_gone;
    culex_uuid_format(cargo->record.run.id, text);
    if (*ret_is_gone && carry->counts.gone <= NAMED_MAX)
        fprintf(stderr, "culex: %s had come before, and its copy is gone\n", text);
    return *ret_is_gone ? CULEX_OK : status;
}

/* Counts what became of it; whether it is to go where it comes from. */
static culex_status run_judge(struct ops_carry *carry, const struct ops_cargo *cargo,
                              const culex_transfer_run *run, bool *ret_goes, culex_error *error)
{
    bool has_come = run->status == CULEX_OK && run->outcome != CULEX_ENQUEUE_KEPT;
    bool is_gone = false;
    culex_status status = CULEX_OK;
    carry->counts.conflicts += run->status == CULEX_ECONFLICT;
    carry->counts.kept_out += run->status == CULEX_OK && !has_come;
    carry->counts.came += has_come && run->outcome == CULEX_ENQUEUE_NEW;
    carry->counts.before += has_come && run->outcome == CULEX_ENQUEUE_DUPLICATE;
    if (carry->is_move && has_come && run->outcome == CULEX_ENQUEUE_DUPLICATE)
        status = gone_check(carry, cargo, run->id, &is_gone, error);
    *ret_goes = status == CULEX_OK && carry->is_move && has_come && !is_gone;
    return status;
}

/* In their order; the last one by the handle that waits for the disk. */
static culex_status cargo_remove(struct ops_carry *carry, const culex_transfer_run *runs,
                                 const size_t *goers, size_t count, culex_error *error)
{
    culex_status status = CULEX_OK;
    for (size_t i = 0; i < count && status == CULEX_OK; i++)
        status = source_remove(carry, i + 1 < count ? carry->from_fast : carry->from,
                               &carry->cargo[goers[i]], runs[goers[i]].id, error);
    return status;
}

/* Of a call that failed what was judged counts all the same. */
static culex_status cargo_bring(struct ops_carry *carry, culex_transfer_run *runs,
                                culex_error *error)
{
    int64_t now_ms = culex_time_now() / CULEX_MILLISECOND;
    size_t goers[CARGO_MAX], count = 0, done = 0;
    for (size_t i = 0; i < carry->cargo_count; i++)
        runs[i] = run_make(&carry->cargo[i], now_ms);
    culex_error ignored;
    culex_status status = culex_client_transfer(carry->ops->client, carry->queue, runs,
                                                carry->cargo_count, OPS_CARRY_WINDOW, &done, error);
    for (size_t i = 0; i < done; i++) {
        bool goes;
        culex_status judged = run_judge(carry, &carry->cargo[i], &runs[i], &goes,
                                        status == CULEX_OK ? error : &ignored);
        status = status == CULEX_OK ? judged : status;
        if (goes)
            goers[count++] = i;
    }
    culex_status removed =
        cargo_remove(carry, runs, goers, count, status == CULEX_OK ? error : &ignored);
    return status != CULEX_OK ? status : removed;
}

culex_status ops_carry_flush(struct ops_carry *carry, culex_error *error)
{
    culex_status status = CULEX_OK;
    carry->brought += carry->cargo_count;
    if (carry->cargo_count > 0 && !carry->is_dry) {
        status = strangers_check(carry, error);
        culex_transfer_run *runs = ops_alloc(NULL, carry->cargo_count * sizeof *runs);
        if (status == CULEX_OK)
            status = cargo_bring(carry, runs, error);
        free(runs);
    }
    cargo_drop(carry);
    if (!carry->is_dry)
        ops_progress_show(carry->brought, carry->all);
    return ops_name_failure(status, carry->queue, error);
}

/* Whether it goes along; what is left is counted. */
static bool is_taken(struct ops_carry *carry, const culex_run_info *run)
{
    struct ops_carry_counts *counts = &carry->counts;
    bool is_wanted = ops_carry_wants(carry, run->state);
    counts->looked++;
    counts->left[run->state] += !is_wanted;
    counts->wanted += is_wanted;
    counts->revived += is_wanted && run->state == CULEX_RUN_DEAD;
    counts->unreadable += is_wanted && run->payload.len == 0;
    counts->members += is_wanted && run->payload.len > 0 && run->is_member;
    return is_wanted && run->payload.len > 0 && !(run->is_member && carry->is_move);
}

culex_status ops_carry_run(struct ops_carry *carry, const struct ops_record *record,
                           culex_run_info *info, culex_error *error)
{
    char text[CULEX_UUID_TEXT_SIZE];
    if (!is_taken(carry, &record->run)) {
        culex_run_info_free(info);
        if (carry->cargo_count == 0)
            culex_arena_reset(carry->arena);
        return CULEX_OK;
    }
    struct ops_cargo *cargo = &carry->cargo[carry->cargo_count++];
    cargo->record = *record;
    cargo->info = info;
    culex_uuid_format(record->run.id, text);
    snprintf(cargo->key, sizeof cargo->key, "culex-import:%s", text);
    carry->cargo_bytes += record->run.payload.len;
    if (carry->cargo_count == CARGO_MAX || carry->cargo_bytes >= CARGO_BYTES)
        return ops_carry_flush(carry, error);
    return CULEX_OK;
}

/* --- what is set in the queue ----------------------------------------------------------------- */

struct set_limits {
    const struct ops_carry *carry;
    bool *is_set; /* parallel to its limits: here as well */
};

static bool set_look(const culex_limit_info *limit, void *user)
{
    struct set_limits *here = user;
    for (size_t i = 0; i < here->carry->limit_count; i++) {
        if (strcmp(here->carry->limits[i].name, limit->name) == 0)
            here->is_set[i] = limit->is_set;
    }
    return true;
}

static void own_tell(const struct ops_carry *carry, const char *what)
{
    fprintf(stderr, "culex: queue %s has a %s of its own here, which stays\n", carry->queue, what);
}

static culex_status limits_set(struct ops_carry *carry, culex_error *error)
{
    struct set_limits here = {carry, ops_alloc(NULL, carry->limit_count + 1)};
    memset(here.is_set, 0, carry->limit_count + 1);
    culex_status status =
        culex_client_limits(carry->ops->client, carry->queue, set_look, &here, error);
    for (size_t i = 0; i < carry->limit_count && status == CULEX_OK; i++) {
        const culex_transfer_limit *limit = &carry->limits[i];
        if (here.is_set[i])
            continue;
        status = culex_client_limit_set(carry->ops->client, carry->queue, limit->name,
                                        &limit->value, error);
        if (status != CULEX_ENOTFOUND && status != CULEX_EINVAL)
            continue;
        fprintf(stderr, "culex: queue %s: what was set for limit %s is not carried: %s\n",
                carry->queue, limit->name, error->text);
        status = CULEX_OK;
    }
    free(here.is_set);
    return status;
}

/* A queue that nothing came into is none yet, and has none of them. */
static culex_status settings_set(struct ops_carry *carry, culex_error *error)
{
    culex_client *client = carry->ops->client;
    culex_queue_stats stats;
    culex_status status = culex_client_stats(client, carry->queue, &stats, error);
    if (status != CULEX_OK)
        return status == CULEX_ENOTFOUND ? CULEX_OK : status;
    if (carry->capacity > 0 && stats.limit == 0)
        status = culex_client_limit(client, carry->queue, carry->capacity, error);
    else if (carry->capacity > 0 && stats.limit != carry->capacity)
        own_tell(carry, "capacity");
    if (status == CULEX_OK && carry->dead_limit > 0 && stats.dead_limit == 0)
        status = culex_client_dead_limit(client, carry->queue, carry->dead_limit, error);
    else if (carry->dead_limit > 0 && stats.dead_limit != carry->dead_limit)
        own_tell(carry, "bound of dead runs");
    if (status == CULEX_OK && carry->limit_count > 0)
        status = limits_set(carry, error);
    return status;
}

/* --- what is told ----------------------------------------------------------------------------- */

static uint64_t left_of(const struct ops_carry *carry)
{
    uint64_t left = carry->is_move ? carry->counts.members : 0;
    for (int state = 0; state < CULEX_RUN_STATE_COUNT; state++)
        left += carry->counts.left[state];
    return left;
}

static uint64_t refused_of(const struct ops_carry *carry)
{
    const struct ops_carry_counts *counts = &carry->counts;
    return counts->kept_out + counts->conflicts + counts->unreadable + counts->changed +
           counts->gone;
}

static void counts_json(const struct ops_carry *carry)
{
    const struct ops_carry_counts *counts = &carry->counts;
    struct ops_json json = {.out = stdout};
    ops_json_object(&json, NULL);
    ops_json_text(&json, "queue", carry->queue);
    ops_json_bool(&json, "dry_run", carry->is_dry);
    ops_json_count(&json, "looked", counts->looked);
    ops_json_count(&json, "wanted", counts->wanted);
    ops_json_count(&json, "came", counts->came);
    ops_json_count(&json, "before", counts->before);
    ops_json_count(&json, "gone", counts->gone);
    ops_json_count(&json, "kept_out", counts->kept_out);
    ops_json_count(&json, "conflicts", counts->conflicts);
    ops_json_count(&json, "unreadable", counts->unreadable);
    ops_json_count(&json, "members", counts->members);
    ops_json_count(&json, "changed", counts->changed);
    ops_json_count(&json, "removed", counts->removed);
    ops_json_count(&json, "doubled", counts->doubled);
    ops_json_object(&json, "left");
    for (int state = 0; state < CULEX_RUN_STATE_COUNT; state++)
        ops_json_count(&json, culex_run_state_name((culex_run_state)state), counts->left[state]);
    ops_json_object_end(&json);
    ops_json_object_end(&json);
    ops_json_line_end(&json);
}

static void note(const struct ops_carry *carry, uint64_t count, const char *what)
{
    if (count > 0)
        fprintf(stderr, "culex: queue %s: %" PRIu64 " %s\n", carry->queue, count, what);
}

static void notes_print(const struct ops_carry *carry)
{
    const struct ops_carry_counts *counts = &carry->counts;
    for (int state = 0; state < CULEX_RUN_STATE_COUNT; state++) {
        char text[64];
        snprintf(text, sizeof text, "%s runs are not carried",
                 culex_run_state_name((culex_run_state)state));
        note(carry, counts->left[state], text);
    }
    note(carry, counts->members,
         carry->is_move ? "runs are left, for a batch counts them or another run waits for them"
                        : "runs are of batches, or others wait for them: they come as plain runs, "
                          "and neither batches nor what waits is carried");
    note(carry, counts->kept_out, "runs have not come: other runs have their unique keys here");
    note(carry, counts->conflicts, "runs have not come: others have come under their ids");
    note(carry, counts->unreadable, "runs have not come: their params cannot be read any more");
    note(carry, counts->gone,
         "runs had come before and are gone here, executed or deleted: they are left where they "
         "come "
         "from; cancel them there if they were executed");
    note(carry, counts->doubled, "RUNS WERE BEGUN IN BOTH STORES: see above");
}

static void counts_tell(struct ops_carry *carry)
{
    const struct ops_carry_counts *counts = &carry->counts;
    if (carry->is_quiet)
        return;
    ops_progress_end();
    if (refused_of(carry) + counts->doubled > 0)
        carry->ops->code = OPS_EXIT_FAILED;
    if (carry->ops->options.wants_json) {
        counts_json(carry);
        return;
    }
    notes_print(carry);
    ops_table_text(&carry->table, carry->queue);
    ops_table_count(&carry->table, counts->looked);
    ops_table_count(&carry->table, carry->is_dry ? counts->wanted : counts->came);
    ops_table_count(&carry->table, counts->before);
    ops_table_count(&carry->table, left_of(carry));
    ops_table_count(&carry->table, refused_of(carry));
    ops_table_count(&carry->table, counts->removed);
}

culex_status ops_carry_queue_end(struct ops_carry *carry, culex_status status, culex_error *error)
{
    if (carry->queue[0] == '\0')
        return status;
    if (status == CULEX_OK)
        status = ops_carry_flush(carry, error);
    if (status == CULEX_OK && !carry->is_dry)
        status = settings_set(carry, error);
    cargo_drop(carry);
    counts_tell(carry);
    carry->queue[0] = '\0';
    return status;
}
