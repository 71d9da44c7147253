/* lib/redis_check_line.c - the ordinary runs of a queue in Redis: bodies, and the blocks of those
 * that were claimed. */
#include "redis_check_private.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { UNTILS_MAX = 52, SHORT_MAX = 256, ID_BYTES = 16, BAD = -1 };

#define NUMBER_MAX ((INT64_C(1) << 44) - 1)

struct block;

struct body {
    int64_t number, ms, keep, timeout, attempts_max;
    char job[160];
    size_t payload_len;
    char stand; /* of its block's chars; 0: in none */
    const struct block *block;
};

struct block {
    int64_t first;
    char session[33];
    const char *keep, *timeout; /* "" for mixed */
    bool is_long;
    const char *chars;
    size_t len;
    int64_t untils[UNTILS_MAX];
    size_t until_count;
    char *text; /* what the others lead into */
};

struct line {
    const struct key_space *keys;
    struct body *bodies; /* by number */
    size_t body_count;
    struct block *blocks; /* by first */
    size_t block_count;
    int64_t salt, held, kept;
};

static bool complain(const struct line *line, const char *what, int64_t number)
{
    char text[160];
    snprintf(text, sizeof text, "%s: %lld", what, (long long)number);
    return key_space_complain(line->keys, text, NULL);
}

/* Decimal, without sign or leading zero, up to `end`; BAD for anything else. */
static int64_t number_read(const char **at, char end)
{
    char *stop;
    if (**at < '0' || **at > '9' || (**at == '0' && (*at)[1] >= '0' && (*at)[1] <= '9'))
        return BAD;
    int64_t value = strtoll(*at, &stop, 10);
    if (*stop != end)
        return BAD;
    *at = stop + (end != '\0');
    return value;
}

static int64_t field_number(const redisReply *field)
{
    const char *at = field->str;
    int64_t number = field->len > 0 && strlen(at) == field->len ? number_read(&at, '\0') : BAD;
    return number > 0 && number <= NUMBER_MAX ? number : BAD;
}

/* --- bodies ------------------------------------------------------------------------------- */

/* MS|KEEP|TIMEOUT|ATTEMPTS|JOB|KEEPFAIL|FINGERPRINT|TAGS\nPAYLOAD */
static bool body_read(const redisReply *text, struct body *body)
{
    const char *at = text->str, *end = memchr(text->str, '\n', text->len);
    if (end == NULL || (body->ms = number_read(&at, '|')) == BAD ||
        (body->keep = number_read(&at, '|')) == BAD ||
        (body->timeout = number_read(&at, '|')) == BAD ||
        (body->attempts_max = number_read(&at, '|')) < 1)
        return false;
    const char *bar = strchr(at, '|');
    if (bar == NULL || bar == at || bar > end || (size_t)(bar - at) >= sizeof body->job)
        return false;
    memcpy(body->job, at, (size_t)(bar - at));
    at = bar + 1;
    if (number_read(&at, '|') == BAD || strspn(at, "0123456789abcdef") != 16 || at[16] != '|' ||
        memchr(at + 17, '|', (size_t)(end - at) - 17) != NULL)
        return false;
    body->payload_len = text->len - (size_t)(end + 1 - text->str);
    return true;
}

static int body_compare(const void *left, const void *right)
{
    int64_t a = ((const struct body *)left)->number, b = ((const struct body *)right)->number;
    return (a > b) - (a < b);
}

static struct body *body_find(const struct line *line, int64_t number)
{
    const struct body key = {.number = number};
    return line->body_count == 0
               ? NULL
               : bsearch(&key, line->bodies, line->body_count, sizeof *line->bodies, body_compare);
}

/* The id of an ordinary run, 48 bits of ms, version, salt, lane 1 and number: core/run_id.h. */
static void id_make(const struct line *line, const struct body *body, unsigned char id[ID_BYTES])
{
    uint64_t salt = (uint64_t)line->salt;
    uint64_t high = (uint64_t)body->ms << 16 | 0x7000 | salt >> 14;
    uint64_t low =
        UINT64_C(2) << 62 | (salt & 0x3fff) << 48 | UINT64_C(1) << 44 | (uint64_t)body->number;
    for (int i = 0; i < 8; i++) {
        id[i] = (unsigned char)(high >> (56 - 8 * i));
        id[8 + i] = (unsigned char)(low >> (56 - 8 * i));
    }
}

/* What has become a run with a record has no body any more. */
static bool body_check(const struct line *line, const struct body *body)
{
    unsigned char id[ID_BYTES];
    id_make(line, body, id);
    return !key_space_has_record(line->keys, id) ||
           complain(line, "a run has a body and a record", body->number);
}

