/* culex_test.h - test what your program enqueues and what its handlers do, in one process.
 *
 * A kit is a store in memory, a client and a worker of it, and a clock that stands still until the
 * test moves it. Nothing of it leaves the process: no server, file, thread or child; and nothing
 * waits. All that it draws at random comes from a seed, so a test does the same each time, run ids
 * included. They are the real store, client and worker: retries, delays, unique keys, limits,
 * priorities and expiry are those of production.
 *
 *     culex_test *test = NULL;
 *     culex_test_open(NULL, &test, NULL);
 *     setup(culex_test_worker(test), NULL);          the program's own P_register calls
 *     order_place(culex_test_client(test), ...);     the code under test, with this client
 *     CULEX_TEST_ENQUEUED(test, send_email_job, "to", "ann@example.org");
 *     CULEX_TEST_DRAIN(test);                        its handlers run here, one after the other
 *     CULEX_TEST_CALLS(test, send_email_job, 1);
 *     culex_test_close(test);
 *
 * What differs from a worker program: handlers run on the thread that drains, one at a time. A
 * crash or an exit of a handler is one of the test; memory limits do not hold, and what a handler
 * changes of its process stays. The clock stands while a handler runs, unless a stand-in that it
 * calls moves it. One that comes back after its timeout has failed; nobody interrupts it before,
 * and leases last a day. culex_run_cancelled becomes true as soon as a client of the kit cancels
 * the run, or the clock is moved past its timeout. Periodic jobs start by themselves only with
 * options->schedules. Workers never compete; culex_test_crash_next is for what a worker's death
 * brings. The worker serves all queues and offers whatever its jobs need. culex_time_now goes by
 * the machine's clock.
 *
 * A kit is used by one thread. Several kits in one process know nothing of each other. What a kit
 * hands out lives until culex_test_close.
 *
 * Macros fail a test: they call the function of culex_test_on_failure, by default one that prints
 * "file:line: text" to standard error and aborts. With cmocka:
 *
 *     static void fail_test(void *user, const char *file, int line, const char *text)
 *     {
 *         (void)user;
 *         print_error("%s\n", text);
 *         _fail(file, line);
 *     }
 *
 * In C++ it may throw: within a handler that is a failure of its run. Where it returns, the macro
 * comes to NULL, 0 or false. A failure that jumps out of a handler in C, as cmocka's do, leaves a
 * kit that is only good for culex_test_close.
 *
 * Macros take a job by the name of its generated struct, send_email_job. A pending run is one that
 * is scheduled or waiting: enqueued, or to be tried again, and not at work.
 *
 *     CULEX_TEST_ONE(test, job)                         the params of the one pending run
 *     CULEX_TEST_ENQUEUED(test, job, "to", "ann", ...)  of the one that has these
 *     CULEX_TEST_RUN(test, job)                         the one pending run, as the store has it
 *     CULEX_TEST_COUNT(test, job, 2)                    so many are pending
 *     CULEX_TEST_NONE(test, job)                        none is
 *     CULEX_TEST_IDLE(test)                             none of any job
 *     CULEX_TEST_QUEUE(test, job, "bulk")               where the one pending run is,
 *     CULEX_TEST_PRIORITY(test, job, 7)                 with which priority,
 *     CULEX_TEST_DELAY(test, job, culex_minutes(5))     when it is due,
 *     CULEX_TEST_TAG(test, job, "vip")                  and a tag of it
 *     CULEX_TEST_STATE(test, id, CULEX_RUN_DONE)        what has become of a run
 *     CULEX_TEST_DRAIN(test)                            runs what is due
 *     CULEX_TEST_DRAIN_THROUGH(test, culex_hours(1))    what is due until then
 *     CULEX_TEST_RUN_ONE(test)                          the next one
 *     CULEX_TEST_FAKE_RESULT(test, job, &result)        calls return this, without a handler
 *     CULEX_TEST_CALLS(test, job, 1)                    handlers were called so often
 *     CULEX_TEST_LAST(test, job)                        the latest call
 *     CULEX_TEST_PARAMS(test, job)                      its params
 *     CULEX_TEST_REQUIRE(test, condition)               anything else, which assert() does not
 *                                                       even evaluate under NDEBUG
 */
