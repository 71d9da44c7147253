/* culex_run_client: what handlers ask of their worker's store, with real workers, stores and
 * processes, under each isolation; and what a broken handler may ask. */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "quiet_thread.h"
#include "redis_server.h"
#include "handler/errand_batch.h"
#include "client/newrun.h"
#include "world.h"

enum {
    MANY = 450,
    BIG = 9000,
    TIMEOUT_MS = 20000, /* of the store: what has to be told at once is told long before */
    AWAY_MS = 500,      /* of a store that is away */
    SOON_MS = 2500      /* who has not heard of a timeout gives up 3 to 5 s later */
};

enum act {
    MAIL,
    FOLLOW,
    DEFAULT_STORE,
    EVERYTHING,
    DIE,
    AWAY,
    BRIEF,
    THREADS,
    STRAY,
    STRAY_DEFAULT,
    FORK,
    FORK_LATE,
    FORK_TELL,
    CLOSE,
    KEYED,
    END,       /* with follow-ups */
    END_LATE,  /* with them in the second attempt; the first one fails */
    END_DIE,   /* the same, and dies */
    END_NEVER, /* with none: it is discarded */
    END_FULL,  /* with as many as there may be */
    END_MAIL,  /* with one for the other queue */
    BATCH,     /* of three letters; each attempt comes one step further, and fails */
    BATCH_DIE, /* the same, and dies in the middle */
    BATCH_END, /* its callback */
    ACT_COUNT
};

/* Shared with handlers. */
struct board {
    _Atomic unsigned calls[ACT_COUNT]; /* by what the run is told to do */
    _Atomic unsigned wrong;
    _Atomic bool has_left;
    _Atomic int status;
    _Atomic int64_t ms; /* that the last call took */
    char text[CULEX_ERROR_TEXT_SIZE];
};

struct scene {
    struct redis_server server;
    char folder[32];
    char before[256]; /* where we were */
    char url[160];
    culex_isolation isolation;
    int64_t timeout_ms; /* 0: by the URL */
    bool is_reversed;   /* the worker's queues are */
    culex_client *client;
};

struct letter {
    int64_t act;
    const char *text;
};

static const culex_field letter_fields[] = {
    {.name = "act",
     .wire = "act",
     .kind = CULEX_KIND_INT64,
     .flags = CULEX_FIELD_REQUIRED,
     .offset = offsetof(struct letter, act)},
    {.name = "text",
     .wire = "text",
     .kind = CULEX_KIND_STRING,
     .flags = CULEX_FIELD_REQUIRED,
     .offset = offsetof(struct letter, text)},
};
static const culex_struct_type letter_struct = {"t.letter", sizeof(struct letter), letter_fields,
                                                2};
static culex_job_type letter_type;
static struct board *board;

/* --- handlers -------------------------------------------------------------------------------- */

static void expect(bool is_right)
{
    atomic_fetch_add(&board->wrong, !is_right);
}

static int64_t now_ms(void)
{
    return culex__env_boottime_ms(culex__env_system());
}

static culex_status follow_up(culex_run *run, enum act act, culex_error *error)
{
    struct letter letter = {act, "follow-up"};
    culex_enqueue_options options = culex_enqueue_options_make();
    options.has_ticket = true;
    culex_status status = culex_client_new_ticket(culex_run_client(run), &options.ticket, error);
    if (status != CULEX_OK)
        return status;
    options.queue = "mails"; /* another lane of the worker, which may have been drained */
    return culex_client_enqueue(culex_run_client(run), &letter_type, &letter, &options, NULL,
                                error);
}

/* For the run, however often it runs. */
static culex_status follow_up_once(culex_run *run, culex_error *error)
{
    struct letter letter = {MAIL, "receipt"};
    char key[sizeof "receipt|" + CULEX_UUID_TEXT_SIZE] = "receipt|";
    culex_enqueue_options options = culex_enqueue_options_make();
    culex_uuid_format(culex_run_id(run), key + strlen(key));
    options.idempotency_key = key;
    return culex_client_enqueue(culex_run_client(run), &letter_type, &letter, &options, NULL,
                                error);
}

/* Two into the run's own queue and one into another. */
static void follow_three(culex_run *run)
{
    struct letter letter = {MAIL, "in the end"};
    culex_enqueue_options options = culex_enqueue_options_make();
    expect(culex_run_enqueue(run, &letter_type, &letter, NULL, NULL) == CULEX_OK);
    options.queue = "mails";
    expect(culex_run_enqueue(run, &letter_type, &letter, &options, NULL) == CULEX_OK);
    options.queue = NULL;
    options.has_delay = true;
    options.delay = 1;
    expect(culex_run_enqueue(run, &letter_type, &letter, &options, NULL) == CULEX_EINVAL);
    options.delay = culex_milliseconds(1);
    expect(culex_run_enqueue(run, &letter_type, &letter, &options, NULL) == CULEX_OK);
}

static void follow_mail(culex_run *run)
{
    struct letter letter = {MAIL, "later"};
    culex_enqueue_options options = culex_enqueue_options_make();
    options.queue = "mails";
    expect(culex_run_enqueue(run, &letter_type, &letter, &options, NULL) == CULEX_OK);
}

static void follow_refused(culex_run *run)
{
    struct letter letter = {MAIL, "never"};
    culex_enqueue_outcome outcome;
    culex_enqueue_options options = culex_enqueue_options_make();
    options.ret_outcomes = &outcome;
    expect(culex_run_enqueue(run, &letter_type, &letter, &options, NULL) == CULEX_EINVAL);
    options.ret_outcomes = NULL;
    options.queue = "no|queue";
    expect(culex_run_enqueue(run, &letter_type, &letter, &options, NULL) == CULEX_EINVAL);
    expect(culex_run_enqueue(run, &letter_type, NULL, NULL, NULL) == CULEX_EINVAL);
    expect(culex_run_enqueue(run, NULL, &letter, NULL, NULL) == CULEX_EINVAL);
    expect(culex_run_enqueue(NULL, &letter_type, &letter, NULL, NULL) == CULEX_EINVAL);
    pid_t child = fork();
    if (child == 0)
        _exit(culex_run_enqueue(run, &letter_type, &letter, NULL, NULL) == CULEX_EINVAL ? 0 : 1);
    int status = -1;
    expect(waitpid(child, &status, 0) == child && status == 0);
}

static void follow_to_the_full(culex_run *run)
{
    static char text[BIG + 1];
    struct letter letter = {MAIL, text};
    culex_error error = {0};
    memset(text, 'x', BIG);
    for (int i = 0; i < CULEX_FOLLOW_UPS_MAX; i++)
        expect(culex_run_enqueue(run, &letter_type, &letter, NULL, &error) == CULEX_OK);
    expect(culex_run_enqueue(run, &letter_type, &letter, NULL, &error) == CULEX_ELIMIT);
    expect(strstr(error.text, "at most 100 follow-ups") != NULL);
}

/* --- a batch, by its key the same in each attempt ----------------------------------------------
 */

enum { BATCH_MEMBERS = 3 };

static void batch_fill(culex_client *client, const culex_batch *batch, culex_uuid run)
{
    char key[CULEX_UUID_TEXT_SIZE + 8];
    struct letter letter = {MAIL, "member"};
    culex_enqueue_options options = culex_enqueue_options_make();
    options.batch = batch;
    options.idempotency_key = key;
    culex_uuid_format(run, key);
    strcat(key, "/0");
    for (int i = 0; i < BATCH_MEMBERS; i++) {
        key[strlen(key) - 1] = (char)('0' + i);
        expect(culex_client_enqueue(client, &letter_type, &letter, &options, NULL, NULL) ==
               CULEX_OK);
    }
}

static void batch_call_back(culex_client *client, const culex_batch *batch)
{
    struct letter letter = {BATCH_END, "callback"};
    culex_enqueue_options options = culex_enqueue_options_make();
    options.batch = batch;
    options.batch_when = CULEX_BATCH_ON_SUCCESS;
    options.queue = "mails";
    expect(culex_client_enqueue(client, &letter_type, &letter, &options, NULL, NULL) == CULEX_OK);
}

