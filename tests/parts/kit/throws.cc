// throws.cc - the kit in C++: failures are exceptions, handlers throw, macros are typed.
#include <cstring>
#include <iostream>
#include <stdexcept>
#include <string>

#include <culex_test.h>

#include "kit_job.h"

namespace
{

struct failure : std::runtime_error {
    failure(const char *file, int line, const char *text)
        : std::runtime_error(std::string(file) + ":" + std::to_string(line) + ": " + text)
    {
    }
};

void failure_throw(void *, const char *file, int line, const char *text)
{
    throw failure(file, line, text);
}

// A kit that closes itself, also while an exception passes.
class kit
{
  public:
    kit() : c_(nullptr)
    {
        culex_error error;
        if (culex_test_open(nullptr, &c_, &error) != CULEX_OK)
            throw std::runtime_error(error.text);
        culex_test_on_failure(c_, failure_throw, nullptr);
    }
    kit(const kit &) = delete;
    kit &operator=(const kit &) = delete;
    ~kit()
    {
        culex_test_close(c_);
    }
    culex_test *c() const
    {
        return c_;
    }

  private:
    culex_test *c_;
};

void expect(bool holds, const char *what)
{
    if (!holds)
        throw std::runtime_error(what);
}

culex_outcome letter(culex_run *, const kit_letter_job *job, void *)
{
    throw std::domain_error(std::string("no ink for ") + job->to);
}

void send(culex_test *test, const char *to)
{
    culex_error error;
    const kit_letter_job job = kit_letter_job_make(to);
    expect(kit_letter_job_enqueue(culex_test_client(test), &job, nullptr, nullptr, &error) ==
               CULEX_OK,
           error.text);
}

void claims_throw()
{
    kit test;
    try {
        CULEX_TEST_ONE(test.c(), kit_letter_job);
    } catch (const failure &it) {
        expect(std::strstr(it.what(), "throws.cc:") != nullptr, it.what());
        expect(std::strstr(it.what(), "found 0; pending: nothing") != nullptr, it.what());
        return;
    }
    expect(false, "no failure");
}

void claims_hold()
{
    kit test;
    send(test.c(), "ann");
    const kit_letter_job *job = CULEX_TEST_ENQUEUED(test.c(), kit_letter_job, "to", "ann");
    expect(job->copies == 1, "copies");
    expect(CULEX_TEST_ONE(test.c(), kit_letter_job)->format == KIT_SIZE_SMALL, "format");
    CULEX_TEST_COUNT(test.c(), kit_letter_job, 1);
    CULEX_TEST_QUEUE(test.c(), kit_letter_job, "mail");
    CULEX_TEST_DELAY(test.c(), kit_letter_job, 0);
    CULEX_TEST_TAG(test.c(), kit_letter_job, "post");
    CULEX_TEST_PRIORITY(test.c(), kit_letter_job, 0);
    CULEX_TEST_STATE(test.c(), CULEX_TEST_RUN(test.c(), kit_letter_job)->id, CULEX_RUN_WAITING);
    CULEX_TEST_NONE(test.c(), kit_receipt_job);
}

void handlers_throw()
{
    kit test;
    expect(kit_letter_job_register(culex_test_worker(test.c()), letter, nullptr) == CULEX_OK,
           "register");
    send(test.c(), "bob");
    expect(CULEX_TEST_DRAIN(test.c()) == 1, "drain");
    const culex_test_call *call = CULEX_TEST_LAST(test.c(), kit_letter_job);
    expect(call->outcome == CULEX_FAILED, "outcome");
    expect(std::strcmp(call->text, "threw std::domain_error: no ink for bob") == 0, call->text);
    expect(std::strcmp(CULEX_TEST_PARAMS(test.c(), kit_letter_job)->to, "bob") == 0, "params");
    expect(CULEX_TEST_DRAIN_THROUGH(test.c(), culex_hours(1)) == 3, "retries");
    CULEX_TEST_IDLE(test.c());
}

// A step of a chain has its result without a handler.
void stand_ins_return()
{
    kit test;
    const kit_weigh_result result = kit_weigh_result_make("a vase", 500);
    const kit_weigh_job job = kit_weigh_job_make("a vase");
    expect(culex_worker_register_chain(culex_test_worker(test.c()), &kit_parcel_chain_type) ==
               CULEX_OK,
           "register");
    CULEX_TEST_FAKE_RESULT(test.c(), kit_weigh_job, &result);
    expect(kit_parcel_chain_enqueue(culex_test_client(test.c()), &job, nullptr, nullptr, nullptr) ==
               CULEX_OK,
           "enqueue");
    CULEX_TEST_RUN_ONE(test.c());
    expect(CULEX_TEST_ONE(test.c(), kit_stamp_job)->grams == 500, "grams");
}

culex_outcome letter_claim(culex_run *, const kit_letter_job *, void *user)
{
    CULEX_TEST_ONE(static_cast<culex_test *>(user), kit_receipt_job);
    return CULEX_DONE;
}

// A failure within a handler is one of the run, as whatever a handler throws.
void a_claim_in_a_handler_fails_its_run()
{
    kit test;
    expect(kit_letter_job_register(culex_test_worker(test.c()), letter_claim, test.c()) == CULEX_OK,
           "register");
    send(test.c(), "bob");
    CULEX_TEST_DRAIN(test.c());
    expect(std::strstr(CULEX_TEST_LAST(test.c(), kit_letter_job)->text, "kit.receipt") != nullptr,
           "text");
}

} // namespace

int main()
{
    try {
        claims_throw();
        claims_hold();
        handlers_throw();
        stand_ins_return();
        a_claim_in_a_handler_fails_its_run();
    } catch (const std::exception &it) {
        std::cerr << it.what() << '\n';
        return 1;
    }
    std::cout << "holds\n";
    return 0;
}
