#include "book.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ledger.h"

enum { BUCKETS = 1 << 16, GROWTH = 256, LINE_SIZE = 1024 };

/* --- stories ---------------------------------------------------------------------------------- */

static size_t id_hash(const char *id)
{
    uint64_t hash = UINT64_C(1469598103934665603);
    for (; *id != '\0'; id++)
        hash = (hash ^ (unsigned char)*id) * UINT64_C(1099511628211);
    return (size_t)(hash >> 20);
}

/* Made when it is not there; ends the program when there is no memory. */
static struct story *story_get(struct book *book, const char *id)
{
    struct story **place = &book->buckets[id_hash(id) % book->bucket_count];
    for (; *place != NULL; place = &(*place)->next) {
        if (strcmp((*place)->id, id) == 0)
            return *place;
    }
    *place = calloc(1, sizeof **place);
    if (*place == NULL)
        abort();
    snprintf((*place)->id, sizeof(*place)->id, "%s", id);
    book->story_count++;
    return *place;
}

static struct episode *episode_add(struct story *story)
{
    struct episode *grown =
        realloc(story->episodes, (story->episode_count + 1) * sizeof *story->episodes);
    if (grown == NULL)
        abort();
    story->episodes = grown;
    memset(&grown[story->episode_count], 0, sizeof *grown);
    return &grown[story->episode_count++];
}

static void wrong_add(struct book *book, const char *line)
{
    if (book->wrong++ == 0)
        snprintf(book->complaint, sizeof book->complaint, "%s", line);
}

static void act_set(struct book *book, struct story *story, const char *act, uint32_t times)
{
    if (story->act[0] != '\0' && (strcmp(story->act, act) != 0 || story->times != times))
        wrong_add(book, "a run was started with other params than it was enqueued with");
    snprintf(story->act, sizeof story->act, "%s", act);
    story->times = times;
}

/* --- producers -------------------------------------------------------------------------------- */

/* Where the order stands, or would stand. */
static struct promise **promise_place(const struct book *book, const char *order)
{
    uint64_t number = strtoull(order, NULL, 10) * UINT64_C(0x9e3779b97f4a7c15);
    struct promise **place = &book->promises[(number >> 32) % book->bucket_count];
    while (*place != NULL && strcmp((*place)->order, order) != 0)
        place = &(*place)->next;
    return place;
}

static void promise_add(struct book *book, const char *order, const char *act, uint32_t times)
{
    struct promise **place = promise_place(book, order);
    if (*place != NULL) {
        wrong_add(book, "two orders of one number");
        return;
    }
    *place = calloc(1, sizeof **place);
    if (*place == NULL)
        abort();
    snprintf((*place)->order, sizeof(*place)->order, "%s", order);
    snprintf((*place)->act, sizeof(*place)->act, "%s", act);
    (*place)->times = times;
}

/* `known`: one of the promise's two, told by its producer or by a handler. */
static void promise_meet(struct promise *promise, char known[BOOK_ID_SIZE], const char *id)
{
    if (known[0] == '\0')
        snprintf(known, BOOK_ID_SIZE, "%s", id);
    bool is_other =
        strcmp(known, id) != 0 || (promise->acked[0] != '\0' && strcmp(promise->acked, id) != 0);
    if (is_other)
        snprintf(promise->other, sizeof promise->other, "%s", id);
}

static void producer_line(struct book *book, const char *line)
{
    char id[BOOK_ID_SIZE], act[12], order[BOOK_ORDER_SIZE];
    uint32_t times;
    if (sscanf(line, "intend %20s %*s %11s %" SCNu32, order, act, &times) == 3) {
        promise_add(book, order, act, times);
    } else if (sscanf(line, "acked %20s %36s", order, id) == 2 &&
               *promise_place(book, order) != NULL) {
        struct promise *promise = *promise_place(book, order);
        promise_meet(promise, promise->acked, id);
        story_get(book, id)->is_acked = true;
        book->acks++;
    } else
        wrong_add(book, line);
}

/* --- workers ---------------------------------------------------------------------------------- */