#ifndef CULEX_TEST_H
#define CULEX_TEST_H

#include <culex/culex.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct culex_test culex_test;

/* 2026-01-01T00:00:00Z, a Thursday. */
#define CULEX_TEST_START (INT64_C(1767225600) * CULEX_SECOND)

/* Zero means the default everywhere. */
typedef struct culex_test_options {
    culex_time start; /* what the clock shows at first, to the ms; 0: CULEX_TEST_START */
    uint64_t seed;    /* of all that is drawn at random */
    bool schedules; /* periodic jobs tick while the kit drains: one by the interval at once, one by
                       the calendar at its next time */
    size_t most;   /* calls of handlers while the clock shows one time; 0: 10000. More are taken for
                      runs that enqueue each other for ever */
    int log_level; /* of the worker's lines on standard error; 0: none, 1 error to 4 debug */
} culex_test_options;

/* Makes a kit with an empty store. CULEX_EINVAL for an instant before 2001 or after 2149.
 * `options` may be NULL. *ret_test is returned owned. */
CULEX_API CULEX_MUST_USE culex_status culex_test_open(const culex_test_options *options,
                                                      culex_test **ret_test, culex_error *error);

/* Frees the kit, its client and its worker, with all that they have handed out; a drain that a
 * longjmp or an exception has left, too. Accepts NULL. Not from within a handler. */
CULEX_API void culex_test_close(culex_test *test);

/* The client for the code under test, lent: culex_client_close leaves it alone. All its calls work,
 * but for culex_client_figures, which counts nothing here; waits between tries pass at once. */
CULEX_API culex_client *culex_test_client(culex_test *test);

/* The worker for the program's own set-up, lent: register handlers, at any time between two drains,
 * and what culex_worker_on_process wants; `open` is called before the first run of all, `close` by
 * culex_test_close. culex_worker_free leaves it alone. culex_worker_run runs what is due in the
 * queues of its jobs, and returns; culex_worker_start is CULEX_EINVAL, for a drain is what runs it.
 */
CULEX_API culex_worker *culex_test_worker(culex_test *test);

/* What the clock shows, by which the store, its client, its worker and log lines go. */
CULEX_API culex_time culex_test_now(const culex_test *test);

/* Moves the clock on, to the ms; nothing runs by that. A negative duration does nothing; one below
 * 100 us is a plain number where culex_seconds(5) was meant: the clock stays, and the next macro
 * fails. */
CULEX_API void culex_test_advance(culex_test *test, culex_duration duration);

/* Sets the clock, on or back, as somebody sets that of a machine. For an instant before 2001 or
 * after 2149, which no culex_time of today is, it stays, and the next macro fails. */
CULEX_API void culex_test_set_now(culex_test *test, culex_time now);

/* One call of a handler, or of what stands in for it. Texts live until culex_test_close. */
typedef struct culex_test_call {
    culex_uuid id;   /* of the run */
    const char *job; /* its name in the store */
    const char *queue;
    uint32_t attempt;      /* counted from 1 */
    culex_time at;         /* when it was called */
    culex_outcome outcome; /* of the run, by what handler and hooks returned; CULEX_FAILED when that
                              came after its timeout */
    const char *text;      /* why it failed or discarded, as the run's record has it; else "" */
    const void *params;    /* what it was called with, typed: CULEX_TEST_PARAMS */
} culex_test_call;

/* Runs one run that is due, the one that a worker would start first, and tells of it in *ret_call;
 * NULL when nothing is due. Of one that a hook has kept from its handler it tells as of a call,
 * which then is none for culex_test_call_count. Fails as culex_test_drain. For CULEX_TEST_RUN_ONE.
 */