static bool bodies_read(struct line *line)
{
    redisReply *reply = key_space_ask(line->keys, "HGETALL", "bodies", "");
    bool is_good = true;
    line->body_count = reply->elements / 2;
    line->bodies = calloc(line->body_count + 1, sizeof *line->bodies);
    if (line->bodies == NULL)
        abort();
    for (size_t i = 0; i < line->body_count && is_good; i++) {
        struct body *body = &line->bodies[i];
        body->number = field_number(reply->element[2 * i]);
        is_good = body->number != BAD && body_read(reply->element[2 * i + 1], body) &&
                  body_check(line, body);
        if (!is_good)
            complain(line, "a body is damaged or one too many", body->number);
    }
    freeReplyObject(reply);
    qsort(line->bodies, line->body_count, sizeof *line->bodies, body_compare);
    return is_good;
}

/* --- blocks ------------------------------------------------------------------------------- */

static bool untils_read(char *text, struct block *block)
{
    const char *at = text;
    while (*at != '\0' && block->until_count < UNTILS_MAX) {
        int64_t until = number_read(&at, strchr(at, ',') != NULL ? ',' : '\0');
        if (until == BAD)
            return false;
        block->untils[block->until_count++] = until;
    }
    return *at == '\0';
}

static bool is_number_or_empty(const char *text)
{
    return text[0] == '\0' || number_read(&text, '\0') != BAD;
}

/* SESSION|SINCE|KEEP|TIMEOUT|LONG|CHARS|UNTILS */
static bool block_read(const redisReply *text, struct block *block)
{
    enum { SESSION, SINCE, KEEP, TIMEOUT, LONG, CHARS, UNTILS, FIELDS };
    char *fields[FIELDS], *rest = block->text = strdup(text->str);
    if (block->text == NULL)
        abort();
    for (int i = 0; i < FIELDS; i++) {
        if ((fields[i] = strsep(&rest, "|")) == NULL)
            return false;
    }
    const char *since = fields[SINCE];
    size_t session_len = strlen(fields[SESSION]);
    if (rest != NULL || session_len == 0 || session_len > 32 || number_read(&since, '\0') < 1 ||
        !is_number_or_empty(fields[KEEP]) || !is_number_or_empty(fields[TIMEOUT]) ||
        (fields[KEEP][0] == '\0') != (fields[TIMEOUT][0] == '\0') ||
        (strcmp(fields[LONG], "0") != 0 && strcmp(fields[LONG], "1") != 0))
        return false;
    strcpy(block->session, fields[SESSION]);
    block->keep = fields[KEEP];
    block->timeout = fields[TIMEOUT];
    block->is_long = fields[LONG][0] == '1';
    block->chars = fields[CHARS];
    block->len = strlen(fields[CHARS]);
    return untils_read(fields[UNTILS], block);
}

static int block_compare(const void *left, const void *right)
{
    int64_t a = ((const struct block *)left)->first, b = ((const struct block *)right)->first;
    return (a > b) - (a < b);
}

static bool blocks_read(struct line *line)
{
    redisReply *reply = key_space_ask(line->keys, "HGETALL", "blocks", "");
    bool is_good = true;
    line->block_count = reply->elements / 2;
    line->blocks = calloc(line->block_count + 1, sizeof *line->blocks);
    if (line->blocks == NULL)
        abort();
    for (size_t i = 0; i < line->block_count && is_good; i++) {
        struct block *block = &line->blocks[i];
        block->first = field_number(reply->element[2 * i]);
        is_good = block_read(reply->element[2 * i + 1], block) && block->first != BAD;
        if (!is_good)
            complain(line, "a block is damaged", block->first);
    }
    freeReplyObject(reply);
    qsort(line->blocks, line->block_count, sizeof *line->blocks, block_compare);
    return is_good;
}

static bool is_held(char stand)
{
    return stand == '0' || stand == '1';
}

/* The index of its UNTIL, BAD for what is not done. */
static int until_index(char stand)
{
    if (stand >= 'a' && stand <= 'z')
        return stand - 'a';
    return stand >= 'A' && stand <= 'Z' ? 26 + stand - 'A' : BAD;
}

static bool agrees(const char *text, int64_t value)
{
    return text[0] == '\0' || strtoll(text, NULL, 10) == value;
}

