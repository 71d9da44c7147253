#include "test/passages.h"

#include "base/error.h"
#include "test/kit.h"

/* --- faults ----------------------------------------------------------------------------------- */

/* Whose call is under way: one thread makes them all. */
static const culex_client *client_find(const culex_test *test)
{
    const culex_client *lent = test->hands.loan.client;
    return lent != NULL && atomic_load(&lent->until_ns) != 0 ? lent : test->client;
}

/* Whether it is the call that has come by before, that asks once more. */
static bool call_is_known(struct culex_passage_fault *fault, const culex_client *client)
{
    bool is_known = fault->call.client == client && fault->call.effort == client->efforts;
    fault->call.client = client;
    fault->call.effort = client->efforts;
    return is_known;
}

/* Whether the call that comes now fails: what a client asks beside, tries again and looks up to
 * explain an error is no other one. */
static bool fault_meets(struct culex_passage *passage)
{
    struct culex_passage_fault *fault = &passage->fault;
    if (fault->status == CULEX_OK)
        return false;
    if (call_is_known(fault, client_find(passage->test)))
        return fault->call.is_failing;
    fault->call.is_done = false;
    fault->call.is_failing = fault->ahead == 0 && fault->left > 0;
    if (fault->ahead > 0)
        fault->ahead--;
    else if (fault->call.is_failing && fault->left != SIZE_MAX)
        fault->left--;
    return fault->call.is_failing;
}

static culex_status fault_tell(const struct culex_passage *passage, culex_error *error)
{
    culex_status status = passage->fault.status;
    return culex__fail(error, status, "%s (injected by the test)", culex_status_text(status));
}

void culex_test_fail_store(culex_test *test, size_t first, size_t count, culex_status status)
{
    if (test == NULL)
        return;
    test->users.fault = (struct culex_passage_fault){
        .status = status, .ahead = first > 0 ? first - 1 : 0, .left = count > 0 ? count : SIZE_MAX};
}

/* --- the way through -------------------------------------------------------------------------- */

/* An answer that is lost belongs to nobody. Answers of verbs that only look are not worth a word:
 * what they would have handed out stays where it is. */
#define LOSE_READS(arguments)   CULEX_OK
#define LOSE_ADDS(arguments)    (arguments)
#define LOSE_MANAGES(arguments) (arguments)

#define VERB(name, effect, parameters, arguments, check)                                           \
    static culex_status passing_##name parameters                                                  \
    {                                                                                              \
        struct culex_passage *passage = (struct culex_passage *)store;                             \
        bool is_failing = fault_meets(passage);                                                    \
        store = passage->test->store;                                                              \
        if (!is_failing)                                                                           \
            return store->ops->name arguments;                                                     \
        if (passage->fault.status == CULEX_EUNKNOWN && !passage->fault.call.is_done) {             \
            culex_status status = LOSE_##effect(store->ops->name arguments);                       \
            if (status != CULEX_OK)                                                                \
                return status;                                                                     \
            passage->fault.call.is_done = true;                                                    \
        }                                                                                          \
        return fault_tell(passage, error);                                                         \
    }
#include "store/verbs.def"
#undef VERB

static void passing_step_release(struct culex_store *store, struct culex_step_reply *reply)
{
    struct culex_store *inner = ((struct culex_passage *)store)->test->store;
    inner->ops->step_release(inner, reply);
}

static void passing_list_release(struct culex_store *store, struct culex_list_reply *reply)
{
    struct culex_store *inner = ((struct culex_passage *)store)->test->store;
    inner->ops->list_release(inner, reply);
}

static void passing_wake_disarm(struct culex_store *store)
{
    struct culex_store *inner = ((struct culex_passage *)store)->test->store;
    inner->ops->wake_disarm(inner);
}

/* A client looks at the clock before its first ticket: the call that fails is the one behind. */
static culex_status clear_now(struct culex_store *store, int64_t *ret_now_ms, culex_error *error)
{
    struct culex_store *inner = ((struct culex_passage *)store)->test->store;
    return inner->ops->now(inner, ret_now_ms, error);
}

/* The worker would hear of it by its next beat, which a run of the kit does not live to see. */
static culex_status flagging_cancel(struct culex_store *store, const char *queue, culex_uuid id,
                                    culex_run_state *ret_state, culex_error *error)
{
    culex_test *test = ((struct culex_passage *)store)->test;
    culex_status status = passing_cancel(store, queue, id, ret_state, error);
    if (status == CULEX_OK || status == CULEX_EUNKNOWN)
        culex__hands_flag(test, id);
    return status;
}

/* What the worker makes of a call, which is not always what its handler says. */
static culex_status telling_step(struct culex_store *store, const struct culex_step *step,
                                 struct culex_step_reply *ret_reply, culex_error *error)
{
    culex_test *test = ((struct culex_passage *)store)->test;
    for (size_t i = 0; i < step->ack_count; i++) {
        const struct culex_ack *ack = &step->acks[i];
        if (ack->event == CULEX_EVENT_FAIL)
            culex__calls_fail(test, ack->id, ack->attempt, ack->text);
    }
    return passing_step(store, step, ret_reply, error);
}

/* Nothing comes while the worker waits, or a client. */
static culex_status asleep_wake_arm(struct culex_store *store, const char *const *queues,
                                    size_t count, int64_t timeout_ms, int *ret_fd,
                                    culex_error *error)
{
    (void)store, (void)queues, (void)count, (void)timeout_ms, (void)error;
    *ret_fd = -1;
    return CULEX_OK;
}

static culex_status asleep_wait_arm(struct culex_store *store, const char *const *queues,
                                    size_t count, int64_t timeout_ms, int *ret_fd,
                                    culex_error *error)
{
    return asleep_wake_arm(store, queues, count, timeout_ms, ret_fd, error);
}

static void asleep_wake_disarm(struct culex_store *store)
{
    (void)store;
}

static void passing_close(struct culex_store *store)
{
    (void)store; /* the kit closes its own */
}

static const struct culex_store_ops passing_ops = {
    .name = "test",
#define VERB(name, effect, parameters, arguments, check) .name = passing_##name,
#include "store/verbs.def"
#undef VERB
    .step_release = passing_step_release,
    .list_release = passing_list_release,
    .wake_disarm = passing_wake_disarm,
    .close = passing_close,
};

void culex__passage_open(struct culex_passage *passage, culex_test *test, bool is_awake)
{
    passage->test = test;
    passage->table = passing_ops;
    passage->table.cancel = flagging_cancel;
    passage->table.wait_arm = asleep_wait_arm;
    passage->table.now = clear_now;
    passage->table.step = telling_step;
    if (!is_awake) {
        passage->table.wake_arm = asleep_wake_arm;
        passage->table.wake_disarm = asleep_wake_disarm;
    }
    culex__store_init(&passage->base, &passage->table, &test->env, NULL);
}