CULEX_API CULEX_MUST_USE bool culex_test_run_one(culex_test *test,
                                                 const culex_test_call **ret_call);

/* Runs all that is due at the clock's time, what handlers enqueue for now included, and tells how
 * many calls that were. Runs of paused queues stay, and so do those of a job without a handler; but
 * the worker is given these, and each time counts as an attempt. False with a reason, see
 * culex_test_text, after options->most calls, when culex_worker_on_process's `open` fails, and when
 * called by a handler. For CULEX_TEST_DRAIN. */
CULEX_API CULEX_MUST_USE bool culex_test_drain(culex_test *test, size_t *ret_calls);

/* The same for all that is due by now + duration: moves the clock from one due time to the next,
 * through retries, delays, ends of pauses and, with options->schedules, ticks. The clock shows
 * now + duration then. False for a duration below 100 us, too. For CULEX_TEST_DRAIN_THROUGH. */
CULEX_API CULEX_MUST_USE bool culex_test_drain_through(culex_test *test, culex_duration duration,
                                                       size_t *ret_calls);

/* How often handlers of `type` were called, for NULL of any job; and the calls of `type` in their
 * order, counted from 0: NULL behind the last one. */
CULEX_API size_t culex_test_call_count(const culex_test *test, const culex_job_type *type);
CULEX_API const culex_test_call *culex_test_call_at(const culex_test *test,
                                                    const culex_job_type *type, size_t index);

/* Has calls of `type` end with `outcome` and the reason `text` (NULL: none) without a handler, be
 * there one or not. Called again it adds to the script: each outcome is for one call, the last one
 * for all that follow. A snoozed run is due again in a second. CULEX_EINVAL for what is no
 * outcome. */
CULEX_API CULEX_MUST_USE culex_status culex_test_fake(culex_test *test, const culex_job_type *type,
                                                      culex_outcome outcome, const char *text);

/* The same for the next call alone, or for the next one that has no such outcome yet; then come the
 * script and the handler again. Without either the run fails. */
CULEX_API CULEX_MUST_USE culex_status culex_test_fake_once(culex_test *test,
                                                           const culex_job_type *type,
                                                           culex_outcome outcome, const char *text);

/* As culex_test_fake and culex_test_fake_once with CULEX_DONE, of a job that returns something: the
 * call returns *result, a value of its type, which is copied. What waits for the run is told that,
 * and the next step of its chain takes it; after culex_test_fake alone such a step fails, for the
 * call has returned nothing. False with a reason for a job that returns nothing, and for a value
 * that cannot be a result. For CULEX_TEST_FAKE_RESULT and CULEX_TEST_FAKE_RESULT_ONCE. */
CULEX_API CULEX_MUST_USE bool culex_test_fake_result(culex_test *test, const culex_job_type *type,
                                                     const void *result);
CULEX_API CULEX_MUST_USE bool
culex_test_fake_result_once(culex_test *test, const culex_job_type *type, const void *result);

/* What the process of a handler does, that dies when its work is done and before the store knows:
 * after the next call of a handler the attempt counts as crashed, whatever was returned, and the
 * run is tried again as its retry policy says. */
CULEX_API void culex_test_crash_next(culex_test *test);

/* Has calls of clients of the kit, that of handlers included, fail with `status`: the `first` one
 * that asks the store from now on, 1 for the next, and those that follow, `count` in all; 0: for
 * ever. A call is one with all that the client does for it: tries again, learns the store's clock,
 * looks up what its error text tells. An enqueue of many counts for each 200 of them, as they come
 * in, and a look at all runs for each page. CULEX_EUNKNOWN: the store does it, and the answer is
 * lost. Any other status: it does nothing. CULEX_OK lifts it; a later call replaces an earlier one.
 * The worker is spared, and so are the macros and culex_client_new_ticket. */
