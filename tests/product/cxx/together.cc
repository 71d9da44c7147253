/* Batches, chains, several runs of one call, waits and metadata by culex.hpp.
 *
 *     together URL ISOLATION
 *
 * prints what differs. */
#include <cstdio>
#include <cstdlib>

#ifndef UNSEALED
#include "encrypted_job.hpp"
#endif
#include "metadata_job.hpp"
#include "thumbnails_job.hpp"

namespace shop = jobs::shop;

static const char OTHER[] = "the run is one of job shop.measure, not of shop.scale";

static int failed = 0;

#define EXPECT(condition)                                                                          \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            std::printf("%d: %s\n", __LINE__, #condition);                                         \
            failed++;                                                                              \
        }                                                                                          \
    } while (false)

static bool is_same(const culex_uuid &a, const culex_uuid &b)
{
    return std::memcmp(&a, &b, sizeof a) == 0;
}

static shop::poll_feed feed(std::string_view url)
{
    shop::poll_feed made;
    made.url = url;
    return made;
}

static shop::measure picture(std::string_view path)
{
    shop::measure made;
    made.path = path;
    return made;
}

/* --- handlers -------------------------------------------------------------------------------- */

static shop::poll_feed_result poll(culex::run &run, const shop::poll_feed &job)
{
    auto kept = run.metadata<shop::poll_feed>();
    bool is_set = false;
    while (!is_set) {
        kept.value.count++;
        kept.value.last_seen = job.url;
        is_set = run.set_metadata(kept);
        if (!is_set)
            kept = run.metadata<shop::poll_feed>();
    }
    shop::poll_feed_result made;
    made.taken = static_cast<std::uint32_t>(job.url.size());
    return made;
}

static constexpr std::string_view traceparent =
    "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";

static void work(const char *url, culex_isolation isolation)
{
    culex_worker_options options{};
    options.url = url;
    options.drain = true;
    options.isolation = isolation;
    options.log_level = 1;
    culex::worker worker(options);
    worker.on<shop::poll_feed>(poll);
    worker.on<shop::measure>([](culex::run &, const shop::measure &job) {
        shop::measure_result made;
        made.path = job.path;
        made.width = 400;
        made.height = 300;
        return made;
    });
    worker.on<shop::scale>([](culex::run &run, const shop::scale &job) {
        shop::scale_result made;
        made.path = run.keep("small-" + std::string(job.path));
        made.width = job.most;
        return made;
    });
    worker.on<shop::publish>([](culex::run &run, const shop::publish &job) {
        if (job.path != "small-chained" || job.width != 100)
            throw std::runtime_error("not what the chain has made");
        if (run.traceparent() != traceparent || run.tracestate() != "rojo=1")
            throw std::runtime_error("the trace of the chain ends here");
    });
#ifndef UNSEALED
    worker.on<jobs::bank::pay_bill>([](culex::run &, const jobs::bank::pay_bill &job) {
        jobs::bank::pay_bill_result made;
        made.receipt = job.iban;
        return made;
    });
#endif
    culex::check(culex_worker_register_chain(worker.c(), &shop_thumbnail_chain_type));
    worker.run();
}

/* --- callers --------------------------------------------------------------------------------- */

/* A member, and what comes in behind it. */
static culex_batch enqueue_batch(culex::client &client)
{
    culex_batch_options settings{};
    settings.open_for = culex_hours(1);
    culex::enqueue_options options;
    options.batch = client.batch_open("feeds", settings);
    client.enqueue(feed("first"), options);
    options.batch_when = CULEX_BATCH_ON_COMPLETE;
    client.enqueue(feed("complete"), options);
    client.batch_close(*options.batch);
    culex_batch_info info = client.batch_look(*options.batch);
    EXPECT(info.added == 1 && info.is_closed && !info.is_ended);
    return *options.batch;
}

/* The items keep what they were told. */
static void enqueue_together(culex::client &client, culex::items &together)
{
    {
        std::string gone = "second";
        EXPECT(together.add(feed(gone)) == 0);
        gone = "others";
    }
    EXPECT(together.add(picture("alone")) == 1 && together.size() == 2);
    client.enqueue_all(together);
    EXPECT(together[0].is_enqueued && together[1].is_enqueued);
}

/* What is added is copied with its options. Their batch and run are refused when they are sent. */
static void check_options_are_copied(culex::client &client, const culex_batch &batch)
{
    culex::items own;
    culex::enqueue_options options;
    options.batch = batch;
    own.add(feed("member"), options);
    options.batch->id = culex_uuid();
    options.batch.reset();
    options.after = batch.id;
    own.add(feed("behind"), options);
    options.after = culex_uuid();
    EXPECT(is_same(own[0].options->batch->id, batch.id));
    EXPECT(is_same(*own[1].options->after, batch.id));
    try {
        client.enqueue_all(own);
        EXPECT(false);
    } catch (const culex::error &it) {
        EXPECT(std::string_view(it.what()).rfind("item 0: an item is in no batch", 0) == 0);
    }
}

