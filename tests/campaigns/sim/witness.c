/* sim/witness.c - what the oracle learns from the virtual Redis: calls, records, answers. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "core/run_id.h"
#include "store/redis/scripts.h"
#include "line.h"
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
    *ret_record = (struct sim_record){
        .state = fields.text[FIELD_state][0],
        .attempt = (uint32_t)number_of(&fields, FIELD_attempt),
        .failures = (uint32_t)number_of(&fields, FIELD_failures),
        .crashes = (uint32_t)number_of(&fields, FIELD_crashes),
        .crash_streak = (uint32_t)number_of(&fields, FIELD_crash_streak),
        .losses = (uint32_t)number_of(&fields, FIELD_losses),
        .attempts_max = (uint32_t)number_of(&fields, FIELD_attempts_max),
        .has_cancel = number_of(&fields, FIELD_cancel) != 0,
        .is_started = number_of(&fields, FIELD_started) != 0,
        .is_limited = number_of(&fields, FIELD_behind) > 0,
        .is_parked = number_of(&fields, FIELD_behind) > 1,
        .units = sim_units_of(fields.text[FIELD_limits], fields.len[FIELD_limits]),
        .at_ms = number_of(&fields, FIELD_at_ms),
        .expires_at_ms = number_of(&fields, FIELD_expires_at_ms),
        .retry_for_ms = number_of(&fields, FIELD_retry_for_ms),
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

static const struct sim_value *key_find(struct sim_world *world, const char *queue,
                                        const char *name)
{
    char key[128];
    int len = snprintf(key, sizeof key, "culex:{%s}:%s", queue, name);
    return sim_space_find(&world->server.redis.space, key, (size_t)len);
}

static const struct sim_text *field_find(struct sim_world *world, const char *queue,
                                         const char *name, const void *field, size_t len)
{
    const struct sim_value *hash = key_find(world, queue, name);
    const struct sim_entry *entry = hash == NULL ? NULL : sim_dict_find(&hash->dict, field, len);
    return entry == NULL ? NULL : entry->slot.text;
}

/* A payload is there before its record is. */
static void payload_find(struct sim_oracle *oracle, culex_uuid id, struct sim_record *record)
{
    const struct sim_text *payload =
        field_find(sim_oracle_world(oracle), sim_oracle_call_now(oracle)->queue, "payloads", id.b,
                   sizeof id.b);
    if (payload != NULL)
        snprintf(record->payload, sizeof record->payload, "%s", payload->data);
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
    payload_find(user, id_of(id), &record);
    sim_oracle_change(user, id_of(id), &record);
}

/* --- ordinary runs ------------------------------------------------------------------------- */

static const char *const queues[] = {"alpha", "beta"};
enum { QUEUES = sizeof queues / sizeof queues[0] };

static void ordinary_tell(void *user, culex_uuid id, const struct sim_record *record)
{
    sim_oracle_change(user, id, record);
}

/* Of the books; those that are in the store no more. */
struct missing {
    struct sim_world *world;
    culex_uuid *ids;
    size_t count;
};

static bool has_record(struct sim_world *world, const char *queue, culex_uuid id)
{
    return field_find(world, queue, "runs", id.b, sizeof id.b) != NULL;
}

static void missing_note(void *user, culex_uuid id, const struct sim_record *record)
{
    struct missing *missing = user;
    (void)record;
    if (!sim_line_is_ordinary(id))
        return;
    for (int i = 0; i < QUEUES; i++) {
        if (sim_line_has(missing->world, queues[i], id) ||
            has_record(missing->world, queues[i], id))
            return;
    }
    missing->ids = realloc(missing->ids, (missing->count + 1) * sizeof *missing->ids);
    if (missing->ids == NULL)
        abort();
    missing->ids[missing->count++] = id;
}

