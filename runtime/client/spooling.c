#include "client/spooling.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/error.h"
#include "base/instant.h"
#include "base/misspelt.h"
#include "base/secret_name.h"
#include "client/newrun.h"
#include "store/register.h"
#include "store/template.h"

enum {
    RUNS_MAX = 100000,
    TELL_S = 60,
    AWAY_MS = 1000,       /* before the store is asked again */
    AWAY_PART = 4,        /* but so many times as long as asking took, */
    AWAY_MOST_MS = 30000, /* up to this */
    NS_PER_MS = 1000000
};
#define BYTES_MAX (UINT64_C(256) * 1024 * 1024)

/* --- opening ----------------------------------------------------------------------------- */

static const char *path_of(const culex_client_options *options)
{
    return options->spool != NULL ? options->spool : getenv("CULEX_SPOOL");
}

/* Of a store that could have one and has none, a variable that was surely meant is told. */
culex_status culex__spooling_want(const char *url, const culex_client_options *options,
                                  bool *ret_is_wanted, culex_error *error)
{
    const struct culex__store_kind *kind = culex__store_kind_find(url);
    bool may_be = kind != NULL && !kind->is_path && !kind->is_private;
    *ret_is_wanted = may_be && path_of(options) != NULL;
    if (!may_be || *ret_is_wanted)
        return CULEX_OK;
    return culex__misspelt_check(environ, "CULEX_SPOOL", "no spool is named", CULEX_EUSAGE, error);
}

static culex_status path_check(const culex_client_options *options, culex_error *error)
{
    if (culex__text_is_secret(path_of(options)))
        return culex__fail(error, CULEX_EUSAGE,
                           "what is given as the spool looks like a key or a URL with a password, "
                           "and is not shown: name a file (with ./ in front where its name looks "
                           "so)");
    if (path_of(options)[0] != '\0')
        return CULEX_OK;
    return options->spool != NULL
               ? culex__fail(error, CULEX_EINVAL, "options.spool is empty: leave it NULL for none")
               : culex__fail(error, CULEX_EUSAGE,
                             "CULEX_SPOOL is set but empty: name a file, or unset it");
}

culex_status culex__spooling_open(const culex_client_options *options,
                                  const struct culex_store *store, const struct culex_env *env,
                                  struct culex_spooling **ret_spooling, culex_error *error)
{
    char place[512];
    culex_status status = path_check(options, error);
    if (status != CULEX_OK)
        return status;
    struct culex_spooling *spooling = calloc(1, sizeof *spooling);
    if (spooling == NULL)
        return culex__fail(error, CULEX_ENOMEM, "no memory for a spool");
    spooling->env = env;
    spooling->runs_max = options->spool_runs > 0 ? options->spool_runs : RUNS_MAX;
    spooling->bytes_max = options->spool_bytes > 0 ? options->spool_bytes : BYTES_MAX;
    spooling->log.sink = culex__log_stderr();
    spooling->log.env = env;
    spooling->log.format = CULEX_LOG_TEXT;
    spooling->log.level = CULEX_LOG_INFO;
    culex__store_place_tell(store, place, sizeof place);
    status = culex__spool_open(path_of(options), place, env, &spooling->file, error);
    if (status != CULEX_OK) {
        free(spooling);
        return status;
    }
    *ret_spooling = spooling;
    return CULEX_OK;
}

void culex__spooling_close(struct culex_spooling *spooling)
{
    if (spooling == NULL)
        return;
    culex__spool_close(spooling->file);
    free(spooling);
}

void culex__spooling_abandon(struct culex_spooling *spooling)
{
    if (spooling == NULL)
        return;
    culex__spool_abandon(spooling->file);
    free(spooling);
}

/* --- what is said ------------------------------------------------------------------------ */

static void waiting_tell(struct culex_spooling *spooling)
{
    struct culex_spool_state state;
    char age[CULEX_LOG_SPAN_SIZE];
    int64_t oldest_ms = 0, now_ms = culex__env_clock_ms(spooling->env);
    if (culex__spool_look(spooling->file, NULL, &state, NULL) != CULEX_OK ||
        culex__spool_oldest(spooling->file, &oldest_ms, NULL) != CULEX_OK)
        return;
    culex__log_format_span(oldest_ms > 0 && now_ms > oldest_ms ? now_ms - oldest_ms : 0, age);
    culex__log_write(&spooling->log, CULEX_LOG_WARNING, NULL,
                     "spool %s: %" PRIu64 " runs of %" PRIu64 " wait for the store, %" PRIu64
                     " bytes of %" PRIu64 ", the oldest for %s: %s",
                     culex__spool_path(spooling->file), state.runs, spooling->runs_max, state.bytes,
                     spooling->bytes_max, age, spooling->reason.text);
}