CULEX_API void culex_test_fail_store(culex_test *test, size_t first, size_t count,
                                     culex_status status);

/* How many runs of `type` are pending, in all queues; of NULL: of any job. */
CULEX_API size_t culex_test_pending(culex_test *test, const culex_job_type *type);

/* The one pending run of `type`; NULL with a reason when there is none, or several. For
 * CULEX_TEST_RUN. */
CULEX_API const culex_run_info *culex_test_run(culex_test *test, const culex_job_type *type);

/* Its params, typed. For CULEX_TEST_ONE. */
CULEX_API const void *culex_test_one(culex_test *test, const culex_job_type *type);

/* The same for the one pending run of `type` whose params are as told: `pairs` are names of params
 * and, after each, the text of its value, then NULL twice. A text is compared with a string
 * as it is (also with an enum's name, a UUID, a time, ...), with any other value as it stands in
 * the payload (schemas/payload.md): "5", "true", "[1,2]"; what is absent is "null", an empty list
 * "[]". For CULEX_TEST_ENQUEUED. */
CULEX_API const void *culex_test_find(culex_test *test, const culex_job_type *type,
                                      const char *const *pairs);

/* Whether as many are pending as said, of `type` or, for NULL, of any job; whether the one pending
 * run of `type` is in this queue, has this priority, is due so long after now (0: it waits), has
 * this tag; and whether run `id` is in this state. False with a reason, also for a delay below 100
 * us. For the macros of these names. */
CULEX_API CULEX_MUST_USE bool culex_test_count_is(culex_test *test, const culex_job_type *type,
                                                  size_t count);
CULEX_API CULEX_MUST_USE bool culex_test_queue_is(culex_test *test, const culex_job_type *type,
                                                  const char *queue);
CULEX_API CULEX_MUST_USE bool culex_test_priority_is(culex_test *test, const culex_job_type *type,
                                                     int priority);
CULEX_API CULEX_MUST_USE bool culex_test_delay_is(culex_test *test, const culex_job_type *type,
                                                  culex_duration delay);
CULEX_API CULEX_MUST_USE bool culex_test_tag_is(culex_test *test, const culex_job_type *type,
                                                const char *tag);
CULEX_API CULEX_MUST_USE bool culex_test_state_is(culex_test *test, culex_uuid id,
                                                  culex_run_state state);

/* Whether handlers of `type` were called so often; and the latest of these calls, NULL with a
 * reason when there was none. For CULEX_TEST_CALLS and CULEX_TEST_LAST. */
CULEX_API CULEX_MUST_USE bool culex_test_calls_are(culex_test *test, const culex_job_type *type,
                                                   size_t count);
CULEX_API const culex_test_call *culex_test_last(culex_test *test, const culex_job_type *type);

/* Whether `holds`; false with a reason that shows `condition`. For CULEX_TEST_REQUIRE. */
CULEX_API CULEX_MUST_USE bool culex_test_is(culex_test *test, bool holds, const char *condition);

/* Called by a macro that has failed, with the place of the macro. It may throw or jump. */
typedef void (*culex_test_failure)(void *user, const char *file, int line, const char *text);

/* Has `failure` called from now on; NULL: the default. `user` is handed to it. */
CULEX_API void culex_test_on_failure(culex_test *test, culex_test_failure failure, void *user);

/* Why the newest function that came to NULL or false did so; "" before any. */
CULEX_API const char *culex_test_text(const culex_test *test);

/* What a macro is to call, never NULL, and *ret_user for it. */
CULEX_API culex_test_failure culex_test_failure_of(const culex_test *test, void **ret_user);

/* These stand in the program that is tested, so that what it throws passes no code of the library.
 */
static inline void culex_test_raise(const culex_test *test, const char *file, int line)
{
    void *user = NULL;
    culex_test_failure failure = culex_test_failure_of(test, &user);
    failure(user, file, line, culex_test_text(test));
}