/* One run of a block, against its body. */
static bool stand_check(struct line *line, const struct block *block, size_t at)
{
    char stand = block->chars[at];
    int64_t number = block->first + (int64_t)at;
    struct body *body = body_find(line, number);
    if (stand == '-')
        return body == NULL || complain(line, "a body in no block", number);
    if (!is_held(stand) &&
        (until_index(stand) == BAD || (size_t)until_index(stand) >= block->until_count))
        return complain(line, "a block has an unknown char for", number);
    if (body == NULL)
        return complain(line, "a block has a run without a body", number);
    if (body->stand != 0)
        return complain(line, "a run in two blocks", number);
    body->stand = stand;
    body->block = block;
    line->held += is_held(stand);
    line->kept += !is_held(stand);
    if (!agrees(block->keep, body->keep) || !agrees(block->timeout, body->timeout))
        return complain(line, "a block has other times than its run", number);
    if (!is_held(stand) && body->payload_len > SHORT_MAX)
        return complain(line, "a long payload of a success is still there", number);
    return block->is_long || body->payload_len <= SHORT_MAX ||
           complain(line, "a block does not tell of a long payload", number);
}

static bool block_check(struct line *line, size_t index, int64_t taken)
{
    const struct block *block = &line->blocks[index];
    int64_t end = block->first + (int64_t)block->len;
    if (strspn(block->chars, "-") == block->len)
        return complain(line, "an empty block", block->first);
    if (end - 1 > taken)
        return complain(line, "a block beyond what was taken", block->first);
    if (index + 1 < line->block_count && line->blocks[index + 1].first < end)
        return complain(line, "two blocks over one number", line->blocks[index + 1].first);
    for (size_t at = 0; at < block->len; at++) {
        if (!stand_check(line, block, at))
            return false;
    }
    return true;
}

/* --- indexes of blocks ---------------------------------------------------------------------- */

/* Their score of a block: BAD when it has no entry there. */
static int64_t span_of(const struct block *block)
{
    return block->first;
}

static int64_t lease_of(const struct block *block)
{
    return strpbrk(block->chars, "01") != NULL ? 0 : BAD; /* at any time */
}

static int64_t end_of(const struct block *block)
{
    int64_t least = BAD;
    for (size_t at = 0; at < block->len; at++) {
        int index = until_index(block->chars[at]);
        if (index != BAD && (least == BAD || block->untils[index] < least))
            least = block->untils[index];
    }
    return least;
}

static bool index_check(const struct line *line, const char *name,
                        int64_t (*score_of)(const struct block *))
{
    redisReply *set = key_space_ask(line->keys, "ZRANGE", name, " 0 -1 WITHSCORES");
    bool is_good = true;
    size_t expected = 0;
    for (size_t i = 0; i < line->block_count; i++)
        expected += score_of(&line->blocks[i]) != BAD;
    for (size_t i = 0; i + 1 < set->elements && is_good; i += 2) {
        const struct block key = {.first = field_number(set->element[i])};
        const struct block *block = line->block_count == 0
                                        ? NULL
                                        : bsearch(&key, line->blocks, line->block_count,
                                                  sizeof *line->blocks, block_compare);
        int64_t score = block != NULL ? score_of(block) : BAD;
        is_good =
            score == 0 || (score != BAD && score == strtoll(set->element[i + 1]->str, NULL, 10));
    }
    if (!is_good || set->elements / 2 != expected)
        is_good = key_space_complain(line->keys, name, NULL);
    freeReplyObject(set);
    return is_good;
}

/* --- the whole ------------------------------------------------------------------------------ */

static bool counters_check(const struct line *line)
{
    if (line->held != key_space_number(line->keys, "held"))
        return complain(line, "held runs are miscounted", line->held);
    return line->kept == key_space_number(line->keys, "kept") ||
           complain(line, "kept runs are miscounted", line->kept);
}

/* What was taken off the line stands in a block, all else is still on it. */
static bool waiting_check(const struct line *line, int64_t taken)
{
    int64_t last = key_space_number(line->keys, "line");
    for (size_t i = 0; i < line->body_count; i++) {
        const struct body *body = &line->bodies[i];
        if (body->number > last)
            return complain(line, "a body beyond the line", body->number);
        if (body->stand == 0 && body->number <= taken)
            return complain(line, "a body in no block", body->number);
    }
    return taken <= last || complain(line, "more was taken than there was", taken);
}

static void line_release(struct line *line)
{
    for (size_t i = 0; i < line->block_count; i++)
        free(line->blocks[i].text);
    free(line->blocks);
    free(line->bodies);
}

/* The least score of these sets, 0 for none. */
static int64_t head_of(const struct key_space *keys, const char *const *sets, size_t count)
{
    int64_t least = 0;
    for (size_t i = 0; i < count; i++) {
        redisReply *head = key_space_ask(keys, "ZRANGE", sets[i], " 0 0 WITHSCORES");
        int64_t score = head->elements < 2 ? 0 : strtoll(head->element[1]->str, NULL, 10);
        if (score != 0 && (least == 0 || score < least))
            least = score;
        freeReplyObject(head);
    }
    return least;
}

