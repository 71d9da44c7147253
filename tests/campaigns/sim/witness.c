/* sim/witness.c - what the oracle learns from the virtual Redis: calls, records, answers. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "store/redis/scripts.h"
#include "world.h"

/* --- records ------------------------------------------------------------------------------- */

enum field {
#define RECORD_FIELD(name, kind) FIELD_##name,
#include "core/run_rules.def"
    FIELD_COUNT
};

struct fields {
    const char *text[FIELD_COUNT];
    size_t len[FIELD_COUNT];
};

static bool fields_split(const char *text, size_t len, struct fields *ret_fields)
{
    const char *end = text + len, *at = memchr(text, '|', len);
    for (int i = 0; i < FIELD_COUNT; i++) {
        if (at == NULL)
            return false;
        const char *begin = at + 1;
        at = memchr(begin, '|', (size_t)(end - begin));
        ret_fields->text[i] = begin;
        ret_fields->len[i] = (size_t)((at != NULL ? at : end) - begin);
    }
    return at == NULL;
}

static int64_t number_of(const struct fields *fields, enum field field)
{
    int64_t value = 0;
    for (size_t i = 0; i < fields->len[field]; i++)
        value = value * 10 + (fields->text[field][i] - '0');
    return value;
}

bool sim_record_parse(const char *text, size_t len, struct sim_record *ret_record)
{
    struct fields fields;
    if (!fields_split(text, len, &fields) || fields.len[FIELD_state] != 1 ||
        fields.len[FIELD_owner] >= SIM_SESSION_SIZE ||
        fields.len[FIELD_unique_key] >= sizeof ret_record->unique_key)
        return false;
    *ret_record =
        (struct sim_record){.state = fields.text[FIELD_state][0],
                            .attempt = (uint32_t)number_of(&fields, FIELD_attempt),
                            .failures = (uint32_t)number_of(&fields, FIELD_failures),
                            .crashes = (uint32_t)number_of(&fields, FIELD_crashes),
                            .crash_streak = (uint32_t)number_of(&fields, FIELD_crash_streak),
                            .losses = (uint32_t)number_of(&fields, FIELD_losses),
                            .attempts_max = (uint32_t)number_of(&fields, FIELD_attempts_max),
                            .has_cancel = number_of(&fields, FIELD_cancel) != 0,
                            .is_started = number_of(&fields, FIELD_started) != 0,
                            .at_ms = number_of(&fields, FIELD_at_ms),
                            .expires_at_ms = number_of(&fields, FIELD_expires_at_ms),
                            .timeout_ms = number_of(&fields, FIELD_timeout_ms)};
    if (ret_record->state == 'A' && ret_record->timeout_ms > 0)
        ret_record->limit_ms = number_of(&fields, FIELD_timeout_from_ms) + ret_record->timeout_ms +
                               CULEX_TIMEOUT_SLACK_MS;
    memcpy(ret_record->unique_key, fields.text[FIELD_unique_key], fields.len[FIELD_unique_key]);
    memcpy(ret_record->owner, fields.text[FIELD_owner], fields.len[FIELD_owner]);
    return true;
}

static culex_uuid id_of(const struct sim_arg *arg)
{
    culex_uuid id = {{0}};
    if (arg->len == sizeof id.b)
        memcpy(id.b, arg->data, sizeof id.b);
    return id;
}

void sim_oracle_record(void *user, const struct sim_arg *key, const struct sim_arg *id,
                       const struct sim_text *before, const struct sim_arg *after)
{
    struct sim_record record = {.state = '-'};
    (void)key;
    (void)before;
    if (id->len != sizeof(culex_uuid) ||
        (after != NULL && !sim_record_parse(after->data, after->len, &record)))
        sim_violation(user, NULL, "a record is written that cannot be read: %.*s",
                      after != NULL ? (int)after->len : 0, after != NULL ? after->data : "");
    sim_oracle_change(user, id_of(id), &record);
}

/* --- requests ------------------------------------------------------------------------------ */

static int64_t arg_number(const struct sim_arg *arg)
{
    int64_t value = 0;
    sim_arg_int(arg, &value);
    return value;
}

static void arg_copy(const struct sim_arg *arg, char *ret_text, size_t size)
{
    size_t len = arg->len < size ? arg->len : size - 1;
    memcpy(ret_text, arg->data, len);
    ret_text[len] = '\0';
}