/* Fails when there is nothing at `found`. */
static inline const void *culex_test_pass(const culex_test *test, const char *file, int line,
                                          const void *found)
{
    if (found == NULL)
        culex_test_raise(test, file, line);
    return found;
}

/* Fails unless `holds`. */
static inline bool culex_test_hold(const culex_test *test, const char *file, int line, bool holds)
{
    if (!holds)
        culex_test_raise(test, file, line);
    return holds;
}

/* Runs one, or fails. */
static inline const culex_test_call *culex_test_run_at(culex_test *test, const char *file, int line)
{
    const culex_test_call *call = NULL;
    (void)culex_test_hold(test, file, line, culex_test_run_one(test, &call));
    return call;
}

/* Drains for now, or fails. */
static inline size_t culex_test_drain_at(culex_test *test, const char *file, int line)
{
    size_t calls = 0;
    (void)culex_test_hold(test, file, line, culex_test_drain(test, &calls));
    return calls;
}

/* Drains for as long, or fails. */
static inline size_t culex_test_drain_through_at(culex_test *test, culex_duration duration,
                                                 const char *file, int line)
{
    size_t calls = 0;
    (void)culex_test_hold(test, file, line, culex_test_drain_through(test, duration, &calls));
    return calls;
}

#ifdef __cplusplus
extern "C++" {
/* Makes a list of texts, and of nothing else. */
template <typename... Texts>
inline const void *culex_test_find_texts(culex_test *test, const culex_job_type *type,
                                         const Texts &...texts)
{
    const char *const pairs[] = {texts..., nullptr, nullptr};
    return culex_test_find(test, type, pairs);
}
}
#endif

/* Runs one run; its call, NULL when nothing is due. */
#define CULEX_TEST_RUN_ONE(test) culex_test_run_at(test, __FILE__, __LINE__)

/* Runs all that is due now; the number of calls. */
#define CULEX_TEST_DRAIN(test) culex_test_drain_at(test, __FILE__, __LINE__)

/* The same while the clock is moved on by `duration`. */
#define CULEX_TEST_DRAIN_THROUGH(test, duration)                                                   \
    culex_test_drain_through_at(test, duration, __FILE__, __LINE__)

