/* ops/command/top.c - culex top: the queues and workers of a store, again and again.
 *
 * A thread asks the store, so that keys are answered while it does not answer. What it has read it
 * hands over whole; the one before is freed then. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "command/ask.h"
#include "command/command.h"
#include "command/frame.h"
#include "command/parked.h"
#include "command/print.h"
#include "command/screen.h"

enum { LOOKED_MAX = 1000, HOURS = 2 };

/* --- what is read ------------------------------------------------------------------------------
 */

static bool worker_take(const culex_worker_info *worker, void *user)
{
    struct ops_top *top = user;
    top->workers = ops_alloc(top->workers, (top->worker_count + 1) * sizeof *top->workers);
    struct ops_top_worker *taken = &top->workers[top->worker_count++];
    size_t size = strlen(worker->name) + strlen(worker->host) + 2;
    *taken = (struct ops_top_worker){.name = ops_alloc(NULL, size),
                                     .pid = worker->pid,
                                     .memory_bytes = worker->memory_bytes + worker->children_bytes,
                                     .at_work = worker->runs_total,
                                     .concurrency = worker->concurrency,
                                     .done = worker->done,
                                     .failed = worker->failed,
                                     .state = worker->is_stopping ? "stopping"
                                              : worker->is_quiet  ? "quiet"
                                                                  : ""};
    snprintf(taken->name, size, "%s%s%s", worker->name, worker->host[0] != '\0' ? "@" : "",
             worker->host);
    return true;
}

static culex_status parked_take(struct ops *ops, struct ops_top_queue *queue, culex_error *error)
{
    struct ops_parked parked = {.count = 0};
    culex_status status = CULEX_OK;
    if (queue->view.stats.count[CULEX_RUN_WAITING] > 0)
        status = ops_parked_read(ops, queue->view.name, NULL, &parked, error);
    queue->parked = parked.count;
    return status;
}

/* The survey's queues become those of `top`. */
static culex_status queues_take(struct ops *ops, struct ops_survey *survey, struct ops_top *top,
                                culex_error *error)
{
    culex_status status = CULEX_OK;
    top->queues = ops_alloc(NULL, (survey->count + 1) * sizeof *top->queues);
    for (size_t i = 0; i < survey->count && status == CULEX_OK; i++) {
        if (survey->of[i].wrong != NULL)
            return ops_fail(error, survey->of[i].status, "%s", survey->of[i].wrong);
        struct ops_top_queue *queue = &top->queues[top->queue_count++];
        *queue = (struct ops_top_queue){.view = survey->of[i], .done_rate = -1, .failed_rate = -1};
        survey->of[i].name = NULL;
        top->now_ms = queue->view.stats.now_ms;
        status = culex_client_figures(ops->client, queue->view.name, NULL, HOURS, &queue->figures,
                                      error);
        if (status == CULEX_OK)
            status = parked_take(ops, queue, error);
    }
    return status;
}

static culex_status top_read(struct ops *ops, struct ops_top *ret_top, culex_error *error)
{
    struct ops_survey survey;
    *ret_top = (struct ops_top){.queues = NULL};
    culex_status status =
        ops_survey_read(ops, ops->arguments, ops->argument_count, LOOKED_MAX, &survey, error);
    if (status == CULEX_OK)
        status = queues_take(ops, &survey, ret_top, error);
    ops_survey_free(&survey);
    if (status == CULEX_OK)
        status = culex_client_workers(ops->client, worker_take, ret_top, error);
    ret_top->is_read = status == CULEX_OK;
    if (status != CULEX_OK)
        ops_top_free(ret_top);
    return status;
}

static double rate_of(uint64_t now, uint64_t before, int64_t ms)
{
    return now >= before ? (double)(now - before) * 1000 / (double)ms : 0;
}

/* By what the store counts, and by its clock. */
static void rates_set(struct ops_top *top, const struct ops_top *before)
{
    for (size_t i = 0; i < top->queue_count; i++) {
        struct ops_top_queue *queue = &top->queues[i];
        const struct ops_top_queue *old = NULL;
        for (size_t j = 0; j < before->queue_count && old == NULL; j++) {
            if (strcmp(before->queues[j].view.name, queue->view.name) == 0)
                old = &before->queues[j];
        }
        if (old == NULL || queue->view.stats.now_ms <= old->view.stats.now_ms)
            continue;
        int64_t ms = queue->view.stats.now_ms - old->view.stats.now_ms;
        queue->done_rate = rate_of(queue->view.stats.done, old->view.stats.done, ms);
        queue->failed_rate = rate_of(queue->view.stats.failed + queue->view.stats.crashed,
                                     old->view.stats.failed + old->view.stats.crashed, ms);
    }
}

/* --- the thread that reads ----------------------------------------------------------------------
 */

enum { USUAL_MS = 1000 }; /* a store that takes longer is slow */

