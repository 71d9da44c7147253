/* sim/check.c - the raw keys of the virtual Redis against the books (I1, I2, I3, I9, I10).
 *
 * It knows the key layout and the record, and nothing of the scripts. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "line.h"
#include "world.h"

struct look {
    struct sim_world *world;
    const char *queue;
    const struct sim_value *runs;
    size_t in_state[128];
    size_t limited, parked; /* waiting runs that have limits, and those behind one of them */
};

static const struct sim_value *key_find(const struct look *look, const char *name)
{
    char key[128];
    int len = snprintf(key, sizeof key, "culex:{%s}:%s", look->queue, name);
    return sim_space_find(&look->world->server.redis.space, key, (size_t)len);
}

static size_t size_of(const struct sim_value *value)
{
    return value == NULL ? 0 : sim_value_size(value);
}

static culex_uuid id_of(const struct sim_text *text)
{
    culex_uuid id = {{0}};
    memcpy(id.b, text->data, text->len < sizeof id.b ? text->len : sizeof id.b);
    return id;
}

static bool record_of(const struct look *look, const struct sim_text *id,
                      struct sim_record *ret_record)
{
    const struct sim_entry *entry =
        look->runs == NULL ? NULL : sim_dict_find(&look->runs->dict, id->data, id->len);
    return entry != NULL &&
           sim_record_parse(entry->slot.text->data, entry->slot.text->len, ret_record);
}

static void records_look(struct look *look)
{
    struct sim_record record;
    for (size_t i = 0; look->runs != NULL && i < look->runs->dict.cap; i++) {
        const struct sim_entry *entry = &look->runs->dict.entries[i];
        if (entry->key == NULL)
            continue;
        if (!record_of(look, entry->key, &record))
            sim_violation(look->world->oracle, NULL, "%s: a record cannot be read", look->queue);
        look->in_state[record.state & 127]++;
        look->limited += record.is_limited && record.state == 'W';
        look->parked += record.is_parked && record.state == 'W';
        if (record.is_parked && record.state != 'W') {
            culex_uuid id = id_of(entry->key);
            sim_violation(look->world->oracle, &id, "a run is parked that does not wait");
        }
    }
}

static void set_look(const struct look *look, const char *name, char state)
{
    const struct sim_value *set = key_find(look, name);
    struct sim_record record;
    for (size_t i = 0; set != NULL && i < set->dict.count; i++) {
        culex_uuid id = id_of(set->sorted[i].member);
        if (!record_of(look, set->sorted[i].member, &record) || record.state != state)
            sim_violation(look->world->oracle, &id, "a stranger in %s:%s", look->queue, name);
        if (record.at_ms != (int64_t)llround(set->sorted[i].score))
            sim_violation(look->world->oracle, &id, "%s:%s has another time than the record",
                          look->queue, name);
    }
    if (size_of(set) != look->in_state[state & 127])
        sim_violation(look->world->oracle, NULL, "%s:%s lacks runs", look->queue, name);
}

static bool is_member(const struct sim_value *set, const struct sim_text *member)
{
    return set != NULL && sim_dict_find(&set->dict, member->data, member->len) != NULL;
}

