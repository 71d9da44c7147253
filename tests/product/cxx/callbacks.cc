/* Callbacks that throw: in the set-up of a process, of a program, in visitors and in hooks.
 *
 *     callbacks open ISOLATION | setup | visit | hooks ISOLATION
 */
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <stdexcept>
#include <unistd.h>

#include "throws_job.h"

/* Once in vain; the second process finds the mark. */
static culex_status open_process(void *user, void **ret_process, culex_error *)
{
    const char *mark = static_cast<const char *>(user);
    *ret_process = nullptr;
    if (access(mark, F_OK) == 0)
        return CULEX_OK;
    std::fclose(std::fopen(mark, "w"));
    throw std::runtime_error("no database");
}

static void close_process(void *, void *)
{
    throw std::runtime_error("still busy");
}

static culex_outcome handle(culex_run *, const cxx_thrower_job *, void *)
{
    return CULEX_DONE;
}

static int set_up(culex_worker *worker, void *user)
{
    if (user == nullptr)
        throw std::runtime_error("no setting");
    return culex_worker_on_process(worker, open_process, close_process, user) != CULEX_OK ||
           cxx_thrower_job_register(worker, handle, nullptr) != CULEX_OK;
}

static void enqueue(void)
{
    culex_client *client = nullptr;
    cxx_thrower_job job = cxx_thrower_job_make("");
    if (culex_client_open("sqlite:calls.db", nullptr, &client, nullptr) != CULEX_OK ||
        cxx_thrower_job_enqueue(client, &job, nullptr, nullptr, nullptr) != CULEX_OK)
        std::exit(3);
    culex_client_close(client);
}

static int work(const char *isolation)
{
    char mark[] = "mark", name[] = "callbacks", drain[] = "--drain", store[] = "sqlite:calls.db";
    char *arguments[] = {name, drain, nullptr};
    setenv("CULEX_URL", store, 1);
    setenv("CULEX_ISOLATION", isolation != nullptr ? isolation : "process", 1);
    unlink(mark);
    return culex_worker_main(2, arguments, set_up, isolation != nullptr ? mark : nullptr);
}

template <typename Visit> static void say(Visit visit)
{
    try {
        if (visit() == CULEX_OK)
            std::puts("untold");
    } catch (const std::runtime_error &thrown) {
        std::puts(thrown.what());
    }
}

static void visit_all(culex_client *client)
{
    culex_list_cursor cursor{};
    say([&] {
        return culex_client_list(
            client, cxx_thrower_job_type.queue, CULEX_RUN_WAITING, &cursor, 0,
            [](const culex_run_info *, void *) -> bool { throw std::runtime_error("visitor 1"); },
            nullptr, nullptr);
    });
    say([&] {
        return culex_client_queues(
            client, [](const char *, void *) -> bool { throw std::runtime_error("visitor 2"); },
            nullptr, nullptr);
    });
    say([&] {
        return culex_client_live(
            client, nullptr, false,
            [](const culex_live_schema *, void *) -> bool {
                throw std::runtime_error("visitor 3");
            },
            nullptr, nullptr);
    });
}

static culex_status refuse(culex_enqueue_call *, void *, culex_error *)
{
    throw std::runtime_error("no right");
}

static culex_outcome before(culex_run *, const void *, void *)
{
    throw std::runtime_error("before");
}

static culex_outcome around(culex_run *run, const void *, culex_next *next, void *)
{
    if (culex_next_call(next) == CULEX_DONE && culex_run_attempt(run) == 1)
        throw std::runtime_error("around");
    return CULEX_DONE;
}

static culex_outcome after(culex_run *, const void *, culex_outcome, const char *, void *)
{
    throw std::runtime_error("after");
}

static int hooks_add(culex_worker *worker, void *)
{
    culex_hook first = {"first", nullptr, around, after, nullptr};
    culex_hook second = {"second", before, nullptr, nullptr, nullptr};
    return cxx_thrower_job_register(worker, handle, nullptr) != CULEX_OK ||
           culex_worker_add_hook(worker, nullptr, &first) != CULEX_OK ||
           culex_worker_add_hook(worker, &cxx_thrower_job_type, &second) != CULEX_OK;
}

static int work_with_hooks(char *isolation)
{
    culex_client *client = nullptr;
    culex_error error;
    cxx_thrower_job job = cxx_thrower_job_make("");
    char name[] = "callbacks", drain[] = "--drain";
    char *arguments[] = {name, drain, nullptr};
    setenv("CULEX_URL", "sqlite:calls.db", 1);
    setenv("CULEX_ISOLATION", isolation, 1);
    if (culex_client_open(nullptr, nullptr, &client, nullptr) != CULEX_OK ||
        culex_client_on_enqueue(client, refuse, nullptr, nullptr) != CULEX_OK)
        return 3;
    if (cxx_thrower_job_enqueue(client, &job, nullptr, nullptr, &error) == CULEX_EINVAL)
        std::puts(error.text);
    culex_client_close(client);
    return culex_worker_main(2, arguments, hooks_add, nullptr);
}

int main(int argc, char **argv)
{
    dup2(STDOUT_FILENO, STDERR_FILENO);
    std::setvbuf(stdout, nullptr, _IONBF, 0);
    enqueue();
    if (std::strcmp(argv[1], "hooks") == 0)
        return work_with_hooks(argv[2]);
    if (std::strcmp(argv[1], "visit") == 0) {
        culex_client *client = nullptr;
        if (culex_client_open("sqlite:calls.db", nullptr, &client, nullptr) != CULEX_OK)
            return 3;
        visit_all(client);
        culex_client_close(client);
        return 0;
    }
    try {
        int code = work(argc > 2 ? argv[2] : nullptr);
        std::printf("main ends: %d\n", code);
    } catch (const std::exception &thrown) {
        std::printf("main ends: caught %s\n", thrown.what());
    }
    return 0;
}