/* As far as step `last`; whoever is executed again comes by all steps before, too. */
static void batch_make(culex_run *run, unsigned last)
{
    char key[CULEX_UUID_TEXT_SIZE];
    culex_batch batch;
    culex_batch_info info = {0};
    culex_client *client = culex_run_client(run);
    culex_batch_options options = {.idempotency_key = key};
    culex_uuid_format(culex_run_id(run), key);
    expect(culex_batch_open(client, "letters", &options, &batch, NULL) == CULEX_OK);
    if (last >= 2)
        batch_fill(client, &batch, culex_run_id(run));
    if (last >= 3)
        batch_call_back(client, &batch);
    if (last >= 4)
        expect(culex_batch_close(client, &batch, NULL) == CULEX_OK);
    expect(culex_batch_look(client, &batch, &info, NULL) == CULEX_OK);
    expect(info.added == (last >= 2 ? BATCH_MEMBERS : 0) && info.is_closed == (last >= 4));
}

static culex_outcome batch_attempt(culex_run *run, bool dies)
{
    unsigned attempt = culex_run_attempt(run);
    batch_make(run, dies && attempt > 1 ? 4 : dies ? 2 : attempt);
    if (dies && attempt == 1)
        raise(SIGKILL);
    return dies || attempt > 4 ? CULEX_DONE : culex_run_fail(run, "not yet");
}

static void open_default(void)
{
    culex_client *client = NULL;
    culex_error error = {0};
    atomic_store(&board->status, culex_client_open(NULL, NULL, &client, &error));
    memcpy(board->text, error.text, sizeof error.text);
    culex_client_close(client);
}

static void enqueue_many(culex_client *client)
{
    static char text[BIG + 1];
    static struct letter letters[MANY];
    size_t enqueued = 0;
    memset(text, 'x', BIG);
    for (size_t i = 0; i < MANY; i++)
        letters[i] = (struct letter){MAIL, text};
    expect(culex_client_enqueue_many(client, &letter_type, letters, sizeof letters[0], MANY, NULL,
                                     NULL, &enqueued, NULL) == CULEX_OK);
    expect(enqueued == MANY);
}

/* Whatever came all the same goes again, or the worker would wait for it. */
static void conflict_expect(culex_client *client, const culex_enqueue_options *options)
{
    const struct letter other = {MAIL, "other"};
    culex_uuid id;
    bool has_come =
        culex_client_enqueue(client, &letter_type, &other, options, &id, NULL) != CULEX_ECONFLICT;
    expect(!has_come);
    if (has_come)
        expect(culex_client_cancel(client, "letters", id, NULL, NULL) == CULEX_OK);
}

static void repeat_calls(culex_client *client, const culex_enqueue_options *options)
{
    const struct letter letter = {MAIL, "once"};
    culex_uuid ids[2] = {{{0}}};
    for (int i = 0; i < 2; i++) {
        expect(culex_client_enqueue(client, &letter_type, &letter, options, &ids[i], NULL) ==
               CULEX_OK);
        conflict_expect(client, options);
    }
    expect(memcmp(&ids[0], &ids[1], sizeof ids[0]) == 0);
    expect(culex_client_cancel(client, "letters", ids[0], NULL, NULL) == CULEX_OK);
    expect(culex_client_cancel(client, "letters", ids[1], NULL, NULL) == CULEX_ESTATE);
}

static void repeat_by_ticket(culex_client *client)
{
    culex_enqueue_options options = {.has_ticket = true, .has_delay = true, .delay = CULEX_HOUR};
    expect(culex_client_new_ticket(client, &options.ticket, NULL) == CULEX_OK);
    repeat_calls(client, &options);
}

static void repeat_by_key(culex_client *client)
{
    const culex_enqueue_options options = {.idempotency_key = "a|b",
                                           .has_idempotency_window = true,
                                           .idempotency_window = CULEX_HOUR,
                                           .has_delay = true,
                                           .delay = CULEX_HOUR};
    repeat_calls(client, &options);
}

static void use_everything(culex_run *run)
{
    culex_client *client = culex_run_client(run);
    struct letter letter = {MAIL, "later"};
    culex_enqueue_options options = culex_enqueue_options_make();
    culex_uuid id;
    culex_run_info *info = NULL;
    culex_run_state state;
    culex_queue_stats stats;
    culex_error error = {0};
    options.has_delay = true;
    options.delay = 3600 * INT64_C(1000000000);
    options.tags = (const char *const[]){"a", "b"};
    options.tag_count = 2;
    expect(culex_client_enqueue(client, &letter_type, &letter, &options, &id, NULL) == CULEX_OK);
    expect(culex_client_get(client, "letters", id, &info, NULL) == CULEX_OK);
    expect(info != NULL && info->state == CULEX_RUN_SCHEDULED && strcmp(info->tags, "a,b") == 0 &&
           strcmp(info->job, "t.letter") == 0 && strcmp(info->queue, "letters") == 0 &&
           info->error_text[0] == '\0' &&
           strstr((const char *)info->payload.data, "later") != NULL);
    culex_run_info_free(info);
    expect(culex_client_cancel(client, "letters", id, &state, NULL) == CULEX_OK);
    expect(state == CULEX_RUN_CANCELLED);
    expect(culex_client_retry(client, "letters", id, NULL) == CULEX_ESTATE);
    expect(culex_client_delete(client, "letters", id, NULL) == CULEX_OK);
    expect(culex_client_get(client, "letters", id, &info, NULL) == CULEX_ENOTFOUND);
    expect(culex_client_stats(client, "letters", &stats, NULL) == CULEX_OK);
    expect(stats.count[CULEX_RUN_ACTIVE] == 1);
    expect(culex_client_pause(client, "letters", &error) == CULEX_EUNSUPPORTED);
    expect(strstr(error.text, "culex_client_open") != NULL);
    repeat_by_ticket(client);
    repeat_by_key(client);
    enqueue_many(client);
    culex_client_close(client);
    expect(culex_run_client(run) == client);
    expect(culex_client_stats(client, "letters", &stats, NULL) == CULEX_OK);
    expect(stats.count[CULEX_RUN_WAITING] == MANY);
}

static void *ask_in_thread(void *run)
{
    culex_queue_stats stats;
    for (int i = 0; i < 20; i++)
        expect(culex_client_stats(culex_run_client(run), "letters", &stats, NULL) == CULEX_OK);
    return NULL;
}

static void ask_in_threads(culex_run *run)
{
    pthread_t threads[4];
    for (int i = 0; i < 4; i++)
        expect(pthread_create(&threads[i], NULL, ask_in_thread, run) == 0);
    for (int i = 0; i < 4; i++)
        pthread_join(threads[i], NULL);
}

/* In a process that a handler has forked. The channel is its parent's, who would miss the answers.
 */
static _Noreturn void ask_in_fork(culex_run *run, culex_client *before)
{
    culex_queue_stats stats;
    culex_client *own = NULL;
    culex_error error = {0};
    for (int i = 0; i < 200; i++)
        expect(culex_client_stats(culex_run_client(run), "letters", &stats, &error) ==
               CULEX_EINVAL);
    expect(before == NULL ||
           (culex_client_stats(before, "letters", &stats, &error) == CULEX_EINVAL &&
            strstr(error.text, "is lent to process") != NULL));
    expect(culex_client_open(NULL, NULL, &own, &error) == CULEX_EURL &&
           strstr(error.text, "culex_run_client(run) in the handler's own process") != NULL);
    _exit(0);
}

/* The parent asks at the same time, and nobody has asked before unless `is_late`. */
static void ask_beside_fork(culex_run *run, bool is_late)
{
    culex_queue_stats stats;
    int end = 0;
    culex_client *before = is_late ? culex_run_client(run) : NULL;
    pid_t child = fork();
    expect(child >= 0);
    if (child == 0)
        ask_in_fork(run, before);
    for (int i = 0; i < 200; i++)
        expect(culex_client_stats(culex_run_client(run), "letters", &stats, NULL) == CULEX_OK &&
               stats.count[CULEX_RUN_ACTIVE] == 1);
    expect(waitpid(child, &end, 0) == child && end == 0);
}

