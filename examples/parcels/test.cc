// parcels/test.cc - both programs tested in this one: claims that fail throw.
#include <culex_test.h>

#define main parcels_main
#include "parcels.cc"
#undef main
#define main worker_main
#include "worker.cc"
#undef main

namespace
{

void fail(void *, const char *file, int line, const char *text)
{
    throw std::runtime_error(std::string(file) + ":" + std::to_string(line) + ": " + text);
}

void expect(bool holds, const std::string &what)
{
    if (!holds)
        throw std::runtime_error(what);
}

// A kit with the worker's handlers, which closes itself. What it lends is the kit's to free.
struct kit {
    culex_test *const test = open();
    culex::client client = culex::client::borrow(culex_test_client(test));
    culex::worker worker = culex::worker::borrow(culex_test_worker(test));

    kit()
    {
        culex_test_on_failure(test, fail, nullptr);
        set_up(worker);
    }
    kit(const kit &) = delete;
    kit &operator=(const kit &) = delete;
    ~kit()
    {
        culex_test_close(test);
    }

    static culex_test *open()
    {
        culex_test *made = nullptr;
        if (culex_test_open(nullptr, &made, nullptr) != CULEX_OK)
            throw std::bad_alloc();
        return made;
    }
};

void a_parcel_is_packed()
{
    kit it;
    pack(it.client, {"Ann", "pen=20"});
    const auto *parcel =
        CULEX_TEST_ENQUEUED(it.test, post_pack_parcel_job, "to", "Ann", "speed", "FAST");
    expect(parcel->items_len == 1 && parcel->items[0].grams == 20, "items");
    const culex_test_call *call = CULEX_TEST_RUN_ONE(it.test);
    expect(call->outcome == CULEX_DONE, call->text);
    const auto run = it.client.get<pack_parcel>(call->id);
    const auto result = run.result();
    expect(result->label == "Ann, by air", std::string(result->label));
}

void a_heavy_parcel_is_tried_twice()
{
    kit it;
    pack(it.client, {"Dan", "lead=30001"});
    expect(CULEX_TEST_DRAIN_THROUGH(it.test, culex_seconds(1)) == 2, "calls");
    const culex_test_call *call = CULEX_TEST_LAST(it.test, post_pack_parcel_job);
    expect(std::string_view(call->text) ==
               "threw std::runtime_error: 30001 g are too much for the scales",
           call->text);
    CULEX_TEST_STATE(it.test, call->id, CULEX_RUN_DEAD);
}

void a_parcel_without_an_item_has_a_note()
{
    kit it;
    pack(it.client, {"Eve"});
    CULEX_TEST_ENQUEUED(it.test, post_pack_parcel_job, "note", "nothing in it", "items", "[]");
}

} // namespace

int main()
{
    try {
        a_parcel_is_packed();
        a_heavy_parcel_is_tried_twice();
        a_parcel_without_an_item_has_a_note();
    } catch (const std::exception &it) {
        std::cerr << it.what() << '\n';
        return 1;
    }
    return 0;
}