static void ready_look(const struct look *look)
{
    const struct sim_value *urgent = key_find(look, "urgent"), *ready = key_find(look, "ready");
    const struct sim_value *meta = key_find(look, "meta");
    struct sim_dict seen = {0};
    struct sim_record record;
    size_t waiting = 0;
    int64_t ghosts = 0, counted = 0;
    for (size_t i = 0; urgent != NULL && i < urgent->dict.count; i++, waiting++) {
        culex_uuid id = id_of(urgent->sorted[i].member);
        if (!record_of(look, urgent->sorted[i].member, &record) || record.state != 'W' ||
            record.is_parked)
            sim_violation(look->world->oracle, &id, "a stranger among the urgent");
    }
    for (size_t i = 0; ready != NULL && i < ready->count; i++) {
        const struct sim_text *entry = ready->items[ready->first + i];
        bool is_new, is_sound = entry->len > sizeof(culex_uuid);
        if (!is_sound)
            sim_violation(look->world->oracle, NULL, "%s: a strange entry is ready", look->queue);
        struct sim_text *text = sim_text_make(entry->data, sizeof(culex_uuid));
        sim_dict_put(&seen, text->data, text->len, &is_new);
        /* Who was moved, or let in by a limit, stands among the urgent. */
        bool is_waiting = is_new && record_of(look, text, &record) && record.state == 'W' &&
                          !record.is_parked && !is_member(urgent, text);
        sim_text_drop(text);
        waiting += is_waiting;
        ghosts += !is_waiting;
    }
    for (size_t i = 0; i < seen.cap; i++)
        sim_text_drop(seen.entries[i].key);
    free(seen.entries);
    const struct sim_entry *entry =
        meta == NULL ? NULL : sim_dict_find(&meta->dict, "ghosts", strlen("ghosts"));
    if (entry != NULL)
        counted = strtoll(entry->slot.text->data, NULL, 10);
    if (waiting + look->parked != look->in_state['W'])
        sim_violation(look->world->oracle, NULL,
                      "%s: %zu of %zu waiting runs are ready, %zu parked", look->queue, waiting,
                      look->in_state['W'], look->parked);
    if (ghosts != counted)
        sim_violation(look->world->oracle, NULL, "%s: %lld ghosts, counted %lld", look->queue,
                      (long long)ghosts, (long long)counted);
}

/* Each waiting run that has limits is told among them, and in `slots` once for each gate behind
 * which it is parked, which is one. */
static void limited_look(const struct look *look)
{
    const struct sim_value *limited = key_find(look, "limited"), *slots = key_find(look, "slots");
    struct sim_record record;
    size_t parked = 0;
    for (size_t i = 0; limited != NULL && i < limited->dict.count; i++) {
        culex_uuid id = id_of(limited->sorted[i].member);
        if (!record_of(look, limited->sorted[i].member, &record) || record.state != 'W' ||
            !record.is_limited)
            sim_violation(look->world->oracle, &id, "a stranger in %s:limited", look->queue);
    }
    for (size_t i = 0; slots != NULL && i < slots->dict.count; i++)
        parked += slots->sorted[i].member->data[0] == 'P';
    if (size_of(limited) != look->limited)
        sim_violation(look->world->oracle, NULL, "%s:limited lacks runs", look->queue);
    if (parked != look->parked)
        sim_violation(look->world->oracle, NULL, "%s: %zu places of %zu parked runs", look->queue,
                      parked, look->parked);
}

/* Fields of the hash belong to runs in one of `states`; with `is_complete` all of these have one.
 */
static void hash_look(const struct look *look, const char *name, const char *states,
                      bool is_complete)
{
    const struct sim_value *hash = key_find(look, name);
    struct sim_record record;
    size_t wanted = 0;
    for (size_t i = 0; hash != NULL && i < hash->dict.cap; i++) {
        const struct sim_entry *entry = &hash->dict.entries[i];
        if (entry->key == NULL)
            continue;
        culex_uuid id = id_of(entry->key);
        if (!record_of(look, entry->key, &record) || strchr(states, record.state) == NULL)
            sim_violation(look->world->oracle, &id, "a stranger in %s:%s", look->queue, name);
    }
    for (const char *state = states; *state != '\0'; state++)
        wanted += look->in_state[*state & 127];
    if (is_complete && size_of(hash) != wanted)
        sim_violation(look->world->oracle, NULL, "%s:%s lacks fields", look->queue, name);
}

/* Progress is of the newest attempt, and says so. */
static void progress_look(const struct look *look)
{
    const struct sim_value *hash = key_find(look, "progress");
    struct sim_record record;
    hash_look(look, "progress", "SWADXC", false);
    for (size_t i = 0; hash != NULL && i < hash->dict.cap; i++) {
        const struct sim_entry *entry = &hash->dict.entries[i];
        char words[40];
        if (entry->key == NULL || !record_of(look, entry->key, &record) || record.state != 'A')
            continue;
        culex_uuid id = id_of(entry->key);
        snprintf(words, sizeof words, "50 attempt %u", (unsigned)record.attempt);
        if (!sim_text_is(entry->slot.text, words, strlen(words)))
            sim_violation(look->world->oracle, &id, "attempt %u has the progress %s",
                          (unsigned)record.attempt, entry->slot.text->data);
    }
}