/* What a script has made of ordinary runs shows when it is through: nobody sees them in between. */
static void line_look(struct sim_oracle *oracle)
{
    struct sim_world *world = sim_oracle_world(oracle);
    struct missing missing = {.world = world};
    const struct sim_record none = {.state = '-'};
    if (!world->server.redis.is_line_new)
        return;
    world->server.redis.is_line_new = false;
    sim_oracle_each(oracle, missing_note, &missing);
    for (size_t i = 0; i < missing.count; i++)
        sim_oracle_change(oracle, missing.ids[i], &none);
    free(missing.ids);
    for (int i = 0; i < QUEUES; i++)
        sim_line_each(world, queues[i], ordinary_tell, oracle);
}

/* --- limits -------------------------------------------------------------------------------- */

/* As somebody has set it, or as runs told: 'KIND|COUNT|PER|BURST|COUNT|PER|BURST', the second for
 * what was set, 0 when nothing was. */
static int64_t room_read(struct sim_world *world)
{
    long long told = 0, set = 0;
    const struct sim_text *limit =
        field_find(world, "alpha", "limits", SIM_LIMIT, sizeof SIM_LIMIT - 1);
    if (limit != NULL)
        sscanf(limit->data, "C|%lld|%*d|%*d|%lld", &told, &set);
    return set > 0 ? set : told;
}