/* At the first one, and once a minute while others come. */
static void growth_tell(struct culex_spooling *spooling)
{
    int64_t now_ns = culex__env_boottime_ns(spooling->env);
    if (spooling->is_told && now_ns < culex__after_ms(spooling->told_ns, (int64_t)TELL_S * 1000))
        return;
    spooling->is_told = true;
    spooling->told_ns = now_ns;
    waiting_tell(spooling);
}

void culex__spooling_note_state(struct culex_spooling *spooling,
                                const struct culex_spool_state *state)
{
    if (state->runs > 0 || !spooling->is_told)
        return;
    spooling->is_told = false;
    culex__log_write(&spooling->log, CULEX_LOG_INFO, NULL,
                     "spool %s: no run waits any more, %" PRIu64 " stand aside",
                     culex__spool_path(spooling->file), state->aside);
}

void culex__spooling_tell_aside(struct culex_spooling *spooling, const char *queue,
                                const char *text)
{
    culex__log_write(&spooling->log, CULEX_LOG_ERROR, NULL,
                     "spool %s: a run of queue '%s' stands aside, settle it with culex-spool: %s",
                     culex__spool_path(spooling->file), queue, text);
}

/* --- what goes in ------------------------------------------------------------------------ */

void culex__spooling_note_away(struct culex_spooling *spooling, int64_t spent_ns,
                               const culex_error *reason)
{
    int64_t wait_ms = spent_ns / NS_PER_MS * AWAY_PART;
    wait_ms = wait_ms > AWAY_MS ? wait_ms : AWAY_MS;
    wait_ms = wait_ms < AWAY_MOST_MS ? wait_ms : AWAY_MOST_MS;
    spooling->away_until_ns = culex__after_ms(culex__env_boottime_ns(spooling->env), wait_ms);
    spooling->reason = *reason;
}

bool culex__spooling_is_away(const struct culex_spooling *spooling)
{
    return culex__env_boottime_ns(spooling->env) < spooling->away_until_ns;
}

/* Whether the call that may have been applied is told by its ticket: then it goes as a whole, as it
 * was. Keys tell where each run has one. */
static bool needs_ticket(const struct culex_spooling_call *call)
{
    for (size_t i = 0; i < call->count && call->ticket.producer != 0; i++) {
        if (!culex__run_is_keyed(&call->runs[i]))
            return true;
    }
    return false;
}

static struct culex_spool_entry entry_of(const struct culex_spooling_call *call,
                                         const struct culex_new_run *run, bool has_ticket,
                                         int64_t asked_ms)
{
    struct culex_spool_entry entry = {.queue = call->queue,
                                      .asked_ms = asked_ms,
                                      .delay_ms = run->delay_ms > 0 ? run->delay_ms : 0,
                                      .at_ms = run->at_ms,
                                      .has_ticket = has_ticket,
                                      .is_strict = run->unique_refuses};
    if (culex__run_is_keyed(run)) {
        entry.key = run->idempotency_key;
        entry.window_ms = run->window_ms;
        entry.tried_ms = call->ticket.producer != 0 && !has_ticket ? call->tried_ms : 0;
    }
    if (has_ticket)
        entry.ticket = culex__ticket_format(call->ticket);
    return entry;
}

/* Their bodies one behind the other, which stay where they are once all are written. */
static culex_status entries_make(const struct culex_spooling *spooling,
                                 const struct culex_spooling_call *call, culex_buf *bodies,
                                 struct culex_spool_entry *entries, culex_error *error)
{
    int64_t asked_ms = culex__env_clock_ms(spooling->env);
    bool has_ticket = needs_ticket(call);
    for (size_t i = 0; i < call->count; i++) {
        size_t before = bodies->len;
        culex_status status = culex__template_write(&call->runs[i], bodies, error);
        if (status != CULEX_OK)
            return status;
        entries[i] = entry_of(call, &call->runs[i], has_ticket, asked_ms);
        entries[i].body_len = bodies->len - before;
    }
    const char *at = bodies->data;
    for (size_t i = 0; i < call->count; i++) {
        entries[i].body = at;
        at += entries[i].body_len;
    }
    return CULEX_OK;
}

culex_status culex__spooling_put(struct culex_spooling *spooling,
                                 const struct culex_spooling_call *call, culex_error *error)
{
    culex_buf bodies;
    struct culex_spool_entry *entries = calloc(call->count, sizeof *entries);
    if (entries == NULL)
        return culex__fail(error, CULEX_ENOMEM, "no memory for the spool");
    culex_buf_init(&bodies, 0);
    culex_status status = entries_make(spooling, call, &bodies, entries, error);
    if (status == CULEX_OK)
        status = culex__spool_add(spooling->file, entries, call->count, spooling->runs_max,
                                  spooling->bytes_max, error);
    culex_buf_release(&bodies);
    free(entries);
    if (status == CULEX_OK)
        growth_tell(spooling);
    return status;
}