struct reader {
    struct ops *ops;
    culex_duration interval;
    pthread_t thread;
    pthread_mutex_t mutex; /* for all below */
    pthread_cond_t wake;
    bool is_over, is_asking, has_news;
    bool is_silent;           /* the last question had no answer in its time */
    struct timespec asked_at; /* the oldest question that has no answer */
    struct ops_top top;       /* owned: the newest */
    char failure[CULEX_ERROR_TEXT_SIZE];
};

/* Since the oldest question that has no answer; a store that refuses at once has answered. */
static int64_t asked_ms(const struct reader *reader)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (now.tv_sec - reader->asked_at.tv_sec) * 1000 +
           (now.tv_nsec - reader->asked_at.tv_nsec) / 1000000;
}

static void answer_take(struct reader *reader, culex_status status, struct ops_top *top,
                        const culex_error *error)
{
    reader->is_silent = status != CULEX_OK && asked_ms(reader) > USUAL_MS;
    reader->is_asking = false;
    reader->has_news = true;
    reader->failure[0] = '\0';
    if (status == CULEX_OK) {
        rates_set(top, &reader->top);
        ops_top_free(&reader->top);
        reader->top = *top;
    } else {
        snprintf(reader->failure, sizeof reader->failure, "%s",
                 error->text[0] != '\0' ? error->text : culex_status_text(status));
    }
}

static void reader_sleep(struct reader *reader)
{
    struct timespec until;
    clock_gettime(CLOCK_MONOTONIC, &until);
    int64_t ns = until.tv_nsec + reader->interval % CULEX_SECOND;
    until.tv_sec += reader->interval / CULEX_SECOND + ns / 1000000000;
    until.tv_nsec = ns % 1000000000;
    while (!reader->is_over && pthread_cond_timedwait(&reader->wake, &reader->mutex, &until) == 0)
        ;
}

static void *reader_run(void *user)
{
    struct reader *reader = user;
    pthread_mutex_lock(&reader->mutex);
    while (!reader->is_over) {
        struct ops_top top;
        culex_error error = {.code = CULEX_OK};
        reader->is_asking = true;
        if (!reader->is_silent)
            clock_gettime(CLOCK_MONOTONIC, &reader->asked_at);
        pthread_mutex_unlock(&reader->mutex);
        culex_status status = top_read(reader->ops, &top, &error);
        pthread_mutex_lock(&reader->mutex);
        answer_take(reader, status, &top, &error);
        reader_sleep(reader);
    }
    pthread_mutex_unlock(&reader->mutex);
    return NULL;
}

static culex_status reader_begin(struct reader *reader, culex_error *error)
{
    pthread_condattr_t attributes;
    pthread_mutex_init(&reader->mutex, NULL);
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&reader->wake, &attributes);
    pthread_condattr_destroy(&attributes);
    return pthread_create(&reader->thread, NULL, reader_run, reader) == 0
               ? CULEX_OK
               : ops_fail(error, CULEX_ENOMEM, "no thread for reading");
}

/* A store that does not answer is not waited for: nothing of this program is to be undone. */
static void reader_end(struct reader *reader)
{
    pthread_mutex_lock(&reader->mutex);
    reader->is_over = true;
    bool is_asking = reader->is_asking;
    pthread_cond_signal(&reader->wake);
    pthread_mutex_unlock(&reader->mutex);
    if (is_asking) {
        fflush(stdout);
        _exit(ferror(stdout) ? OPS_EXIT_OUTPUT : 0);
    }
    pthread_join(reader->thread, NULL);
    pthread_cond_destroy(&reader->wake);
    pthread_mutex_destroy(&reader->mutex);
    ops_top_free(&reader->top);
}

/* How long the store has not answered, beyond what is usual. */
static int64_t late_ms(const struct reader *reader)
{
    if (!reader->is_asking && !reader->is_silent)
        return 0;
    int64_t ms = asked_ms(reader);
    return ms > USUAL_MS ? ms : 0;
}

/* --- keys ------------------------------------------------------------------------------------- */

struct looker {
    struct ops_top_look look;
    size_t queue_count;
    bool is_over;
};

static void letter_take(struct looker *looker, int letter)
{
    static const char orders[] = "nwod"; /* as enum ops_top_order */
    const char *order = letter > 0 && letter < 128 ? strchr(orders, letter) : NULL;
    if (letter == 'q' || letter == 'Q')
        looker->is_over = true;
    else if (letter == 'p')
        looker->look.is_held = !looker->look.is_held;
    else if (order != NULL)
        looker->look.order = (enum ops_top_order)(order - orders);
}

static void scroll(struct looker *looker, long by)
{
    long first = (long)looker->look.first + by, last = (long)looker->queue_count - 1;
    first = first > last ? last : first;
    looker->look.first = first > 0 ? (size_t)first : 0;
}

