/* storm/dump_redis.c - what a storm has left in Redis, for its checker. */
#include "dump.h"

#include <stdlib.h>
#include <string.h>

#include "redis_server.h"
#include "redis_check.h"

#define PREFIX "culex"

/* Fields of a record that are shown, by their place in it; 0 is the version. See record.md. */
enum {
    FIELD_STATE = 1,
    FIELD_ATTEMPT = 2,
    FIELD_OWNER = 3,
    FIELD_LOSSES = 7,
    FIELD_FAILURES = 10,
    FIELD_CRASHES = 11,
    FIELD_STREAK = 12,
    FIELD_ATTEMPTS_MAX = 17,
    FIELD_JOB = 18,
    FIELD_COUNT = 28
};

static redisReply *ask(const struct redis_server *server, const char *format, const char *queue)
{
    redisReply *reply = redis_server_command(server, format, queue);
    if (reply == NULL || reply->type == REDIS_REPLY_ERROR) {
        fprintf(stderr, "storm_dump: %s %s: %s\n", format, queue,
                reply == NULL ? "no answer" : reply->str);
        exit(1);
    }
    return reply;
}

/* The value of a field in a reply to HGETALL. */
static const redisReply *field_of(const redisReply *all, const redisReply *name)
{
    for (size_t i = 0; i + 1 < all->elements; i += 2) {
        if (all->element[i]->len == name->len &&
            memcmp(all->element[i]->str, name->str, name->len) == 0)
            return all->element[i + 1];
    }
    return NULL;
}

/* The text is cut into its fields in place. */
static bool record_dump(const redisReply *id, char *record, const redisReply *errors,
                        const char *queue, FILE *out)
{
    char name[DUMP_ID_SIZE];
    const char *fields[FIELD_COUNT];
    char *rest = record;
    for (int i = 0; i < FIELD_COUNT; i++)
        fields[i] = strsep(&rest, "|");
    if (id->len != 16 || fields[FIELD_COUNT - 1] == NULL || rest != NULL)
        return false;
    dump_id(id->str, name);
    fprintf(out, "run %s %s %s %s %s %s %s %s %s %s %s ", name, queue, fields[FIELD_STATE],
            fields[FIELD_ATTEMPT], fields[FIELD_FAILURES], fields[FIELD_CRASHES],
            fields[FIELD_STREAK], fields[FIELD_LOSSES], fields[FIELD_ATTEMPTS_MAX],
            fields[FIELD_OWNER][0] != '\0' ? fields[FIELD_OWNER] : "-", fields[FIELD_JOB]);
    const redisReply *text = fields[FIELD_STATE][0] == 'X' ? field_of(errors, id) : NULL;
    if (text != NULL)
        dump_text(out, text->str, text->len);
    fputs(" .\n", out);
    return true;
}

static bool runs_dump(const struct redis_server *server, const char *queue, FILE *out)
{
    redisReply *runs = ask(server, "HGETALL " PREFIX ":{%s}:runs", queue);
    redisReply *errors = ask(server, "HGETALL " PREFIX ":{%s}:errors", queue);
    bool is_good = true;
    for (size_t i = 0; i + 1 < runs->elements; i += 2)
        is_good &= record_dump(runs->element[i], runs->element[i + 1]->str, errors, queue, out);
    freeReplyObject(errors);
    freeReplyObject(runs);
    return is_good;
}

struct ordinary_dump {
    const char *queue;
    FILE *out;
};

static void ordinary_dump(const struct redis_ordinary *run, void *user)
{
    const struct ordinary_dump *dump = user;
    char name[DUMP_ID_SIZE];
    dump_id((const char *)run->id, name);
    fprintf(dump->out, "run %s %s %c %d 0 0 0 0 %lld %s %s .\n", name, dump->queue, run->state,
            run->state != 'W', (long long)run->attempts_max,
            run->owner[0] != '\0' ? run->owner : "-", run->job);
}

static void totals_dump(const struct redis_server *server, const char *queue, FILE *out)
{
    redisReply *totals = ask(server,
                             "HMGET " PREFIX ":{%s}:meta number line done failed crashed lost dead "
                             "cancelled stale",
                             queue);
    long long enqueued = 0;
    for (size_t i = 0; i < 2; i++)
        enqueued += totals->element[i]->str != NULL ? atoll(totals->element[i]->str) : 0;
    fprintf(out, "queue %s %lld", queue, enqueued);
    for (size_t i = 2; i < totals->elements; i++)
        fprintf(out, " %s", totals->element[i]->str != NULL ? totals->element[i]->str : "0");
    fputs(" .\n", out);
    freeReplyObject(totals);
}

bool dump_redis(const char *socket, FILE *out)
{
    struct redis_server server = {0};
    snprintf(server.socket, sizeof server.socket, "%s", socket);
    redisReply *queues = ask(&server, "SMEMBERS " PREFIX ":%s", "queues");
    bool is_sound = queues->elements > 0;
    for (size_t i = 0; i < queues->elements; i++) {
        const char *queue = queues->element[i]->str;
        totals_dump(&server, queue, out);
        is_sound &= runs_dump(&server, queue, out);
        struct ordinary_dump dump = {queue, out};
        is_sound &= redis_ordinary_each(&server, PREFIX, queue, ordinary_dump, &dump);
        is_sound &= redis_check(&server, PREFIX, queue);
    }
    if (is_sound)
        fputs("sound yes .\n", out);
    freeReplyObject(queues);
    return true;
}
