/* lib/redis_check_limits.c - the runs of a queue in Redis that have limits. */
#include "redis_check_private.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ORDER RECORD_FIELD; 0 is the version. */
enum { FIELD_STATE = 1, FIELD_BEHIND = 13, FIELD_PRIORITY = 23, FIELD_LIMITS = 27, FIELD_COUNT };

enum {
    ID_BYTES = 16,
    PLACE_BYTES = 15,
    LIMITS_MAX = 9,
    FAIR_PLACES = 16,
    PART_SIZE = 448,
    RANK_SIZE = 80
};

#define PLACE_BASE (INT64_C(1) << 48)
#define NO_TURN    "\xff"
#define PRIORITY   (INT64_C(1) << 44) /* between the scores of two */

struct run {
    const redisReply *id;
    char text[8192], state;
    int behind, priority, gate_count;
    const char *gates[LIMITS_MAX];
    int64_t score; /* in the order of claims; of one that waits */
};

struct limits {
    const struct key_space *keys;
    redisReply *slots, *limited, *refills;
    size_t members; /* that the runs want */
};

static bool complain(const struct limits *limits, const char *what, const redisReply *id)
{
    return key_space_complain(limits->keys, what, id);
}

static bool run_read(const redisReply *id, const redisReply *text, struct run *run)
{
    const char *fields[FIELD_COUNT] = {NULL};
    if (text->len >= sizeof run->text)
        return false;
    memcpy(run->text, text->str, text->len + 1);
    char *rest = run->text;
    for (int i = 0; i < FIELD_COUNT; i++)
        fields[i] = strsep(&rest, "|");
    if (fields[FIELD_COUNT - 1] == NULL)
        return false;
    run->id = id;
    run->state = fields[FIELD_STATE][0];
    run->behind = atoi(fields[FIELD_BEHIND]);
    run->priority = atoi(fields[FIELD_PRIORITY]);
    run->gate_count = 0;
    rest = (char *)fields[FIELD_LIMITS];
    while (rest != NULL && rest[0] != '\0' && run->gate_count < LIMITS_MAX)
        run->gates[run->gate_count++] = strsep(&rest, ";");
    return true;
}

static int member_compare(const redisReply *member, const char *bytes, size_t len)
{
    int order = memcmp(member->str, bytes, member->len < len ? member->len : len);
    return order != 0 ? order : (member->len > len) - (member->len < len);
}

