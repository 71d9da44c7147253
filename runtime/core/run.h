/* core/run.h - the facts of a run, and its state machine: pure rules, no clock, no store.
 *
 *  enqueue, no delay             claim                 done
 *  -----------------> [waiting] -------> [active] ----------------> [done]
 *                       ^   ^             | | |
 *  enqueue, delay, tick |   '- release ---' | '- exhausted, discard -> [dead] -- purge --> gone
 *  -----> [scheduled] --'      loss         |                            |
 *             ^       due                   | fail, crash: after backoff | retry (operator)
 *             '-----------------------------'                            v
 *  cancel: [scheduled] [waiting] -> [cancelled]; [active]: flagged     [waiting]
 *
 * The rows stand in run_rules.def. SQLite decides with culex__run_apply, Redis
 * with the same rows in Lua; the conformance suite holds both against one model.
 */
#ifndef CULEX_CORE_RUN_H
#define CULEX_CORE_RUN_H

#include <culex/client.h>

#include "base/limits.h"

enum culex_run_event {
#define EVENT(name, failures, crashes, losses, teller) CULEX_EVENT_##name,
#include "core/run_rules.def"
    CULEX_EVENT_COUNT
};

enum culex_rule_limit {
#define LIMIT(name, value) CULEX_##name = value,
#include "core/run_rules.def"
};

struct culex_run_counters {
    uint32_t failures;
    uint32_t crashes;
    uint32_t crash_streak; /* crashes since the last other outcome */
    uint32_t losses;
    uint32_t attempts_max; /* failures + crashes allowed; at least 1 */
    int64_t retry_for_ms;  /* no attempt begins so long after the first of these; 0: no bound */
};

/* What a store tells about a run that it grants. The worker and the handler, which may be in
 * another process, get the same struct unchanged. */
struct culex_run_facts {
    culex_uuid id;
    uint32_t attempt;
    struct culex_run_counters counters;
    int64_t created_at_ms;
    int64_t timeout_ms;    /* 0: none */
    int64_t expires_at_ms; /* by the store's clock; 0: never, or not known */
    uint64_t fingerprint;  /* of the schema that encoded the payload */
    int64_t due_ms;        /* since when it could have been claimed, by the store's clock: known of
                              each first attempt, and where it had a date; else 0 */
    int64_t claim_ms;      /* by the store's clock, for its acks; 0: this store wants none */
};

/* True when these are the facts of attempt `attempt` of run `id`. */
bool culex__run_facts_match(const struct culex_run_facts *facts, culex_uuid id, uint32_t attempt);

/* The letter that stands for `state` in a record. */
char culex__run_state_letter(culex_run_state state);

/* False when `letter` stands for no state. */
bool culex__run_state_parse(char letter, culex_run_state *ret_state);

/* Done, dead or cancelled. */
bool culex__run_state_is_final(culex_run_state state);

/* It was lost SUSPECT_LOSSES times (run_rules.def), so it must run alone. */
bool culex__run_is_suspect(const struct culex_run_counters *counters);

/* A child, or a worker, may tell of `event`: the rows say who. Any number is a possible event here,
 * as it may come from a process that is not trusted. */
bool culex__run_event_is_childs(int64_t event);
bool culex__run_event_is_workers(int64_t event);

/* When the time for retries is over of a run to which `event` happens, not charged yet; 0: it has
 * no bound, or nothing has begun it. From its first charge on, it is what the run expires at. */
int64_t culex__run_retry_until_ms(const struct culex_run_counters *counters,
                                  enum culex_run_event event, int64_t expires_at_ms,
                                  int64_t now_ms);

/* Whether that time alone makes dead a run whose next attempt would begin `delay_ms` from now. */
bool culex__run_is_late(const struct culex_run_counters *counters, enum culex_run_event event,
                        int64_t expires_at_ms, int64_t now_ms, int64_t delay_ms);

/* Where `event` leads from `state`, counters charged. `is_cancel_requested`, `is_delayed` (RELEASE
 * with a delay) and `is_late` (as above) are the facts beside the state that the rules look at.
 * False, with nothing changed, when the event is not allowed. */
bool culex__run_apply(culex_run_state state, enum culex_run_event event, bool is_cancel_requested,
                      bool is_delayed, bool is_late, struct culex_run_counters *counters,
                      culex_run_state *ret_state);

/* Delay before a run that whoever was granted it cannot execute is offered again. */
int64_t culex__run_unknown_delay_ms(uint32_t attempt);

/* What the error text of a run begins with that is dead because its time for retries was over. */
#define CULEX_LATE_TEXT "the retry deadline has passed: "

/* That before `text`, as far as an error text goes; `text` may be NULL. */
void culex__run_late_text(char ret_text[CULEX_ERROR_TEXT_MAX + 1], const char *text);

#endif