static enum culex_run_event event_of(const char *order)
{
    static const char *const names[] = {
#define EVENT(name, failures, crashes, losses, teller) #name,
#include "core/run_rules.def"
    };
    size_t len = strcspn(order, "|");
    for (int i = 0; i < CULEX_EVENT_COUNT; i++) {
        if (strlen(names[i]) == len && memcmp(names[i], order, len) == 0)
            return (enum culex_run_event)i;
    }
    return CULEX_EVENT_COUNT;
}

/* ORDER ARGV of store/redis/lib_request.lua. */
static void step_read(struct sim_call *call, const struct sim_arg *args, size_t count)
{
    enum { ACK = 10, ACK_WORDS = 3 };
    arg_copy(&args[1], call->session, sizeof call->session);
    char nonce[32];
    arg_copy(&args[2], nonce, sizeof nonce);
    call->nonce = strtoull(nonce, NULL, 16);
    call->want = (uint32_t)arg_number(&args[3]);
    call->lease_ms = arg_number(&args[5]);
    call->ack_count = (size_t)arg_number(&args[6]);
    call->beat_count = (size_t)arg_number(&args[7]);
    if (call->ack_count > SIM_CALL_MAX || call->beat_count > SIM_CALL_MAX)
        abort();
    for (size_t i = 0; i < call->ack_count; i++) {
        char order[CULEX_PROGRESS_MAX + 64], mark;
        arg_copy(&args[ACK + i * ACK_WORDS + 1], order, sizeof order);
        call->acks[i].has_progress = sscanf(order, "%*[^|]|%*[^|]|%*[^|]|%*1[01]|%c", &mark) == 1;
        call->acks[i].id = id_of(&args[ACK + i * ACK_WORDS]);
        call->acks[i].event = event_of(order);
        call->acks[i].attempt = (uint32_t)strtoul(strchr(order, '|') + 1, NULL, 10);
    }
    size_t first = ACK + call->ack_count * ACK_WORDS;
    size_t words = call->beat_count == 0 ? 0 : (count - first) / call->beat_count;
    for (size_t i = 0; i < call->beat_count; i++) {
        char attempt[CULEX_PROGRESS_MAX + 64];
        call->beats[i].id = id_of(&args[first + i * words]);
        arg_copy(&args[first + i * words + 1], attempt, sizeof attempt);
        call->beats[i].attempt = (uint32_t)strtoul(attempt, NULL, 10);
        const char *extend = strchr(attempt, '|') + 1, *started = strchr(extend, '|') + 1;
        call->beats[i].extend_ms = strtoll(extend, NULL, 10);
        call->beats[i].is_started = started[0] == '1';
        call->beats[i].is_excused = started[0] == '2';
        call->beats[i].has_progress = strchr(started, '|')[1] != '\0';
    }
}

/* Sixteen hex digits, and the first fifteen of what follows; '' for none. */
static struct culex_ticket ticket_read(const struct sim_arg *producer, const struct sim_arg *rest)
{
    char first[17], second[16];
    arg_copy(producer, first, sizeof first);
    arg_copy(rest, second, sizeof second);
    return (struct culex_ticket){strtoull(first, NULL, 16), strtoull(second, NULL, 16)};
}

static const struct {
    const struct culex__redis_script *script;
    enum sim_verb verb;
} known[] = {
    {&culex__redis_script_step, SIM_STEP},     {&culex__redis_script_enqueue, SIM_ENQUEUE},
    {&culex__redis_script_hello, SIM_HELLO},   {&culex__redis_script_tick, SIM_TICK},
    {&culex__redis_script_cancel, SIM_CANCEL}, {&culex__redis_script_retry, SIM_RETRY},
    {&culex__redis_script_forget, SIM_FORGET}, {&culex__redis_script_purge, SIM_PURGE},
};

static enum sim_verb verb_of(const char *digest)
{
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        if (memcmp(known[i].script->digest, digest, 40) == 0)
            return known[i].verb;
    }
    return SIM_OTHER;
}

static void queue_read(struct sim_call *call, const struct sim_arg *key)
{
    const char *open = memchr(key->data, '{', key->len);
    const char *close = memchr(key->data, '}', key->len);
    if (open == NULL || close == NULL)
        return;
    struct sim_arg name = {open + 1, (size_t)(close - open - 1)};
    arg_copy(&name, call->queue, sizeof call->queue);
}