/* The params, a const JOB *, of the one pending run of the job. */
#define CULEX_TEST_ONE(test, job)                                                                  \
    CULEX_PTR_CAST(const job *,                                                                    \
                   culex_test_pass(test, __FILE__, __LINE__, culex_test_one(test, &job##_type)))

/* The same of the one whose params are as told: a name and a text, once or more often. What is no
 * text, a number for instance, the compiler refuses; in C gcc before 14 warns of it. */
#define CULEX_TEST_ENQUEUED(test, job, ...)                                                        \
    CULEX_PTR_CAST(const job *, culex_test_pass(test, __FILE__, __LINE__,                          \
                                                CULEX_TEST_FIND(test, &job##_type, __VA_ARGS__)))

#ifdef __cplusplus
#define CULEX_TEST_FIND(test, type, ...) culex_test_find_texts(test, type, __VA_ARGS__)
#else
#define CULEX_TEST_FIND(test, type, ...)                                                           \
    culex_test_find(test, type, (const char *const[]){__VA_ARGS__, NULL, NULL})
#endif

/* The one pending run of the job as the store has it, a const culex_run_info *. */
#define CULEX_TEST_RUN(test, job)                                                                  \
    CULEX_PTR_CAST(const culex_run_info *,                                                         \
                   culex_test_pass(test, __FILE__, __LINE__, culex_test_run(test, &job##_type)))

/* So many runs of the job are pending; none is. */
#define CULEX_TEST_COUNT(test, job, count)                                                         \
    culex_test_hold(test, __FILE__, __LINE__, culex_test_count_is(test, &job##_type, count))
#define CULEX_TEST_NONE(test, job) CULEX_TEST_COUNT(test, job, 0)

/* No run of any job is pending. */
#define CULEX_TEST_IDLE(test)                                                                      \
    culex_test_hold(test, __FILE__, __LINE__, culex_test_count_is(test, NULL, 0))

/* The one pending run of the job is in this queue, has this priority, is due so long after now, has
 * this tag. */
#define CULEX_TEST_QUEUE(test, job, queue)                                                         \
    culex_test_hold(test, __FILE__, __LINE__, culex_test_queue_is(test, &job##_type, queue))
#define CULEX_TEST_PRIORITY(test, job, priority)                                                   \
    culex_test_hold(test, __FILE__, __LINE__, culex_test_priority_is(test, &job##_type, priority))
#define CULEX_TEST_DELAY(test, job, delay)                                                         \
    culex_test_hold(test, __FILE__, __LINE__, culex_test_delay_is(test, &job##_type, delay))
#define CULEX_TEST_TAG(test, job, tag)                                                             \
    culex_test_hold(test, __FILE__, __LINE__, culex_test_tag_is(test, &job##_type, tag))

/* The run with this id is in this state; one that the store has forgotten is in none. */
#define CULEX_TEST_STATE(test, id, state)                                                          \
    culex_test_hold(test, __FILE__, __LINE__, culex_test_state_is(test, id, state))

/* Calls of the job end as done without a handler, and return what the last argument points to, a
 * const RESULT *: see culex_test_fake_result. The same of the next call alone. */
#define CULEX_TEST_FAKE_RESULT(test, job, ...)                                                     \
    culex_test_hold(test, __FILE__, __LINE__,                                                      \
                    (CULEX_TEST_RESULT_CHECK(job, __VA_ARGS__),                                    \
                     culex_test_fake_result(test, &job##_type, __VA_ARGS__)))
#define CULEX_TEST_FAKE_RESULT_ONCE(test, job, ...)                                                \
    culex_test_hold(test, __FILE__, __LINE__,                                                      \
                    (CULEX_TEST_RESULT_CHECK(job, __VA_ARGS__),                                    \
                     culex_test_fake_result_once(test, &job##_type, __VA_ARGS__)))

/* Nothing is called: the compiler refuses what is no result of the job. */
#define CULEX_TEST_RESULT_CHECK(job, ...) (void)sizeof(job##_set_result(NULL, __VA_ARGS__, NULL))

/* Handlers of the job were called so often. */
#define CULEX_TEST_CALLS(test, job, count)                                                         \
    culex_test_hold(test, __FILE__, __LINE__, culex_test_calls_are(test, &job##_type, count))

/* The latest call of a handler of the job, a const culex_test_call *; its params, a const JOB *. */
#define CULEX_TEST_LAST(test, job)                                                                 \
    CULEX_PTR_CAST(const culex_test_call *,                                                        \
                   culex_test_pass(test, __FILE__, __LINE__, culex_test_last(test, &job##_type)))
#define CULEX_TEST_PARAMS(test, job)                                                               \
    CULEX_PTR_CAST(const job *, culex_test_params(CULEX_TEST_LAST(test, job)))

/* The condition holds; it is evaluated once, in each build. */
#define CULEX_TEST_REQUIRE(test, ...)                                                              \
    culex_test_hold(test, __FILE__, __LINE__, culex_test_is(test, (__VA_ARGS__), #__VA_ARGS__))

/* NULL for NULL. */
static inline const void *culex_test_params(const culex_test_call *call)
{
    return call != NULL ? call->params : NULL;
}

/* A function of another type for a callback is an error; see culex/typed.h. */
#ifdef CULEX_TYPED
#define culex_test_on_failure(...) CULEX_TYPED(culex_test_on_failure, __VA_ARGS__)
#endif

#ifdef __cplusplus
}
#endif
#endif