/* As a handler does that works in a folder of its own. */
static void stray(void)
{
    expect(mkdir("elsewhere", 0700) == 0);
    expect(chdir("elsewhere") == 0);
}

/* All of it in a process that the handler forks, beside what it says itself. */
static _Noreturn void tell_everything(culex_run *run)
{
    culex_uuid none = {{0}}, id = culex_run_id(run);
    struct letter letter = {MAIL, ""};
    expect(!culex_run_cancelled(run));
    expect(memcmp(&id, &none, sizeof id) != 0 && culex_run_attempt(run) == 1);
    expect(strcmp(culex_run_queue(run), "letters") == 0 && culex_run_fence(run)[0] != '\0');
    for (int i = 0; i < 100; i++)
        culex_run_progress(run, 99, "from the fork");
    culex_run_extend(run, CULEX_HOUR);
    culex_log(run, "from the fork");
    expect(culex_run_alloc(run, 100) != NULL);
    expect(culex_run_set_result(run, &letter_struct, &letter, NULL) == CULEX_OK);
    expect(culex_run_fail(run, "from the fork") == CULEX_FAILED);
    expect(culex_run_discard(run, "from the fork") == CULEX_DISCARDED);
    expect(culex_run_snooze(run, CULEX_HOUR) == CULEX_SNOOZED);
    expect(culex_run_process(run) == NULL && culex_run_client(run) == NULL);
    _exit(0);
}

static void tell_in_fork(culex_run *run)
{
    int end = 0;
    culex_run_progress(run, 50, "from the handler");
    pid_t child = fork();
    expect(child >= 0);
    if (child == 0)
        tell_everything(run);
    expect(waitpid(child, &end, 0) == child && end == 0);
    atomic_fetch_add(&board->calls[FORK_TELL], culex_run_cancelled(run));
}

static culex_outcome letter_call(culex_run *run, culex_handler_fn handler, const void *params,
                                 void *user)
{
    const struct letter *letter = params;
    const struct scene *scene = user;
    culex_error error = {0};
    culex_queue_stats stats;
    int64_t began_ms = now_ms();
    (void)handler;
    atomic_fetch_add(&board->calls[letter->act], 1);
    switch ((enum act)letter->act) {
    case MAIL:
    case BATCH_END:
        return CULEX_DONE;
    case BATCH:
    case BATCH_DIE:
        return batch_attempt(run, letter->act == BATCH_DIE);
    case FOLLOW:
        atomic_store(&board->status, follow_up(run, MAIL, &error));
        break;
    case DEFAULT_STORE:
        open_default();
        break;
    case EVERYTHING:
        use_everything(run);
        break;
    case DIE:
        atomic_store(&board->status, follow_up(run, MAIL, &error));
        if (culex_run_attempt(run) == 1)
            raise(SIGKILL);
        break;
    case KEYED:
        atomic_store(&board->status, follow_up_once(run, &error));
        if (culex_run_attempt(run) == 1)
            raise(SIGKILL);
        break;
    case END:
        follow_refused(run);
        follow_three(run);
        break;
    case END_LATE:
    case END_DIE:
        follow_three(run);
        if (culex_run_attempt(run) == 1 && letter->act == END_DIE)
            raise(SIGKILL);
        if (culex_run_attempt(run) == 1)
            return culex_run_fail(run, "not yet");
        break;
    case END_NEVER:
        follow_three(run);
        return culex_run_discard(run, "never");
    case END_MAIL:
        follow_mail(run);
        break;
    case END_FULL:
        follow_to_the_full(run);
        break;
    case AWAY:
        kill(scene->server.pid, SIGKILL);
        began_ms = now_ms();
        atomic_store(&board->status, follow_up(run, MAIL, &error));
        break;
    case BRIEF:
        expect(culex_client_stats(culex_run_client(run), "letters", &stats, &error) == CULEX_OK);
        break;
    case THREADS:
        ask_in_threads(run);
        break;
    case FORK:
    case FORK_LATE:
        ask_beside_fork(run, letter->act == FORK_LATE);
        break;
    case FORK_TELL:
        tell_in_fork(run);
        break;
    case CLOSE:
        for (int fd = 3; fd < 2048; fd++)
            close(fd);
        atomic_store(&board->status, follow_up(run, MAIL, &error));
        break;
    case STRAY:
        stray();
        atomic_store(&board->status, follow_up(run, MAIL, &error));
        break;
    case STRAY_DEFAULT:
        stray();
        open_default();
        break;
    case ACT_COUNT:
        break;
    }
    atomic_store(&board->ms, now_ms() - began_ms);
    if (error.text[0] != '\0')
        memcpy(board->text, error.text, sizeof error.text);
    return CULEX_DONE;
}

/* --- a scene -----------------------------------------------------------------------------------
 */