static int64_t asked_number(const struct key_space *keys, const char *command, const char *key,
                            const char *rest)
{
    redisReply *reply = key_space_ask(keys, command, key, rest);
    int64_t number = reply->integer;
    freeReplyObject(reply);
    return number;
}

/* Whether it is calm but for what waits in `urgent`: `calm` is UNTIL|DUE|OVER (redis/lib_lean.lua).
 */
static bool ranked_calm_check(const struct key_space *keys, const char *calm)
{
    static const char *const dues[] = {"scheduled", "block_leases"};
    static const char *const overs[] = {"dead", "cancelled", "block_ends"};
    int64_t parts[3] = {0};
    if (sscanf(calm, "%" SCNd64 "|%" SCNd64 "|%" SCNd64, &parts[0], &parts[1], &parts[2]) != 3)
        return false;
    int64_t waits = asked_number(keys, "LLEN", "ready", "") +
                    asked_number(keys, "ZCARD", "refills", "") +
                    asked_number(keys, "ZLEXCOUNT", "slots", " [N (Q");
    return waits == 0 && key_space_number(keys, "paused") == 0 &&
           parts[1] == head_of(keys, dues, 2) && parts[2] == head_of(keys, overs, 3) &&
           (parts[1] == 0 || parts[1] >= parts[0]) && (parts[2] == 0 || parts[2] >= parts[0]);
}

/* Until then only the line is to be looked at. */
static bool line_calm_check(const struct key_space *keys)
{
    static const char *const timed[] = {"scheduled", "active",       "done",      "dead",
                                        "cancelled", "block_leases", "block_ends"};
    int64_t calm = key_space_number(keys, "calm");
    bool is_good = calm == 0 || key_space_number(keys, "paused") == 0;
    for (size_t i = 0; i < sizeof timed / sizeof timed[0] && calm != 0; i++) {
        redisReply *head = key_space_ask(keys, "ZRANGE", timed[i], " 0 0 WITHSCORES");
        is_good =
            is_good && (head->elements < 2 || strtoll(head->element[1]->str, NULL, 10) >= calm);
        freeReplyObject(head);
    }
    redisReply *listed = key_space_ask(keys, "LLEN", "ready", "");
    redisReply *urgent = key_space_ask(keys, "ZCARD", "urgent", "");
    is_good = is_good && (calm == 0 || listed->integer + urgent->integer == 0);
    freeReplyObject(listed);
    freeReplyObject(urgent);
    return is_good;
}

static bool calm_check(const struct key_space *keys)
{
    redisReply *calm = key_space_ask(keys, "HGET", "meta ", "calm");
    bool is_ranked = calm->str != NULL && strchr(calm->str, '|') != NULL;
    bool is_good = is_ranked ? ranked_calm_check(keys, calm->str) : line_calm_check(keys);
    freeReplyObject(calm);
    return is_good || key_space_complain(keys, "a queue is called calm and is not", NULL);
}

bool redis_check_line(const struct key_space *keys)
{
    struct line line = {.keys = keys, .salt = key_space_number(keys, "salt")};
    int64_t taken = key_space_number(keys, "taken");
    bool is_good = bodies_read(&line) && blocks_read(&line);
    for (size_t i = 0; i < line.block_count && is_good; i++)
        is_good = block_check(&line, i, taken);
    is_good = is_good && waiting_check(&line, taken) && counters_check(&line) &&
              index_check(&line, "spans", span_of) &&
              index_check(&line, "block_leases", lease_of) &&
              index_check(&line, "block_ends", end_of) && calm_check(keys);
    line_release(&line);
    return is_good;
}

bool redis_ordinary_each(const struct redis_server *server, const char *prefix, const char *queue,
                         void (*visit)(const struct redis_ordinary *run, void *user), void *user)
{
    struct key_space keys = {.server = server, .prefix = prefix, .queue = queue};
    struct line line = {.keys = &keys};
    keys.runs = key_space_ask(&keys, "HGETALL", "runs", "");
    keys.order = key_space_order(keys.runs);
    line.salt = key_space_number(&keys, "salt");
    bool is_good = bodies_read(&line) && blocks_read(&line);
    for (size_t i = 0; i < line.block_count && is_good; i++)
        is_good = block_check(&line, i, NUMBER_MAX);
    for (size_t i = 0; i < line.body_count && is_good; i++) {
        const struct body *body = &line.bodies[i];
        struct redis_ordinary run = {.state = body->stand == 0       ? 'W'
                                              : is_held(body->stand) ? 'A'
                                                                     : 'D',
                                     .owner = body->block != NULL ? body->block->session : "",
                                     .job = body->job,
                                     .attempts_max = body->attempts_max};
        id_make(&line, body, run.id);
        visit(&run, user);
    }
    line_release(&line);
    free(keys.order);
    freeReplyObject(keys.runs);
    return is_good;
}
