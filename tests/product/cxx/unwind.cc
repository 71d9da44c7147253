/* The guard of culex/exception.h against a stand-in for the runtime: a thread that ends by
 * pthread_exit in its handler passes through, and one that throws does not. */
#include <cstdarg>
#include <cstdio>
#include <pthread.h>

#include "throws_job.h"

static struct {
    culex_handler_call call;
    culex_handler_fn handler;
} known;

extern "C" culex_status culex_worker_register(culex_worker *, const culex_job_type *,
                                              culex_handler_call call, culex_handler_fn handler,
                                              void *)
{
    known.call = call;
    known.handler = handler;
    return CULEX_OK;
}

static int retirements;

extern "C" culex_status(cxx_thrower_job_register)(culex_worker *, cxx_thrower_job_handler, void *)
{
    retirements++;
    return CULEX_EINVAL;
}

extern "C" culex_outcome culex_run_fail(culex_run *, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    std::vprintf(format, list);
    va_end(list);
    std::printf("\n");
    return CULEX_FAILED;
}

const culex_job_type cxx_thrower_job_type = {};

static int left = 0;

struct leaver {
    ~leaver()
    {
        left++;
    }
};

static culex_outcome leave(culex_run *, const cxx_thrower_job *job, void *user)
{
    leaver here;
    if (job == nullptr)
        throw 42;
    pthread_exit(user);
}

static void *call(void *user)
{
    cxx_thrower_job job = cxx_thrower_job_make("");
    known.call(nullptr, known.handler, &job, user);
    return nullptr;
}

static bool is_left()
{
    int token = 0;
    void *returned = nullptr;
    pthread_t thread;
    return pthread_create(&thread, nullptr, call, &token) == 0 &&
           pthread_join(thread, &returned) == 0 && returned == &token && left == 1;
}

int main()
{
    if (cxx_thrower_job_register(nullptr, nullptr, nullptr) != CULEX_EINVAL || retirements != 1)
        return 1;
    if (cxx_thrower_job_register(nullptr, leave, nullptr) != CULEX_OK || retirements != 1)
        return 2;
    if (!is_left())
        return 3;
    if (known.call(nullptr, known.handler, nullptr, nullptr) != CULEX_FAILED || left != 2)
        return 4;
    return 0;
}
