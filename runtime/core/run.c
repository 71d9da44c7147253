#include "core/run.h"

#include <string.h>

#include "base/limits.h"
#include "base/utf8.h"

#define CULEX_INSTANT_LAST_MS (INT64_MAX / 4)

/* ORDER RUN_STATE: STATE rows, enum culex_run_state and the names. */
enum rule_state {
#define STATE(name, letter, final) RULE_STATE_##name,
#include "core/run_rules.def"
    RULE_STATE_COUNT
};
#define STATE(name, letter, final)                                                                 \
    _Static_assert((int)RULE_STATE_##name == (int)CULEX_RUN_##name, "ORDER RUN_STATE");
#include "core/run_rules.def"
_Static_assert((int)RULE_STATE_COUNT == (int)CULEX_RUN_STATE_COUNT, "ORDER RUN_STATE");

/* ORDER BYTES_MAX: the rules have them for the Lua scripts. */
_Static_assert((int)CULEX_PAYLOAD_BYTES_MAX == (int)CULEX_PAYLOAD_MAX, "one limit, two places");
_Static_assert((int)CULEX_ERROR_TEXT_BYTES_MAX == (int)CULEX_ERROR_TEXT_MAX, "as above");
_Static_assert((int)CULEX_PROGRESS_BYTES_MAX == (int)CULEX_PROGRESS_MAX, "as above");

struct charge {
    uint32_t failures, crashes, losses;
};

static const struct charge charges[CULEX_EVENT_COUNT] = {
#define EVENT(name, failures, crashes, losses, teller) {failures, crashes, losses},
#include "core/run_rules.def"
};

/* Each may tell what those before it may not; the worker passes on what its children tell. */
enum teller { TELLER_STORE, TELLER_WORKER, TELLER_CHILD };

static const enum teller tellers[CULEX_EVENT_COUNT] = {
#define EVENT(name, failures, crashes, losses, teller) TELLER_##teller,
#include "core/run_rules.def"
};

struct transition {
    culex_run_state from;
    enum culex_run_event event;
    culex_run_state to;
};

static const struct transition transitions[] = {
#define TRANSITION(from, event, to) {CULEX_RUN_##from, CULEX_EVENT_##event, CULEX_RUN_##to},
#include "core/run_rules.def"
};

static const char letters[CULEX_RUN_STATE_COUNT] = {
#define STATE(name, letter, final) #letter[0],
#include "core/run_rules.def"
};

static const bool finals[CULEX_RUN_STATE_COUNT] = {
#define STATE(name, letter, final) final,
#include "core/run_rules.def"
};

const char *culex_run_state_name(culex_run_state state)
{
    switch (state) {
    case CULEX_RUN_SCHEDULED:
        return "scheduled";
    case CULEX_RUN_WAITING:
        return "waiting";
    case CULEX_RUN_ACTIVE:
        return "active";
    case CULEX_RUN_DONE:
        return "done";
    case CULEX_RUN_DEAD:
        return "dead";
    case CULEX_RUN_CANCELLED:
        return "cancelled";
    case CULEX_RUN_STATE_COUNT:
        break;
    }
    return "unknown";
}

bool culex__run_facts_match(const struct culex_run_facts *facts, culex_uuid id, uint32_t attempt)
{
    return facts->attempt == attempt && memcmp(&facts->id, &id, sizeof id) == 0;
}

char culex__run_state_letter(culex_run_state state)
{
    return letters[state];
}

bool culex__run_state_parse(char letter, culex_run_state *ret_state)
{
    for (int i = 0; i < CULEX_RUN_STATE_COUNT; i++) {
        if (letters[i] == letter) {
            *ret_state = (culex_run_state)i;
            return true;
        }
    }
    return false;
}

bool culex__run_state_is_final(culex_run_state state)
{
    return finals[state];
}

/* No attempt is left: see the limits in run_rules.def. */
static bool run_is_exhausted(const struct culex_run_counters *counters)
{
    return (uint64_t)counters->failures + counters->crashes >= counters->attempts_max ||
           counters->crash_streak >= CULEX_CRASH_STREAK_MAX || counters->losses >= CULEX_LOSSES_MAX;
}

void culex__run_late_text(char ret_text[CULEX_ERROR_TEXT_MAX + 1], const char *text)
{
    static const char late[] = CULEX_LATE_TEXT;
    size_t len = text != NULL ? strlen(text) : 0;
    size_t at = len > 0 ? sizeof late - 1 : sizeof late - 1 - strlen(": ");
    if (len > CULEX_ERROR_TEXT_MAX - at)
        len = culex__utf8_prefix(text, CULEX_ERROR_TEXT_MAX - at);
    memcpy(ret_text, late, at);
    if (len > 0)
        memcpy(ret_text + at, text, len);
    ret_text[at + len] = '\0';
}

bool culex__run_is_suspect(const struct culex_run_counters *counters)
{
    return counters->losses >= CULEX_SUSPECT_LOSSES;
}

static bool event_is_told(int64_t event, enum teller least)
{
    return event >= 0 && event < CULEX_EVENT_COUNT && tellers[event] >= least;
}

bool culex__run_event_is_childs(int64_t event)
{
    return event_is_told(event, TELLER_CHILD);
}

bool culex__run_event_is_workers(int64_t event)
{
    return event_is_told(event, TELLER_WORKER);
}

static bool transition_find(culex_run_state from, enum culex_run_event event,
                            culex_run_state *ret_to)
{
    for (size_t i = 0; i < sizeof transitions / sizeof transitions[0]; i++) {
        if (transitions[i].from == from && transitions[i].event == event) {
            *ret_to = transitions[i].to;
            return true;
        }
    }
    return false;
}

static void counters_charge(struct culex_run_counters *counters, enum culex_run_event event)
{
    const struct charge *charge = &charges[event];
    counters->failures += charge->failures;
    counters->crashes += charge->crashes;
    counters->losses += charge->losses;
    if (charge->crashes > 0)
        counters->crash_streak += charge->crashes;
    else if (event == CULEX_EVENT_FAIL || event == CULEX_EVENT_DISCARD)
        counters->crash_streak = 0;
    if (event == CULEX_EVENT_RETRY) {
        counters->failures = counters->crashes = counters->crash_streak = 0;
        counters->losses = 0;
    }
}

/* Another attempt follows, unless something ends the run. */
static bool event_may_repeat(enum culex_run_event event)
{
    return event == CULEX_EVENT_FAIL || event == CULEX_EVENT_CRASH || event == CULEX_EVENT_LOSS;
}

int64_t culex__run_retry_until_ms(const struct culex_run_counters *counters,
                                  enum culex_run_event event, int64_t expires_at_ms, int64_t now_ms)
{
    if (counters->retry_for_ms <= 0 || event == CULEX_EVENT_RETRY)
        return 0;
    if (counters->failures > 0 || counters->crashes > 0 || counters->losses > 0)
        return expires_at_ms;
    if (!event_may_repeat(event))
        return 0;
    return now_ms > CULEX_INSTANT_LAST_MS - counters->retry_for_ms
               ? CULEX_INSTANT_LAST_MS
               : now_ms + counters->retry_for_ms;
}

bool culex__run_is_late(const struct culex_run_counters *counters, enum culex_run_event event,
                        int64_t expires_at_ms, int64_t now_ms, int64_t delay_ms)
{
    struct culex_run_counters charged = *counters;
    int64_t until_ms = culex__run_retry_until_ms(counters, event, expires_at_ms, now_ms);
    int64_t wait_ms = event != CULEX_EVENT_LOSS && delay_ms > 0 ? delay_ms : 0;
    if (!event_may_repeat(event) || until_ms == 0 || wait_ms < until_ms - now_ms)
        return false;
    counters_charge(&charged, event);
    return !run_is_exhausted(&charged);
}

bool culex__run_apply(culex_run_state state, enum culex_run_event event, bool is_cancel_requested,
                      bool is_delayed, bool is_late, struct culex_run_counters *counters,
                      culex_run_state *ret_state)
{
    culex_run_state to;
    if (!transition_find(state, event, &to))
        return false;
    counters_charge(counters, event);
    bool is_charged = event_may_repeat(event);
    if (is_cancel_requested && (is_charged || event == CULEX_EVENT_RELEASE))
        to = CULEX_RUN_CANCELLED;
    else if (is_charged && (is_late || run_is_exhausted(counters)))
        to = CULEX_RUN_DEAD;
    else if (event == CULEX_EVENT_RELEASE && is_delayed)
        to = CULEX_RUN_SCHEDULED;
    *ret_state = to;
    return true;
}

int64_t culex__run_unknown_delay_ms(uint32_t attempt)
{
    return attempt < 12 ? (int64_t)5000 * (attempt > 0 ? attempt : 1) : 60000;
}