static void limits_look(struct sim_oracle *oracle)
{
    struct sim_world *world = sim_oracle_world(oracle);
    struct sim_slots slots = {{0}};
    struct fields fields;
    const struct sim_value *runs = key_find(world, "alpha", "runs");
    if (!world->server.redis.is_record_new)
        return;
    world->server.redis.is_record_new = false;
    for (size_t i = 0; runs != NULL && i < runs->dict.cap; i++) {
        const struct sim_entry *entry = &runs->dict.entries[i];
        if (entry->key != NULL &&
            fields_split(entry->slot.text->data, entry->slot.text->len, &fields) &&
            fields.text[FIELD_state][0] == 'A')
            sim_slots_count(&slots, fields.text[FIELD_limits], fields.len[FIELD_limits]);
    }
    sim_slots_check(world, &slots, room_read(world));
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

/* A group of successes: numbers of the line that follow each other. */
static void group_read(struct sim_world *world, struct sim_call *call, const struct sim_arg *args)
{
    int64_t number = arg_number(&args[0]), count = arg_number(&args[1]);
    for (; count > 0; count--, number++) {
        if (call->ack_count == SIM_CALL_MAX)
            abort();
        call->acks[call->ack_count].id = sim_line_id(world, call->queue, number);
        call->acks[call->ack_count].has_progress = false;
        call->acks[call->ack_count].asking = 0;
        call->acks[call->ack_count].event = CULEX_EVENT_DONE;
        call->acks[call->ack_count++].attempt = 1;
    }
}

/* Of the full step: whatever has become of them, their ids are told. */
static void group_ids_read(struct sim_call *call, size_t first, const struct sim_arg *ids)
{
    for (size_t i = 0; (i + 1) * sizeof(culex_uuid) <= ids->len; i++)
        memcpy(call->acks[first + i].id.b, ids->data + i * sizeof(culex_uuid), sizeof(culex_uuid));
}

/* ORDER ARGV of store/redis/lib_request.lua. */
static void step_read(struct sim_world *world, struct sim_call *call, const struct sim_arg *args)
{
    enum { ACK = 11, ACK_WORDS = 3, BEAT_WORDS = 2 };
    arg_copy(&args[1], call->session, sizeof call->session);
    char nonce[32];
    arg_copy(&args[2], nonce, sizeof nonce);
    call->nonce = strtoull(nonce, NULL, 10);
    call->want = (uint32_t)arg_number(&args[3]);
    call->lease_ms = arg_number(&args[5]);
    call->ack_count = (size_t)arg_number(&args[6]);
    call->beat_count = (size_t)arg_number(&args[7]);
    if (call->ack_count > SIM_CALL_MAX || call->beat_count > SIM_CALL_MAX)
        abort();
    for (size_t i = 0; i < call->ack_count; i++) {
        char order[CULEX_PROGRESS_MAX + 64], mark, blob[3];
        arg_copy(&args[ACK + i * ACK_WORDS + 1], order, sizeof order);
        int read = sscanf(order, "%*[^|]|%*[^|]|%*[^|]|%2[012b]|%c", blob, &mark);
        call->acks[i].has_progress = read == 2;
        call->acks[i].has_begun = read > 0 && blob[1] == 'b';
        const struct sim_arg *blob_text = &args[ACK + i * ACK_WORDS + 2];
        call->acks[i].asking =
            read > 0 && blob[0] == '2' ? sim_follow_asking(blob_text->data, blob_text->len) : 0;
        call->acks[i].id = id_of(&args[ACK + i * ACK_WORDS]);
        call->acks[i].event = event_of(order);
        call->acks[i].attempt = (uint32_t)strtoul(strchr(order, '|') + 1, NULL, 10);
    }
    size_t first = ACK + call->ack_count * ACK_WORDS;
    size_t words = BEAT_WORDS;
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
    const struct sim_arg *groups = &args[first + call->beat_count * words];
    size_t group_count = (size_t)arg_number(&args[10]), listed = call->ack_count;
    for (size_t i = 0; i < group_count; i++)
        group_read(world, call, groups + 3 * i);
    if (group_count > 0 && groups[3 * group_count].len % sizeof(culex_uuid) == 0)
        group_ids_read(call, listed, groups + 3 * group_count);
}

/* Sixteen hex digits; of what follows fifteen digits of the ms and four of the count; '' for none.
 */
static struct culex_ticket ticket_read(const struct sim_arg *producer, const struct sim_arg *rest)
{
    enum { MS = 15, COUNT = 4 };
    char first[17], ms[MS + 1], count[COUNT + 1] = "";
    arg_copy(producer, first, sizeof first);
    arg_copy(rest, ms, sizeof ms);
    if (rest->len >= MS + COUNT)
        memcpy(count, rest->data + MS, COUNT);
    return (struct culex_ticket){strtoull(first, NULL, 16),
                                 strtoull(ms, NULL, 10) << 12 | strtoull(count, NULL, 10)};
}

/* How a new run is told: ARGV of store/redis/lib_enqueue.lua, or of lib_line.lua. */
enum { RIDER_FIRST = 5, RIDER_WORDS = 6 };

static void rider_plain_read(const struct sim_arg *args, struct sim_rider *rider)
{
    char body[256];
    arg_copy(&args[0], body, sizeof body);
    snprintf(rider->payload, sizeof rider->payload, "%s", strchr(body, '\n') + 1);
}

static void rider_read(const struct sim_arg *args, struct sim_rider *rider)
{
    char times[96], key[64], kept[64];
    arg_copy(&args[1], times, sizeof times);
    rider->delay_ms = strtoll(times, NULL, 10);
    arg_copy(&args[2], kept, sizeof kept);
    if (kept[0] != '\0') {
        rider->unique_for_ms = strtoll(strchr(kept, '|') + 1, NULL, 10);
        snprintf(rider->unique_key, sizeof rider->unique_key, "%s", strrchr(kept, '|') + 1);
    }
    arg_copy(&args[3], key, sizeof key);
    rider->window_ms = strtoll(key, NULL, 10);
    if (key[0] != '\0')
        snprintf(rider->key, sizeof rider->key, "%s", strchr(strchr(key, '|') + 1, '|') + 1);
    arg_copy(&args[4], rider->payload, sizeof rider->payload);
}

static void riders_read(struct sim_call *call, const struct sim_arg *args, size_t count,
                        bool is_plain)
{
    size_t words = is_plain ? 1 : RIDER_WORDS;
    size_t first = call->has_batch ? RIDER_FIRST + 1 : RIDER_FIRST;
    size_t riders = (count - first) / words;
    if (call->verb == SIM_ENQUEUE && riders > 1)
        return;
    call->rider_count = riders;
    for (size_t i = 0; i < riders; i++) {
        struct sim_rider *rider = &call->riders[i];
        *rider = (struct sim_rider){.answer = '\0'};
        if (is_plain)
            rider_plain_read(&args[first + i], rider);
        else
            rider_read(&args[first + i * words], rider);
    }
}

/* ORDER ENQUEUE_TICKETS: one behind the other. */
static void tickets_read(struct sim_call *call, const struct sim_arg *args)
{
    enum { PRODUCER = 16, CALL = 35 };
    for (size_t i = 0; i < call->rider_count; i++) {
        const struct sim_arg producer = {args[2].data + i * PRODUCER, PRODUCER};
        const struct sim_arg made = {args[3].data + i * CALL, CALL};
        call->riders[i].ticket = ticket_read(&producer, &made);
    }
}

static void enqueue_read(struct sim_world *world, struct sim_call *call, const struct sim_arg *args,
                         size_t count, bool is_plain)
{
    const struct sim_text *limit = field_find(world, call->queue, "meta", "limit", 5);
    call->capacity = limit == NULL ? 0 : strtoll(limit->data, NULL, 10);
    if (call->has_batch)
        call->batch = id_of(&args[RIDER_FIRST]);
    riders_read(call, args, count, is_plain);
    if (call->verb == SIM_EACH)
        tickets_read(call, args);
    else
        call->ticket = ticket_read(&args[2], &args[3]);
}

/* ARGV of store/redis/batch.lua. */
static void batch_read(struct sim_call *call, const struct sim_arg *args)
{
    enum { ID = 2, ACT, KIND, OPEN_MS, RUN };
    bool is_open = args[ACT].data[0] == 'o', is_call = args[ACT].data[1] == 'a';
    call->has_batch = true;
    call->batch = id_of(&args[ID]);
    call->batch_act = is_open ? 'o' : is_call ? 'c' : 'x';
    if (is_open)
        call->open_ms = arg_number(&args[OPEN_MS]);
    if (!is_call)
        return;
    call->batch_kind = args[KIND].data[0] == 'c'   ? CULEX_BATCH_ON_COMPLETE
                       : args[KIND].data[0] == 's' ? CULEX_BATCH_ON_SUCCESS
                                                   : CULEX_BATCH_ON_DEATH;
    call->batch_number = sim_number_last(args[RUN].data, args[RUN].len);
}

static const struct {
    const struct culex__redis_script *script;
    enum sim_verb verb;
} known[] = {
    {&culex__redis_script_step, SIM_STEP},
    {&culex__redis_script_enqueue, SIM_ENQUEUE},
    {&culex__redis_script_enqueue_bound, SIM_ENQUEUE},
    {&culex__redis_script_enqueue_plain, SIM_ENQUEUE},
    {&culex__redis_script_enqueue_batch, SIM_ENQUEUE},
    {&culex__redis_script_enqueue_each, SIM_EACH},
    {&culex__redis_script_enqueue_each_plain, SIM_EACH},
    {&culex__redis_script_step_fast, SIM_STEP},
    {&culex__redis_script_hello, SIM_HELLO},
    {&culex__redis_script_tick, SIM_TICK},
    {&culex__redis_script_schedule_set, SIM_SCHEDULE_SET},
    {&culex__redis_script_schedule_run, SIM_SCHEDULE_RUN},
    {&culex__redis_script_cancel, SIM_CANCEL},
    {&culex__redis_script_retry, SIM_RETRY},
    {&culex__redis_script_forget, SIM_FORGET},
    {&culex__redis_script_purge, SIM_PURGE},
    {&culex__redis_script_move, SIM_MOVE},
    {&culex__redis_script_follow, SIM_FOLLOW},
    {&culex__redis_script_batch, SIM_BATCH},
};

static bool is_script(const struct culex__redis_script *script, const char *digest)
{
    return memcmp(script->digest, digest, 40) == 0;
}

static enum sim_verb verb_of(const char *digest)
{
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        if (is_script(known[i].script, digest))
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
    call->is_fast = is_script(&culex__redis_script_step_fast, digest);
    call->now_ms = sim_oracle_now_ms(oracle);
    if (key_count > 0)
        queue_read(call, &keys[0]);
    if (call->verb == SIM_STEP) {
        step_read(sim_oracle_world(oracle), call, args);
    } else if (call->verb == SIM_ENQUEUE || call->verb == SIM_EACH) {
        call->has_batch = is_script(&culex__redis_script_enqueue_batch, digest);
        bool is_plain = is_script(&culex__redis_script_enqueue_plain, digest) ||
                        is_script(&culex__redis_script_enqueue_each_plain, digest);
        enqueue_read(sim_oracle_world(oracle), call, args, arg_count, is_plain);
    } else if (call->verb == SIM_BATCH) {
        batch_read(call, args);
    } else if (call->verb == SIM_HELLO) {
        arg_copy(&args[1], call->worker, sizeof call->worker);
        arg_copy(&args[2], call->session, sizeof call->session);
    } else if (call->verb == SIM_TICK) {
        arg_copy(&args[5], call->worker, sizeof call->worker);
        call->interval_ms = arg_number(&args[7]);
        call->is_of_calendar = args[8].len > 0 && args[8].data[0] == 'c';
    } else if (call->verb == SIM_SCHEDULE_SET) {
        call->act = args[1].data[0];
        arg_copy(&args[2], call->worker, sizeof call->worker);
    } else if (call->verb == SIM_SCHEDULE_RUN) {
        arg_copy(&args[5], call->worker, sizeof call->worker);
        call->asking = arg_number(&args[6]);
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
    if (line[0] == '$' && line[1] == '-') {
        *ret_item = (struct sim_arg){NULL, 0};
        *at = stop + 2;
    } else if (line[0] == '$') {
        size_t len = strtoul(line + 1, NULL, 10);
        *ret_item = (struct sim_arg){stop + 2, len};
        *at = stop + 2 + len + 2;
    } else {
        *ret_item = (struct sim_arg){line + 1, (size_t)(stop - line - 1)};
        *at = stop + 2;
    }
    return true;
}

static void grant_note(struct sim_oracle *oracle, culex_uuid id, uint32_t attempt, uint32_t losses)
{
    struct sim_call *call = sim_oracle_call_now(oracle);
    if (call->grant_count == SIM_CALL_MAX)
        sim_violation(oracle, &id, "more grants than can be read");
    call->grants[call->grant_count].id = id;
    call->grants[call->grant_count].attempt = attempt;
    call->grants[call->grant_count++].losses = losses;
}

/* Ordinary runs by their numbers: nil for one that is not granted. */
static const char *bodies_read(struct sim_oracle *oracle, const char *at, const char *end,
                               int64_t first)
{
    struct sim_call *call = sim_oracle_call_now(oracle);
    size_t count = strtoul(at + 1, NULL, 10);
    struct sim_arg body;
    at = (const char *)memchr(at, '\n', (size_t)(end - at)) + 1;
    for (size_t i = 0; i < count && item_next(&at, end, &body); i++) {
        if (body.data != NULL)
            grant_note(oracle,
                       sim_line_id(sim_oracle_world(oracle), call->queue, first + (int64_t)i), 1,
                       0);
    }
    return at;
}

/* ORDER STEP: as store/redis/step.lua answers. */
static void step_answer_read(struct sim_oracle *oracle, const char *at, const char *end)
{
    enum { FLAGS = 2, ACKS, BEATS, SALT, FIRST, SINCE, HEAD };
    enum { REPLACED = 8, LATE = 1024 };
    struct sim_call *call = sim_oracle_call_now(oracle);
    struct sim_arg head[HEAD], before, id, record, payload;
    struct sim_record parsed;
    for (int i = 0; i < HEAD; i++) {
        if (!item_next(&at, end, &head[i]))
            return;
    }
    call->says_late = (arg_number(&head[FLAGS]) & (REPLACED | LATE)) != 0;
    arg_copy(&head[ACKS], call->ack_answers, sizeof call->ack_answers);
    arg_copy(&head[BEATS], call->beat_answers, sizeof call->beat_answers);
    at = bodies_read(oracle, at, end, arg_number(&head[FIRST]));
    while (item_next(&at, end, &before) && item_next(&at, end, &id) &&
           item_next(&at, end, &record) && item_next(&at, end, &payload)) {
        culex_uuid uuid = id_of(&id);
        if (!sim_record_parse(record.data, record.len, &parsed))
            sim_violation(oracle, &uuid, "a grant that cannot be read");
        grant_note(oracle, uuid, parsed.attempt, parsed.losses);
    }
}

/* The lane stands above 44 bits of the number. */
static culex_uuid new_id(const struct sim_arg *ms, const struct sim_arg *salt, int64_t number)
{
    return culex__run_id_make(
        (struct culex_run_id_parts){.ms = arg_number(ms),
                                    .salt = (uint32_t)arg_number(salt),
                                    .lane = (uint32_t)(number >> 44),
                                    .number = (uint64_t)number & CULEX_RUN_NUMBER_MAX});
}

/* ORDER ENQUEUE: as store/redis/enqueue.lua answers. */
static void riders_answer_read(struct sim_oracle *oracle, const char *at, const char *end)
{
    enum { LETTERS, FIRST, MS, SALT, HEAD };
    struct sim_call *call = sim_oracle_call_now(oracle);
    struct sim_arg head[HEAD], other;
    for (int i = 0; i < HEAD; i++) {
        if (!item_next(&at, end, &head[i]))
            return;
    }
    if (call->rider_count > 0 && head[LETTERS].len != 0 && head[LETTERS].len != call->rider_count)
        sim_violation(oracle, NULL, "%zu calls get %zu answers", call->rider_count,
                      head[LETTERS].len);
    int64_t number = arg_number(&head[FIRST]);
    for (size_t i = 0; i < call->rider_count; i++) {
        struct sim_rider *rider = &call->riders[i];
        rider->answer = head[LETTERS].len == 0 ? 'N' : head[LETTERS].data[i];
        if (rider->answer == 'N')
            rider->id = new_id(&head[MS], &head[SALT], number++);
        else if (rider->answer != 'F' && item_next(&at, end, &other))
            rider->id = id_of(&other);
    }
}

void sim_oracle_return(void *user, const char *reply, size_t len)
{
    struct sim_oracle *oracle = user;
    struct sim_call *call = sim_oracle_call_now(oracle);
    struct sim_arg items[3] = {{"", 0}, {"", 0}, {"", 0}};
    const char *end = reply + len;
    line_look(oracle);
    limits_look(oracle);
    call->is_failed = reply[0] == '-';
    /* Of a schedule that is not there. */
    if (call->verb == SIM_SCHEDULE_SET && reply[0] == ':' && reply[1] == '0')
        call->verb = SIM_OTHER;
    if (len > 5 && memcmp(reply, "-ERR ", 5) == 0)
        sim_violation(oracle, NULL, "a script fails: %.*s", (int)len, reply);
    /* The fast step has looked, and leaves all to the full one. */
    if (call->verb == SIM_STEP && len > 9 && memcmp(reply, "*1\r\n$1\r\nF", 9) == 0) {
        SOMETIMES(FAST_STEP_LEFT_TO_THE_FULL_ONE);
        call->verb = SIM_OTHER;
    }
    if (reply[0] == '*') {
        const char *at = (const char *)memchr(reply, '\n', len) + 1;
        if (call->verb == SIM_STEP)
            step_answer_read(oracle, at, end);
        if (call->verb == SIM_ENQUEUE || call->verb == SIM_EACH)
            riders_answer_read(oracle, at, end);
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
    if (call->verb == SIM_BATCH && reply[0] == '$')
        call->batch_answer = ((const char *)memchr(reply, '\n', len))[1];
    if (call->has_batch && items[0].len == 1 && strchr("-.", items[0].data[0]) != NULL)
        call->batch_answer = items[0].data[0];
    if ((call->verb == SIM_ENQUEUE || call->verb == SIM_EACH) && items[0].len == 1) {
        call->is_refused = items[0].data[0] == '!';
        call->is_too_old = items[0].data[0] == '?';
    }
    sim_oracle_answered(oracle);
}
