#include "console/stream.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "console/clock.h"
#include "console/failure.h"
#include "console/routes.h"

enum { EACH_MS = 1000, LOOK_MS = 250, BEAT_MS = 10000 };

/* What all are given; whoever gives it back last frees it. */
struct reading {
    size_t users; /* under the lock */
    char *text;   /* owned */
    size_t len;
};

struct streams {
    struct console *console;
    pthread_mutex_t lock;
    pthread_cond_t has_read;
    struct reading *newest; /* NULL: there was none yet */
    uint64_t number;        /* of readings */
    int64_t next_ms;        /* when another one is due */
    bool is_reading;
    size_t count;
};

struct stream {
    struct streams *streams;
    struct reading *reading; /* that is being sent; NULL: none */
    size_t sent;
    uint64_t number;
};

/* ---- a reading ------------------------------------------------------------------------------ */

static culex_status queues_read(struct request *request, culex_error *error)
{
    struct pool *pool = request->console->pool;
    culex_status status = pool_take(pool, POOL_OTHER, &request->ops.client, error);
    if (status == CULEX_OK)
        status = route_queues(request, error);
    pool_give(pool, request->ops.client, status);
    return status;
}

/* "event: NAME", and in its data what is in `json`. */
static struct reading *reading_format(const char *name, const char *json)
{
    struct reading *reading = ops_alloc(NULL, sizeof *reading);
    *reading = (struct reading){.users = 1};
    FILE *out = open_memstream(&reading->text, &reading->len);
    if (out == NULL)
        ops_alloc(NULL, SIZE_MAX);
    fprintf(out, "event: %s\ndata: %.*s\n\n", name, (int)strcspn(json, "\n"), json);
    if (fclose(out) != 0)
        ops_alloc(NULL, SIZE_MAX);
    return reading;
}

static void failure_tell(struct ops_json *json, culex_status status, const culex_error *error)
{
    const struct failure failure = failure_of(status, error);
    ops_json_object(json, NULL);
    failure_json(json, &failure);
    ops_json_object_end(json);
    ops_json_line_end(json);
}

static struct reading *reading_make(struct console *console)
{
    char *text = NULL;
    size_t len = 0;
    culex_error error = {.code = CULEX_OK};
    struct request request = {.console = console};
    request.json.out = open_memstream(&text, &len);
    if (request.json.out == NULL)
        ops_alloc(NULL, SIZE_MAX);
    culex_status status = queues_read(&request, &error);
    if (status != CULEX_OK) {
        rewind(request.json.out);
        request.json = (struct ops_json){.out = request.json.out};
        failure_tell(&request.json, status, &error);
    }
    if (fclose(request.json.out) != 0)
        ops_alloc(NULL, SIZE_MAX);
    struct reading *reading = reading_format(status == CULEX_OK ? "queues" : "failure", text);
    free(text);
    return reading;
}

/* Under the lock. */
static void reading_give(struct reading *reading)
{
    if (reading == NULL || --reading->users > 0)
        return;
    free(reading->text);
    free(reading);
}

/* ---- all of them ---------------------------------------------------------------------------- */

struct streams *streams_make(struct console *console)
{
    pthread_condattr_t clock;
    struct streams *streams = ops_alloc(NULL, sizeof *streams);
    *streams = (struct streams){.console = console};
    pthread_mutex_init(&streams->lock, NULL);
    pthread_condattr_init(&clock);
    pthread_condattr_setclock(&clock, CLOCK_MONOTONIC);
    pthread_cond_init(&streams->has_read, &clock);
    pthread_condattr_destroy(&clock);
    return streams;
}

void streams_free(struct streams *streams)
{
    reading_give(streams->newest);
    pthread_cond_destroy(&streams->has_read);
    pthread_mutex_destroy(&streams->lock);
    free(streams);
}

/* Under the lock, which is let go while the store is read. */
static void streams_read(struct streams *streams)
{
    streams->is_reading = true;
    pthread_mutex_unlock(&streams->lock);
    struct reading *reading = reading_make(streams->console);
    pthread_mutex_lock(&streams->lock);
    reading_give(streams->newest);
    streams->newest = reading;
    streams->number++;
    streams->next_ms = ms_now() + EACH_MS;
    streams->is_reading = false;
    pthread_cond_broadcast(&streams->has_read);
}

/* Under the lock. No longer than a look at whether the server ends takes. */
static void streams_wait(struct streams *streams)
{
    int64_t end = ms_now() + LOOK_MS;
    if (!streams->is_reading && streams->next_ms < end)
        end = streams->next_ms;
    const struct timespec until = {.tv_sec = end / 1000, .tv_nsec = end % 1000 * 1000000};
    pthread_cond_timedwait(&streams->has_read, &streams->lock, &until);
}

/* ---- one of them ---------------------------------------------------------------------------- */

/* Three of four connections, and one of one. */
static size_t streams_most(const struct console *console)
{
    size_t most = (size_t)console->connections * 3 / 4;
    if (most < 1)
        return 1;
    return most < STREAMS_MAX ? most : STREAMS_MAX;
}

struct stream *stream_open(struct streams *streams)
{
    struct stream *stream = NULL;
    pthread_mutex_lock(&streams->lock);
    if (streams->count < streams_most(streams->console)) {
        streams->count++;
        stream = ops_alloc(NULL, sizeof *stream);
        *stream = (struct stream){.streams = streams};
    }
    pthread_mutex_unlock(&streams->lock);
    return stream;
}

/* Under the lock: waits until there is a reading that this one has not had. */
static bool reading_take(struct stream *stream)
{
    struct streams *streams = stream->streams;
    int64_t end = ms_now() + BEAT_MS;
    while (!atomic_load(&streams->console->is_ending) && ms_now() < end) {
        if (!streams->is_reading && streams->next_ms <= ms_now())
            streams_read(streams);
        if (streams->newest != NULL && streams->number != stream->number) {
            stream->reading = streams->newest;
            stream->reading->users++;
            stream->number = streams->number;
            stream->sent = 0;
            return true;
        }
        streams_wait(streams);
    }
    return false;
}

static size_t part_copy(struct stream *stream, char *ret_text, size_t size)
{
    struct reading *reading = stream->reading;
    size_t len = reading->len - stream->sent < size ? reading->len - stream->sent : size;
    memcpy(ret_text, reading->text + stream->sent, len);
    stream->sent += len;
    if (stream->sent == reading->len) {
        reading_give(reading);
        stream->reading = NULL;
    }
    return len;
}

size_t stream_next(struct stream *stream, char *ret_text, size_t size)
{
    static const char beat[] = ": still here\n\n";
    struct streams *streams = stream->streams;
    size_t len = 0;
    pthread_mutex_lock(&streams->lock);
    if (stream->reading != NULL || reading_take(stream)) {
        len = part_copy(stream, ret_text, size);
    } else if (!atomic_load(&streams->console->is_ending)) {
        len = sizeof beat - 1 < size ? sizeof beat - 1 : size;
        memcpy(ret_text, beat, len);
    }
    pthread_mutex_unlock(&streams->lock);
    return len;
}

void stream_close(struct stream *stream)
{
    struct streams *streams = stream->streams;
    pthread_mutex_lock(&streams->lock);
    reading_give(stream->reading);
    streams->count--;
    pthread_mutex_unlock(&streams->lock);
    free(stream);
}
