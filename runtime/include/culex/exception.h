/* culex/exception.h - catches what a callback in C++ throws, before it reaches the runtime's C.
 *
 * No exception may pass through C: C code would free and put back nothing, and in a child the
 * exception would arrive in the program's own main, a second time. So in C++ a generated
 * P_register, and each function of Culex that takes a callback, is also a macro, which puts a
 * catching function between the runtime and the callback:
 * - a handler's run fails, with the exception's type and text as culex_run_fail has them;
 * - the `open` of a process has failed, with that in error->text, and what a `close` throws is
 *   written to stderr;
 * - a hook of a run has failed, as by culex_run_fail, and one before an enqueue has refused it;
 * - the set-up of culex_worker_main has failed, as culex_worker_setup_failed has it;
 * - a visitor is not called again, and the exception leaves the call that visits.
 * The text is what() or, of a string that was thrown, the string; then what is nested in it.
 * `(P_register)(...)` calls the function without the macro. With -fno-exceptions there is nothing
 * to catch.
 */
#ifndef CULEX_EXCEPTION_H
#define CULEX_EXCEPTION_H

#include <culex/client.h>
#include <culex/hooks.h>
#include <culex/maintain.h>
#include <culex/worker.h>

#if defined(__cplusplus) && defined(__cpp_exceptions)
extern "C++" { /* also for who includes C headers inside extern "C" */

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <string>
#include <typeinfo>
#if defined(__GNUC__)
#include <cxxabi.h>
#endif

/* Names that bear a `::` before them, and that no namespace called culex hides. The call of a
 * handler's is written in the generated header; see culex/typed.h. */
#define CULEX_REGISTER(job) culex_guard<job>::enter

/* pthread_exit unwinds as an exception does, and must not be stopped. */
#if defined(__GLIBCXX__)
#define CULEX_LET_THREAD_END                                                                       \
    catch (abi::__forced_unwind &)                                                                 \
    {                                                                                              \
        throw;                                                                                     \
    }
#else
#define CULEX_LET_THREAD_END
#endif

/* Schemas may have types by the names that parameters have here. */
CULEX_GENERATED_BEGIN
#if defined(__clang__) && __clang_major__ >= 16 /* bounds are counted here, as C++11 has no span   \
                                                 */
#pragma clang diagnostic ignored "-Wunsafe-buffer-usage"
#endif
namespace culex
{

/* What is told of the exception that is being handled. */
class thrown
{
  public:
    thrown() : text_(), len_(0)
    {
        add("threw ");
        add_exception(NESTED_MAX);
    }

    const char *text() const
    {
        return text_;
    }

  private:
    enum { NESTED_MAX = 8 };

    char text_[1024];
    std::size_t len_;

    void add(const char *text)
    {
        while (*text != '\0' && len_ + 1 < sizeof text_)
            text_[len_++] = *text++;
    }

    void add_exception(int left)
    {
        try {
            throw;
        } catch (const std::exception &it) {
            add_type();
            add_what(it.what());
        } catch (const char *it) {
            add_type();
            add_what(it);
        } catch (const std::string &it) { /* whose type has a long name */
            add("std::string");
            add_what(it.c_str());
        } catch (...) { /* it has no text */
            add_type();
        }
        if (left > 0)
            add_nested(left);
    }

    void add_what(const char *what)
    {
        if (what == nullptr || *what == '\0')
            return;
        add(": ");
        add(what);
    }

    void add_nested(int left)
    {
        try {
            throw;
        } catch (const std::nested_exception &outer) {
            add_inner(outer, left);
        } catch (...) { /* nothing is nested in it */
        }
    }

    void add_inner(const std::nested_exception &outer, int left)
    {
        if (outer.nested_ptr() == nullptr)
            return;
        try {
            outer.rethrow_nested();
        } catch (...) {
            add("; nested in it: ");
            add_exception(left - 1);
        }
    }

    void add_type()
    {
#if defined(__GNUC__)
        const std::type_info *type = abi::__cxa_current_exception_type();
        const char *mangled = type != nullptr ? type->name() : "an exception of another language";
        char *name = abi::__cxa_demangle(mangled, nullptr, nullptr, nullptr);
        add_name(name != nullptr ? name : mangled);
        std::free(name);
#else
        add("an exception");
#endif
    }

    /* std::throw_with_nested throws a type of the library's own around the one that is meant. */
    void add_name(const char *name)
    {
        static const char wrapper[] = "std::_Nested_exception<";
        if (std::strncmp(name, wrapper, sizeof wrapper - 1) != 0)
            return add(name);
        add(name + sizeof wrapper - 1);
        if (len_ > 0 && text_[len_ - 1] == '>')
            text_[--len_] = '\0';
    }
};

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
        }
        CULEX_LET_THREAD_END
        catch (...)
        {
            return culex_run_fail(run, "%s", thrown().text());
        }
    }
};