static int scene_open(void **state, const char *url, culex_isolation isolation)
{
    struct scene *scene = *state;
    letter_type = number_type();
    letter_type.name = letter_type.wire = "t.letter";
    letter_type.queue = "letters";
    letter_type.params = letter_type.result = &letter_struct;
    letter_type.retry.base_ms = 1;
    letter_type.retry.backoff = CULEX_BACKOFF_CONSTANT;
    scene->isolation = isolation;
    scene->timeout_ms = TIMEOUT_MS;
    board = mmap(NULL, sizeof *board, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    strcpy(scene->folder, "/tmp/culex-errand-XXXXXX");
    if (board == MAP_FAILED || getcwd(scene->before, sizeof scene->before) == NULL ||
        mkdtemp(scene->folder) == NULL || chdir(scene->folder) != 0)
        return -1;
    unsetenv("CULEX_URL");
    snprintf(scene->url, sizeof scene->url, "%s", url);
    return 0;
}

static int setup(void **state, const char *store, culex_isolation isolation)
{
    struct scene *scene = *state = calloc(1, sizeof *scene);
    if (strcmp(store, "redis") != 0)
        return scene_open(state, store, isolation);
    return redis_server_start(&scene->server, NULL)
               ? scene_open(state, scene->server.url, isolation)
               : -1;
}

#define SETUP(name, store, isolation)                                                              \
    static int name(void **state)                                                                  \
    {                                                                                              \
        return setup(state, store, isolation);                                                     \
    }
SETUP(sqlite_process, "sqlite:own.db", CULEX_ISOLATION_PROCESS)
SETUP(sqlite_job, "sqlite:own.db", CULEX_ISOLATION_JOB)
SETUP(sqlite_none, "sqlite:own.db", CULEX_ISOLATION_NONE)
SETUP(default_process, "", CULEX_ISOLATION_PROCESS)
SETUP(default_none, "", CULEX_ISOLATION_NONE)
SETUP(memory_process, "memory:errands", CULEX_ISOLATION_PROCESS)
SETUP(memory_none, "memory:errands", CULEX_ISOLATION_NONE)
SETUP(redis_process, "redis", CULEX_ISOLATION_PROCESS)
SETUP(redis_job, "redis", CULEX_ISOLATION_JOB)
SETUP(redis_none, "redis", CULEX_ISOLATION_NONE)

static int teardown(void **state)
{
    char command[64];
    struct scene *scene = *state;
    culex_client_close(scene->client);
    redis_server_stop(&scene->server);
    snprintf(command, sizeof command, "rm -r %s", scene->folder);
    assert_int_equal(chdir(scene->before), 0);
    assert_int_equal(system(command), 0);
    munmap(board, sizeof *board);
    free(scene);
    return 0;
}

/* NULL: the default. */
static const char *url_of(const struct scene *scene)
{
    return scene->url[0] != '\0' ? scene->url : NULL;
}

static void send(struct scene *scene, enum act act)
{
    struct letter letter = {act, ""};
    if (scene->client == NULL)
        assert_int_equal(culex_client_open(url_of(scene), NULL, &scene->client, NULL), CULEX_OK);
    assert_int_equal(culex_client_enqueue(scene->client, &letter_type, &letter, NULL, NULL, NULL),
                     CULEX_OK);
}

static const char *const worker_queues[] = {"letters", "mails", "letters"};

static culex_worker *worker_make(struct scene *scene, bool is_draining, unsigned concurrency)
{
    culex_worker *worker;
    culex_worker_options options = {.url = url_of(scene),
                                    .isolation = scene->isolation,
                                    .concurrency = concurrency,
                                    .drain = is_draining,
                                    .grace_ms = -1,
                                    .queues = worker_queues + scene->is_reversed,
                                    .queue_count = 2,
                                    .log_level = 1,
                                    .store_timeout_ms = scene->timeout_ms};
    assert_int_equal(culex_worker_create(&options, &worker, NULL), CULEX_OK);
    assert_int_equal(
        culex_worker_register(worker, &letter_type, letter_call, number_handler, scene), CULEX_OK);
    return worker;
}

static void work(struct scene *scene, unsigned concurrency)
{
    culex_worker *worker = worker_make(scene, true, concurrency);
    assert_int_equal(culex_worker_run(worker, NULL), CULEX_OK);
    culex_worker_free(worker);
}

static culex_queue_stats stats_of(struct scene *scene)
{
    culex_queue_stats stats;
    assert_int_equal(culex_client_stats(scene->client, "letters", &stats, NULL), CULEX_OK);
    return stats;
}

/* --- tests ---------------------------------------------------------------------------------------
 */

static void test_follow_up_reaches_the_workers_own_store(void **state)
{
    struct scene *scene = *state;
    send(scene, FOLLOW);
    work(scene, 2);
    assert_string_equal(board->text, "");
    assert_int_equal(board->status, CULEX_OK);
    assert_int_equal(board->calls[MAIL], 1);
    assert_int_equal(stats_of(scene).done, 1);
    assert_int_equal(access("culex.db", F_OK), -1);
}

static void test_default_store_beside_another_is_refused_in_a_handler(void **state)
{
    struct scene *scene = *state;
    send(scene, DEFAULT_STORE);
    work(scene, 1);
    assert_int_equal(board->status, CULEX_EURL);
    assert_non_null(strstr(board->text, "culex_run_client"));
    assert_int_equal(access("culex.db", F_OK), -1);
}

static void test_default_store_whose_password_was_taken_is_refused(void **state)
{
    struct scene *scene = *state;
    setenv("CULEX_URL", "redis://:hunter2@127.0.0.1:1", 1);
    send(scene, DEFAULT_STORE);
    work(scene, 1);
    unsetenv("CULEX_URL");
    assert_int_equal(board->status, CULEX_EURL);
    assert_non_null(strstr(board->text, "taken out of the environment"));
    assert_non_null(strstr(board->text, "culex_run_client"));
}

/* It is the same store: what a handler could do before, it can still. */
static void test_default_store_that_is_the_workers_is_opened(void **state)
{
    struct scene *scene = *state;
    setenv("CULEX_URL", scene->url, 1);
    send(scene, DEFAULT_STORE);
    culex_client_close(scene->client); /* or SQLite has it open across the fork */
    scene->client = NULL;
    work(scene, 1);
    unsetenv("CULEX_URL");
    assert_string_equal(board->text, "");
    assert_int_equal(board->status, CULEX_OK);
}

/* A thread takes its worker along to another folder, and nothing else. */
static void test_follow_up_of_a_handler_that_changes_folder_arrives(void **state)
{
    struct scene *scene = *state;
    send(scene, STRAY);
    work(scene, 1);
    assert_int_equal(chdir(scene->folder), 0);
    assert_int_equal(board->wrong, 0);
    assert_string_equal(board->text, "");
    assert_int_equal(board->status, CULEX_OK);
    assert_int_equal(board->calls[MAIL], 1);
    assert_int_equal(rmdir("elsewhere"), 0); /* nothing was made there */
}

static culex_status folder_leave(void *user, void **ret_process, culex_error *error)
{
    (void)error;
    *ret_process = user;
    expect(mkdir("elsewhere", 0700) == 0);
    expect(chdir("elsewhere") == 0);
    setenv("CULEX_URL", "sqlite:other.db", 1);
    atomic_store(&board->has_left, true);
    return CULEX_OK;
}

/* The worst that a set-up of threads can do: it is quicker than the worker. */
static culex_status threads_make_slowly(const struct culex_executor_config *config,
                                        struct culex_executor **ret_executor, culex_error *error)
{
    culex_status status = culex__executor_threads_create(config, ret_executor, error);
    while (status == CULEX_OK && !atomic_load(&board->has_left))
        usleep(1000);
    return status;
}

static void test_set_up_that_changes_folder_takes_no_store_along(void **state)
{
    struct scene *scene = *state;
    send(scene, FOLLOW);
    culex_worker *worker = worker_make(scene, true, 1);
    assert_int_equal(culex_worker_on_process(worker, folder_leave, NULL, NULL), CULEX_OK);
    culex__worker_set_executor(worker, threads_make_slowly);
    assert_int_equal(culex_worker_run(worker, NULL), CULEX_OK);
    culex_worker_free(worker);
    unsetenv("CULEX_URL");
    assert_int_equal(chdir(scene->folder), 0);
    assert_int_equal(board->calls[MAIL], 1);
    assert_int_equal(rmdir("elsewhere"), 0);
}

static culex_status folder_choose(void *user, void **ret_process, culex_error *error)
{
    struct scene *scene = user;
    (void)error;
    *ret_process = NULL;
    expect(chdir(scene->folder) == 0);
    atomic_store(&board->has_left, true);
    return CULEX_OK;
}

/* Nor is it given a folder that the worker has not. */
static void test_set_up_that_changes_folder_brings_no_store(void **state)
{
    struct scene *scene = *state;
    culex_error error = {0};
    assert_int_equal(mkdir("gone", 0700), 0);
    assert_int_equal(chdir("gone"), 0);
    assert_int_equal(rmdir("../gone"), 0);
    culex_worker *worker = worker_make(scene, true, 1);
    assert_int_equal(culex_worker_on_process(worker, folder_choose, NULL, scene), CULEX_OK);
    culex__worker_set_executor(worker, threads_make_slowly);
    assert_int_equal(culex_worker_run(worker, &error), CULEX_EURL);
    assert_non_null(strstr(error.text, "the folder that this path counts from"));
    culex_worker_free(worker);
    assert_int_equal(access("own.db", F_OK), -1);
}

static void test_default_store_after_a_change_of_folder_is_refused(void **state)
{
    struct scene *scene = *state;
    if (url_of(scene) != NULL)
        setenv("CULEX_URL", scene->url, 1);
    send(scene, STRAY_DEFAULT);
    work(scene, 1);
    unsetenv("CULEX_URL");
    assert_int_equal(chdir(scene->folder), 0);
    assert_int_equal(board->wrong, 0);
    assert_int_equal(board->status, CULEX_EURL);
    assert_non_null(strstr(board->text, "culex_run_client"));
    assert_int_equal(rmdir("elsewhere"), 0);
}

/* Wherever the handler is. */
static void test_default_store_by_an_absolute_path_is_opened(void **state)
{
    struct scene *scene = *state;
    char url[sizeof scene->folder + 32];
    snprintf(url, sizeof url, "sqlite:%s/own.db", scene->folder);
    memcpy(scene->url, url, sizeof url);
    setenv("CULEX_URL", url, 1);
    send(scene, STRAY_DEFAULT);
    culex_client_close(scene->client);
    scene->client = NULL;
    work(scene, 1);
    unsetenv("CULEX_URL");
    assert_int_equal(chdir(scene->folder), 0);
    assert_string_equal(board->text, "");
    assert_int_equal(board->status, CULEX_OK);
}

static void test_every_verb_works_or_says_why_not(void **state)
{
    struct scene *scene = *state;
    send(scene, EVERYTHING);
    work(scene, 1);
    assert_int_equal(board->wrong, 0);
    assert_int_equal(board->calls[MAIL], MANY);
}

/* Its follow-up was acknowledged: it is there, once for each time that it was sent. */
static void test_handler_that_is_killed_after_its_follow_up_loses_nothing(void **state)
{
    struct scene *scene = *state;
    send(scene, DIE);
    work(scene, 1);
    assert_int_equal(board->calls[DIE], 2);
    assert_int_equal(board->calls[MAIL], 2);
    assert_int_equal(board->status, CULEX_OK);
}

static void test_handler_that_runs_twice_has_one_follow_up_of_a_key(void **state)
{
    struct scene *scene = *state;
    send(scene, KEYED);
    work(scene, 1);
    assert_int_equal(board->calls[KEYED], 2);
    assert_int_equal(board->calls[MAIL], 1);
    assert_int_equal(board->status, CULEX_OK);
}

/* However often it is executed, and wherever it stopped. */
static void test_handler_makes_one_batch_in_all_its_attempts(void **state)
{
    struct scene *scene = *state;
    send(scene, BATCH);
    work(scene, 2);
    assert_int_equal(board->wrong, 0);
    assert_int_equal(board->calls[BATCH], 5);
    assert_int_equal(board->calls[MAIL], BATCH_MEMBERS);
    assert_int_equal(board->calls[BATCH_END], 1);
}

static void test_handler_that_is_killed_in_the_middle_makes_one_batch(void **state)
{
    struct scene *scene = *state;
    send(scene, BATCH_DIE);
    work(scene, 2);
    assert_int_equal(board->wrong, 0);
    assert_int_equal(board->calls[BATCH_DIE], 2);
    assert_int_equal(board->calls[MAIL], BATCH_MEMBERS);
    assert_int_equal(board->calls[BATCH_END], 1);
}

static void *stop_after_a_call(void *worker)
{
    while (atomic_load(&board->ms) == 0)
        usleep(1000);
    culex_worker_stop(worker);
    return NULL;
}

/* --- follow-ups of the end ---------------------------------------------------------------------
 */

static void test_follow_ups_come_in_with_the_end(void **state)
{
    struct scene *scene = *state;
    send(scene, END);
    work(scene, 2);
    assert_int_equal(board->wrong, 0);
    assert_int_equal(board->calls[MAIL], 3);
    assert_int_equal(stats_of(scene).enqueued, 3);
    assert_int_equal(stats_of(scene).done, 3);
}

static void test_follow_ups_of_an_attempt_that_fails_do_not(void **state)
{
    struct scene *scene = *state;
    send(scene, END_LATE);
    send(scene, END_NEVER);
    work(scene, 2);
    assert_int_equal(board->wrong, 0);
    assert_int_equal(board->calls[END_LATE], 2);
    assert_int_equal(board->calls[END_NEVER], 1);
    assert_int_equal(board->calls[MAIL], 3);
}

static void test_follow_ups_of_an_attempt_that_dies_do_not(void **state)
{
    struct scene *scene = *state;
    send(scene, END_DIE);
    work(scene, 2);
    assert_int_equal(board->wrong, 0);
    assert_int_equal(board->calls[END_DIE], 2);
    assert_int_equal(board->calls[MAIL], 3);
}

static void *stop_after_the_end(void *worker)
{
    while (atomic_load(&board->calls[END_MAIL]) == 0)
        usleep(1000);
    culex_worker_stop(worker);
    return NULL;
}

static void redis_say(struct scene *scene, const char *command)
{
    redisReply *reply = redis_server_command(&scene->server, command);
    assert_non_null(reply);
    freeReplyObject(reply);
}

/* By a worker that finds the queue they go to empty before it looks at the one that has kept them,
 * since a worker before it could not bring them. */
static void test_follow_ups_that_were_left_are_drained(void **state)
{
    struct scene *scene = *state;
    pthread_t stopper;
    redis_say(scene, "HSET culex:{mails}:meta layout 99");
    send(scene, END_MAIL);
    culex_worker_options options = {.url = url_of(scene),
                                    .isolation = scene->isolation,
                                    .queues = worker_queues,
                                    .queue_count = 1,
                                    .log_level = 1};
    culex_worker *worker;
    assert_int_equal(culex_worker_create(&options, &worker, NULL), CULEX_OK);
    assert_int_equal(
        culex_worker_register(worker, &letter_type, letter_call, number_handler, scene), CULEX_OK);
    quiet_thread_start(&stopper, stop_after_the_end, worker);
    assert_int_equal(culex_worker_run(worker, NULL), CULEX_OK);
    pthread_join(stopper, NULL);
    culex_worker_free(worker);
    assert_int_equal(board->calls[MAIL], 0);
    redis_say(scene, "DEL culex:{mails}:meta");
    scene->is_reversed = true;
    work(scene, 1);
    assert_int_equal(board->calls[MAIL], 1);
}

static void test_follow_ups_of_many_ends_all_come_in(void **state)
{
    enum { RUNS = 200, FULL = 3 };
    struct scene *scene = *state;
    for (int i = 0; i < RUNS; i++)
        send(scene, END_LATE);
    for (int i = 0; i < FULL; i++)
        send(scene, END_FULL);
    work(scene, 4);
    assert_int_equal(board->wrong, 0);
    assert_int_equal(board->calls[MAIL], 3 * RUNS + FULL * CULEX_FOLLOW_UPS_MAX);
}

/* The wait is the worker's store timeout, and the text says what is wrong. */
static void away_told(struct scene *scene)
{
    pthread_t stopper;
    send(scene, AWAY);
    culex_client_close(scene->client);
    scene->client = NULL;
    culex_worker *worker = worker_make(scene, false, 1);
    quiet_thread_start(&stopper, stop_after_a_call, worker);
    assert_int_equal(culex_worker_run(worker, NULL), CULEX_EUNSENT);
    pthread_join(stopper, NULL);
    culex_worker_free(worker);
    assert_true(board->status == CULEX_ECONNECT || board->status == CULEX_EUNKNOWN);
    assert_in_range(board->ms, 0, SOON_MS);
    assert_true(board->text[0] != '\0');
}

static void test_store_that_is_away_is_told_in_time(void **state)
{
    struct scene *scene = *state;
    scene->timeout_ms = AWAY_MS;
    away_told(scene);
}

/* Which children do not have, as they are older than the worker's reading of it. */
static void test_store_that_is_away_is_told_in_the_time_of_the_url(void **state)
{
    struct scene *scene = *state;
    strcat(scene->url, "?store-timeout=200ms");
    scene->timeout_ms = 0;
    away_told(scene);
}

/* More of them come to the child while one waits for its answer. */
static void test_short_runs_that_ask_do_not_lose_those_behind(void **state)
{
    enum { RUNS = 400 };
    struct scene *scene = *state;
    for (int i = 0; i < RUNS; i++)
        send(scene, BRIEF);
    work(scene, 1);
    assert_int_equal(board->wrong, 0);
    assert_int_equal(stats_of(scene).done, RUNS);
    assert_int_equal(board->calls[BRIEF], RUNS);
}

static void test_threads_of_a_handler_share_the_client(void **state)
{
    struct scene *scene = *state;
    send(scene, THREADS);
    work(scene, 1);
    assert_int_equal(board->wrong, 0);
}

static void test_forked_process_of_a_handler_has_no_client(void **state)
{
    struct scene *scene = *state;
    send(scene, FORK);
    work(scene, 1);
    assert_int_equal(board->wrong, 0);
    assert_in_range(board->ms, 0, TIMEOUT_MS - 1);
}

static bool run_is_reported_once(const culex_run_info *run, void *user)
{
    culex_run_info *whole = NULL;
    struct scene *scene = user;
    assert_int_equal(culex_client_get(scene->client, "letters", run->id, &whole, NULL), CULEX_OK);
    assert_int_equal(whole->progress, 50);
    assert_string_equal(whole->progress_text, "from the handler");
    assert_string_equal(whole->error_text, "");
    assert_int_equal(whole->result.len, 0);
    assert_int_equal(whole->crashes, 0);
    culex_run_info_free(whole);
    return true;
}

static void test_forked_process_of_a_handler_says_nothing_of_the_run(void **state)
{
    struct scene *scene = *state;
    culex_list_cursor cursor = {.place = 0};
    send(scene, FORK_TELL);
    work(scene, 1);
    assert_int_equal(board->wrong, 0);
    assert_int_equal(board->calls[FORK_TELL], 1);
    assert_int_equal(stats_of(scene).done, 1);
    assert_int_equal(culex_client_list(scene->client, "letters", CULEX_RUN_DONE, &cursor, 0,
                                       run_is_reported_once, scene, NULL),
                     CULEX_OK);
}

static void test_forked_process_of_a_handler_cannot_use_its_client(void **state)
{
    struct scene *scene = *state;
    send(scene, FORK_LATE);
    work(scene, 1);
    assert_int_equal(board->wrong, 0);
}

static void test_handler_that_closes_all_descriptors_is_told_at_once(void **state)
{
    struct scene *scene = *state;
    send(scene, CLOSE);
    work(scene, 1);
    assert_int_equal(board->status, CULEX_EINVAL);
    assert_non_null(strstr(board->text, "closed"));
    assert_in_range(board->ms, 0, TIMEOUT_MS - 1);
    assert_int_equal(stats_of(scene).done, 1);
}

/* --- what a broken handler may ask
 * ----------------------------------------------------------------- */

struct caught {
    culex_buf errand;
};

static culex_status catch_errand(void *self, const culex_buf *errand, int64_t deadline_ns,
                                 culex_buf *answer, culex_error *error)
{
    struct caught *caught = self;
    (void)deadline_ns, (void)answer, (void)error;
    culex__buf_cut(&caught->errand, 0);
    assert_int_equal(culex__buf_append(&caught->errand, errand->data, errand->len), CULEX_OK);
    return CULEX_ECONNECT;
}

static struct culex_new_run letter_run(void)
{
    struct culex_new_run run = culex__new_run_make(&letter_type);
    run.payload = "{\"act\":0}";
    run.payload_len = 9;
    run.tags = "a,b";
    run.idempotency_key = "k|1";
    run.window_ms = 60000;
    return run;
}

static void errand_catch(struct caught *caught, struct culex_ticket ticket,
                         struct culex_new_run run)
{
    struct culex_errand_way way = {catch_errand, caught};
    struct culex_store *store;
    struct culex_enqueue_result results[2];
    struct culex_new_run runs[2] = {run, run};
    culex_buf_init(&caught->errand, CULEX_ERRAND_MAX);
    assert_int_equal(culex__errand_store_open(&way, 1000, culex__env_system(), &store, NULL),
                     CULEX_OK);
    assert_int_equal(store->ops->enqueue(store, "letters", &ticket, runs, 2, results, NULL),
                     CULEX_ECONNECT);
    store->ops->close(store);
}

static void batch_catch(struct caught *caught, const struct culex_batch_order *order)
{
    struct culex_errand_way way = {catch_errand, caught};
    struct culex_store *store;
    culex_buf_init(&caught->errand, CULEX_ERRAND_MAX);
    assert_int_equal(culex__errand_store_open(&way, 1000, culex__env_system(), &store, NULL),
                     CULEX_OK);
    assert_int_equal(store->ops->batch(store, order, NULL), CULEX_ECONNECT);
    store->ops->close(store);
}

/* Any byte wrong, any end cut off: an answer, and never more than an errand's own bytes read.
 * Returns how many were refused. */
static unsigned errand_mangle(struct scene *scene, const struct caught *errand)
{
    const struct caught caught = *errand;
    struct culex_store *store;
    uint64_t seed = 7;
    unsigned refused = 0;
    assert_int_equal(culex__store_open(scene->url, NULL, culex__env_system(), &store, NULL),
                     CULEX_OK);
    for (int i = 0; i < 20000; i++) {
        seed = seed * UINT64_C(6364136223846793005) + 1442695040888963407u;
        size_t len = i % 4 == 0 ? (size_t)(seed >> 33) % caught.errand.len : caught.errand.len;
        char *copy = malloc(len > 0 ? len : 1); /* its own, so that a sanitizer sees its end */
        culex_buf answer;
        culex_buf_init(&answer, CULEX_ERRAND_MAX);
        memcpy(copy, caught.errand.data, len);
        for (int k = 0; k < 1 + i % 3 && len > 0; k++)
            copy[(seed >> (20 + 3 * k)) % len] = (char)(seed >> (8 * k));
        culex__errand_serve(store, copy, len, &answer);
        assert_true(answer.len >= sizeof(struct culex_errand_answer));
        struct culex_errand_answer head;
        memcpy(&head, answer.data, sizeof head);
        refused += head.status != CULEX_OK;
        culex_buf_release(&answer);
        free(copy);
    }
    store->ops->close(store);
    return refused;
}

static void test_mangled_errand_gets_an_answer(void **state)
{
    struct caught caught;
    errand_catch(&caught, (struct culex_ticket){1, 1}, letter_run());
    assert_true(errand_mangle(*state, &caught) > 5000);
    culex_buf_release(&caught.errand);
}

static struct culex_follow_up callback_make(void)
{
    struct culex_follow_up call = {"mails", letter_run()};
    call.run.idempotency_key = NULL;
    call.run.window_ms = 0;
    return call;
}

static struct culex_batch_order order_make(enum culex_batch_act act)
{
    return (struct culex_batch_order){.act = act,
                                      .queue = "letters",
                                      .id = {{1, 2, 3}},
                                      .parent = {{4, 5, 6}},
                                      .open_ms = 7,
                                      .keep_ms = 8,
                                      .when = CULEX_BATCH_ON_DEATH};
}

static void test_mangled_order_of_a_batch_gets_an_answer(void **state)
{
    const struct culex_follow_up call = callback_make();
    struct culex_batch_order order = order_make(CULEX_BATCH_CALL);
    struct caught caught;
    order.call = &call;
    batch_catch(&caught, &order);
    assert_true(errand_mangle(*state, &caught) > 5000);
    culex_buf_release(&caught.errand);
}

static culex_status errand_answer(struct culex_store *store, const struct caught *caught,
                                  struct culex_enqueue_result ret_results[2])
{
    struct culex_errand_answer head;
    culex_buf answer;
    culex_buf_init(&answer, CULEX_ERRAND_MAX);
    culex__errand_serve(store, caught->errand.data, caught->errand.len, &answer);
    assert_true(answer.len >= sizeof head);
    memcpy(&head, answer.data, sizeof head);
    if (head.status == CULEX_OK) {
        assert_int_equal(answer.len, sizeof head + 2 * sizeof ret_results[0]);
        memcpy(ret_results, answer.data + sizeof head, 2 * sizeof ret_results[0]);
    }
    culex_buf_release(&answer);
    return head.status;
}

/* What a client would not send, and a store would keep for too long or take for something else. */
static void test_errand_with_a_ticket_or_a_key_that_cannot_be_is_refused(void **state)
{
    struct scene *scene = *state;
    struct culex_store *store;
    struct culex_enqueue_result results[2];
    const struct {
        uint64_t producer, sequence;
        int64_t window_ms;
        uint32_t len;
    } rows[] = {
        {7, 1, CULEX_WINDOW_MAX_MS + 1, 3},
        {7, 1, -1, 3},
        {7, 1, 0, 3},
        {7, 1, 60000, CULEX_STORE_IDEMPOTENCY_MAX + 1},
        {UINT64_MAX, 1, 60000, 3},
        {CULEX_TICKET_PRODUCER_MAX + 1, 1, 60000, 3},
        {7, UINT64_C(1) << 60, 60000, 3},
        {7, 1, 60000, 2},
    };
    assert_int_equal(culex__store_open(scene->url, NULL, culex__env_system(), &store, NULL),
                     CULEX_OK);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct caught caught;
        struct culex_errand head;
        struct culex_errand_run record;
        errand_catch(&caught, (struct culex_ticket){7, 1}, letter_run());
        memcpy(&head, caught.errand.data, sizeof head);
        memcpy(&record, caught.errand.data + sizeof head, sizeof record);
        head.ticket = (struct culex_ticket){rows[i].producer, rows[i].sequence};
        record.run.window_ms = rows[i].window_ms;
        record.idempotency_len = rows[i].len;
        memcpy(caught.errand.data, &head, sizeof head);
        memcpy(caught.errand.data + sizeof head, &record, sizeof record);
        assert_int_equal(errand_answer(store, &caught, results), CULEX_EINVAL);
        culex_buf_release(&caught.errand);
    }
    store->ops->close(store);
}