/* Whether there was one. */
static bool key_take(struct looker *looker)
{
    int letter;
    long page = looker->look.height > 8 ? (long)looker->look.height - 6 : 1;
    enum ops_key key = ops_screen_key(&letter);
    switch (key) {
    case OPS_KEY_NONE:
        return false;
    case OPS_KEY_RESIZE:
        break;
    case OPS_KEY_UP:
    case OPS_KEY_DOWN:
        scroll(looker, key == OPS_KEY_UP ? -1 : 1);
        break;
    case OPS_KEY_PAGE_UP:
    case OPS_KEY_PAGE_DOWN:
        scroll(looker, key == OPS_KEY_PAGE_UP ? -page : page);
        break;
    case OPS_KEY_HOME:
        looker->look.first = 0;
        break;
    case OPS_KEY_LETTER:
        letter_take(looker, letter);
        break;
    }
    return true;
}

/* --- the screen ------------------------------------------------------------------------------- */

/* While they are held the numbers stay, whatever comes; a store that is slow is shown all the same.
 */
static void show(struct reader *reader, struct looker *looker, struct ops_top *held, bool is_keyed)
{
    pthread_mutex_lock(&reader->mutex);
    int64_t late = late_ms(reader);
    bool is_new = reader->has_news && !looker->look.is_held;
    bool is_changed = is_new || is_keyed || late != looker->look.late_ms;
    char failure[CULEX_ERROR_TEXT_SIZE];
    strcpy(failure, reader->failure);
    looker->look.late_ms = late;
    looker->look.failure = failure;
    struct ops_top *shown = looker->look.is_held ? held : &reader->top;
    looker->queue_count = shown->queue_count;
    reader->has_news &= looker->look.is_held;
    ops_screen_size(&looker->look.width, &looker->look.height);
    struct ops_frame frame = {.of = NULL};
    if (is_changed)
        frame = ops_frame_make(shown, &looker->look);
    pthread_mutex_unlock(&reader->mutex);
    if (is_changed)
        ops_screen_show(&frame);
    ops_frame_free(&frame);
}

/* What is shown while it is held is taken out of the reader's hands. */
static void hold_follow(struct reader *reader, const struct looker *looker, struct ops_top *held)
{
    pthread_mutex_lock(&reader->mutex);
    if (looker->look.is_held && held->queues == NULL && held->now_ms == 0) {
        *held = reader->top;
        reader->top = (struct ops_top){.queues = NULL};
    } else if (!looker->look.is_held && held->queues != NULL) {
        if (reader->top.queues == NULL) {
            reader->top = *held;
            *held = (struct ops_top){.queues = NULL};
        }
        ops_top_free(held);
    }
    pthread_mutex_unlock(&reader->mutex);
}

static culex_status screen_run(struct ops *ops, struct reader *reader, culex_error *error)
{
    struct looker looker = {.look = {.failure = ""}};
    struct ops_top held = {.queues = NULL};
    culex_status status = ops_screen_begin(error);
    if (status != CULEX_OK)
        return status;
    ops_interrupts_catch();
    status = reader_begin(reader, error);
    bool is_keyed = true;
    while (status == CULEX_OK && !looker.is_over && !ops_is_interrupted()) {
        hold_follow(reader, &looker, &held);
        show(reader, &looker, &held, is_keyed);
        is_keyed = key_take(&looker);
    }
    ops_screen_end();
    if (status == CULEX_OK)
        reader_end(reader);
    ops_top_free(&held);
    (void)ops;
    return status;
}

/* --- one frame -------------------------------------------------------------------------------- */

static culex_status frame_print(struct ops *ops, culex_error *error)
{
    enum { WIDTH = 120 };
    struct ops_top top;
    size_t width = ops_terminal_width();
    struct ops_top_look look = {.width = width > 0 ? width : WIDTH, .failure = ""};
    culex_status status = top_read(ops, &top, error);
    if (status != CULEX_OK)
        return status;
    struct ops_frame frame = ops_frame_make(&top, &look);
    for (size_t i = 0; i < frame.count; i++)
        puts(frame.of[i].text);
    ops_frame_free(&frame);
    ops_top_free(&top);
    return CULEX_OK;
}

culex_status ops_top(struct ops *ops, culex_error *error)
{
    const struct ops_options *options = &ops->options;
    struct reader reader = {.ops = ops,
                            .interval = ops_is_given(options, "interval") ? options->interval
                                                                          : 2 * CULEX_SECOND};
    if (options->wants_json)
        return ops_usage(error, "top: it is for people; culex queues --json and culex stats --json "
                                "have the numbers");
    if (reader.interval < 100 * CULEX_MILLISECOND || reader.interval > CULEX_HOUR)
        return ops_usage(error, "--interval: 100ms to 1h");
    if (options->is_once)
        return frame_print(ops, error);
    if (!isatty(STDIN_FILENO) || !isatty(STDOUT_FILENO))
        return ops_usage(error, "top wants a terminal; --once prints a frame as text");
    return screen_run(ops, &reader, error);
}