static void start_line(struct book *book, const char *line)
{
    char id[BOOK_ID_SIZE], act[12], order[BOOK_ORDER_SIZE];
    uint32_t times;
    struct episode read = {0};
    if (sscanf(line, "start %36s %" SCNu32 " %71s %ld %ld %11s %" SCNu32 " %20s %" SCNd64, id,
               &read.attempt, read.fence, &read.pid, &read.supervisor, act, &times, order,
               &read.start_us) != 9) {
        wrong_add(book, line);
        return;
    }
    struct story *story = story_get(book, id);
    struct promise *promise = *promise_place(book, order);
    if (promise != NULL) {
        story->is_ordered = true;
        act_set(book, story, promise->act, promise->times);
        promise_meet(promise, promise->run, id);
    }
    act_set(book, story, act, times);
    *episode_add(story) = read;
}

/* The newest execution of this attempt that has not ended: its handler wrote the line. */
static void end_line(struct book *book, const char *line)
{
    char id[BOOK_ID_SIZE], ending[12];
    uint32_t attempt;
    int64_t end_us;
    if (sscanf(line, "end %36s %" SCNu32 " %11s %" SCNd64, id, &attempt, ending, &end_us) != 4) {
        wrong_add(book, line);
        return;
    }
    struct story *story = story_get(book, id);
    for (size_t i = story->episode_count; i-- > 0;) {
        struct episode *episode = &story->episodes[i];
        if (episode->attempt == attempt && episode->end_us == 0) {
            episode->end_us = end_us;
            memcpy(episode->ending, ending, sizeof ending);
            return;
        }
    }
    wrong_add(book, line);
}

static void worker_line(struct book *book, const char *line)
{
    if (strncmp(line, "start ", 6) == 0)
        start_line(book, line);
    else
        end_line(book, line);
}

/* --- driver ----------------------------------------------------------------------------------- */

static struct life *life_add(struct book *book, const char *kind, long pid, const char *name)
{
    if (book->life_count % GROWTH == 0) {
        book->lives = realloc(book->lives, (book->life_count + GROWTH) * sizeof *book->lives);
        if (book->lives == NULL)
            abort();
    }
    struct life *life = &book->lives[book->life_count++];
    memset(life, 0, sizeof *life);
    snprintf(life->kind, sizeof life->kind, "%s", kind);
    snprintf(life->name, sizeof life->name, "%s", name);
    life->pid = pid;
    size_t *newest = &book->newest[(size_t)pid % BOOK_LIVES];
    life->older = *newest;
    *newest = book->life_count;
    return life;
}

/* The newest life of `pid` that covers `at_us`. */
static struct life *life_find(const struct book *book, long pid, int64_t at_us)
{
    for (size_t at = book->newest[(size_t)pid % BOOK_LIVES]; at > 0;
         at = book->lives[at - 1].older) {
        struct life *life = &book->lives[at - 1];
        if (life->pid == pid && life->born_us <= at_us &&
            (life->killed_us == 0 || life->killed_us >= at_us))
            return life;
    }
    return NULL;
}

static void outage_add(struct book *book, int64_t at_us)
{
    if (book->outage_count % GROWTH == 0) {
        book->outages_us =
            realloc(book->outages_us, (book->outage_count + GROWTH) * sizeof *book->outages_us);
        if (book->outages_us == NULL)
            abort();
    }
    book->outages_us[book->outage_count++] = at_us;
}

/* "doomed": dies with the process that is about to be killed. */
static void driver_line(struct book *book, const char *line)
{
    char verb[12], kind[12], name[BOOK_WORD_SIZE];
    long pid;
    int64_t at_us;
    if (sscanf(line, "%11s %11s %ld %47s %" SCNd64, verb, kind, &pid, name, &at_us) != 5) {
        wrong_add(book, line);
        return;
    }
    struct life *life = life_find(book, pid, at_us);
    if (strcmp(kind, "server") == 0 && strcmp(verb, "born") != 0)
        outage_add(book, at_us);
    if (strcmp(verb, "born") == 0) {
        life_add(book, kind, pid, name)->born_us = at_us;
    } else if (strcmp(verb, "killed") == 0 || strcmp(verb, "doomed") == 0) {
        if (life == NULL)
            life = life_add(book, kind, pid, name);
        life->killed_us = at_us;
        book->kills += verb[0] == 'k';
    } else if (strcmp(verb, "stopped") == 0) {
        if (life != NULL)
            life->stops++;
        book->stops++;
    } else if (strcmp(verb, "ended") != 0)
        wrong_add(book, line);
}

const struct life *book_life(const struct book *book, long pid, int64_t at_us)
{
    return life_find(book, pid, at_us);
}