template <typename Call> static bool is_refused(Call call)
{
    try {
        call();
    } catch (const culex::error &it) {
        return it.status() == CULEX_EINVAL && std::string_view(it.what()).rfind(OTHER, 0) == 0;
    }
    return false;
}

/* A result is read as what its own job returns. */
static void check_other_job(culex::client &client, const culex_uuid &id, culex_duration timeout)
{
    culex_run_info *info = nullptr;
    culex::check(culex_client_get(client.c(), "pictures", id, &info, nullptr));
    culex::stored_run<shop::scale> stored(info);
    EXPECT(is_refused([&] { stored.result(); }));
    EXPECT(is_refused([&] { client.get<shop::scale>(id, "pictures"); }));
    EXPECT(is_refused([&] { client.wait<shop::scale>(id, timeout, "pictures"); }));
}

/* Of a run that waits for another one, its end is told to who has asked for that. */
static culex_batch enqueue_behind(culex::client &client, const culex_uuid &first)
{
    culex_batch behind{};
    culex::enqueue_options options;
    options.after = first;
    options.after_queue = "pictures";
    options.batch_when = CULEX_BATCH_ON_DEATH;
    options.ret_after = &behind;
    EXPECT(is_same(client.enqueue(feed("sorry"), options), culex_uuid()));
    EXPECT(!client.batch_look(behind).is_ended);
    return behind;
}

/* Whoever was late changes nothing. */
static void check_metadata(culex::client &client, std::int64_t count)
{
    auto kept = client.metadata<shop::poll_feed>();
    auto late = kept;
    EXPECT(kept.value.count == count);
    EXPECT(kept.version != 0);
    kept.value.count = 0;
    kept.value.last_seen = "";
    EXPECT(client.set_metadata(kept) && !client.set_metadata(late));
    EXPECT(client.metadata<shop::poll_feed>().value.count == 0);
}

static void check_all(const char *url, culex_isolation isolation)
{
    culex::client client(url);
    culex::items together;
    culex_batch batch = enqueue_batch(client);
    enqueue_together(client, together);
    check_options_are_copied(client, batch);
    culex::enqueue_options chain;
    chain.traceparent = traceparent;
    chain.tracestate = "rojo=1";
    chain.chain = &shop_thumbnail_chain_type;
    culex_uuid first = client.enqueue(picture("chained"), chain);
    EXPECT(!client.wait<shop::measure>(first, 0));
    check_other_job(client, first, 0);
    culex_batch behind = enqueue_behind(client, first);
#ifndef UNSEALED
    jobs::bank::pay_bill bill;
    bill.bill = "7";
    bill.iban = "GB33";
    bill.cents = 1;
    bill.payee.city = bill.payee.street = "x";
    culex_uuid sealed = client.enqueue(bill);
#endif

    work(url, isolation);
    client.enqueue_all(together); /* nothing is left to be enqueued */
    auto ended = client.wait<shop::poll_feed>(together[0].id, culex_seconds(30));
    EXPECT(ended && (*ended)->state == CULEX_RUN_DONE && is_same((*ended)->id, together[0].id));
    EXPECT(ended && ended->result() && ended->result()->taken == 6);
    check_other_job(client, first, culex_seconds(30));
#ifndef UNSEALED
    auto paid = client.wait<jobs::bank::pay_bill>(sealed, culex_seconds(30));
    EXPECT(paid && paid->result() && paid->result()->receipt == "GB33");
#endif
    EXPECT(client.batch_look(batch).is_ended && client.batch_look(batch).done == 1);
    EXPECT(client.batch_look(behind).is_ended && client.batch_look(behind).done == 1);
    check_metadata(client, 3);

    culex_queue_stats stats{};
    culex::check(culex_client_stats(client.c(), "pictures", &stats, nullptr));
    EXPECT(stats.done == 3 && stats.dead == 0);
    try {
        client.wait<shop::measure>(culex_uuid{{1}}, culex_seconds(30));
        EXPECT(false);
    } catch (const culex::error &it) {
        EXPECT(it.status() == CULEX_ENOTFOUND);
    }
}

int main(int, char **argv)
{
    setenv("CULEX_KEYS", "keys", 1);
    bool is_alone = std::string_view(argv[2]) == "none";
    try {
        check_all(argv[1], is_alone ? CULEX_ISOLATION_NONE : CULEX_ISOLATION_PROCESS);
    } catch (const std::exception &it) {
        std::printf("threw %s\n", it.what());
        failed++;
    }
    return failed != 0;
}