/* The longest key for the longest time, and the call once more. */
static void test_errand_brings_its_ticket_and_its_key(void **state)
{
    struct scene *scene = *state;
    struct culex_store *store;
    struct culex_enqueue_result results[2], again[2];
    struct culex_ticket ticket = {.producer = CULEX_TICKET_PRODUCER_MAX};
    struct culex_new_run run = letter_run();
    struct caught caught;
    char key[CULEX_STORE_IDEMPOTENCY_MAX + 1] = "";
    int64_t now;
    memset(key, '|', sizeof key - 1);
    run.idempotency_key = key;
    run.window_ms = CULEX_WINDOW_MAX_MS;
    assert_int_equal(culex__store_open(scene->url, NULL, culex__env_system(), &store, NULL),
                     CULEX_OK);
    assert_int_equal(store->ops->now(store, &now, NULL), CULEX_OK);
    errand_catch(&caught, culex__ticket_next(&ticket, now), run);
    assert_int_equal(errand_answer(store, &caught, results), CULEX_OK);
    assert_int_equal(errand_answer(store, &caught, again), CULEX_OK);
    culex_buf_release(&caught.errand);
    assert_int_equal(results[0].outcome, CULEX_ENQUEUED_NEW);
    assert_int_equal(results[1].outcome, CULEX_ENQUEUED_DUPLICATE);
    assert_memory_equal(results, again, sizeof results);
    key[0] = 'k';
    errand_catch(&caught, ticket, run);
    assert_int_equal(errand_answer(store, &caught, again), CULEX_ECONFLICT);
    culex_buf_release(&caught.errand);
    store->ops->close(store);
}

