/* culex/exception.h - what a handler in C++ throws is a failure of its run.
 *
 * No exception may pass through the C of the runtime: it would end the process. So in C++ a
 * generated P_register is a macro too, which puts a function between the worker and the handler
 * that catches, and records the exception's type and what() as culex_run_fail does.
 * `(P_register)(...)` is the bare function, without that. With -fno-exceptions there is nothing to
 * catch.
 */
#ifndef CULEX_EXCEPTION_H
#define CULEX_EXCEPTION_H

#include <culex/worker.h>

#if defined(__cplusplus) && defined(__cpp_exceptions)
extern "C++" { /* also for who includes C headers inside extern "C" */

#include <cstdlib>
#include <exception>
#include <typeinfo>
#if defined(__GNUC__)
#include <cxxabi.h>
#endif

/* A name that bears a `::` before it, and that no namespace called culex hides. The call is written
 * in the generated header; see culex/typed.h. */
#define CULEX_REGISTER(job) culex_guard<job>::enter

namespace culex
{

/* Between the worker and the handlers of one job. */
template <typename Job> class guard
{
  public:
    using handler = culex_outcome (*)(culex_run *run, const Job *job, void *user);
    using plain_register = culex_status (*)(culex_worker *worker, handler function, void *user);

    CULEX_MUST_USE static culex_status enter(plain_register plain, const culex_job_type *type,
                                             culex_worker *worker, handler function, void *user)
    {
        if (function == nullptr) /* a retired job, or a mistake: the plain one knows */
            return plain(worker, function, user);
        return culex_worker_register(worker, type, call,
                                     reinterpret_cast<culex_handler_fn>(function), user);
    }

  private:
    static culex_outcome call(culex_run *run, culex_handler_fn function, const void *params,
                              void *user)
    {
        try {
            return reinterpret_cast<handler>(function)(run, static_cast<const Job *>(params), user);
#if defined(__GLIBCXX__)
        } catch (abi::__forced_unwind &) { /* pthread_exit, which must not be stopped */
            throw;
#endif
        } catch (const std::exception &thrown) {
            return failed(run, ": ", thrown.what());
        } catch (...) {
            return failed(run, "", "");
        }
    }

    /* Called while the exception is being handled. */
    static culex_outcome failed(culex_run *run, const char *gap, const char *what)
    {
#if defined(__GNUC__)
        const std::type_info *type = abi::__cxa_current_exception_type();
        const char *mangled = type != nullptr ? type->name() : "an exception of another language";
        char *name = abi::__cxa_demangle(mangled, nullptr, nullptr, nullptr);
        culex_outcome outcome =
            culex_run_fail(run, "threw %s%s%s", name != nullptr ? name : mangled, gap, what);
        std::free(name);
        return outcome;
#else
        return culex_run_fail(run, "threw an exception%s%s", gap, what);
#endif
    }
};

} /* namespace culex */

template <typename Job> using culex_guard = culex::guard<Job>;
}
#endif

#endif
