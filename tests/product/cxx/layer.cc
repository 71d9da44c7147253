/* What C++ enqueues is what a handler gets, and what a handler returns or throws is what the store
 * tells; of every type of the language.
 *
 *     layer URL ISOLATION
 *
 * prints what differs. */
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <dlfcn.h>
#include <map>
#include <sys/mman.h>

#include <poll.h>

#include "own_types_job.hpp"
#include "reserved_job.hpp"
#include "types_defaults_job.hpp"
#include "types_job.hpp"
#include "types_optional_job.hpp"

namespace kitchen = jobs::kitchen;
namespace odd = jobs::new_;
namespace own = jobs::shop_own;

static int failed = 0;

#define EXPECT(condition)                                                                          \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            std::printf("%d: %s\n", __LINE__, #condition);                                         \
            failed++;                                                                              \
        }                                                                                          \
    } while (false)

/* In a handler: the run's failure, which is looked for. */
#define NEED(condition)                                                                            \
    do {                                                                                           \
        if (!(condition))                                                                          \
            throw std::runtime_error(#condition);                                                  \
    } while (false)

/* --- values --------------------------------------------------------------------------------- */

template <typename T> static bool is_same(const T &a, const T &b)
{
    return std::memcmp(&a, &b, sizeof a) == 0;
}

template <typename T, typename Same>
static bool is_same(culex::list<T> a, culex::list<T> b, Same same)
{
    return a.size() == b.size() && std::equal(a.begin(), a.end(), b.begin(), same);
}

static bool is_text(const std::string_view &a, const std::string_view &b)
{
    return a == b;
}

static bool is_bytes(const culex::bytes &a, const culex::bytes &b)
{
    return is_same(a, b, std::equal_to<std::uint8_t>());
}

static bool is_inner(const kitchen::inner &a, const kitchen::inner &b)
{
    return a.x == b.x && a.weight == b.weight && is_same(a.tags, b.tags, is_text);
}

static bool is_outer(const kitchen::outer &a, const kitchen::outer &b)
{
    return is_inner(a.one, b.one) && is_inner(a.two[0], b.two[0]) && is_inner(a.two[1], b.two[1]) &&
           is_same(a.many, b.many, is_inner);
}

/* Longer than what a writer holds without an arena. */
static const std::string long_text(5000, 'x');
static const std::string_view texts[] = {"", "caff\303\250", long_text};
static const std::uint8_t octets[] = {0, 255, 1};
static const culex::bytes blobs[] = {octets, culex::bytes()};
static const kitchen::level levels[] = {KITCHEN_LEVEL_LOW, KITCHEN_LEVEL_MID};
static const culex_time times[] = {0, 1767225600500000000};

static kitchen::inner make_inner(std::int32_t x, std::optional<double> weight)
{
    kitchen::inner made;
    made.x = x;
    made.weight = weight;
    made.tags = texts;
    return made;
}

static const kitchen::inner rows[] = {make_inner(1, 0.1), make_inner(-2, std::nullopt)};

static kitchen::outer make_outer()
{
    kitchen::outer made;
    made.one = rows[0];
    made.two = {rows[1], rows[0]};
    made.many = rows;
    return made;
}

static kitchen::required_of_all make_required()
{
    kitchen::required_of_all made;
    made.b = true;
    made.c = '\351';
    made.i8 = -128;
    made.i16 = -2;
    made.i32 = -3;
    made.i64 = INT64_MIN;
    made.i128 = {7, -1};
    made.u8 = 255;
    made.u16 = 2;
    made.u32 = 3;
    made.u64 = UINT64_MAX;
    made.u128 = {7, 1};
    made.f32 = 0.17f;
    made.f64 = 1e300;
    made.s = std::string_view("not the end", 3);
    made.by = octets;
    made.id.b[15] = 1;
    made.at = times[1];
    made.d = culex_seconds(90);
    made.l = KITCHEN_LEVEL_MID;
    made.g = KITCHEN_BIG_ALL;
    made.st = rows[0];
    made.nested = make_outer();
    made.sha[31] = 9;
    made.names = texts;
    made.blobs = blobs;
    made.rows = rows;
    made.levels = levels;
    made.ids[1].b[0] = 2;
    made.times = times;
    return made;
}

static void check_required(const kitchen::required_of_all &job)
{
    const kitchen::required_of_all want = make_required();
    NEED(job.b == want.b && job.c == want.c);
    NEED(job.i8 == want.i8 && job.i16 == want.i16 && job.i32 == want.i32 && job.i64 == want.i64);
    NEED(job.u8 == want.u8 && job.u16 == want.u16 && job.u32 == want.u32 && job.u64 == want.u64);
    NEED(is_same(job.i128, want.i128) && is_same(job.u128, want.u128));
    NEED(std::memcmp(&job.f32, &want.f32, sizeof job.f32) == 0);
    NEED(std::memcmp(&job.f64, &want.f64, sizeof job.f64) == 0);
    NEED(job.s == "not" && is_bytes(job.by, want.by) && is_same(job.id, want.id));
    NEED(job.at == want.at && job.d == want.d && job.l == want.l && job.g == want.g);
    NEED(is_inner(job.st, want.st) && is_outer(job.nested, want.nested) && job.sha == want.sha);
    NEED(is_same(job.names, want.names, is_text) && is_same(job.blobs, want.blobs, is_bytes));
    NEED(is_same(job.rows, want.rows, is_inner));
    NEED(is_same(job.levels, want.levels, std::equal_to<kitchen::level>()));
    NEED(is_same(job.ids[0], want.ids[0]) && is_same(job.ids[1], want.ids[1]));
    NEED(is_same(job.times, want.times, std::equal_to<culex_time>()));
}

static kitchen::optional_of_all make_optional()
{
    kitchen::optional_of_all made;
    made.b = false;
    made.c = 'c';
    made.i64 = 0;
    made.u128 = culex_uint128{1, 2};
    made.f32 = 1.5f;
    made.s = "";
    made.by = octets;
    made.id = culex_uuid{{1}};
    made.at = 0;
    made.d = -1;
    made.l = KITCHEN_LEVEL_LOW;
    made.st = make_outer();
    made.sha.emplace();
    return made;
}

/* All of them are there, or none is. */
static void check_optional(const kitchen::optional_of_all &job)
{
    if (!job.b.has_value()) {
        NEED(!job.c && !job.i64 && !job.u128 && !job.f32 && !job.s && !job.by && !job.id);
        NEED(!job.at && !job.d && !job.l && !job.st && !job.sha);
        return;
    }
    const kitchen::optional_of_all want = make_optional();
    NEED(job.b == want.b && job.c == want.c && job.i64 == want.i64 && job.s == want.s);
    NEED(is_same(job.u128.value(), *want.u128) && is_same(job.f32.value(), *want.f32));
    NEED(is_bytes(job.by.value(), *want.by) && is_same(job.id.value(), *want.id));
    NEED(job.at == want.at && job.d == want.d && job.l == want.l && job.sha == want.sha);
    NEED(is_outer(job.st.value(), *want.st));
}

static void check_defaults(const kitchen::defaults_of_all &job)
{
    const kitchen::defaults_of_all want;
    const culex_uuid id = {{0, 0, 0, 0, 0, 0, 0x40, 0, 0x80, 0, 0, 0, 0, 0, 0xab, 0xcd}};
    NEED(job.b && job.c == 'x' && job.high == '\351' && job.i8 == -128 && job.u16 == 5);
    NEED(job.u32 == UINT32_MAX && is_same(job.u128, want.u128) && is_same(job.i128, want.i128));
    NEED(job.s == "caf\303\251\n\"quoted\" ?"
                  "?/ \\" &&
         is_same(job.id, id) && job.back == -1);
    NEED(job.by.size() == 2 && job.by[1] == 255 && job.l == KITCHEN_LEVEL_LOW);
    NEED(is_same(job.f32, 0.17f) && is_same(job.f64, -1e-9) && job.at == want.at);
    NEED(job.d == culex_seconds(90) && job.p == KITCHEN_PLAIN_C);
}

/* --- what each process has ------------------------------------------------------------------- */

/* Of all processes. */
/* Types of the user's own are the same in both languages. */
static own::charge make_charge()
{
    static const own::money parts[] = {{1, "USD"}, {2, "USD"}};
    own::charge made;
    made.total = {1250, "EUR"};
    made.parts = {parts, 2};
    made.range = {own::money{0, "EUR"}, own::money{999, "EUR"}};
    made.budget = {7, "GBP"};
    made.money = own::money{3, "EUR"};
    return made;
}

static own::charge_result answer_charge(culex::run &, const own::charge &job)
{
    NEED(job.total.minor == 1250 && std::string_view(job.total.currency) == "EUR");
    NEED(!job.tip && job.money && job.money->minor == 3 && job.range[1].minor == 999);
    NEED(job.parts.size() == 2 && job.parts[1].minor == 2 && job.budget.minor == 7);
    own::charge_result made;
    made.paid = job.total;
    return made;
}

static void check_charge(const culex::client &client, const culex_uuid &id)
{
    auto record = client.get<own::charge>(id);
    EXPECT(record->state == CULEX_RUN_DONE);
    EXPECT(record.result().has_value() && record.result()->paid.minor == 1250);
}

struct board {
    std::atomic<int> asked, made, closed;
};

static board *seen = nullptr;

/* Has a state, without which it closes nothing, and throws. */
struct closing {
    board *told = nullptr;

    void operator()(std::string *made) const
    {
        if (told != nullptr)
            told->closed++;
        delete made;
        throw std::runtime_error("still busy");
    }
};

/* Nothing, the first time. */
static std::unique_ptr<std::string, closing> make_connection()
{
    if (seen->asked++ == 0)
        return nullptr;
    seen->made++;
    return std::unique_ptr<std::string, closing>(new std::string("a connection"), closing{seen});
}

/* Compiles. */
static std::unique_ptr<const std::FILE, int (*)(const std::FILE *)> make_file()
{
    return {stdin, [](const std::FILE *) { return 0; }};
}

/* --- a handler of each kind ------------------------------------------------------------------ */

static odd::union_result answer(culex::run &run, const odd::union_ &job)
{
    static const odd::template_ rest[] = {job.first};
    static const culex::bytes all[] = {job.octets};
    odd::union_result made;
    NEED(job.delete_me == NEW_CLASS_VIRTUAL && job.first.this_one == 5 && job.one.is_one);
    NEED(job.none.size() == 0 && job.octets.size() == 2 && run.attempt() == 1);
    made.number.rest = rest;
    made.all = all;
    return made;
}

/* `counted` is seen outside with isolation none only. */
static culex::worker make_worker(const culex_worker_options &options, int &counted)
{
    culex::worker worker(options);
    worker.on_process(make_file); /* the last one counts */
    worker.on_process(make_connection);
    worker.on<kitchen::required_of_all>(
        [&counted, own = std::string("captured")](culex::run &run, const auto &job) {
            NEED(own == "captured" && run.process<std::string>() == "a connection");
            check_required(job);
            counted++;
        });
    worker.on<kitchen::optional_of_all>(
        [](culex::run &, const kitchen::optional_of_all &job) { check_optional(job); });
    worker.on<kitchen::defaults_of_all>([](culex::run &run, const kitchen::defaults_of_all &job) {
        check_defaults(job);
        run.progress(50, "half");
        run.log("followed");
        kitchen::optional_of_all next;
        NEED(run.client().c() != nullptr);
        run.enqueue(next);
        return CULEX_DONE;
    });
    worker.on<own::charge>(answer_charge);
    worker.on<odd::union_>(answer);
    worker.on<odd::operator_>([](culex::run &run, const odd::operator_ &job) -> culex_outcome {
        if (job.culex == "discard")
            return run.discard("it is " + std::string(job.culex));
        throw std::invalid_argument("no " + std::string(job.culex));
    });
    worker.retire<odd::goto_>();
    return worker;
}

/* --- lists ---------------------------------------------------------------------------------- */

/* What a std::span<const int> says of the same values, a list of C++17 says too. */
static void check_list()
{
    using ints = culex::list<int>;
    static_assert(std::is_same_v<ints::element_type, const int>);
    static_assert(std::is_same_v<ints::value_type, int>);
    static_assert(std::is_same_v<ints::reference, const int &>);
    static_assert(std::is_same_v<ints::size_type, std::size_t>);
    static_assert(std::is_same_v<ints::difference_type, std::ptrdiff_t>);
    static_assert(std::is_same_v<std::iterator_traits<ints::iterator>::value_type, int>);
    static constexpr int values[] = {1, 2, 3, 4};
    constexpr ints four(values);
    static_assert(four.front() == 1 && four.back() == 4 && four[2] == 3 && !four.empty());
    static_assert(four.size_bytes() == sizeof values && four.data() == values);
    static_assert(four.first(2).back() == 2 && four.last(2).front() == 3);
    static_assert(four.first<1>().size() == 1 && four.last<1>().front() == 4);
    static_assert(four.subspan(1).size() == 3 && four.subspan(1, 2).back() == 3);
    static_assert(four.subspan<1>().front() == 2 && four.subspan<1, 2>().size() == 2);
    static_assert(four.subspan(4).empty() && ints().empty() && ints().data() == nullptr);
    EXPECT(std::vector<int>(four.rbegin(), four.rend()) == std::vector<int>({4, 3, 2, 1}));
    EXPECT(ints(four.begin(), four.size()).size() == 4);
    std::vector<int> grown(4, 7);
    ints shown = grown;
    EXPECT(shown.data() == grown.data() && shown.end() - shown.begin() == 4);
}

/* --- what is told --------------------------------------------------------------------------- */

template <typename Call> static std::map<std::string, std::string> told(Call call)
{
    try {
        call();
    } catch (const culex::error &it) {
        const auto *partial = dynamic_cast<const culex::partial_error *>(&it);
        return {{"what", it.what()},
                {"field", it.field()},
                {"name", culex_status_name(it.status())},
                {"enqueued", partial != nullptr ? std::to_string(partial->ids().size()) : "-"}};
    }
    return {};
}

/* Of runs that go together: which one is at fault, and what is in the store. */
static void check_many_errors(culex::client &client)
{
    culex::enqueue_options options;
    std::vector<kitchen::required_of_all> many(3, make_required());
    options.priority = 99;
    auto said = told([&] { client.enqueue_many(many, options); });
    EXPECT(said["name"] == "EINVAL" && said["enqueued"] == "-");
    options.priority.reset();
    many[1].s = std::string_view("a\0b", 3);
    said = told([&] { client.enqueue_many(many); });
    EXPECT(said["what"] == "run 1: s: a string holds no NUL" && said["field"] == "s");
    EXPECT(said["enqueued"] == "-");
    many.assign(300, make_required());
    many[0].s = many[299].s = std::string_view(); /* nobody has set it, as C notices */
    said = told([&] { client.enqueue_many(many); });
    EXPECT(said["what"].rfind("run 0: s: ", 0) == 0 && said["enqueued"] == "-");
    many[0].s = "set";
    options.queue = "layer.apart";
    said = told([&] { client.enqueue_many(many, options); });
    EXPECT(said["what"].rfind("run 299: s: ", 0) == 0 && said["enqueued"] == "299");
    options.idempotency_key = "one";
    said = told([&] { client.enqueue_many(many, options); });
    EXPECT(said["name"] == "EINVAL" && said["enqueued"] == "-");
    const std::string_view tags[] = {"fine", std::string_view("a\0b", 3)};
    options.tags = tags;
    said = told([&] { client.enqueue_many(many, options); });
    EXPECT(said["what"] == "tags[1]: a string holds no NUL"); /* of all runs */
}

static void check_errors(culex::client &client)
{
    std::string_view bad[] = {"fine", std::string_view("a\0b", 3)};
    kitchen::required_of_all job = make_required();
    kitchen::inner inner;
    inner.tags = bad;
    job.rows = culex::list<kitchen::inner>(&inner, 1);
    auto said = told([&] { client.enqueue(job); });
    EXPECT(said["field"] == "rows[0].tags[1]" && said["name"] == "EENCODE");
    EXPECT(said["what"] == "rows[0].tags[1]: a string holds no NUL");
    job = make_required();
    job.nested.two[1].tags = bad;
    said = told([&] { client.enqueue(job); });
    EXPECT(said["field"] == "nested.two[1].tags[1]");
    job = kitchen::required_of_all();
    said = told([&] { client.enqueue(job); }); /* nobody has set it */
    EXPECT(said["field"] == "s" && said["what"].rfind("s: ", 0) == 0);
    EXPECT(said["what"].find("s: s: ") == std::string::npos); /* C has it in the text */
    EXPECT(told([] { culex::client("nonsense:"); })["name"] == "EURL");
    EXPECT(told([&] { client.get<odd::union_>(culex_uuid()); })["name"] == "ENOTFOUND");
    culex::worker twice;
    twice.retire<odd::goto_>();
    said = told([&] { twice.on<odd::goto_>([](culex::run &, const odd::goto_ &) {}); });
    EXPECT(said["what"] == "job new.goto is registered already");
    culex::worker gone(std::move(twice));
    said = told([&] { twice.retire<odd::goto_>(); }); /* there is nobody to say why */
    EXPECT(said["what"] == "new.goto cannot be registered: invalid argument");
}

static const culex_worker *freed = nullptr; /* the last one */

/* In place of the library's for this program. */
extern "C" void culex_worker_free(culex_worker *worker)
{
    freed = worker;
    reinterpret_cast<void (*)(culex_worker *)>(dlsym(RTLD_NEXT, "culex_worker_free"))(worker);
}

/* C's worker points to handlers, so they live longer. */
static void check_moved_worker()
{
    culex::worker first, second;
    bool is_behind = false;
    auto end = [&is_behind](void *mine) { is_behind = freed == mine; };
    first.on<odd::union_>([held = std::shared_ptr<void>(first.c(), end)](
                              culex::run &, const odd::union_ &) { return CULEX_DONE; });
    culex_worker *kept = second.c();
    freed = nullptr; /* addresses come again */
    first = std::move(second);
    EXPECT(is_behind && first.c() == kept && second.c() == nullptr);
}

/* A worker within the set-up of another one: its trouble is the last that the program tells. */
static void check_setup()
{
    char name[] = "layer", url[] = "--url=memory:";
    char *arguments[] = {name, url, nullptr};
    EXPECT(culex::worker_main(2, arguments, [](culex::worker &worker) {
               culex::worker other;
               worker.retire<odd::operator_>();
               EXPECT(told([&] { worker.retire<odd::operator_>(); })["name"] == "EINVAL");
               other.retire<odd::goto_>();
               other.retire<odd::goto_>();
           }) == 1);
}

static void check_result(const culex::client &client, const culex_uuid &id)
{
    auto stored = client.get<odd::union_>(id);
    auto moved = std::move(stored);
    auto result = moved.result();
    EXPECT(moved->state == CULEX_RUN_DONE && result.has_value());
    if (!result.has_value())
        return std::puts(moved.info().error_text), void();
    EXPECT(!result->number.rest.empty() && result->number.rest[0].this_one == 5);
    EXPECT(result->number.rest[0].std.size() == 3 && result->number.rest[0].std[2] == long_text);
    EXPECT(result->all.size() == 1 && is_bytes(result->all[0], odd::union_().octets));
}

/* Deprecated jobs are enqueued by their old producers. */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
static culex_uuid enqueue_operator(culex::client &client, std::string_view what)
{
    odd::operator_ job;
    job.culex = what;
    return client.enqueue(job);
}
#pragma GCC diagnostic pop

/* --- runs ----------------------------------------------------------------------------------- */

static culex_uuid enqueue_union(culex::client &client)
{
    culex::enqueue_options options;
    culex_enqueue_outcome outcome = CULEX_ENQUEUE_KEPT;
    odd::union_ job;
    const std::string_view tags[] = {"a", "b"};
    job.first.this_one = 5;
    job.first.std = texts;
    job.one.is_one = true;
    options.ticket = client.new_ticket();
    options.tags = tags;
    options.priority = 9;
    options.ret_outcomes = &outcome;
    culex_uuid id = client.enqueue(job, options);
    EXPECT(is_same(id, client.enqueue(job, options)) && outcome == CULEX_ENQUEUE_NEW);
    auto stored = client.get<odd::union_>(id);
    EXPECT(std::string_view(stored->tags) == "a,b" && stored->priority == 9);
    return id;
}

static void check_done(const culex::client &client, const culex_job_type &type, unsigned count)
{
    culex_queue_stats stats{};
    culex_error error{};
    culex::check(culex_client_stats(client.c(), type.queue, &stats, &error), error);
    EXPECT(stats.done == count && stats.failed == 0);
}

/* In a loop of ours. */
static void check_embedded(culex::client &client, const culex_worker_options &options)
{
    int counted = 0;
    culex::worker worker = make_worker(options, counted);
    EXPECT(worker.fd() == -1);
    client.enqueue(kitchen::defaults_of_all());
    worker.start();
    for (bool goes_on = true; goes_on; goes_on = worker.process(5)) {
        struct pollfd fd = {worker.fd(), POLLIN, 0};
        poll(&fd, 1, 10000);
    }
    check_done(client, kitchen_defaults_of_all_job_type, 2);
    bool is_refused = false;
    try {
        (void)worker.process(5); /* it is over */
    } catch (const culex::error &) {
        is_refused = true;
    }
    EXPECT(is_refused);
}

static void check_all(const char *url, culex_isolation isolation)
{
    culex::client first(url), client(std::move(first));
    culex_uuid result = enqueue_union(client);
    culex_uuid thrown = enqueue_operator(client, "way"),
               discarded = enqueue_operator(client, "discard");
    std::vector<kitchen::optional_of_all> many = {make_optional(), kitchen::optional_of_all()};
    culex_uuid one = client.enqueue(make_required());
    culex_uuid charge = client.enqueue(make_charge());
    EXPECT(is_same(charge, client.enqueue(make_charge()))); /* by its text they are one */
    EXPECT(client.enqueue_many(many).size() == 2);
    client.enqueue(kitchen::defaults_of_all());
    check_errors(client);
    check_many_errors(client);

    culex_worker_options options{};
    int counted = 0;
    options.url = url;
    options.drain = true;
    options.isolation = isolation;
    options.concurrency = 2;
    options.log_level = 2;
    make_worker(options, counted).run();
    EXPECT(seen->asked > seen->made && seen->closed > 0);
    EXPECT(seen->closed == seen->made || isolation == CULEX_ISOLATION_PROCESS);
    EXPECT(counted == (isolation == CULEX_ISOLATION_NONE));

    check_done(client, kitchen_required_of_all_job_type, 1);
    check_done(client, kitchen_optional_of_all_job_type, 3);
    check_done(client, kitchen_defaults_of_all_job_type, 1);
    check_embedded(client, options);
    EXPECT(culex::to_string(one).size() == 36);
    check_result(client, result);
    check_charge(client, charge);
    auto dead = client.get<odd::operator_>(thrown);
    EXPECT(std::string_view(dead->error_text) == "threw std::invalid_argument: no way");
    dead = client.get<odd::operator_>(discarded);
    EXPECT(std::string_view(dead->error_text) == "it is discard" && dead->state == CULEX_RUN_DEAD);
    client.retry<odd::operator_>(discarded);
    EXPECT(client.cancel<odd::operator_>(discarded) == CULEX_RUN_CANCELLED);
}

int main(int, char **argv)
{
    void *shared =
        mmap(nullptr, sizeof *seen, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    seen = new (shared) board();
    check_list();
    check_setup();
    check_moved_worker();
    try {
        check_all(argv[1], std::string_view(argv[2]) == "none" ? CULEX_ISOLATION_NONE
                                                               : CULEX_ISOLATION_PROCESS);
    } catch (const std::exception &it) {
        std::printf("threw %s\n", it.what());
        failed++;
    }
    return failed != 0;
}