/* --- what a run is unique by and counted by --------------------------------------------------- */

/* A store that looks at what comes, in place of keeping it. */
struct looker {
    struct culex_store base;
    const struct culex_new_run *wanted;
    unsigned seen;
};

static void same_assert(const struct culex_new_run *run, const struct culex_new_run *wanted)
{
    assert_string_equal(run->unique_key, wanted->unique_key);
    assert_int_equal(run->unique_while, wanted->unique_while);
    assert_int_equal(run->unique_for_ms, wanted->unique_for_ms);
    assert_int_equal(run->unique_replaces, wanted->unique_replaces);
    assert_int_equal(run->limit_count, wanted->limit_count);
    for (size_t i = 0; i < run->limit_count; i++) {
        const struct culex_run_limit *one = &run->limits[i], *other = &wanted->limits[i];
        assert_int_equal(one->kind, other->kind);
        assert_int_equal(one->count, other->count);
        assert_int_equal(one->per_ms, other->per_ms);
        assert_int_equal(one->burst, other->burst);
        assert_string_equal(one->name, other->name);
        assert_string_equal(one->key, other->key);
    }
}

static culex_status enqueue_look(struct culex_store *store, const char *queue,
                                 const struct culex_ticket *ticket,
                                 const struct culex_new_run *runs, size_t count,
                                 struct culex_enqueue_result *results, culex_error *error)
{
    struct looker *looker = (struct looker *)store;
    (void)queue, (void)ticket, (void)results, (void)error;
    for (size_t i = 0; i < count; i++) {
        same_assert(&runs[i], looker->wanted);
        assert_int_equal(runs[i].payload_len, 9);
        assert_memory_equal(runs[i].payload, "{\"act\":0}", 9);
        looker->seen++;
    }
    return CULEX_OK;
}

