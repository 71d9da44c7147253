/* A worker in C++ whose handler throws what its run asks for.
 *
 *     throws URL ISOLATION WHAT...
 *
 * runs one run for each WHAT, and prints a line of each: what, state, attempts, crashes, error
 * text. */
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <new>
#include <stdexcept>
#include <string>
#include <vector>

extern "C" {
#include "throws_job.h"
}

namespace post
{

struct no_such_box : std::runtime_error {
    explicit no_such_box(const std::string &name) : std::runtime_error("no box of " + name)
    {
    }
};

struct odd {
};

struct office {
    __attribute__((noinline)) void deliver(int letters) const
    {
        if (letters > 0)
            std::abort();
    }
};

static culex_outcome handle(culex_run *run, const cxx_thrower_job *job, void *user)
{
    const std::string what = job->what;
    (void)user;
    if (what == "error")
        throw no_such_box("Ann");
    if (what == "number")
        throw 42;
    if (what == "odd")
        throw odd();
    if (what == "text")
        throw "a word";
    if (what == "string")
        throw std::string("words");
    if (what == "mute")
        throw std::runtime_error("");
    if (what == "nested") {
        try {
            throw no_such_box("Bob");
        } catch (...) {
            std::throw_with_nested(std::logic_error("letters are lost"));
        }
    }
    if (what == "memory")
        throw std::bad_alloc();
    if (what == "once" && culex_run_attempt(run) == 1)
        throw std::logic_error("the first time");
    if (what == "crash")
        office().deliver(static_cast<int>(what.size()));
    return CULEX_DONE;
}

} /* namespace post */

static void check(culex_status status, const culex_error &error)
{
    if (status == CULEX_OK)
        return;
    std::fprintf(stderr, "%s: %s\n", culex_status_name(status), error.text);
    std::exit(1);
}

static void work(const char *url, const char *isolation)
{
    culex_error error = {};
    culex_worker *worker = nullptr;
    culex_worker_options options = {};
    options.url = url;
    options.drain = true;
    options.concurrency = 2;
    options.isolation =
        std::strcmp(isolation, "none") == 0 ? CULEX_ISOLATION_NONE : CULEX_ISOLATION_PROCESS;
    check(culex_worker_create(&options, &worker, &error), error);
    check(cxx_thrower_job_register(worker, post::handle, nullptr), error);
    check(culex_worker_run(worker, &error), error);
    culex_worker_free(worker);
}

int main(int argc, char **argv)
{
    culex_error error = {};
    culex_client *client = nullptr;
    std::vector<culex_uuid> ids(static_cast<size_t>(argc));
    check(culex_client_open(argv[1], nullptr, &client, &error), error);
    for (int i = 3; i < argc; i++) {
        cxx_thrower_job job = cxx_thrower_job_make(argv[i]);
        check(cxx_thrower_job_enqueue(client, &job, nullptr, &ids[static_cast<size_t>(i)], &error),
              error);
    }
    culex_client_close(client);
    work(argv[1], argv[2]);
    check(culex_client_open(argv[1], nullptr, &client, &error), error);
    for (int i = 3; i < argc; i++) {
        culex_run_info *info = nullptr;
        check(culex_client_get(client, cxx_thrower_job_type.queue, ids[static_cast<size_t>(i)],
                               &info, &error),
              error);
        std::printf("%s|%s|%u|%u|%s\n", argv[i], culex_run_state_name(info->state), info->attempt,
                    info->crashes, info->error_text);
        culex_run_info_free(info);
    }
    culex_client_close(client);
    return 0;
}