/* --- the store -------------------------------------------------------------------------------- */

static bool run_line(struct book *book, const char *line)
{
    char id[BOOK_ID_SIZE];
    struct record read = {0};
    int used = 0;
    if (sscanf(line,
               "run %36s %47s %c %" SCNu32 " %" SCNu32 " %" SCNu32 " %" SCNu32 " %" SCNu32
               " %" SCNu32 " %47s %47s%n",
               id, read.queue, &read.state, &read.attempt, &read.failures, &read.crashes,
               &read.crash_streak, &read.losses, &read.attempts_max, read.owner, read.job,
               &used) != 11)
        return false;
    snprintf(read.text, sizeof read.text, "%s", line + used + (line[used] == ' '));
    struct story *story = story_get(book, id);
    story->record = read;
    story->record_count++;
    return true;
}

static bool queue_line(struct book *book, const char *line)
{
    struct queue_totals read;
    if (book->queue_count == BOOK_QUEUES_MAX ||
        sscanf(line,
               "queue %47s %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64
               " %" SCNu64 " %" SCNu64,
               read.name, &read.enqueued, &read.done, &read.failed, &read.crashed, &read.lost,
               &read.dead, &read.cancelled, &read.stale) != 9)
        return false;
    book->queues[book->queue_count++] = read;
    return true;
}

static void store_line(struct book *book, const char *line)
{
    if (strcmp(line, "sound yes") == 0)
        book->is_sound = true;
    else if (!run_line(book, line) && !queue_line(book, line))
        wrong_add(book, line);
}

/* --- files ------------------------------------------------------------------------------------ */

static bool line_finish(char *line)
{
    size_t len = strlen(line);
    while (len > 0 && line[len - 1] == '\n')
        line[--len] = '\0';
    if (len < 2 || line[len - 1] != '.' || line[len - 2] != ' ')
        return false;
    line[len - 2] = '\0';
    return true;
}

static bool file_read(struct book *book, const char *folder, const char *name,
                      void (*take)(struct book *book, const char *line))
{
    char path[512], line[LINE_SIZE];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "r");
    if (file == NULL) {
        perror(path);
        return false;
    }
    while (fgets(line, sizeof line, file) != NULL) {
        if (line[0] == '\n')
            continue;
        if (line_finish(line))
            take(book, line);
        else
            book->torn++;
    }
    fclose(file);
    return true;
}

bool book_read(struct book *book, const char *folder)
{
    memset(book, 0, sizeof *book);
    book->bucket_count = BUCKETS;
    book->buckets = calloc(BUCKETS, sizeof(struct story *));
    book->promises = calloc(BUCKETS, sizeof(struct promise *));
    return book->buckets != NULL && book->promises != NULL &&
           file_read(book, folder, LEDGER_DRIVER, driver_line) &&
           file_read(book, folder, LEDGER_PRODUCERS, producer_line) &&
           file_read(book, folder, LEDGER_WORKERS, worker_line) &&
           file_read(book, folder, "store.txt", store_line);
}

static void promises_free(struct book *book)
{
    for (size_t i = 0; book->promises != NULL && i < book->bucket_count; i++) {
        while (book->promises[i] != NULL) {
            struct promise *promise = book->promises[i];
            book->promises[i] = promise->next;
            free(promise);
        }
    }
    free(book->promises);
}

void book_free(struct book *book)
{
    promises_free(book);
    for (size_t i = 0; book->buckets != NULL && i < book->bucket_count; i++) {
        while (book->buckets[i] != NULL) {
            struct story *story = book->buckets[i];
            book->buckets[i] = story->next;
            free(story->episodes);
            free(story);
        }
    }
    free(book->buckets);
    free(book->lives);
    free(book->outages_us);
}

void book_visit(const struct book *book, void (*visit)(const struct story *story, void *user),
                void *user)
{
    for (size_t i = 0; i < book->bucket_count; i++) {
        for (const struct story *story = book->buckets[i]; story != NULL; story = story->next)
            visit(story, user);
    }
}

void book_visit_promises(const struct book *book,
                         void (*visit)(const struct promise *promise, void *user), void *user)
{
    for (size_t i = 0; i < book->bucket_count; i++) {
        for (const struct promise *at = book->promises[i]; at != NULL; at = at->next)
            visit(at, user);
    }
}