static culex_status batch_answer(struct culex_store *store, const struct caught *caught)
{
    struct culex_errand_answer head;
    culex_buf answer;
    culex_buf_init(&answer, CULEX_ERRAND_MAX);
    culex__errand_serve(store, caught->errand.data, caught->errand.len, &answer);
    assert_int_equal(answer.len, sizeof head);
    memcpy(&head, answer.data, sizeof head);
    culex_buf_release(&answer);
    return head.status;
}

struct batch_looker {
    struct culex_store base;
    const struct culex_batch_order *wanted;
    unsigned seen;
};

static culex_status batch_see(struct culex_store *store, const struct culex_batch_order *order,
                              culex_error *error)
{
    struct batch_looker *looker = (struct batch_looker *)store;
    const struct culex_batch_order *wanted = looker->wanted;
    (void)error;
    assert_int_equal(order->act, wanted->act);
    assert_string_equal(order->queue, wanted->queue);
    assert_memory_equal(&order->id, &wanted->id, sizeof order->id);
    assert_memory_equal(&order->parent, &wanted->parent, sizeof order->parent);
    assert_int_equal(order->open_ms, wanted->open_ms);
    assert_int_equal(order->keep_ms, wanted->keep_ms);
    assert_int_equal(order->when, wanted->when);
    assert_int_equal(order->call != NULL, wanted->call != NULL);
    if (order->call != NULL) {
        assert_string_equal(order->call->queue, wanted->call->queue);
        assert_string_equal(order->call->run.job, "t.letter");
        assert_string_equal(order->call->run.tags, "a,b");
        assert_memory_equal(order->call->run.payload, "{\"act\":0}", 9);
    }
    looker->seen++;
    return CULEX_OK;
}

static void act_set(struct caught *caught, int act)
{
    char *record = caught->errand.data + sizeof(struct culex_errand);
    memcpy(record + offsetof(struct culex_errand_batch, order.act), &act, sizeof act);
}

/* Acts that do not go with what comes behind them are refused before the store sees them. */
static void test_errand_brings_a_batch_as_it_was_ordered(void **state)
{
    static const struct culex_store_ops ops = {.name = "looker", .batch = batch_see};
    const struct culex_follow_up call = callback_make();
    (void)state;
    for (int act = CULEX_BATCH_OPEN; act <= CULEX_BATCH_CLOSE; act++) {
        struct caught caught;
        struct culex_batch_order order = order_make((enum culex_batch_act)act);
        struct batch_looker looker = {.base = {.ops = &ops}, .wanted = &order};
        order.call = act == CULEX_BATCH_CALL ? &call : NULL;
        batch_catch(&caught, &order);
        assert_int_equal(batch_answer(&looker.base, &caught), CULEX_OK);
        assert_int_equal(looker.seen, 1);
        act_set(&caught, act == CULEX_BATCH_CALL ? CULEX_BATCH_OPEN : CULEX_BATCH_CALL);
        assert_int_equal(batch_answer(&looker.base, &caught), CULEX_EINVAL);
        act_set(&caught, 77);
        assert_int_equal(batch_answer(&looker.base, &caught), CULEX_EINVAL);
        assert_int_equal(looker.seen, 1);
        culex_buf_release(&caught.errand);
    }
}

/* As many limits as there may be, with the longest texts; both runs of the call. */
static void test_errand_brings_its_unique_key_and_its_limits(void **state)
{
    static const struct culex_store_ops ops = {.name = "looker", .enqueue = enqueue_look};
    char names[CULEX_RUN_LIMITS_MAX][CULEX_LIMIT_NAME_MAX + 1] = {""};
    char keys[CULEX_RUN_LIMITS_MAX][CULEX_LIMIT_KEY_MAX + 1] = {""};
    struct culex_run_limit limits[CULEX_RUN_LIMITS_MAX];
    struct culex_new_run run = letter_run();
    struct looker looker = {.base = {.ops = &ops}, .wanted = &run};
    struct culex_enqueue_result results[2];
    struct caught caught;
    (void)state;
    for (unsigned i = 0; i < CULEX_RUN_LIMITS_MAX; i++) {
        memset(names[i], 'a' + (int)i, CULEX_LIMIT_NAME_MAX - i);
        memset(keys[i], '0' + (int)i, i * CULEX_LIMIT_KEY_MAX / (CULEX_RUN_LIMITS_MAX - 1));
        limits[i] = (struct culex_run_limit){.kind = CULEX_LIMIT_RATE,
                                             .name = names[i],
                                             .key = keys[i],
                                             .count = i + 1,
                                             .per_ms = 1000 * (i + 1),
                                             .burst = CULEX_LIMIT_COUNT_MAX};
    }
    limits[1] = (struct culex_run_limit){CULEX_LIMIT_CONCURRENCY, names[1], keys[1], 9, 0, 0};
    limits[2] = (struct culex_run_limit){CULEX_LIMIT_FAIR, names[2], keys[2], 0, 0, 0};
    run.unique_key = "0123456789abcdef";
    run.unique_while = CULEX_UNIQUE_LIVE;
    run.unique_for_ms = 60000;
    run.unique_replaces = true;
    run.limits = limits;
    run.limit_count = CULEX_RUN_LIMITS_MAX;
    errand_catch(&caught, (struct culex_ticket){7, 1}, run);
    assert_int_equal(errand_answer(&looker.base, &caught, results), CULEX_OK);
    assert_int_equal(looker.seen, 2);
    culex_buf_release(&caught.errand);
}

