/* culex_worker_add_hook: before, after and around runs, with real workers, under each isolation. */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

#include <culex/hooks.h>

#include "world.h"

enum { NEXT = -1, TRACE_SIZE = 4096, PARTS_MAX = 3, MANY = 200 };

/* Shared with handlers. */
struct board {
    _Atomic unsigned calls, befores, arounds, afters;
    _Atomic unsigned wrong;
    char trace[TRACE_SIZE]; /* who was called, by one handler at a time */
    char text[512];         /* that the newest `after` was given */
};

/* What something returns, at the first attempts; CULEX_DONE then. */
struct saying {
    int outcome; /* NEXT: what is within has returned */
    const char *words;
    bool is_first_only;
    int64_t delay_ms; /* of a snooze; 0: 1 ms */
};

struct part {
    culex_hook hook; /* with no function: this is no hook */
    bool is_of_job;
    bool is_crashing;  /* in its `before` */
    bool is_waiting;   /* in its `before`, until it is to stop */
    bool is_following; /* enqueues a follow-up in its `after` */
    int nexts;         /* calls of the rest */
    struct saying before, around, after;
};

struct scene {
    struct part parts[PARTS_MAX];
    struct saying handler;
    culex_client *client;
    culex_worker *worker; /* while it runs */
    bool is_adding;       /* the handler adds a hook, in vain */
    bool is_stopping;     /* the hook after a run stops its worker */
    bool is_quiet;        /* several at a time, without a trace */
    bool is_enqueuing;    /* the handler does, by both its ways */
    culex_status refusal; /* of enqueues, by their hook */
    const char *why;
    const char *tag;   /* that it gives them */
    unsigned passes;   /* how often it was called in this process, */
    size_t last_count; /* and of how many runs the last time */
};

static const culex_isolation isolations[] = {CULEX_ISOLATION_NONE, CULEX_ISOLATION_PROCESS,
                                             CULEX_ISOLATION_JOB};
static culex_job_type type, other_type;
static struct board *board;

/* --- what is called --------------------------------------------------------------------------- */

static void trace(const struct scene *scene, const char *format, ...) CULEX_PRINTF(2, 3);

static void trace(const struct scene *scene, const char *format, ...)
{
    size_t len = strlen(board->trace);
    va_list list;
    if (scene->is_quiet)
        return;
    va_start(list, format);
    vsnprintf(board->trace + len, sizeof board->trace - len, format, list);
    va_end(list);
}

static culex_outcome say(culex_run *run, const struct saying *saying, culex_outcome inner)
{
    if (saying->outcome == NEXT)
        return inner;
    if (saying->is_first_only && culex_run_attempt(run) > 1)
        return CULEX_DONE;
    if (saying->outcome == CULEX_FAILED && saying->words != NULL)
        return culex_run_fail(run, "%s", saying->words);
    if (saying->outcome == CULEX_DISCARDED && saying->words != NULL)
        return culex_run_discard(run, "%s", saying->words);
    if (saying->outcome == CULEX_SNOOZED)
        return culex_run_snooze(run,
                                culex_milliseconds(saying->delay_ms > 0 ? saying->delay_ms : 1));
    return (culex_outcome)saying->outcome;
}

static struct scene *scene;

/* Called as those of the library that call hooks. */
static void __attribute__((noinline)) run_hook_crash(void)
{
    raise(SIGSEGV);
    trace(scene, "!"); /* or the call above would be the last one, and this function's frame gone */
}

static culex_outcome part_before(culex_run *run, const void *params, void *user)
{
    const struct part *part = user;
    atomic_fetch_add(&board->befores, 1);
    atomic_fetch_add(&board->wrong, ((const struct number *)params)->n == 0);
    trace(scene, "<%s ", part->hook.name);
    if (part->is_crashing)
        run_hook_crash();
    while (part->is_waiting && !culex_run_cancelled(run))
        usleep(1000);
    return say(run, &part->before, CULEX_DONE);
}

static culex_outcome part_around(culex_run *run, const void *params, culex_next *next, void *user)
{
    const struct part *part = user;
    culex_outcome inner = CULEX_DONE;
    atomic_fetch_add(&board->arounds, 1);
    atomic_fetch_add(&board->wrong, ((const struct number *)params)->n == 0);
    trace(scene, "(%s ", part->hook.name);
    for (int i = 0; i < part->nexts; i++)
        inner = culex_next_call(next);
    trace(scene, ")%s=%d ", part->hook.name, (int)inner);
    return say(run, &part->around, inner);
}

static void follow(culex_run *run)
{
    struct number params = {7};
    atomic_fetch_add(&board->wrong,
                     culex_run_enqueue(run, &other_type, &params, NULL, NULL) != CULEX_OK);
}

static culex_outcome part_after(culex_run *run, const void *params, culex_outcome outcome,
                                const char *text, void *user)
{
    const struct part *part = user;
    atomic_fetch_add(&board->afters, 1);
    atomic_fetch_add(&board->wrong, ((const struct number *)params)->n == 0);
    trace(scene, ">%s=%d ", part->hook.name, (int)outcome);
    if (!scene->is_quiet)
        snprintf(board->text, sizeof board->text, "%s", text);
    if (part->is_following)
        follow(run);
    if (scene->is_stopping)
        culex_worker_stop(scene->worker);
    return say(run, &part->after, outcome);
}