/* The first member that is not before these bytes. */
static size_t member_at(const struct limits *limits, const char *bytes, size_t len)
{
    size_t low = 0, high = limits->slots->elements;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (member_compare(limits->slots->element[middle], bytes, len) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static bool has_member(const struct limits *limits, const char *bytes, size_t len)
{
    size_t at = member_at(limits, bytes, len);
    return at < limits->slots->elements &&
           member_compare(limits->slots->element[at], bytes, len) == 0;
}

/* Members that begin so. */
static size_t members_of(const struct limits *limits, char kind, const char *gate, size_t gate_len)
{
    char bytes[512];
    bytes[0] = kind;
    memcpy(bytes + 1, gate, gate_len);
    bytes[1 + gate_len] = '\0';
    size_t first = member_at(limits, bytes, gate_len + 2);
    bytes[1 + gate_len] = '\1';
    return member_at(limits, bytes, gate_len + 2) - first;
}

static const redisReply *score_of(const redisReply *set, const char *name, size_t len)
{
    for (size_t i = 0; i + 1 < set->elements; i += 2) {
        if (set->element[i]->len == len && memcmp(set->element[i]->str, name, len) == 0)
            return set->element[i + 1];
    }
    return NULL;
}

static bool is_needs(const char *gate)
{
    return strncmp(gate, "needs ", 6) == 0;
}

/* Of the limit that a gate belongs to: 'C', 'R', 'F', 'N'; 0 when nothing is known of it. */
static char kind_of(const struct limits *limits, const char *gate)
{
    redisReply *told =
        redis_server_command(limits->keys->server, "HGET %s:{%s}:limits %b", limits->keys->prefix,
                             limits->keys->queue, gate, strcspn(gate, "="));
    char kind = told->str != NULL ? told->str[0] : '\0';
    freeReplyObject(told);
    return kind;
}

/* The key of the run's first share; a byte that no key has without one. */
static const char *turn_of(const struct limits *limits, const struct run *run)
{
    for (int i = 0; i < run->gate_count; i++) {
        if (kind_of(limits, run->gates[i]) == 'F')
            return strchr(run->gates[i], '=') + 1;
    }
    return NO_TURN;
}

/* Writes what stands in front of the place of one that is parked. Behind what they need runs take
 * no turns. */
static size_t rank_write(const struct limits *limits, const struct run *run, const char *gate,
                         char *bytes)
{
    bool is_front = run->score < -run->priority * PRIORITY;
    const char *turn = is_needs(gate) ? NO_TURN : turn_of(limits, run);
    return (size_t)sprintf(bytes, "%d%s%s", 9 - run->priority, is_front ? "0" : "1",
                           is_front ? "" : turn) +
           1;
}

/* Where the run has its place at the gate: in the part of those that need the same. */
static void part_write(const struct run *run, const char *gate, char ret_part[PART_SIZE])
{
    const char *last = run->gates[run->gate_count - 1];
    if (run->state == 'A' || is_needs(gate) || !is_needs(last))
        snprintf(ret_part, PART_SIZE, "%s", gate);
    else
        snprintf(ret_part, PART_SIZE, "%s\1%.*s", gate, (int)strcspn(last + 6, "="), last + 6);
}

static bool is_marked(const struct limits *limits, char kind, const char *gate)
{
    char bytes[PART_SIZE + 1];
    size_t len = (size_t)snprintf(bytes, sizeof bytes, "%c%s", kind, gate);
    return has_member(limits, bytes, len);
}

/* The run's entry of a gate, of the kind A, W, P or H, and the gate's own. */
static bool check_member(struct limits *limits, const struct run *run, const char *gate, char kind)
{
    char bytes[PART_SIZE + RANK_SIZE + 64], part[PART_SIZE];
    part_write(run, gate, part);
    size_t len = (size_t)snprintf(bytes, sizeof bytes, "%c%s", kind, part) + 1;
    if (kind == 'P')
        len += rank_write(limits, run, gate, bytes + len);
    if (kind == 'P' || kind == 'W')
        len += (size_t)snprintf(bytes + len, sizeof bytes - len, "%015lld",
                                (long long)(run->score + PLACE_BASE));
    memcpy(bytes + len, run->id->str, ID_BYTES);
    limits->members++;
    if (!has_member(limits, bytes, len + ID_BYTES))
        return complain(limits, "a run is missing at its limit", run->id);
    if (strcmp(part, gate) != 0 && !is_marked(limits, 'N', part))
        return complain(limits, "the part of a gate is missing", run->id);
    return is_marked(limits, 'K', gate) || complain(limits, "a gate is missing", run->id);
}

/* Behind one of its gates; its shares know of it. */
static bool check_parked(struct limits *limits, const struct run *run)
{
    bool is_good = true;
    for (int i = 0; i < run->gate_count && is_good; i++) {
        if (i == run->behind - 2)
            is_good = check_member(limits, run, run->gates[i], 'P');
        else if (kind_of(limits, run->gates[i]) == 'F')
            is_good = check_member(limits, run, run->gates[i], 'H');
    }
    return is_good;
}

/* Of one at work, or that stands; it may be parked behind what it needs meanwhile. */
static char kind_at(const struct run *run, int at)
{
    return run->state == 'W' && at == run->behind - 2 ? 'P' : run->state;
}

static bool check_run(struct limits *limits, struct run *run)
{
    bool is_good = true;
    if ((run->gate_count > 0) != (run->behind > 0) || run->behind > run->gate_count + 1)
        return complain(limits, "a run is behind a limit that it has not", run->id);
    if (run->gate_count == 0 || (run->state != 'W' && run->state != 'A'))
        return true;
    if (run->state == 'W') {
        const redisReply *score = score_of(limits->limited, run->id->str, ID_BYTES);
        if (score == NULL)
            return complain(limits, "a waiting run with limits is not limited", run->id);
        run->score = strtoll(score->str, NULL, 10);
    }
    /* Who waits for what he needs stands at his limits meanwhile. */
    if (run->state == 'W' && run->behind > 1 && !is_needs(run->gates[run->behind - 2]))
        return check_parked(limits, run);
    for (int i = 0; i < run->gate_count && is_good; i++)
        is_good = check_member(limits, run, run->gates[i], kind_at(run, i));
    return is_good;
}

static bool check_runs(struct limits *limits)
{
    static struct run run;
    const redisReply *runs = limits->keys->runs;
    size_t waiting = 0;
    for (size_t i = 0; i + 1 < runs->elements; i += 2) {
        if (!run_read(runs->element[i], runs->element[i + 1], &run) || !check_run(limits, &run))
            return false;
        waiting += run.state == 'W' && run.gate_count > 0;
    }
    if (limits->limited->elements / 2 != waiting)
        return complain(limits, "a stranger among the limited", NULL);
    return true;
}

/* Whether the gate has places for the first that is parked there, or of a rate will have, which
 * refills tells as well: with as many tokens as it can have. Who takes turns is behind all of his
 * priority. */
static bool has_place(const struct limits *limits, const char *gate, size_t len, int64_t first)
{
    char name[256], bytes[512];
    size_t name_len = strcspn(gate, "=");
    snprintf(name, sizeof name, "%.*s", (int)name_len, gate);
    redisReply *told =
        redis_server_command(limits->keys->server, "HGET %s:{%s}:limits %b", limits->keys->prefix,
                             limits->keys->queue, name, name_len);
    unsigned count = 0, burst = 0, set = 0, set_burst = 0;
    char kind = 0;
    if (told->str != NULL)
        sscanf(told->str, "%c|%u|%*[0-9]|%u|%u|%*[0-9]|%u", &kind, &count, &burst, &set,
               &set_burst);
    freeReplyObject(told);
    size_t standing = members_of(limits, 'W', gate, len);
    const char *part = memchr(gate, '\1', len);
    size_t active = members_of(limits, 'A', gate, part != NULL ? (size_t)(part - gate) : len);
    int priority = (int)((PRIORITY / 2 - first) / PRIORITY);
    size_t most = kind == 'R' ? (set > 0 ? set_burst : burst) : set > 0 ? set : count;
    if (kind == 'F')
        return standing < (size_t)(FAIR_PLACES + priority);
    most = kind == 'R' ? most : most - (active < most ? active : most);
    size_t bytes_len = (size_t)snprintf(bytes, sizeof bytes, "W%.*s", (int)len, gate) + 1;
    size_t begin = member_at(limits, bytes, bytes_len);
    bytes_len += (size_t)snprintf(bytes + bytes_len, sizeof bytes - bytes_len, "%015lld",
                                  (long long)(first + 1 + PLACE_BASE));
    return member_at(limits, bytes, bytes_len) - begin < most;
}

/* Somebody will look at it: where there is a place, or may be one in time. */
static bool check_gate(const struct limits *limits, const char *gate, size_t len)
{
    char bytes[512], all[256];
    size_t bytes_len = (size_t)snprintf(bytes, sizeof bytes, "P%.*s", (int)len, gate) + 1;
    size_t first = member_at(limits, bytes, bytes_len);
    if (members_of(limits, 'P', gate, len) == 0)
        return true;
    const redisReply *entry = limits->slots->element[first];
    char digits[PLACE_BYTES + 1];
    memcpy(digits, entry->str + entry->len - ID_BYTES - PLACE_BYTES, PLACE_BYTES);
    digits[PLACE_BYTES] = '\0';
    int64_t score = strtoll(digits, NULL, 10) - PLACE_BASE;
    const char *rank = entry->str + bytes_len;
    if (rank[1] == '1' && rank[2] != '\xff')
        score = -('9' - rank[0]) * PRIORITY + PRIORITY / 2 - 2;
    size_t name_len = strcspn(gate, "=");
    snprintf(all, sizeof all, "%.*s", (int)name_len, gate);
    if (!has_place(limits, gate, len, score) || score_of(limits->refills, gate, len) != NULL ||
        score_of(limits->refills, all, name_len + 1) != NULL)
        return true;
    return complain(limits, "nobody will look at those that are parked", NULL);
}

/* Of a gate there is one, as long as runs are parked there. */
static bool check_turn(const struct limits *limits, const redisReply *turn)
{
    size_t len = strlen(turn->str) - 1;
    if (members_of(limits, 'T', turn->str + 1, len) == 1 &&
        members_of(limits, 'P', turn->str + 1, len) > 0)
        return true;
    return complain(limits, "a turn where nobody is parked, or a second one", NULL);
}

static bool check_gates(const struct limits *limits)
{
    bool is_good = true;
    size_t gates = 0, turns = 0;
    for (size_t i = 0; i < limits->slots->elements && is_good; i++) {
        const redisReply *member = limits->slots->element[i];
        turns += member->str[0] == 'T';
        if (member->str[0] == 'T')
            is_good = check_turn(limits, member);
        if (member->str[0] != 'K' && member->str[0] != 'N')
            continue;
        gates++;
        is_good = check_gate(limits, member->str + 1, member->len - 1);
    }
    if (is_good && gates + turns + limits->members != limits->slots->elements)
        is_good = complain(limits, "a stranger at a limit", NULL);
    return is_good;
}

bool redis_check_limits(const struct key_space *keys)
{
    struct limits limits = {.keys = keys};
    limits.slots = key_space_ask(keys, "ZRANGE", "slots", " 0 -1");
    limits.limited = key_space_ask(keys, "ZRANGE", "limited", " 0 -1 WITHSCORES");
    limits.refills = key_space_ask(keys, "ZRANGE", "refills", " 0 -1 WITHSCORES");
    bool is_good = check_runs(&limits) && check_gates(&limits);
    if (is_good && limits.slots->elements > 0 && key_space_number(keys, "limits") == 0)
        is_good = complain(&limits, "nobody knows that there are limits", NULL);
    freeReplyObject(limits.refills);
    freeReplyObject(limits.limited);
    freeReplyObject(limits.slots);
    return is_good;
}