void sim_oracle_call(void *user, const char *digest, const struct sim_arg *keys, size_t key_count,
                     const struct sim_arg *args, size_t arg_count)
{
    struct sim_oracle *oracle = user;
    struct sim_call *call = sim_oracle_begin(oracle);
    call->verb = verb_of(digest);
    call->now_ms = sim_oracle_now_ms(oracle);
    if (key_count > 0)
        queue_read(call, &keys[0]);
    if (call->verb == SIM_STEP) {
        step_read(call, args, arg_count);
    } else if (call->verb == SIM_ENQUEUE) {
        call->ticket = ticket_read(&args[2], &args[3]);
    } else if (call->verb == SIM_HELLO) {
        arg_copy(&args[1], call->worker, sizeof call->worker);
        arg_copy(&args[2], call->session, sizeof call->session);
    } else if (call->verb == SIM_TICK) {
        arg_copy(&args[5], call->worker, sizeof call->worker);
        call->interval_ms = arg_number(&args[7]);
    }
    sim_oracle_asked(oracle);
}

/* --- answers ------------------------------------------------------------------------------- */

/* The next bulk or integer of a flat reply; false at its end. */
static bool item_next(const char **at, const char *end, struct sim_arg *ret_item)
{
    if (*at >= end)
        return false;
    const char *line = *at, *stop = memchr(line, '\r', (size_t)(end - line));
    if (line[0] == '$') {
        size_t len = strtoul(line + 1, NULL, 10);
        *ret_item = (struct sim_arg){stop + 2, len};
        *at = stop + 2 + len + 2;
    } else {
        *ret_item = (struct sim_arg){line + 1, (size_t)(stop - line - 1)};
        *at = stop + 2;
    }
    return true;
}

static void step_answer_read(struct sim_oracle *oracle, const char *at, const char *end)
{
    struct sim_call *call = sim_oracle_call_now(oracle);
    struct sim_arg head[5], id, record, payload;
    struct sim_record parsed;
    for (int i = 0; i < 5; i++) {
        if (!item_next(&at, end, &head[i]))
            return;
    }
    arg_copy(&head[3], call->ack_answers, sizeof call->ack_answers);
    arg_copy(&head[4], call->beat_answers, sizeof call->beat_answers);
    while (item_next(&at, end, &id) && item_next(&at, end, &record) &&
           item_next(&at, end, &payload)) {
        culex_uuid uuid = id_of(&id);
        if (call->grant_count == SIM_CALL_MAX ||
            !sim_record_parse(record.data, record.len, &parsed))
            sim_violation(oracle, &uuid, "a grant that cannot be read");
        call->grants[call->grant_count].id = uuid;
        call->grants[call->grant_count].attempt = parsed.attempt;
        call->grants[call->grant_count++].losses = parsed.losses;
    }
}

void sim_oracle_return(void *user, const char *reply, size_t len)
{
    struct sim_oracle *oracle = user;
    struct sim_call *call = sim_oracle_call_now(oracle);
    struct sim_arg items[3] = {{"", 0}, {"", 0}, {"", 0}};
    const char *end = reply + len;
    call->is_failed = reply[0] == '-';
    if (len > 5 && memcmp(reply, "-ERR ", 5) == 0)
        sim_violation(oracle, NULL, "a script fails: %.*s", (int)len, reply);
    if (reply[0] == '*') {
        const char *at = (const char *)memchr(reply, '\n', len) + 1;
        if (call->verb == SIM_STEP)
            step_answer_read(oracle, at, end);
        for (int i = 0; i < 3; i++)
            item_next(&at, end, &items[i]);
    }
    if (call->verb == SIM_TICK) {
        call->is_enqueued = arg_number(&items[1]) != 0;
        call->mark_ms = arg_number(&items[2]);
    }
    /* A HELLO that is not through yet still has the session before. */
    if (call->verb == SIM_HELLO && arg_number(&items[2]) > 0)
        call->verb = SIM_OTHER;
    if (call->verb == SIM_ENQUEUE && items[0].len == 1) {
        call->is_refused = items[0].data[0] == '!';
        call->is_too_old = items[0].data[0] == '?';
    }
    sim_oracle_answered(oracle);
}