static culex_status gate(culex_enqueue_call *enqueue, void *user, culex_error *error)
{
    struct scene *own = user;
    const struct number *params = enqueue->params;
    own->passes++;
    own->last_count = enqueue->count;
    for (size_t i = 0; i < enqueue->count; i++)
        atomic_fetch_add(&board->wrong, params[i].n == 0 || enqueue->stride != sizeof *params);
    if (own->refusal != CULEX_OK && own->why != NULL)
        snprintf(error->text, sizeof error->text, "%s", own->why);
    if (own->tag != NULL)
        return culex_enqueue_tag(enqueue, own->tag, error);
    return own->refusal;
}

/* By both ways of a handler, the hook of which is the worker's. */
static void enqueue_both(culex_run *run)
{
    struct number params = {7};
    culex_client *client = culex_run_client(run);
    culex_error error = {0};
    unsigned wrong = 0;
    wrong += culex_client_on_enqueue(client, gate, scene, &error) != CULEX_EUNSUPPORTED;
    wrong += culex_run_enqueue(run, &other_type, &params, NULL, &error) != scene->refusal;
    wrong +=
        culex_client_enqueue(client, &other_type, &params, NULL, NULL, &error) != scene->refusal;
    wrong += scene->refusal != CULEX_OK && strstr(error.text, scene->why) == NULL;
    wrong += scene->passes != 2;
    scene->passes = 0;
    atomic_fetch_add(&board->wrong, wrong);
}

static culex_outcome call(culex_run *run, culex_handler_fn handler, const void *params, void *user)
{
    const culex_hook late = {.name = "late", .before = part_before};
    (void)handler, (void)params, (void)user;
    atomic_fetch_add(&board->calls, 1);
    trace(scene, "H ");
    if (scene->is_enqueuing)
        enqueue_both(run);
    if (scene->is_adding)
        atomic_fetch_add(&board->wrong,
                         culex_worker_add_hook(scene->worker, NULL, &late) != CULEX_EINVAL);
    return say(run, &scene->handler, CULEX_DONE);
}

static culex_outcome other_call(culex_run *run, culex_handler_fn handler, const void *params,
                                void *user)
{
    (void)run, (void)handler, (void)params, (void)user;
    trace(scene, "O ");
    return CULEX_DONE;
}

/* --- a course --------------------------------------------------------------------------------- */