/* A key that is kept for a time has its end behind the id, and there is an entry of that. */
static bool is_timed_entry(const struct sim_entry *entry)
{
    return entry->key->data[0] == SIM_UNIQUE_WINDOW && entry->slot.text->len > sizeof(culex_uuid);
}

static bool is_entry_of_live(const struct look *look, const struct sim_entry *entry)
{
    struct sim_record record;
    return record_of(look, entry->slot.text, &record) && strchr("SWA", record.state) != NULL &&
           strcmp(record.unique_key, entry->key->data) == 0;
}

/* Whoever surely holds a key is led to by it. */
static void holders_look(const struct look *look, const struct sim_value *hash)
{
    struct sim_record record;
    for (size_t i = 0; look->runs != NULL && i < look->runs->dict.cap; i++) {
        const struct sim_text *text = look->runs->dict.entries[i].key;
        if (text == NULL || !record_of(look, text, &record) || !sim_is_sure_holder(&record))
            continue;
        culex_uuid id = id_of(text);
        const struct sim_entry *entry =
            hash == NULL ? NULL
                         : sim_dict_find(&hash->dict, record.unique_key, strlen(record.unique_key));
        if (entry == NULL || !sim_text_is(entry->slot.text, id.b, sizeof id.b))
            sim_violation(look->world->oracle, &id, "%s:unique does not lead to it", look->queue);
    }
}

/* Every key leads to a live run that has it, or tells until when it is kept. */
static void unique_look(const struct look *look)
{
    const struct sim_value *hash = key_find(look, "unique");
    size_t timed = 0, ends = size_of(key_find(look, "unique_until"));
    for (size_t i = 0; hash != NULL && i < hash->dict.cap; i++) {
        const struct sim_entry *entry = &hash->dict.entries[i];
        if (entry->key == NULL)
            continue;
        culex_uuid id = id_of(entry->slot.text);
        timed += is_timed_entry(entry);
        if (!is_timed_entry(entry) && !is_entry_of_live(look, entry))
            sim_violation(look->world->oracle, &id, "a stranger in %s:unique", look->queue);
    }
    if (timed != ends)
        sim_violation(look->world->oracle, NULL, "%s:unique has %zu keys with an end for %zu ends",
                      look->queue, timed, ends);
    holders_look(look, hash);
}

static void book_visit(void *user, culex_uuid id, const struct sim_record *record)
{
    struct sim_world *world = user;
    static const char *const queues[] = {"alpha", "beta"};
    (void)record;
    for (size_t i = 0; i < sizeof queues / sizeof queues[0]; i++) {
        struct look look = {.world = world, .queue = queues[i]};
        look.runs = key_find(&look, "runs");
        if (look.runs != NULL && sim_dict_find(&look.runs->dict, id.b, sizeof id.b) != NULL)
            return;
        if (sim_line_has(world, queues[i], id))
            return;
    }
    sim_violation(world->oracle, &id, "a run has vanished");
}

void sim_check_keys(struct sim_world *world)
{
    static const char *const queues[] = {"alpha", "beta"};
    for (size_t i = 0; i < sizeof queues / sizeof queues[0]; i++) {
        struct look look = {.world = world, .queue = queues[i]};
        look.runs = key_find(&look, "runs");
        records_look(&look);
        set_look(&look, "scheduled", 'S');
        set_look(&look, "active", 'A');
        set_look(&look, "done", 'D');
        set_look(&look, "dead", 'X');
        set_look(&look, "cancelled", 'C');
        ready_look(&look);
        limited_look(&look);
        hash_look(&look, "payloads", "SWAXC", true);
        hash_look(&look, "results", "D", false);
        hash_look(&look, "errors", "SWADXC", false);
        progress_look(&look);
        unique_look(&look);
        sim_line_check(world, queues[i]);
    }
    sim_oracle_each(world->oracle, book_visit, world);
}