/* Between the worker and what its processes have once. */
inline culex_status call_open(culex_process_open open, void *user, void **ret_process,
                              culex_error *error)
{
    try {
        return open(user, ret_process, error);
    }
    CULEX_LET_THREAD_END
    catch (...)
    {
        error->code = CULEX_EINVAL;
        std::snprintf(error->text, sizeof error->text, "%.*s",
                      static_cast<int>(sizeof error->text) - 1, thrown().text());
        return CULEX_EINVAL;
    }
}

inline void call_close(culex_process_close close, void *process, void *user)
{
    try {
        close(process, user);
    }
    CULEX_LET_THREAD_END
    catch (...)
    {
        std::fprintf(stderr, "the close of culex_worker_on_process %s\n", thrown().text());
    }
}

/* Between the worker and the hooks of its runs. What an `around` calls lets no exception pass. */
struct hook_calls {
    static culex_outcome before(const culex_hook *hook, culex_run *run, const void *params)
    {
        try {
            return hook->before(run, params, hook->user);
        }
        CULEX_LET_THREAD_END
        catch (...)
        {
            return culex_run_fail(run, "%s", thrown().text());
        }
    }

    static culex_outcome around(const culex_hook *hook, culex_run *run, const void *params,
                                culex_next *next)
    {
        try {
            return hook->around(run, params, next, hook->user);
        }
        CULEX_LET_THREAD_END
        catch (...)
        {
            return culex_run_fail(run, "%s", thrown().text());
        }
    }

    static culex_outcome after(const culex_hook *hook, culex_run *run, const void *params,
                               culex_outcome outcome, const char *text)
    {
        try {
            return hook->after(run, params, outcome, text, hook->user);
        }
        CULEX_LET_THREAD_END
        catch (...)
        {
            return culex_run_fail(run, "%s", thrown().text());
        }
    }
};

inline culex_status call_enqueue_hook(culex_enqueue_hook hook, culex_enqueue_call *call, void *user,
                                      culex_error *error)
{
    try {
        return hook(call, user, error);
    }
    CULEX_LET_THREAD_END
    catch (...)
    {
        std::snprintf(error->text, sizeof error->text, "%.*s",
                      static_cast<int>(sizeof error->text) - 1, thrown().text());
        return CULEX_EINVAL;
    }
}

/* The set-up of a whole program. */
struct setup {
    culex_worker_setup function;
    void *user;

    static int call(culex_worker *worker, void *user)
    {
        const setup *self = static_cast<const setup *>(user);
        try {
            return self->function(worker, self->user);
        }
        CULEX_LET_THREAD_END
        catch (...)
        {
            return culex_worker_setup_failed(worker, "%s", thrown().text());
        }
    }
};

/* Between a call that visits and its visitor. */
template <typename Item> class visitor
{
  public:
    using function = bool (*)(Item item, void *user);

    visitor(function visit, void *user) : visit_(visit), user_(user), thrown_()
    {
    }

    /* The bare function is to know that there is none. */
    function entrance() const
    {
        return visit_ != nullptr ? call : nullptr;
    }

    culex_status leave(culex_status status) const
    {
        if (thrown_ != nullptr)
            std::rethrow_exception(thrown_);
        return status;
    }

  private:
    function visit_;
    void *user_;
    std::exception_ptr thrown_;

    static bool call(Item item, void *user)
    {
        visitor *self = static_cast<visitor *>(user);
        try {
            return self->visit_(item, self->user_);
        }
        CULEX_LET_THREAD_END
        catch (...)
        {
            self->thrown_ = std::current_exception();
            return false;
        }
    }
};

} /* namespace culex */