/* Byte for byte the key's length, and its NUL, are looked at. */
static void test_errand_whose_key_holds_a_nul_is_refused(void **state)
{
    struct scene *scene = *state;
    struct culex_store *store;
    struct culex_enqueue_result results[2];
    struct culex_ticket ticket = {.producer = 7};
    struct caught caught;
    int64_t now;
    assert_int_equal(culex__store_open(scene->url, NULL, culex__env_system(), &store, NULL),
                     CULEX_OK);
    assert_int_equal(store->ops->now(store, &now, NULL), CULEX_OK);
    errand_catch(&caught, culex__ticket_next(&ticket, now), letter_run());
    char *key = memmem(caught.errand.data, caught.errand.len, "k|1", 4);
    assert_non_null(key);
    key[1] = '\0';
    assert_int_equal(errand_answer(store, &caught, results), CULEX_EINVAL);
    key[1] = '|';
    key[3] = 'x';
    assert_int_equal(errand_answer(store, &caught, results), CULEX_EINVAL);
    key[3] = '\0';
    assert_int_equal(errand_answer(store, &caught, results), CULEX_OK);
    culex_buf_release(&caught.errand);
    store->ops->close(store);
}

#define ON(test, where)                                                                            \
    {                                                                                              \
#test " " #where, test, where, teardown, NULL                                              \
    }
#define ON_ALL(test)                                                                               \
    ON(test, sqlite_process), ON(test, sqlite_job), ON(test, sqlite_none),                         \
        ON(test, memory_process), ON(test, memory_none), ON(test, redis_process),                  \
        ON(test, redis_none)

int main(void)
{
    const struct CMUnitTest tests[] = {
        ON_ALL(test_follow_up_reaches_the_workers_own_store),
        ON_ALL(test_follow_ups_come_in_with_the_end),
        ON_ALL(test_follow_ups_of_an_attempt_that_fails_do_not),
        ON_ALL(test_follow_ups_of_many_ends_all_come_in),
        ON(test_follow_ups_that_were_left_are_drained, redis_process),
        ON(test_follow_ups_that_were_left_are_drained, redis_none),
        ON(test_follow_ups_of_an_attempt_that_dies_do_not, sqlite_process),
        ON(test_follow_ups_of_an_attempt_that_dies_do_not, sqlite_job),
        ON(test_follow_ups_of_an_attempt_that_dies_do_not, redis_process),
        ON_ALL(test_every_verb_works_or_says_why_not),
        ON_ALL(test_default_store_beside_another_is_refused_in_a_handler),
        ON(test_default_store_whose_password_was_taken_is_refused, sqlite_process),
        ON(test_default_store_whose_password_was_taken_is_refused, sqlite_job),
        ON(test_default_store_that_is_the_workers_is_opened, sqlite_process),
        ON(test_default_store_that_is_the_workers_is_opened, redis_process),
        ON(test_default_store_that_is_the_workers_is_opened, redis_none),
        ON(test_follow_up_of_a_handler_that_changes_folder_arrives, sqlite_process),
        ON(test_follow_up_of_a_handler_that_changes_folder_arrives, sqlite_none),
        ON(test_follow_up_of_a_handler_that_changes_folder_arrives, default_process),
        ON(test_follow_up_of_a_handler_that_changes_folder_arrives, default_none),
        ON(test_set_up_that_changes_folder_takes_no_store_along, sqlite_none),
        ON(test_set_up_that_changes_folder_takes_no_store_along, default_none),
        ON(test_set_up_that_changes_folder_brings_no_store, sqlite_none),
        ON(test_default_store_after_a_change_of_folder_is_refused, sqlite_process),
        ON(test_default_store_after_a_change_of_folder_is_refused, sqlite_none),
        ON(test_default_store_after_a_change_of_folder_is_refused, default_process),
        ON(test_default_store_after_a_change_of_folder_is_refused, default_none),
        ON(test_default_store_by_an_absolute_path_is_opened, sqlite_process),
        ON(test_default_store_by_an_absolute_path_is_opened, sqlite_none),
        ON(test_handler_that_is_killed_after_its_follow_up_loses_nothing, sqlite_process),
        ON(test_handler_that_is_killed_after_its_follow_up_loses_nothing, redis_process),
        ON(test_store_that_is_away_is_told_in_time, redis_process),
        ON(test_store_that_is_away_is_told_in_time, redis_none),
        ON(test_store_that_is_away_is_told_in_the_time_of_the_url, redis_process),
        ON(test_store_that_is_away_is_told_in_the_time_of_the_url, redis_none),
        ON(test_short_runs_that_ask_do_not_lose_those_behind, memory_process),
        ON(test_short_runs_that_ask_do_not_lose_those_behind, redis_process),
        ON(test_threads_of_a_handler_share_the_client, redis_process),
        ON(test_threads_of_a_handler_share_the_client, redis_none),
        ON(test_forked_process_of_a_handler_has_no_client, sqlite_process),
        ON(test_forked_process_of_a_handler_has_no_client, sqlite_job),
        ON(test_forked_process_of_a_handler_has_no_client, sqlite_none),
        ON(test_forked_process_of_a_handler_says_nothing_of_the_run, sqlite_process),
        ON(test_forked_process_of_a_handler_says_nothing_of_the_run, sqlite_job),
        ON(test_forked_process_of_a_handler_says_nothing_of_the_run, sqlite_none),
        ON(test_forked_process_of_a_handler_cannot_use_its_client, sqlite_process),
        ON(test_forked_process_of_a_handler_cannot_use_its_client, sqlite_none),
        ON(test_handler_that_closes_all_descriptors_is_told_at_once, sqlite_process),
        ON(test_handler_that_closes_all_descriptors_is_told_at_once, sqlite_job),
        ON(test_handler_that_runs_twice_has_one_follow_up_of_a_key, sqlite_process),
        ON(test_handler_that_runs_twice_has_one_follow_up_of_a_key, redis_process),
        ON_ALL(test_handler_makes_one_batch_in_all_its_attempts),
        ON(test_handler_makes_one_batch_in_all_its_attempts, redis_job),
        ON(test_handler_that_is_killed_in_the_middle_makes_one_batch, sqlite_process),
        ON(test_handler_that_is_killed_in_the_middle_makes_one_batch, sqlite_job),
        ON(test_handler_that_is_killed_in_the_middle_makes_one_batch, redis_process),
        ON(test_handler_that_is_killed_in_the_middle_makes_one_batch, redis_job),
        ON(test_mangled_errand_gets_an_answer, memory_none),
        ON(test_mangled_order_of_a_batch_gets_an_answer, memory_none),
        ON(test_errand_brings_a_batch_as_it_was_ordered, memory_none),
        ON(test_errand_with_a_ticket_or_a_key_that_cannot_be_is_refused, memory_none),
        ON(test_errand_brings_its_ticket_and_its_key, memory_none),
        ON(test_errand_brings_its_unique_key_and_its_limits, memory_none),
        ON(test_errand_whose_key_holds_a_nul_is_refused, memory_none),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
