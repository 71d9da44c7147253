/* torn_redis/torn.c - the append-only file of a real Redis, cut anywhere.
 *
 * usage: torn_redis [POINTS [SEED]]
 *
 * Producers and workers fill the file; then it is cut at POINTS random bytes, as a power cut
 * leaves it, and each time the server loads what is left. No transition of a run may be there by
 * half, whatever was acknowledged before the cut is known, and the queue can be worked off.
 * To show that the check would tell: the same file without its MULTI and EXEC must fail it. */
#include "../suite/redis_check.h"
#include "traffic.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { OPERATIONS = 900, FACTS_MAX = OPERATIONS, POINTS = 150, CONTROL_POINTS = 60 };

/* How long the file was when this run's enqueue had been answered. */
struct fact {
    size_t size;
    culex_uuid id;
};

struct file {
    char *bytes;
    size_t len;
};

static struct redis_server server;
static char path[160];
static struct fact facts[FACTS_MAX];
static size_t fact_count;
static int64_t last_ms;

static void need(bool is_good, const char *what)
{
    if (is_good)
        return;
    fprintf(stderr, "torn_redis: %s\n", what);
    redis_server_stop(&server);
    exit(1);
}

/* --- the file -------------------------------------------------------------------------- */

static size_t file_size(void)
{
    struct stat stat_now;
    return stat(path, &stat_now) == 0 ? (size_t)stat_now.st_size : 0;
}

static struct file file_read(void)
{
    struct file file = {.len = file_size()};
    FILE *stream = fopen(path, "rb");
    file.bytes = malloc(file.len + 1);
    need(stream != NULL && file.bytes != NULL && fread(file.bytes, 1, file.len, stream) == file.len,
         "the append-only file cannot be read");
    fclose(stream);
    return file;
}

static void file_write(const struct file *file, size_t len)
{
    FILE *stream = fopen(path, "wb");
    need(stream != NULL && fwrite(file->bytes, 1, len, stream) == len && fclose(stream) == 0,
         "the append-only file cannot be written");
}

/* Takes every `words` out. */
static size_t file_strip(struct file *file, const char *words)
{
    size_t len = strlen(words), kept = 0, count = 0;
    for (size_t at = 0; at < file->len;) {
        if (at + len <= file->len && memcmp(file->bytes + at, words, len) == 0) {
            at += len;
            count++;
        } else {
            file->bytes[kept++] = file->bytes[at++];
        }
    }
    file->len = kept;
    return count;
}

/* --- filling it ------------------------------------------------------------------------ */

/* The clock stays within the horizon of ids, so that all of them are known to the end. */
static void file_fill(uint64_t seed)
{
    struct traffic traffic;
    traffic_open(&traffic, server.url, seed);
    for (int i = 0; i < OPERATIONS; i++) {
        culex_uuid before = traffic.newest;
        traffic_operate(&traffic);
        if (memcmp(&before, &traffic.newest, sizeof before) != 0)
            facts[fact_count++] = (struct fact){.size = file_size(), .id = traffic.newest};
    }
    last_ms = traffic.now_ms;
    traffic_close(&traffic);
    redis_server_kill(&server);
}

/* --- cutting it ------------------------------------------------------------------------ */

static void load(const struct file *file, size_t len)
{
    redis_server_kill(&server);
    file_write(file, len);
    need(redis_server_restart(&server), "the server does not load what is left");
}

static bool is_sound(void)
{
    return redis_check(&server, TRAFFIC_PREFIX, TRAFFIC_QUEUE);
}

static bool knows_all(size_t len)
{
    for (size_t i = 0; i < fact_count && facts[i].size <= len; i++) {
        if (!redis_check_knows(&server, TRAFFIC_PREFIX, TRAFFIC_QUEUE, facts[i].id))
            return false;
    }
    return true;
}

/* FSCK finds nothing to say of it. */
static bool fsck_is_silent(struct traffic *traffic)
{
    struct culex_fsck_reply reply = {.cursor = 0};
    const struct culex_backend_ops *ops = traffic->backend->ops;
    if (ops->fsck == NULL)
        return true;
    for (int share = 0; share < 10000; share++) {
        if (ops->fsck(traffic->backend, TRAFFIC_QUEUE, reply.cursor, false, &reply, NULL) !=
                CULEX_OK ||
            reply.counts.wrong + reply.counts.damaged > 0)
            return false;
        if (reply.cursor == 0)
            return true;
    }
    return false;
}

static void cut_check(const struct file *file, size_t len)
{
    struct traffic traffic;
    load(file, len);
    need(is_sound(), "half a transition is left");
    need(knows_all(len), "an acknowledged run is lost");
    traffic_open(&traffic, server.url, 0);
    traffic.now_ms = last_ms;
    need(fsck_is_silent(&traffic), "fsck finds something wrong");
    need(traffic_drain(&traffic), "the queue cannot be worked off");
    need(is_sound(), "the queue is unsound when worked off");
    traffic_close(&traffic);
}

/* Without the brackets around each script's writes the checks must go red. */
static void control_check(struct file *file, uint64_t seed)
{
    int red = 0;
    FILE *quiet = freopen("/dev/null", "w", stderr);
    need(quiet != NULL, "no silence");
    need(file_strip(file, "*1\r\n$5\r\nMULTI\r\n") > 0, "no MULTI in the file");
    need(file_strip(file, "*1\r\n$4\r\nEXEC\r\n") > 0, "no EXEC in the file");
    for (int i = 0; i < CONTROL_POINTS && red == 0; i++) {
        load(file, traffic_draw(&seed, file->len));
        red += !is_sound();
    }
    if (red == 0)
        printf("half transitions go unnoticed\n");
    else
        printf("the same without brackets: noticed\n");
    redis_server_stop(&server);
    exit(red > 0 ? 0 : 1);
}

int main(int argc, char **argv)
{
    static const char *const words[] = {"--appendonly",
                                        "yes",
                                        "--appendfsync",
                                        "no",
                                        "--aof-load-truncated",
                                        "yes",
                                        "--auto-aof-rewrite-percentage",
                                        "0",
                                        NULL};
    unsigned long points = argc > 1 ? strtoul(argv[1], NULL, 10) : POINTS;
    uint64_t seed = argc > 2 ? strtoull(argv[2], NULL, 10) : 1;
    if (!redis_server_start(&server, words)) {
        fprintf(stderr, "skipped: no redis-server can be started here\n");
        return 77;
    }
    snprintf(path, sizeof path, "%s/appendonlydir/appendonly.aof.1.incr.aof", server.folder);
    file_fill(seed);
    struct file file = file_read();
    for (unsigned long i = 0; i < points; i++) {
        size_t len = traffic_draw(&seed, file.len + 1);
        printf("cut %lu of %lu: %zu of %zu bytes\n", i + 1, points, len, file.len);
        fflush(stdout);
        cut_check(&file, len);
    }
    printf("%zu enqueues, %lu cuts: whole transitions only\n", fact_count, points);
    control_check(&file, seed);
}