template <typename Job> using culex_guard = culex::guard<Job>;

CULEX_MUST_USE inline culex_status culex_guarded_on_process(culex_worker *worker,
                                                            culex_process_open open,
                                                            culex_process_close close, void *user)
{
    return culex_worker_on_process_by(worker, culex::call_open, culex::call_close, open, close,
                                      user);
}

CULEX_MUST_USE inline culex_status
culex_guarded_add_hook(culex_worker *worker, const culex_job_type *type, const culex_hook *hook)
{
    static const culex_hook_calls calls = {culex::hook_calls::before, culex::hook_calls::around,
                                           culex::hook_calls::after};
    return culex_worker_add_hook_by(worker, type, hook, &calls);
}

CULEX_MUST_USE inline culex_status culex_guarded_client_on_enqueue(culex_client *client,
                                                                   culex_enqueue_hook hook,
                                                                   void *user, culex_error *error)
{
    return culex_client_on_enqueue_by(client, culex::call_enqueue_hook, hook, user, error);
}

CULEX_MUST_USE inline culex_status
culex_guarded_worker_on_enqueue(culex_worker *worker, culex_enqueue_hook hook, void *user)
{
    return culex_worker_on_enqueue_by(worker, culex::call_enqueue_hook, hook, user);
}

CULEX_MUST_USE inline int culex_guarded_main(int argc, char **argv, culex_worker_setup setup,
                                             void *user)
{
    culex::setup guarded = {setup, user};
    if (setup == nullptr)
        return (culex_worker_main)(argc, argv, nullptr, user);
    return (culex_worker_main)(argc, argv, culex::setup::call, &guarded);
}

CULEX_MUST_USE inline culex_status culex_guarded_list(culex_client *client, const char *queue,
                                                      culex_run_state state,
                                                      culex_list_cursor *cursor, size_t limit,
                                                      culex_run_visitor visit, void *user,
                                                      culex_error *error)
{
    culex::visitor<const culex_run_info *> guarded(visit, user);
    return guarded.leave((culex_client_list)(client, queue, state, cursor, limit,
                                             guarded.entrance(), &guarded, error));
}

CULEX_MUST_USE inline culex_status culex_guarded_find(culex_client *client, const char *queue,
                                                      const culex_list_filter *filter,
                                                      culex_list_cursor *cursor, size_t limit,
                                                      culex_run_visitor visit, void *user,
                                                      culex_error *error)
{
    culex::visitor<const culex_run_info *> guarded(visit, user);
    return guarded.leave((culex_client_find)(client, queue, filter, cursor, limit,
                                             guarded.entrance(), &guarded, error));
}

CULEX_MUST_USE inline culex_status culex_guarded_queues(culex_client *client,
                                                        culex_queue_visitor visit, void *user,
                                                        culex_error *error)
{
    culex::visitor<const char *> guarded(visit, user);
    return guarded.leave((culex_client_queues)(client, guarded.entrance(), &guarded, error));
}

CULEX_MUST_USE inline culex_status culex_guarded_live(culex_client *client, const char *queue,
                                                      bool with_ended, culex_live_visitor visit,
                                                      void *user, culex_error *error)
{
    culex::visitor<const culex_live_schema *> guarded(visit, user);
    return guarded.leave(
        (culex_client_live)(client, queue, with_ended, guarded.entrance(), &guarded, error));
}

/* Without parameters, so that gcc warns of an ignored status also when this is a system header. */
#define culex_worker_on_process culex_guarded_on_process
#define culex_worker_main       culex_guarded_main
#define culex_worker_add_hook   culex_guarded_add_hook
#define culex_client_on_enqueue culex_guarded_client_on_enqueue
#define culex_worker_on_enqueue culex_guarded_worker_on_enqueue
#define culex_client_list       culex_guarded_list
#define culex_client_find       culex_guarded_find
#define culex_client_queues     culex_guarded_queues
#define culex_client_live       culex_guarded_live

#undef CULEX_LET_THREAD_END
CULEX_GENERATED_END
}
#endif

#endif