static int setup(void **state)
{
    scene = *state = calloc(1, sizeof *scene);
    type = number_type();
    type.retry = (culex_retry_policy){.max = 1, .base_ms = 1};
    other_type = type;
    other_type.name = other_type.wire = "t.other";
    board = mmap(NULL, sizeof *board, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    return culex_client_open("memory:hooks", NULL, &scene->client, NULL);
}

static int teardown(void **state)
{
    culex_client_close(scene->client);
    munmap(board, sizeof *board);
    free(*state);
    return 0;
}

static struct part part_make(const char *name, bool is_of_job)
{
    return (struct part){
        .hook = {.name = name, .before = part_before, .around = part_around, .after = part_after},
        .is_of_job = is_of_job,
        .nexts = 1,
        .around = {.outcome = NEXT},
        .after = {.outcome = NEXT}};
}

static void hooks_add(culex_worker *worker)
{
    for (int i = 0; i < PARTS_MAX && scene->parts[i].hook.name != NULL; i++) {
        scene->parts[i].hook.user = &scene->parts[i];
        assert_int_equal(culex_worker_add_hook(worker, scene->parts[i].is_of_job ? &type : NULL,
                                               &scene->parts[i].hook),
                         CULEX_OK);
    }
}

static void drain(culex_isolation isolation, unsigned concurrency)
{
    culex_worker_options options = {.url = "memory:hooks",
                                    .isolation = isolation,
                                    .concurrency = concurrency,
                                    .drain = true,
                                    .log_level = 1};
    assert_int_equal(culex_worker_create(&options, &scene->worker, NULL), CULEX_OK);
    assert_int_equal(culex_worker_register(scene->worker, &type, call, number_handler, NULL),
                     CULEX_OK);
    assert_int_equal(
        culex_worker_register(scene->worker, &other_type, other_call, number_handler, NULL),
        CULEX_OK);
    hooks_add(scene->worker);
    if (scene->is_enqueuing)
        assert_int_equal(culex_worker_on_enqueue(scene->worker, gate, scene), CULEX_OK);
    memset(board, 0, sizeof *board);
    assert_int_equal(culex_worker_run(scene->worker, NULL), CULEX_OK);
    culex_worker_free(scene->worker);
    scene->worker = NULL;
    assert_int_equal(board->wrong, 0);
}

static culex_uuid send(const culex_job_type *job)
{
    struct number params = {1};
    culex_uuid id;
    assert_int_equal(culex_client_enqueue(scene->client, job, &params, NULL, &id, NULL), CULEX_OK);
    return id;
}

static culex_run_info *look(culex_uuid id)
{
    culex_run_info *info = NULL;
    assert_int_equal(culex_client_get(scene->client, "numbers", id, &info, NULL), CULEX_OK);
    return info;
}

/* One run under one isolation: what was called, how it ended, and of how many failures. */
static void expect_under(culex_isolation isolation, const char *calls, culex_run_state state,
                         const char *text, uint32_t failures)
{
    culex_uuid id = send(&type);
    drain(isolation, 1);
    culex_run_info *info = look(id);
    assert_string_equal(board->trace, calls);
    assert_string_equal(info->error_text, text);
    assert_int_equal(info->state, state);
    assert_int_equal(info->failures, failures);
    culex_run_info_free(info);
}

static void expect(const char *calls, culex_run_state state, const char *text, uint32_t failures)
{
    for (size_t i = 0; i < sizeof isolations / sizeof isolations[0]; i++)
        expect_under(isolations[i], calls, state, text, failures);
}

/* Once, so that there is one of each. */
static void expect_dead(const char *calls, const char *text)
{
    type.retry.max = 0;
    expect(calls, CULEX_RUN_DEAD, text, 1);
}

/* --- order ------------------------------------------------------------------------------------ */

static void test_hooks_are_layers_around_the_handler(void **state)
{
    (void)state;
    scene->parts[0] = part_make("J", true);
    scene->parts[1] = part_make("W", false);
    scene->parts[2] = part_make("K", true);
    expect("<W (W <J (J <K (K H )K=0 >K=0 )J=0 >J=0 )W=0 >W=0 ", CULEX_RUN_DONE, "", 0);
}

static void test_hooks_of_a_job_leave_others_alone(void **state)
{
    (void)state;
    scene->parts[0] = part_make("J", true);
    scene->parts[0].hook.around = NULL;
    for (size_t i = 0; i < sizeof isolations / sizeof isolations[0]; i++) {
        send(&other_type);
        drain(isolations[i], 1);
        assert_string_equal(board->trace, "O ");
    }
    scene->parts[1] = part_make("W", false);
    scene->parts[1].hook.before = NULL;
    scene->parts[1].hook.after = NULL;
    send(&other_type);
    drain(CULEX_ISOLATION_NONE, 1);
    assert_string_equal(board->trace, "(W O )W=0 ");
    expect("(W <J H >J=0 )W=0 ", CULEX_RUN_DONE, "", 0);
}

static void test_hooks_of_many_runs_at_a_time(void **state)
{
    (void)state;
    scene->parts[0] = part_make("J", true);
    scene->parts[1] = part_make("W", false);
    scene->is_quiet = true;
    for (size_t i = 0; i < 2; i++) {
        for (int n = 0; n < MANY; n++)
            send(&type);
        drain(isolations[i], 4);
        assert_int_equal(board->calls, MANY);
        assert_int_equal(board->befores, 2 * MANY);
        assert_int_equal(board->arounds, 2 * MANY);
        assert_int_equal(board->afters, 2 * MANY);
    }
}

/* --- failures --------------------------------------------------------------------------------- */

static void test_failing_before_keeps_the_handler_from_being_called(void **state)
{
    (void)state;
    scene->parts[0] = part_make("W", false);
    scene->parts[1] = part_make("J", true);
    scene->parts[1].before = (struct saying){.outcome = CULEX_FAILED, .words = "no right"};
    expect_dead("<W (W <J )W=1 >W=1 ", "hook 'J' before the run: no right");
    assert_string_equal(board->text, "hook 'J' before the run: no right");
    scene->parts[1].before.words = NULL;
    expect_dead("<W (W <J )W=1 >W=1 ", "hook 'J' before the run: it gave no reason");
    scene->parts[1].before.outcome = 7;
    expect_dead("<W (W <J )W=1 >W=1 ",
                "hook 'J' before the run: it returned 7, which is no outcome");
}

static void test_hook_that_fails_once_is_tried_again(void **state)
{
    (void)state;
    scene->parts[0] = part_make("J", true);
    scene->parts[0].before =
        (struct saying){.outcome = CULEX_FAILED, .words = "not yet", .is_first_only = true};
    expect("<J <J (J H )J=0 >J=0 ", CULEX_RUN_DONE, "hook 'J' before the run: not yet", 1);
}

static void test_nonretryable_failure_is_final_and_a_failing_hook_counts(void **state)
{
    (void)state;
    type.retry.max = 4;
    scene->parts[0] = part_make("J", true);
    scene->handler = (struct saying){.outcome = CULEX_DISCARDED, .words = "no such address"};
    scene->parts[0].after = (struct saying){.outcome = CULEX_FAILED, .words = "again?"};
    expect("<J (J H )J=2 >J=2 ", CULEX_RUN_DEAD,
           "no such address; then hook 'J' after the run: again?", 1);
    scene->handler = (struct saying){.outcome = CULEX_DONE};
    scene->parts[0].after.is_first_only = true;
    expect("<J (J H )J=0 >J=0 <J (J H )J=0 >J=0 ", CULEX_RUN_DONE, "hook 'J' after the run: again?",
           1);
    scene->parts[0].before = (struct saying){.outcome = CULEX_DISCARDED, .words = "never"};
    expect("<J ", CULEX_RUN_DEAD, "hook 'J' before the run: never", 1);
}

static void test_around_calls_the_rest_once(void **state)
{
    (void)state;
    scene->parts[0] = part_make("J", true);
    scene->parts[0].nexts = 0;
    expect_dead("<J (J )J=0 >J=1 ", "hook 'J' around the run: it returned without culex_next_call, "
                                    "so the handler was not called");
    scene->parts[0].around = (struct saying){.outcome = CULEX_FAILED, .words = "shut"};
    expect_dead("<J (J )J=0 >J=1 ", "hook 'J' around the run: shut");
    scene->parts[0].around = (struct saying){.outcome = NEXT};
    scene->parts[0].nexts = 2;
    expect_dead("<J (J H )J=1 >J=1 ", "hook 'J' around the run: it called culex_next_call twice; "
                                      "the handler was called once");
    scene->parts[0].around = (struct saying){.outcome = CULEX_DONE};
    expect_dead("<J (J H )J=1 >J=1 ", "hook 'J' around the run: it called culex_next_call twice; "
                                      "the handler was called once");
    scene->parts[0].around = (struct saying){.outcome = CULEX_FAILED, .words = "late"};
    expect_dead("<J (J H )J=1 >J=1 ", "hook 'J' around the run: late; it called culex_next_call "
                                      "twice; the handler was called once");
    scene->parts[0].nexts = 1;
    expect_dead("<J (J H )J=0 >J=1 ", "hook 'J' around the run: late");
}

static void test_no_hook_makes_a_success_of_a_failure(void **state)
{
    (void)state;
    scene->parts[0] = part_make("J", true);
    scene->handler = (struct saying){.outcome = CULEX_FAILED, .words = "boom"};
    scene->parts[0].around = scene->parts[0].after = (struct saying){.outcome = CULEX_DONE};
    expect_dead("<J (J H )J=1 >J=1 ", "boom");
    assert_string_equal(board->text, "boom");
    scene->parts[0].after = (struct saying){.outcome = CULEX_SNOOZED};
    expect_dead("<J (J H )J=1 >J=1 ", "boom");
    scene->parts[0].after = (struct saying){.outcome = CULEX_FAILED, .words = "and more"};
    expect_dead("<J (J H )J=1 >J=1 ", "boom; then hook 'J' after the run: and more");
    scene->handler = (struct saying){.outcome = CULEX_FAILED};
    expect_dead("<J (J H )J=1 >J=1 ",
                "the handler gave no reason; then hook 'J' after the run: and more");
    scene->handler = (struct saying){.outcome = 9};
    scene->parts[0].after = (struct saying){.outcome = NEXT};
    expect_dead("<J (J H )J=1 >J=1 ", "the handler returned 9, which is no outcome");
}

static void test_discarding_after_a_failure_is_final(void **state)
{
    (void)state;
    type.retry.max = 4;
    scene->parts[0] = part_make("J", true);
    scene->handler = (struct saying){.outcome = CULEX_FAILED, .words = "boom"};
    scene->parts[0].after = (struct saying){.outcome = CULEX_DISCARDED};
    expect("<J (J H )J=1 >J=1 ", CULEX_RUN_DEAD, "boom", 1);
}

static void test_snoozing_hook_puts_the_run_off(void **state)
{
    (void)state;
    scene->parts[0] = part_make("J", true);
    scene->parts[0].before = (struct saying){.outcome = CULEX_SNOOZED, .is_first_only = true};
    expect("<J <J (J H )J=0 >J=0 ", CULEX_RUN_DONE, "", 0);
    scene->parts[0].before = (struct saying){.outcome = CULEX_DONE};
    scene->handler = (struct saying){.outcome = CULEX_SNOOZED, .is_first_only = true};
    expect("<J (J H )J=3 >J=3 <J (J H )J=0 >J=0 ", CULEX_RUN_DONE, "", 0);
}

/* Seconds until the run is due again that was put off by handler and hook. */
static int64_t put_off_s(int64_t handler_s, int64_t hook_s)
{
    culex_uuid id = send(&type);
    scene->handler = (struct saying){.outcome = CULEX_SNOOZED, .delay_ms = handler_s * 1000};
    scene->parts[0].after =
        hook_s > 0 ? (struct saying){.outcome = CULEX_SNOOZED, .delay_ms = hook_s * 1000}
                   : (struct saying){.outcome = NEXT};
    int64_t begin_ms = culex_time_now() / 1000000;
    drain(CULEX_ISOLATION_NONE, 1);
    culex_run_info *info = look(id);
    assert_int_equal(info->state, CULEX_RUN_SCHEDULED);
    int64_t delay_s = (info->at_ms - begin_ms) / 1000;
    culex_run_info_free(info);
    return delay_s;
}

static void test_snooze_of_a_hook_over_the_handlers_is_the_hooks(void **state)
{
    (void)state;
    scene->is_stopping = true;
    scene->parts[0] = part_make("J", true);
    assert_in_range(put_off_s(3600, 0), 3600, 3660);
    assert_in_range(put_off_s(3600, 7200), 7200, 7260);
    assert_in_range(put_off_s(7200, 3600), 3600, 3660);
}

/* --- the rest of a run ------------------------------------------------------------------------ */

static void test_follow_up_of_a_hook_counts_with_the_success(void **state)
{
    (void)state;
    scene->parts[0] = part_make("J", true);
    scene->parts[0].is_following = true;
    expect("<J (J H )J=0 >J=0 O ", CULEX_RUN_DONE, "", 0);
    scene->parts[0].after = (struct saying){.outcome = CULEX_FAILED, .words = "no"};
    expect_dead("<J (J H )J=0 >J=0 ", "hook 'J' after the run: no");
}

static void test_crash_in_a_hook_is_the_runs(void **state)
{
    (void)state;
    type.retry.max = 0;
    scene->parts[0] = part_make("J", true);
    scene->parts[0].is_crashing = true;
    for (size_t i = 1; i < sizeof isolations / sizeof isolations[0]; i++) {
        culex_uuid id = send(&type);
        drain(isolations[i], 1);
        culex_run_info *info = look(id);
        assert_int_equal(info->state, CULEX_RUN_DEAD);
        assert_true(info->crashes > 0);
        assert_non_null(strstr(info->error_text, "killed by SIGSEGV"));
        assert_non_null(strstr(info->error_text, "called from run_hook_crash"));
        assert_non_null(strstr(info->error_text, "called from part_before"));
        assert_null(strstr(info->error_text, "culex__"));
        culex_run_info_free(info);
    }
}

static void test_timeout_counts_the_time_of_hooks(void **state)
{
    (void)state;
    type.timeout_ms = 200;
    scene->parts[0] = part_make("J", true);
    scene->parts[0].is_waiting = true;
    scene->parts[0].before = (struct saying){.outcome = CULEX_FAILED, .words = "I was asked to"};
    type.retry.max = 0;
    for (size_t i = 0; i < sizeof isolations / sizeof isolations[0]; i++) {
        culex_uuid id = send(&type);
        drain(isolations[i], 1);
        culex_run_info *info = look(id);
        assert_int_equal(info->state, CULEX_RUN_DEAD);
        assert_int_equal(info->failures, 1);
        assert_non_null(strstr(info->error_text, "timed out after 200ms"));
        assert_string_equal(board->trace, "<J ");
        culex_run_info_free(info);
    }
}

/* --- before an enqueue ------------------------------------------------------------------------ */

static void gate_set(void)
{
    assert_int_equal(culex_client_on_enqueue(scene->client, gate, scene, NULL), CULEX_OK);
}

static uint64_t enqueued(void)
{
    culex_queue_stats stats;
    culex_status status = culex_client_stats(scene->client, "numbers", &stats, NULL);
    assert_true(status == CULEX_OK || status == CULEX_ENOTFOUND);
    return status == CULEX_OK ? stats.enqueued : 0;
}

static void expect_refusal(culex_status refusal, const char *why, culex_status status,
                           const char *text)
{
    struct number params[] = {{1}, {2}, {3}};
    uint64_t before = enqueued();
    size_t count = 9;
    culex_error error = {0};
    scene->refusal = refusal;
    scene->why = why;
    assert_int_equal(culex_client_enqueue(scene->client, &type, params, NULL, NULL, &error),
                     status);
    assert_int_equal(error.code, status);
    assert_string_equal(error.text, text);
    assert_int_equal(culex_client_enqueue(scene->client, &type, params, NULL, NULL, NULL), status);
    assert_int_equal(culex_client_enqueue_many(scene->client, &type, params, sizeof params[0], 3,
                                               NULL, NULL, &count, &error),
                     status);
    assert_int_equal(count, 0);
    assert_string_equal(error.text, text);
    assert_int_equal(enqueued(), before);
}

static void test_refused_enqueue_brings_nothing(void **state)
{
    (void)state;
    gate_set();
    expect_refusal(CULEX_EDENIED, "no tenant", CULEX_EDENIED,
                   "the enqueue hook refuses job t.number: no tenant");
    expect_refusal(CULEX_EUNKNOWN, NULL, CULEX_EINVAL,
                   "the enqueue hook refuses job t.number: it gave no reason");
    expect_refusal((culex_status)7, NULL, CULEX_EINVAL,
                   "the enqueue hook refuses job t.number: it gave no reason");
    expect_refusal((culex_status)-1000, NULL, CULEX_EINVAL,
                   "the enqueue hook refuses job t.number: it gave no reason");
    assert_int_equal(culex_client_on_enqueue(scene->client, NULL, NULL, NULL), CULEX_OK);
    culex_uuid id = send(&type);
    assert_int_equal(culex_client_cancel(scene->client, "numbers", id, NULL, NULL), CULEX_OK);
}

static void expect_tags(culex_uuid id, const char *tags)
{
    culex_run_info *info = look(id);
    assert_string_equal(info->tags, tags);
    culex_run_info_free(info);
    assert_int_equal(culex_client_cancel(scene->client, "numbers", id, NULL, NULL), CULEX_OK);
}

static void test_hook_tags_each_run_of_an_enqueue(void **state)
{
    struct number params[] = {{1}, {2}, {3}};
    const char *const own[] = {"a", "b"};
    culex_enqueue_options options = {.tags = own, .tag_count = 2, .has_priority = true};
    culex_uuid ids[3];
    (void)state;
    gate_set();
    scene->tag = "tenant:7";
    expect_tags(send(&type), "tenant:7");
    type.tags = (const char *const[]){"slow"};
    type.tag_count = 1;
    expect_tags(send(&type), "slow,tenant:7");
    assert_int_equal(culex_client_enqueue_many(scene->client, &type, params, sizeof params[0], 3,
                                               &options, ids, NULL, NULL),
                     CULEX_OK);
    assert_int_equal(scene->passes, 3);
    assert_int_equal(scene->last_count, 3);
    for (int i = 0; i < 3; i++)
        expect_tags(ids[i], "a,b,tenant:7");
    assert_ptr_equal(options.tags, own);
    assert_int_equal(options.tag_count, 2);
    scene->tag = "slow";
    expect_tags(send(&type), "slow");
    assert_int_equal(board->wrong, 0);
}

/* The hook is on its own in this: it returns what the call of the tag did. */
static void expect_tag_refused(const char *tag, size_t count, culex_status status, const char *text)
{
    static const char *const many[CULEX_TAGS_MAX] = {"a", "b", "c", "d", "e", "f", "g", "h",
                                                     "i", "j", "k", "l", "m", "n", "o", "p"};
    const culex_enqueue_options options = {.tags = many, .tag_count = count};
    struct number params = {1};
    culex_error error = {0};
    scene->tag = tag;
    assert_int_equal(culex_client_enqueue(scene->client, &type, &params,
                                          count > 0 ? &options : NULL, NULL, &error),
                     status);
    assert_non_null(strstr(error.text, text));
}

static void test_tag_that_cannot_be_one_is_refused(void **state)
{
    (void)state;
    gate_set();
    expect_tag_refused("a,b", 0, CULEX_EINVAL, "the enqueue hook refuses job t.number: ");
    expect_tag_refused("", 0, CULEX_EINVAL, "the enqueue hook refuses job t.number: ");
    expect_tag_refused("q", CULEX_TAGS_MAX, CULEX_ELIMIT,
                       "a run has at most 16 tags: 'q' is one more");
    assert_int_equal(culex_enqueue_tag(NULL, "a", NULL), CULEX_EINVAL);
    assert_int_equal(enqueued(), 0);
}

static void expect_mistaken(const culex_enqueue_options *options)
{
    struct number params = {1};
    size_t count;
    unsigned passes = scene->passes;
    assert_int_equal(culex_client_enqueue(scene->client, &type, &params, options, NULL, NULL),
                     CULEX_EINVAL);
    assert_int_equal(culex_client_enqueue_many(scene->client, &type, &params, sizeof params, 1,
                                               options, NULL, &count, NULL),
                     CULEX_EINVAL);
    assert_int_equal(scene->passes, passes);
}

static void test_hook_is_shown_only_what_can_be_enqueued(void **state)
{
    const culex_enqueue_options no_tags = {.tag_count = 1};
    const culex_enqueue_options bad_tag = {.tags = (const char *const[]){NULL}, .tag_count = 1};
    const culex_enqueue_options bad_queue = {.queue = "no queue"};
    const culex_enqueue_options no_flag = {.priority = 3};
    (void)state;
    gate_set();
    scene->tag = "tenant:7";
    expect_mistaken(&no_tags);
    expect_mistaken(&bad_tag);
    expect_mistaken(&bad_queue);
    expect_mistaken(&no_flag);
    assert_int_equal(enqueued(), 0);
}

static culex_status unmake_tags(culex_enqueue_call *enqueue, void *user, culex_error *error)
{
    const char *const *tags = user;
    enqueue->options->tags = tags;
    enqueue->options->tag_count = 1;
    return culex_enqueue_tag(enqueue, "tenant:7", error);
}

static void test_tag_beside_tags_that_are_none_is_refused(void **state)
{
    static const char *none[] = {NULL};
    struct number params = {1};
    culex_error error = {0};
    (void)state;
    assert_int_equal(culex_client_on_enqueue(scene->client, unmake_tags, NULL, NULL), CULEX_OK);
    assert_int_equal(culex_client_enqueue(scene->client, &type, &params, NULL, NULL, &error),
                     CULEX_EINVAL);
    assert_non_null(strstr(error.text, "a tag_count of 1, and no tags"));
    assert_int_equal(culex_client_on_enqueue(scene->client, unmake_tags, none, NULL), CULEX_OK);
    assert_int_equal(culex_client_enqueue(scene->client, &type, &params, NULL, NULL, &error),
                     CULEX_EINVAL);
    assert_non_null(strstr(error.text, "tag 1: 1 to 64 bytes"));
}

/* A copy of the call stands for it; what the hook makes up does not. */
static culex_status copy_tag(culex_enqueue_call *enqueue, void *user, culex_error *error)
{
    struct {
        culex_enqueue_call call;
        char guard[4096];
    } copy = {.call = *enqueue, .guard = ""};
    culex_enqueue_options options = {.tag_count = 0};
    culex_enqueue_call made_up = {.type = enqueue->type, .options = &options, .count = 1};
    (void)user;
    culex_status status = culex_enqueue_tag(&copy.call, "tenant:7", error);
    for (size_t i = 0; i < sizeof copy.guard; i++)
        atomic_fetch_add(&board->wrong, copy.guard[i] != 0);
    atomic_fetch_add(&board->wrong, culex_enqueue_tag(&made_up, "a", NULL) != CULEX_EINVAL);
    return status;
}

static void test_copy_of_the_call_is_tagged_as_the_call(void **state)
{
    (void)state;
    assert_int_equal(culex_client_on_enqueue(scene->client, copy_tag, NULL, NULL), CULEX_OK);
    expect_tags(send(&type), "tenant:7");
    assert_int_equal(board->wrong, 0);
}

/* What the caller repeats by, and where it is told of what came, is not the hook's. */
static culex_status meddle(culex_enqueue_call *enqueue, void *user, culex_error *error)
{
    (void)error;
    enqueue->options->has_ticket = false;
    enqueue->options->ticket = (culex_uuid){{0}};
    enqueue->options->ret_outcomes = NULL;
    enqueue->options->has_priority = true;
    enqueue->options->priority = 9;
    if (user != NULL)
        enqueue->options->queue = user;
    return CULEX_OK;
}

static void test_hook_changes_options_but_not_the_ticket(void **state)
{
    struct number params = {1};
    culex_enqueue_outcome outcome = CULEX_ENQUEUE_KEPT;
    culex_enqueue_options options = {.has_ticket = true, .ret_outcomes = &outcome};
    culex_uuid ids[2];
    culex_run_info *info = NULL;
    (void)state;
    assert_int_equal(culex_client_on_enqueue(scene->client, meddle, NULL, NULL), CULEX_OK);
    assert_int_equal(culex_client_new_ticket(scene->client, &options.ticket, NULL), CULEX_OK);
    for (int i = 0; i < 2; i++)
        assert_int_equal(
            culex_client_enqueue(scene->client, &type, &params, &options, &ids[i], NULL), CULEX_OK);
    assert_memory_equal(&ids[0], &ids[1], sizeof ids[0]);
    assert_int_equal(outcome, CULEX_ENQUEUE_NEW);
    assert_int_equal(culex_client_get(scene->client, "numbers", ids[0], &info, NULL), CULEX_OK);
    assert_int_equal(info->priority, 9);
    culex_run_info_free(info);
}

static culex_status send_to(const char *queue, const culex_uuid *ticket, culex_error *error)
{
    struct number params = {1};
    culex_enqueue_options options = {.queue = queue, .has_ticket = ticket != NULL};
    if (ticket != NULL)
        options.ticket = *ticket;
    return culex_client_enqueue(scene->client, &type, &params, &options, NULL, error);
}

/* Each queue knows the tickets of its own runs. */
static void test_hook_sends_a_call_with_a_ticket_to_no_other_queue(void **state)
{
    static char others[] = "others", numbers[] = "numbers";
    culex_uuid ticket;
    culex_error error = {0};
    (void)state;
    assert_int_equal(culex_client_new_ticket(scene->client, &ticket, NULL), CULEX_OK);
    assert_int_equal(send_to(NULL, &ticket, NULL), CULEX_OK);
    assert_int_equal(culex_client_on_enqueue(scene->client, meddle, others, NULL), CULEX_OK);
    assert_int_equal(send_to(NULL, &ticket, &error), CULEX_EINVAL);
    assert_non_null(strstr(error.text, "queue 'others'"));
    assert_int_equal(send_to(numbers, &ticket, NULL), CULEX_EINVAL);
    assert_int_equal(culex_client_new_ticket(scene->client, &ticket, NULL), CULEX_OK);
    assert_int_equal(send_to("others", &ticket, NULL), CULEX_OK);
    assert_int_equal(send_to("numbers", NULL, NULL), CULEX_OK);
    assert_int_equal(culex_client_on_enqueue(scene->client, meddle, numbers, NULL), CULEX_OK);
    assert_int_equal(culex_client_new_ticket(scene->client, &ticket, NULL), CULEX_OK);
    assert_int_equal(send_to(NULL, &ticket, NULL), CULEX_OK);
    assert_int_equal(enqueued(), 2);
}

static void test_enqueues_of_handlers_pass_the_workers_hook(void **state)
{
    (void)state;
    scene->is_enqueuing = true;
    expect("H O O ", CULEX_RUN_DONE, "", 0);
    scene->refusal = CULEX_EDENIED;
    scene->why = "not from here";
    expect("H ", CULEX_RUN_DONE, "", 0);
}

/* --- mistakes --------------------------------------------------------------------------------- */

static void expect_refused(culex_worker *worker, const culex_job_type *job, culex_hook hook,
                           culex_status status, const char *why)
{
    assert_int_equal(culex_worker_add_hook(worker, job, &hook), status);
    assert_string_equal(culex_worker_setup_reason(worker), why);
}

static void test_mistaken_hook_is_refused(void **state)
{
    culex_hook good = {.name = "good", .before = part_before};
    static char name[CULEX_HOOK_NAME_MAX + 2];
    culex_job_type copy = type;
    culex_worker *worker;
    (void)state;
    memset(name, 'x', sizeof name - 1);
    assert_int_equal(culex_worker_create(NULL, &worker, NULL), CULEX_OK);
    assert_int_equal(culex_worker_add_hook(worker, NULL, NULL), CULEX_EINVAL);
    assert_string_equal(culex_worker_setup_reason(worker), "no hook to add");
    expect_refused(worker, &type, good, CULEX_EINVAL,
                   "job t.number gets a hook and is not registered: register it before");
    assert_int_equal(culex_worker_register(worker, &type, call, number_handler, NULL), CULEX_OK);
    assert_int_equal(culex_worker_retire(worker, &other_type), CULEX_OK);
    expect_refused(worker, &other_type, good, CULEX_EINVAL,
                   "job t.other gets a hook and is retired: its runs are never executed");
    expect_refused(worker, NULL, (culex_hook){.name = "idle"}, CULEX_EINVAL,
                   "hook 'idle' has no function: neither before, nor around, nor after");
    const char *names[] = {NULL, "", "\xff", "a\nb", "\x7f", name};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        expect_refused(worker, NULL, (culex_hook){.name = names[i], .before = part_before},
                       CULEX_EINVAL,
                       "hook.name is what a failure of the hook is told with: 1 to 64 bytes of "
                       "UTF-8 without control characters");
    assert_int_equal(culex_worker_add_hook(worker, NULL, &good), CULEX_OK);
    assert_int_equal(culex_worker_add_hook(worker, &type, &good), CULEX_OK);
    expect_refused(worker, NULL, good, CULEX_EINVAL, "hook 'good' is there already for all jobs");
    expect_refused(worker, &copy, good, CULEX_EINVAL,
                   "hook 'good' is there already for job t.number");
    for (int i = 2; i < CULEX_HOOKS_MAX; i++) {
        static char names_of_many[CULEX_HOOKS_MAX][8];
        snprintf(names_of_many[i], sizeof names_of_many[i], "h%d", i);
        good.name = names_of_many[i];
        assert_int_equal(culex_worker_add_hook(worker, NULL, &good), CULEX_OK);
    }
    good.name = "last";
    expect_refused(worker, NULL, good, CULEX_ELIMIT, "hook 'last': a worker has at most 64 hooks");
    culex_worker_free(worker);
}

static void test_no_hook_is_added_while_the_worker_runs(void **state)
{
    (void)state;
    scene->is_adding = true;
    expect_under(CULEX_ISOLATION_NONE, "H ", CULEX_RUN_DONE, "", 0);
}

#define HOOKED(test) cmocka_unit_test_setup_teardown(test, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        HOOKED(test_hooks_are_layers_around_the_handler),
        HOOKED(test_hooks_of_a_job_leave_others_alone),
        HOOKED(test_hooks_of_many_runs_at_a_time),
        HOOKED(test_failing_before_keeps_the_handler_from_being_called),
        HOOKED(test_hook_that_fails_once_is_tried_again),
        HOOKED(test_nonretryable_failure_is_final_and_a_failing_hook_counts),
        HOOKED(test_around_calls_the_rest_once),
        HOOKED(test_no_hook_makes_a_success_of_a_failure),
        HOOKED(test_discarding_after_a_failure_is_final),
        HOOKED(test_snoozing_hook_puts_the_run_off),
        HOOKED(test_snooze_of_a_hook_over_the_handlers_is_the_hooks),
        HOOKED(test_follow_up_of_a_hook_counts_with_the_success),
        HOOKED(test_crash_in_a_hook_is_the_runs),
        HOOKED(test_timeout_counts_the_time_of_hooks),
        HOOKED(test_refused_enqueue_brings_nothing),
        HOOKED(test_hook_tags_each_run_of_an_enqueue),
        HOOKED(test_tag_that_cannot_be_one_is_refused),
        HOOKED(test_hook_is_shown_only_what_can_be_enqueued),
        HOOKED(test_tag_beside_tags_that_are_none_is_refused),
        HOOKED(test_copy_of_the_call_is_tagged_as_the_call),
        HOOKED(test_hook_changes_options_but_not_the_ticket),
        HOOKED(test_hook_sends_a_call_with_a_ticket_to_no_other_queue),
        HOOKED(test_enqueues_of_handlers_pass_the_workers_hook),
        HOOKED(test_mistaken_hook_is_refused),
        HOOKED(test_no_hook_is_added_while_the_worker_runs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
