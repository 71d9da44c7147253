/* culex/culex.hpp - C++17 and later: clients and workers that close themselves, exceptions for
 * errors, lambdas for handlers.
 *
 * `culexc gen --plugin cpp` makes NAME_job.hpp of each NAME.job, beside NAME_job.h: a struct with
 * std::string_view, std::optional and lists for each job, and how it becomes the struct of C. All
 * is a thin layer over the C of culex/culex.h, whose functions take what `c()` returns; their
 * contracts hold here too. An exception takes the place of each status: culex::error, or
 * std::bad_alloc.
 *
 * Structs of jobs own nothing. In a call that enqueues, what they show has to live until it
 * returns: C wants a NUL behind a string, so strings are copied, and lists of strings, bytes and
 * structs are laid out anew; lists of anything else are passed as they are. In a handler, what the
 * struct shows lives until the handler returns.
 *
 * A program is compiled for one C++ standard where its parts share these types: a list is a
 * std::span from C++20 on.
 */
#ifndef CULEX_CULEX_HPP
#define CULEX_CULEX_HPP

/* A header that is missing ends the compilation, where #error alone would be the first of many. */
#if !defined(__cpp_exceptions) || __cplusplus < 201703L
#error "culex/culex.hpp needs C++17 or later, and exceptions"
#include "the error above"
#endif

#include <culex/culex.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <iterator>
#include <memory>
#include <mutex>
#include <new>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>
#if __has_include(<span>)
#include <span>
#endif

/* Before a member. gcc warns of one that nobody has named, too: where it evaluates how a struct is
 * made that holds it. */
#if defined(__clang__)
#define CULEX_MEMBER_DEPRECATED(text) [[deprecated(text)]]
#else
#define CULEX_MEMBER_DEPRECATED(text)
#endif

namespace culex
{

/* --- values --------------------------------------------------------------------------------- */

#if defined(__cpp_lib_span)
/* Values that somebody else owns, in a row. */
template <typename T> using list = std::span<const T>;
#else
/* Values that somebody else owns, in a row: what C++17 has in place of std::span<const T>, with all
 * that this reads by; what is out of range is as undefined. Made of any container that has data()
 * and size(), of an array, or of pointer and count. Parts of it are lists, whose size is no part of
 * the type. */
template <typename T> class list
{
  public:
    using element_type = const T;
    using value_type = T;
    using size_type = std::size_t;
    using difference_type = std::ptrdiff_t;
    using pointer = const T *;
    using const_pointer = const T *;
    using reference = const T &;
    using const_reference = const T &;
    using iterator = const T *;
    using reverse_iterator = std::reverse_iterator<iterator>;

    constexpr list() noexcept = default;

    constexpr list(const T *data, std::size_t size) noexcept : data_(data), size_(size)
    {
    }

    /* As arrays, for a value of a class that is derived from T is larger. */
    template <typename Values,
              typename = std::enable_if_t<std::is_convertible_v<
                  std::remove_pointer_t<decltype(std::data(std::declval<const Values &>()))> (*)[],
                  const T (*)[]>>>
    constexpr list(const Values &values) noexcept
        : data_(std::data(values)), size_(std::size(values))
    {
    }

    constexpr const T *data() const noexcept
    {
        return data_;
    }

    constexpr std::size_t size() const noexcept
    {
        return size_;
    }

    constexpr std::size_t size_bytes() const noexcept
    {
        return size_ * sizeof(T);
    }

    constexpr bool empty() const noexcept
    {
        return size_ == 0;
    }

    constexpr iterator begin() const noexcept
    {
        return data_;
    }

    constexpr iterator end() const noexcept
    {
        return data_ + size_;
    }

    constexpr reverse_iterator rbegin() const noexcept
    {
        return reverse_iterator(end());
    }

    constexpr reverse_iterator rend() const noexcept
    {
        return reverse_iterator(begin());
    }

    constexpr const T &operator[](std::size_t index) const noexcept
    {
        return data_[index];
    }

    constexpr const T &front() const noexcept
    {
        return data_[0];
    }

    constexpr const T &back() const noexcept
    {
        return data_[size_ - 1];
    }

    constexpr list first(std::size_t count) const noexcept
    {
        return list(data_, count);
    }

    constexpr list last(std::size_t count) const noexcept
    {
        return list(data_ + (size_ - count), count);
    }

    /* SIZE_MAX: all that follows. */
    constexpr list subspan(std::size_t offset, std::size_t count = SIZE_MAX) const noexcept
    {
        return list(data_ + offset, count == SIZE_MAX ? size_ - offset : count);
    }

    template <std::size_t Count> constexpr list first() const noexcept
    {
        return first(Count);
    }

    template <std::size_t Count> constexpr list last() const noexcept
    {
        return last(Count);
    }

    template <std::size_t Offset, std::size_t Count = SIZE_MAX>
    constexpr list subspan() const noexcept
    {
        return subspan(Offset, Count);
    }

  private:
    const T *data_ = nullptr;
    std::size_t size_ = 0;
};
#endif

/* Bytes that somebody else owns. */
using bytes = list<std::uint8_t>;

/* The bytes of `text`, as long as those live. */
inline bytes as_bytes(std::string_view text) noexcept
{
    return bytes(reinterpret_cast<const std::uint8_t *>(text.data()), text.size());
}

/* The 36 lower-case characters of `id`. */
inline std::string to_string(const culex_uuid &id)
{
    char text[CULEX_UUID_TEXT_SIZE];
    culex_uuid_format(id, text);
    return text;
}

/* --- errors --------------------------------------------------------------------------------- */

/* A call that failed: what C returns as a status other than CULEX_OK. what() is the text for
 * people, with the param at fault before it. */
class error : public std::runtime_error
{
  public:
    /* `told` as a call of C filled it; `id` what that returned as *ret_id. */
    error(culex_status status, const culex_error &told, const culex_uuid &id = culex_uuid())
        : std::runtime_error(text_of(status, told)), status_(status), id_(id)
    {
        std::memcpy(field_, told.field, sizeof field_);
    }

    /* CULEX_EINVAL, CULEX_ECONNECT, ... */
    culex_status status() const noexcept
    {
        return status_;
    }

    /* The param at fault ("cc[3]", "address.city"), "" when no param is concerned. */
    const char *field() const noexcept
    {
        return field_;
    }

    /* Of an enqueue: with CULEX_EUNKNOWN the ticket with which to repeat the call, with
     * CULEX_EUNIQUE the run that is there. */
    const culex_uuid &id() const noexcept
    {
        return id_;
    }

  private:
    culex_status status_;
    culex_uuid id_;
    char field_[CULEX_ERROR_FIELD_SIZE];

    /* The param at fault is a part of the text. */
    static const char *text_of(culex_status status, const culex_error &told)
    {
        return told.text[0] != '\0' ? told.text : culex_status_text(status);
    }
};

/* Some of the runs of client::enqueue_many are in the store, the first ones, or, with
 * CULEX_EUNKNOWN and CULEX_EUNIQUE, may be; id() is as there. */
class partial_error : public error
{
  public:
    /* `ids` of the runs that are in the store for certain. */
    partial_error(culex_status status, const culex_error &told, const culex_uuid &id,
                  std::vector<culex_uuid> ids)
        : error(status, told, id), ids_(std::make_shared<std::vector<culex_uuid>>(std::move(ids)))
    {
    }

    /* Of the first runs, in their order. */
    const std::vector<culex_uuid> &ids() const noexcept
    {
        return *ids_;
    }

  private:
    std::shared_ptr<const std::vector<culex_uuid>> ids_; /* a copy of an exception must not throw */
};

/* Throws unless `status` is CULEX_OK, for calls of C beside those that are here. */
inline void check(culex_status status, const culex_error &told = culex_error(),
                  const culex_uuid &id = culex_uuid())
{
    if (status == CULEX_ENOMEM)
        throw std::bad_alloc();
    if (status != CULEX_OK)
        throw error(status, told, id);
}

/* --- from C++ to C and back ----------------------------------------------------------------- */

/* What a generated NAME_job.hpp says of each of its structs T:
 *
 *     using c_type = ...;                          the struct of C
 *     static void each(pass, cpp, c);              hands each member of both to the pass
 *
 * and of a job also
 *
 *     using result_type = ...;                     the struct of what it returns, or void
 *     static const culex_job_type &type();
 *     static constexpr bool is_deprecated = ...;   or retired
 */
template <typename T> struct record;

namespace detail
{

template <typename T, typename = void> struct is_job : std::false_type {
};
template <typename T>
struct is_job<T, std::void_t<typename record<T>::result_type>> : std::true_type {
};

template <typename Job> constexpr void job_check()
{
    static_assert(is_job<Job>::value,
                  "this is the struct of no job: include NAME_job.hpp, which has them");
}

template <typename Job> constexpr bool is_deprecated()
{
    job_check<Job>();
    if constexpr (is_job<Job>::value)
        return record<Job>::is_deprecated;
    return false;
}

/* Of which job a container holds runs. */
template <typename Jobs>
using job_in =
    std::remove_cv_t<std::remove_pointer_t<decltype(std::data(std::declval<const Jobs &>()))>>;

template <typename Job> using result_of = typename record<Job>::result_type;

template <typename Job> using metadata_of = typename record<Job>::metadata_type;

struct arena_free {
    void operator()(culex_arena *arena) const
    {
        culex_arena_free(arena);
    }
};

/* The struct of C with all that it points to, as long as this lives. */
class writer
{
  public:
    writer() = default;
    writer(const writer &) = delete;
    writer &operator=(const writer &) = delete;

    template <typename T> typename record<T>::c_type write(const T &from)
    {
        typename record<T>::c_type to{};
        record<T>::each(*this, from, to);
        return to;
    }

    /* One of several, of which error texts tell the number. */
    template <typename T>
    void write_one(const T &from, typename record<T>::c_type &to, std::size_t index)
    {
        index_ = index;
        record<T>::each(*this, from, to);
    }

    template <typename T, typename C> void value(const char *name, const T &from, C &to)
    {
        place here(*this, name);
        put(from, to, here);
    }

    template <typename T, typename C>
    void optional(const char *name, const std::optional<T> &from, bool &has, C &to)
    {
        place here(*this, name);
        has = from.has_value();
        if (has)
            put(*from, to, here);
    }

    template <typename T, typename C>
    void values(const char *name, const list<T> &from, const C *&to, std::size_t &len)
    {
        place here(*this, name);
        len = from.size();
        if constexpr (std::is_same_v<T, C>)
            to = from.data();
        else
            to = put_all<C>(from, here);
    }

    /* With a NUL behind it. */
    const char *text(std::string_view from)
    {
        if (from.data() == nullptr) /* that nobody has set */
            return nullptr;
        if (from.find('\0') != from.npos)
            refuse("a string holds no NUL");
        char *made = static_cast<char *>(take(from.size() + 1));
        std::memcpy(made, from.data(), from.size());
        made[from.size()] = '\0';
        return made;
    }

    /* A copy; nullptr of nothing. */
    template <typename T> const T *keep(const std::optional<T> &from)
    {
        if (!from.has_value())
            return nullptr;
        T *made = take_all<T>(1);
        *made = *from;
        return made;
    }

    template <typename T> T *take_all(std::size_t count)
    {
        if (count > SIZE_MAX / sizeof(T))
            throw std::bad_alloc();
        T *made = static_cast<T *>(take(count * sizeof(T)));
        std::uninitialized_value_construct_n(made, count);
        return made;
    }

  private:
    static constexpr std::size_t NEAR_SIZE = 1024; /* most jobs need no more */
    static constexpr std::size_t NO_INDEX = SIZE_MAX;
    static constexpr std::size_t DEPTH_MAX = 32; /* a payload has 16 */

    /* Which member is at work, for error texts. */
    struct step {
        const char *name;
        std::size_t index;
    };

    class place
    {
      public:
        place(writer &of, const char *name) : owner_(of)
        {
            owner_.steps_.at(owner_.depth_) = {name, NO_INDEX};
            owner_.depth_++;
        }
        ~place()
        {
            owner_.depth_--;
        }
        place(const place &) = delete;
        place &operator=(const place &) = delete;

        void index(std::size_t at)
        {
            owner_.steps_[owner_.depth_ - 1].index = at;
        }

      private:
        writer &owner_;
    };

    alignas(std::max_align_t) unsigned char near_[NEAR_SIZE];
    std::size_t near_len_ = 0;
    std::unique_ptr<culex_arena, arena_free> far_;
    std::array<step, DEPTH_MAX> steps_;
    std::size_t depth_ = 0;
    std::size_t index_ = NO_INDEX;

    std::string path() const
    {
        std::string text;
        for (std::size_t i = 0; i < depth_; i++) {
            text += i > 0 ? "." : "";
            text += steps_[i].name;
            if (steps_[i].index != NO_INDEX)
                text.append("[").append(std::to_string(steps_[i].index)).append("]");
        }
        return text;
    }

    [[noreturn]] void refuse(const char *text) const
    {
        culex_error told{};
        const std::string where = path();
        const std::string which = index_ != NO_INDEX ? "run " + std::to_string(index_) + ": " : "";
        std::snprintf(told.field, sizeof told.field, "%.*s",
                      static_cast<int>(sizeof told.field) - 1, where.c_str());
        std::snprintf(told.text, sizeof told.text, "%s%.*s: %s", which.c_str(),
                      static_cast<int>(sizeof told.field) - 1, where.c_str(), text);
        throw error(CULEX_EENCODE, told);
    }

    void *take(std::size_t size)
    {
        constexpr std::size_t align = alignof(std::max_align_t);
        if (size <= NEAR_SIZE - near_len_) {
            void *made = near_ + near_len_;
            near_len_ += std::min((size + align - 1) / align * align, NEAR_SIZE - near_len_);
            return made;
        }
        if (far_ == nullptr)
            far_.reset(culex_arena_create());
        void *made = culex_arena_alloc(far_.get(), size);
        if (made == nullptr)
            throw std::bad_alloc();
        return made;
    }

    template <typename T, typename C> void put(const T &from, C &to, place &here)
    {
        if constexpr (std::is_same_v<T, C>)
            to = from;
        else if constexpr (std::is_same_v<T, std::string_view>)
            to = text(from);
        else if constexpr (std::is_same_v<T, bytes>)
            to = {from.data(), from.size()};
        else if constexpr (std::is_array_v<C>)
            put_array(from, to, here);
        else
            record<T>::each(*this, from, to);
    }

    template <typename T, typename C, std::size_t Count>
    void put_array(const std::array<T, Count> &from, C (&to)[Count], place &here)
    {
        for (std::size_t i = 0; i < Count; i++) {
            here.index(i);
            put(from[i], to[i], here);
        }
    }

    template <typename C, typename T> const C *put_all(const list<T> &from, place &here)
    {
        if (from.empty())
            return nullptr;
        C *made = take_all<C>(from.size());
        for (std::size_t i = 0; i < from.size(); i++) {
            here.index(i);
            put(from[i], made[i], here);
        }
        return made;
    }
};

/* The struct of C++ for one of C. What C has not got goes into memory of `from`. */
class reader
{
  public:
    explicit reader(culex_run *from) : take_(take_run), from_(from)
    {
    }

    explicit reader(culex_arena *from) : take_(take_arena), from_(from)
    {
    }

    template <typename T> T read(const typename record<T>::c_type &from)
    {
        T to{};
        record<T>::each(*this, to, from);
        return to;
    }

    template <typename T, typename C> void value(const char *, T &to, const C &from)
    {
        get(to, from);
    }

    template <typename T, typename C>
    void optional(const char *, std::optional<T> &to, bool has, const C &from)
    {
        to.reset();
        if (has)
            get(to.emplace(), from);
    }

    template <typename T, typename C>
    void values(const char *, list<T> &to, const C *from, std::size_t len)
    {
        if constexpr (std::is_same_v<T, C>)
            to = list<T>(from, len);
        else
            to = list<T>(get_all<T>(from, len), len);
    }

  private:
    void *(*take_)(void *from, std::size_t size);
    void *from_;

    static void *take_run(void *from, std::size_t size)
    {
        return culex_run_alloc(static_cast<culex_run *>(from), size);
    }

    static void *take_arena(void *from, std::size_t size)
    {
        return culex_arena_alloc(static_cast<culex_arena *>(from), size);
    }

    template <typename T, typename C> void get(T &to, const C &from)
    {
        if constexpr (std::is_same_v<T, C>)
            to = from;
        else if constexpr (std::is_same_v<T, std::string_view>)
            to = from != nullptr ? T(from) : T();
        else if constexpr (std::is_same_v<T, bytes>)
            to = bytes(from.data, from.len);
        else if constexpr (std::is_array_v<C>)
            get_array(to, from);
        else
            record<T>::each(*this, to, from);
    }

    template <typename T, typename C, std::size_t Count>
    void get_array(std::array<T, Count> &to, const C (&from)[Count])
    {
        for (std::size_t i = 0; i < Count; i++)
            get(to[i], from[i]);
    }

    template <typename T, typename C> const T *get_all(const C *from, std::size_t len)
    {
        static_assert(std::is_trivially_destructible_v<T>, "nobody destroys what is here");
        if (len == 0)
            return nullptr;
        void *memory = len <= SIZE_MAX / sizeof(T) ? take_(from_, len * sizeof(T)) : nullptr;
        if (memory == nullptr)
            throw std::bad_alloc();
        T *made = static_cast<T *>(memory);
        std::uninitialized_value_construct_n(made, len);
        for (std::size_t i = 0; i < len; i++)
            get(made[i], from[i]);
        return made;
    }
};

struct info_free {
    void operator()(culex_run_info *info) const
    {
        culex_run_info_free(info);
    }
};

/* Throws for a run of another job than Job: its result has another type. */
template <typename Job> void job_check_of(const culex_run_info &info)
{
    culex_error told{};
    const char *job = record<Job>::type().wire;
    if (std::strcmp(info.job, job) == 0)
        return;
    std::snprintf(told.text, sizeof told.text, "the run is one of job %s, not of %s", info.job,
                  job);
    throw error(CULEX_EINVAL, told, info.id);
}

} /* namespace detail */

/* --- clients -------------------------------------------------------------------------------- */

/* What one call may override of the schema's policy: culex_enqueue_options, with its bounds. An
 * empty text or list is none. */
struct enqueue_options {
    std::optional<culex_uuid> ticket{}; /* of client::new_ticket, or of an error with EUNKNOWN */
    std::string_view idempotency_key{};
    std::optional<culex_duration> idempotency_window{};
    std::optional<culex_duration> delay{}; /* culex_seconds(n), _minutes(n), ... */
    std::optional<culex_time> at{};
    std::string_view queue{};
    std::optional<int> priority{};
    list<std::string_view> tags{};
    std::optional<culex_duration> expires{};
    culex_enqueue_outcome *ret_outcomes = nullptr; /* room for that of each run */
    std::optional<culex_batch> batch{};            /* of client::batch_open */
    culex_batch_when batch_when = CULEX_BATCH_MEMBER;
    const culex_chain *chain = nullptr; /* &P_chain_type, where its first job is enqueued */
    std::optional<culex_uuid> after{};  /* the run that this one waits for: enqueue then returns
                                           zeroes, as it has no id before it comes in */
    std::string_view after_queue{};
    culex_batch *ret_after = nullptr; /* room for what client::batch_look tells its end by */
    std::string_view traceparent{};   /* W3C Trace Context; empty: that of the handler, if any */
    std::string_view tracestate{};
};

/* What a Job keeps from run to run, as it was read, and the version that a set replaces. What it
 * shows lives as long as this, or in a handler as long as the run. */
template <typename Job> struct metadata {
    static_assert(!std::is_void_v<detail::metadata_of<Job>>, "the job keeps no metadata");

    detail::metadata_of<Job> value{};
    std::uint64_t version = 0; /* 0: nothing is kept, and `value` has the defaults */
    std::shared_ptr<culex_arena> arena{};
};

/* One run of a Job as the store has it. Move only. */
template <typename Job> class stored_run
{
  public:
    /* Takes `info`, which culex_client_get returned; `client` has the keys of an encrypted result,
     * and is borrowed. */
    explicit stored_run(culex_run_info *info, culex_client *client = nullptr)
        : info_(info), arena_(culex_arena_create()), client_(client)
    {
        if (arena_ == nullptr)
            throw std::bad_alloc();
    }

    /* State, attempts, error text and the rest, as long as this lives. */
    const culex_run_info &info() const noexcept
    {
        return *info_;
    }

    const culex_run_info *operator->() const noexcept
    {
        return info_.get();
    }

    /* What the handler returned, std::optional of the job's result: nothing before its end, or when
     * it set none. What it shows lives as long as this. CULEX_EDECODE when it is not readable,
     * CULEX_ENOKEY when it is sealed by a key that the client has not, CULEX_EINVAL of a run of
     * another job. One thread at a time, and the client that returned it is still there. */
    auto result() const
    {
        using result_type = detail::result_of<Job>;
        detail::job_check_of<Job>(*info_);
        if constexpr (std::is_void_v<result_type>)
            static_assert(!std::is_void_v<result_type>, "the job returns nothing");
        else if (info_->result.len == 0)
            return std::optional<result_type>();
        else
            return std::optional<result_type>(decode<result_type>());
    }

  private:
    std::unique_ptr<culex_run_info, detail::info_free> info_;
    std::unique_ptr<culex_arena, detail::arena_free> arena_;
    culex_client *client_;

    template <typename Result> Result decode() const
    {
        using c_type = typename record<Result>::c_type;
        culex_error told{};
        const void *value = nullptr;
        check(client_ != nullptr
                  ? culex_client_decode_result(client_, &record<Job>::type(), arena_.get(),
                                               info_->result.data, info_->result.len, &value, &told)
                  : culex_decode(record<Job>::type().result, arena_.get(), info_->result.data,
                                 info_->result.len, &value, &told),
              told);
        return detail::reader(arena_.get())
            .template read<Result>(*static_cast<const c_type *>(value));
    }
};

/* Runs of several Jobs and queues that are enqueued by one call: culex_client_enqueue_all. Keeps
 * copies of what is added, and may be given to the call again, until that succeeds. Move only. */
class items
{
  public:
    /* The place of the new one, by which operator[] tells of it. */
    template <typename Job>
    std::enable_if_t<!detail::is_deprecated<Job>(), std::size_t>
    add(const Job &job, const enqueue_options &options = enqueue_options())
    {
        return put(job, options);
    }

    template <typename Job>
    [[deprecated("the job is deprecated or retired: NAME_job.hpp says why")]] std::enable_if_t<
        detail::is_deprecated<Job>(), std::size_t>
    add(const Job &job, const enqueue_options &options = enqueue_options())
    {
        return put(job, options);
    }

    std::size_t size() const noexcept
    {
        return list_.size();
    }

    /* Whether it is in the store, its id and how it came there. */
    const culex_enqueue_item &operator[](std::size_t place) const
    {
        return list_.at(place);
    }

  private:
    friend class client;

    struct held {
        detail::writer out{};
        culex_enqueue_options options{};
    };

    std::vector<std::unique_ptr<held>> held_;
    std::vector<culex_enqueue_item> list_;

    template <typename Job> std::size_t put(const Job &job, const enqueue_options &options);
};

/* A connection to a store, which closes itself. Move only; one that was moved from is only good for
 * its end. Several threads may share one, as culex/client.h says. */
class client
{
  public:
    /* Opens the store at `url`; nullptr: where the environment says. */
    explicit client(const char *url = nullptr,
                    const culex_client_options &options = culex_client_options())
    {
        culex_client *made = nullptr;
        culex_error told{};
        check(culex_client_open(url, &options, &made, &told), told);
        c_.reset(made);
    }

    /* Takes one that C has opened. */
    static client adopt(culex_client *opened) noexcept
    {
        return client(opened, close{false});
    }

    /* One that somebody else closes, before or after the end of this: that of culex_test.h for
     * instance, or what culex_run_client lends. */
    static client borrow(culex_client *lent) noexcept
    {
        return client(lent, close{true});
    }

    /* For the functions of C; still owned by this. */
    culex_client *c() const noexcept
    {
        return c_.get();
    }

    /* Enqueues one run and returns its id, as culex_client_enqueue does. */
    template <typename Job>
    std::enable_if_t<!detail::is_deprecated<Job>(), culex_uuid>
    enqueue(const Job &job, const enqueue_options &options = enqueue_options())
    {
        return put(job, options);
    }

    template <typename Job>
    [[deprecated("the job is deprecated or retired: NAME_job.hpp says why")]] std::enable_if_t<
        detail::is_deprecated<Job>(), culex_uuid>
    enqueue(const Job &job, const enqueue_options &options = enqueue_options())
    {
        return put(job, options);
    }

    /* Enqueues all of a container, std::vector<send_email> for instance, and returns their ids; see
     * culex_client_enqueue_many. Throws partial_error when some of the runs are in the store, or
     * may be; any other error as enqueue does. */
    template <typename Jobs>
    std::enable_if_t<!detail::is_deprecated<detail::job_in<Jobs>>(), std::vector<culex_uuid>>
    enqueue_many(const Jobs &jobs, const enqueue_options &options = enqueue_options())
    {
        return put_many(jobs, options);
    }

    template <typename Jobs>
    [[deprecated("the job is deprecated or retired: NAME_job.hpp says why")]] std::enable_if_t<
        detail::is_deprecated<detail::job_in<Jobs>>(), std::vector<culex_uuid>>
    enqueue_many(const Jobs &jobs, const enqueue_options &options = enqueue_options())
    {
        return put_many(jobs, options);
    }

    /* Reads one run of a Job, in the job's queue unless another is named. CULEX_ENOTFOUND, and
     * CULEX_EINVAL when it is of another job. */
    template <typename Job>
    stored_run<Job> get(const culex_uuid &id, std::string_view queue = std::string_view()) const
    {
        detail::job_check<Job>();
        culex_run_info *info = nullptr;
        culex_error told{};
        check(culex_client_get(c(), queue_of<Job>(queue).c_str(), id, &info, &told), told);
        stored_run<Job> stored(info, c());
        detail::job_check_of<Job>(stored.info());
        return stored;
    }

    /* Cancels a run of a Job, or asks its handler to stop; returns the state after that. */
    template <typename Job>
    culex_run_state cancel(const culex_uuid &id, std::string_view queue = std::string_view())
    {
        culex_run_state state = CULEX_RUN_SCHEDULED;
        culex_error told{};
        check(culex_client_cancel(c(), queue_of<Job>(queue).c_str(), id, &state, &told), told);
        return state;
    }

    /* Puts a dead run of a Job back to waiting. */
    template <typename Job>
    void retry(const culex_uuid &id, std::string_view queue = std::string_view())
    {
        culex_error told{};
        check(culex_client_retry(c(), queue_of<Job>(queue).c_str(), id, &told), told);
    }

    /* Enqueues what of the items is not in the store yet: culex_client_enqueue_all. After an error
     * each item tells what became of it, and the call may be made again with the same. */
    void enqueue_all(items &all)
    {
        culex_error told{};
        check(culex_client_enqueue_all(c(), all.list_.data(), all.list_.size(), &told), told);
    }

    /* Waits until a run of a Job has ended, and returns it as it ended: culex_client_wait.
     * std::nullopt: it has not within `timeout`. CULEX_ENOTFOUND: it is forgotten. CULEX_EINVAL: it
     * is of another job, ended or not. */
    template <typename Job>
    std::optional<stored_run<Job>> wait(const culex_uuid &id, culex_duration timeout,
                                        std::string_view queue = std::string_view())
    {
        detail::job_check<Job>();
        std::string name = queue_of<Job>(queue);
        culex_error told{};
        culex_wait waited{};
        waited.queue = name.c_str();
        waited.id = id;
        culex_status status = culex_client_wait(c(), &waited, 1, 1, timeout, &told);
        std::unique_ptr<culex_run_info, detail::info_free> info(waited.run);
        check(status, told);
        if (waited.end == CULEX_WAIT_FORGOTTEN) {
            std::snprintf(told.text, sizeof told.text, "the store has forgotten the run");
            throw error(CULEX_ENOTFOUND, told, id);
        }
        if (waited.end == CULEX_WAIT_PENDING) {
            pending_check<Job>(name.c_str(), id);
            return std::nullopt;
        }
        detail::job_check_of<Job>(*info);
        return std::optional<stored_run<Job>>(std::in_place, info.release(), c());
    }

    /* Begins a batch for runs of `queue`; they name it in enqueue_options.batch, and its callbacks
     * do with batch_when. See culex_batch_open; id() of the error for CULEX_EUNKNOWN is that of the
     * batch, to be repeated with as options.again. */
    culex_batch batch_open(std::string_view queue,
                           const culex_batch_options &options = culex_batch_options())
    {
        culex_batch made{};
        culex_error told{};
        check(culex_batch_open(c(), std::string(queue).c_str(), &options, &made, &told), told,
              made.id);
        return made;
    }

    /* Its members are there, but for those that members add. */
    void batch_close(const culex_batch &batch)
    {
        culex_error told{};
        check(culex_batch_close(c(), &batch, &told), told);
    }

    /* What it has come to by now. */
    culex_batch_info batch_look(const culex_batch &batch) const
    {
        culex_batch_info info{};
        culex_error told{};
        check(culex_batch_look(c(), &batch, &info, &told), told);
        return info;
    }

    /* Reads what a Job keeps in its own queue: culex_client_metadata_read. */
    template <typename Job> culex::metadata<Job> metadata() const
    {
        culex::metadata<Job> kept;
        typename record<detail::metadata_of<Job>>::c_type made{};
        culex_error told{};
        kept.arena.reset(culex_arena_create(), culex_arena_free);
        if (kept.arena == nullptr)
            throw std::bad_alloc();
        check(culex_client_metadata_read(c(), &record<Job>::type(), kept.arena.get(), &made,
                                         &kept.version, &told),
              told);
        kept.value = detail::reader(kept.arena.get()).template read<detail::metadata_of<Job>>(made);
        return kept;
    }

    /* Keeps its value in place of its version, and tells that of the new one. False: another has
     * replaced it meanwhile, and nothing changes; read, and do it again. */
    template <typename Job> [[nodiscard]] bool set_metadata(culex::metadata<Job> &kept)
    {
        detail::writer out;
        auto made = out.write(kept.value);
        culex_error told{};
        culex_status status =
            culex_client_metadata_write(c(), &record<Job>::type(), &made, &kept.version, &told);
        if (status != CULEX_ECONFLICT)
            check(status, told);
        return status == CULEX_OK;
    }

    /* A fresh ticket, for enqueue_options.ticket. */
    culex_uuid new_ticket()
    {
        culex_uuid ticket{};
        culex_error told{};
        check(culex_client_new_ticket(c(), &ticket, &told), told);
        return ticket;
    }

  private:
    friend class run;
    friend class items;

    struct close {
        bool is_lent; /* false of what is made without a word */

        void operator()(culex_client *opened) const
        {
            if (!is_lent)
                culex_client_close(opened);
        }
    };

    std::unique_ptr<culex_client, close> c_;

    client(culex_client *held, close closing) noexcept : c_(held, closing)
    {
    }

    template <typename Job> static std::string queue_of(std::string_view named)
    {
        return named.empty() ? std::string(record<Job>::type().queue) : std::string(named);
    }

    /* Of a run that was waited for in vain. */
    template <typename Job> void pending_check(const char *queue, const culex_uuid &id) const
    {
        culex_run_info *read = nullptr;
        culex_status status = culex_client_get(c(), queue, id, &read, nullptr);
        std::unique_ptr<culex_run_info, detail::info_free> info(read);
        if (status == CULEX_OK)
            detail::job_check_of<Job>(*info);
    }

    template <typename Job> culex_uuid put(const Job &job, const enqueue_options &options)
    {
        detail::writer out;
        auto made = out.write(job);
        culex_enqueue_options chosen = options_write(out, options);
        culex_uuid id{};
        culex_error told{};
        check(culex_client_enqueue(c(), &record<Job>::type(), &made, &chosen, &id, &told), told,
              id);
        return id;
    }

    template <typename Jobs>
    std::vector<culex_uuid> put_many(const Jobs &jobs, const enqueue_options &options)
    {
        using Job = detail::job_in<Jobs>;
        detail::writer out;
        std::size_t count = std::size(jobs), enqueued = 0;
        culex_enqueue_options chosen = options_write(out, options);
        auto *made = out.take_all<typename record<Job>::c_type>(count);
        for (std::size_t i = 0; i < count; i++)
            out.write_one(std::data(jobs)[i], made[i], i);
        std::vector<culex_uuid> ids(count + 1);
        culex_error told{};
        culex_status status =
            culex_client_enqueue_many(c(), &record<Job>::type(), made, sizeof *made, count, &chosen,
                                      ids.data(), &enqueued, &told);
        culex_uuid behind = ids[std::min(enqueued, count)];
        ids.resize(status == CULEX_OK ? count : enqueued);
        if (status != CULEX_OK && (enqueued > 0 || is_open(status)))
            throw partial_error(status, told, behind, std::move(ids));
        check(status, told, behind);
        return ids;
    }

    /* What may have brought runs, although none is certain. */
    static bool is_open(culex_status status) noexcept
    {
        return status == CULEX_EUNKNOWN || status == CULEX_EUNIQUE;
    }

    static culex_enqueue_options options_write(detail::writer &out, const enqueue_options &from)
    {
        culex_enqueue_options to = culex_enqueue_options_make();
        out.optional("ticket", from.ticket, to.has_ticket, to.ticket);
        out.optional("idempotency_window", from.idempotency_window, to.has_idempotency_window,
                     to.idempotency_window);
        out.optional("delay", from.delay, to.has_delay, to.delay);
        out.optional("at", from.at, to.has_at, to.at);
        out.optional("priority", from.priority, to.has_priority, to.priority);
        out.optional("expires", from.expires, to.has_expires, to.expires);
        out.values("tags", from.tags, to.tags, to.tag_count);
        if (!from.idempotency_key.empty())
            out.value("idempotency_key", from.idempotency_key, to.idempotency_key);
        if (!from.queue.empty())
            out.value("queue", from.queue, to.queue);
        to.ret_outcomes = from.ret_outcomes;
        to.batch = out.keep(from.batch);
        to.batch_when = from.batch_when;
        to.chain = from.chain;
        to.after = out.keep(from.after);
        if (!from.after_queue.empty())
            out.value("after_queue", from.after_queue, to.after_queue);
        to.ret_after = from.ret_after;
        if (!from.traceparent.empty())
            out.value("traceparent", from.traceparent, to.traceparent);
        if (!from.tracestate.empty())
            out.value("tracestate", from.tracestate, to.tracestate);
        return to;
    }
};

template <typename Job> std::size_t items::put(const Job &job, const enqueue_options &options)
{
    using c_type = typename record<Job>::c_type;
    std::unique_ptr<held> kept(new held);
    auto *made = kept->out.template take_all<c_type>(1);
    kept->out.write_one(job, *made, 0);
    kept->options = client::options_write(kept->out, options);
    list_.push_back(culex_enqueue_item_make(&record<Job>::type(), made, &kept->options));
    held_.push_back(std::move(kept));
    return list_.size() - 1;
}

/* --- handlers ------------------------------------------------------------------------------- */

/* One execution of one run, as its handler sees it; lent for as long as that runs. */
class run
{
  public:
    explicit run(culex_run *lent) noexcept : c_(lent)
    {
    }

    /* For the functions of C. */
    culex_run *c() const noexcept
    {
        return c_;
    }

    culex_uuid id() const noexcept
    {
        return culex_run_id(c_);
    }

    /* Counted from 1. */
    std::uint32_t attempt() const noexcept
    {
        return culex_run_attempt(c_);
    }

    /* The trace that the run is of, empty for none; see culex_run_traceparent. */
    std::string_view traceparent() const noexcept
    {
        return culex_run_traceparent(c_);
    }

    std::string_view tracestate() const noexcept
    {
        return culex_run_tracestate(c_);
    }

    /* True once the handler should stop; see culex_run_cancelled. */
    bool cancelled() const noexcept
    {
        return culex_run_cancelled(c_);
    }

    /* Asks for `duration` from now on before the timeout strikes. */
    void extend(culex_duration duration) noexcept
    {
        culex_run_extend(c_, duration);
    }

    /* Percent (0..100, or -1 for unknown) and a short text. */
    void progress(int percent, std::string_view text = std::string_view()) noexcept
    {
        culex_run_progress(c_, percent, "%.*s", length(text), shown(text));
    }

    /* Writes one log line that carries the run's job and id. */
    void log(std::string_view text) noexcept
    {
        culex_log(c_, "%.*s", length(text), shown(text));
    }

    /* The same of a level; see culex_run_log. */
    void log(culex_log_level level, std::string_view text) noexcept
    {
        culex_run_log(c_, level, "%.*s", length(text), shown(text));
    }

    /* To be returned: it has failed, and is tried again as the retry policy says. So is a run whose
     * handler throws. */
    [[nodiscard]] culex_outcome fail(std::string_view text) noexcept
    {
        return culex_run_fail(c_, "%.*s", length(text), shown(text));
    }

    /* To be returned: it is dead at once, trying again is pointless. */
    [[nodiscard]] culex_outcome discard(std::string_view text) noexcept
    {
        return culex_run_discard(c_, "%.*s", length(text), shown(text));
    }

    /* To be returned: run it again after `delay`, uncharged. */
    [[nodiscard]] culex_outcome snooze(culex_duration delay) noexcept
    {
        return culex_run_snooze(c_, delay);
    }

    /* Keeps what a Job returns, for handlers that return a culex_outcome. Copies. */
    template <typename Job> void set_result(const detail::result_of<Job> &result)
    {
        detail::writer out;
        auto made = out.write(result);
        culex_error told{};
        check(culex_run_set_result(c_, record<Job>::type().result, &made, &told), told);
    }

    /* A copy of `text` that lives until the run has ended, for a result that the handler returns:
     * what that shows has to outlive the handler's own variables. */
    std::string_view keep(std::string_view text)
    {
        char *kept = static_cast<char *>(culex_run_alloc(c_, text.size() + 1));
        if (kept == nullptr)
            throw std::bad_alloc();
        std::copy(text.begin(), text.end(), kept);
        return std::string_view(kept, text.size());
    }

    /* Enqueues a run when this one is done, and only then; see culex_run_enqueue. */
    template <typename Job>
    std::enable_if_t<!detail::is_deprecated<Job>()>
    enqueue(const Job &job, const enqueue_options &options = enqueue_options())
    {
        follow(job, options);
    }

    template <typename Job>
    [[deprecated("the job is deprecated or retired: NAME_job.hpp says why")]] std::enable_if_t<
        detail::is_deprecated<Job>()>
    enqueue(const Job &job, const enqueue_options &options = enqueue_options())
    {
        follow(job, options);
    }

    /* Reads what a Job, that of this run, keeps in the run's queue: culex_run_metadata_get. */
    template <typename Job> culex::metadata<Job> metadata()
    {
        culex::metadata<Job> kept;
        typename record<detail::metadata_of<Job>>::c_type made{};
        culex_error told{};
        check(culex_run_metadata_get(c_, record<Job>::type().metadata, &made, &kept.version, &told),
              told);
        kept.value = detail::reader(c_).template read<detail::metadata_of<Job>>(made);
        return kept;
    }

    /* Keeps its value, at once; false as client::set_metadata. */
    template <typename Job> [[nodiscard]] bool set_metadata(culex::metadata<Job> &kept)
    {
        detail::writer out;
        auto made = out.write(kept.value);
        culex_error told{};
        culex_status status =
            culex_run_metadata_set(c_, record<Job>::type().metadata, &made, &kept.version, &told);
        if (status != CULEX_ECONFLICT)
            check(status, told);
        return status == CULEX_OK;
    }

    /* The store that the run came from, for what is to come in at once; see culex_run_client. */
    culex::client client() const noexcept
    {
        return culex::client::borrow(culex_run_client(c_));
    }

    /* What worker::on_process made for this process. */
    template <typename T> T &process() const noexcept
    {
        return *static_cast<T *>(culex_run_process(c_));
    }

  private:
    culex_run *c_;

    template <typename Job> void follow(const Job &job, const enqueue_options &options)
    {
        detail::writer out;
        auto made = out.write(job);
        culex_enqueue_options chosen = culex::client::options_write(out, options);
        culex_error told{};
        check(culex_run_enqueue(c_, &record<Job>::type(), &made, &chosen, &told), told);
    }

    static const char *shown(std::string_view text) noexcept
    {
        return text.empty() ? "" : text.data();
    }

    static int length(std::string_view text) noexcept
    {
        return static_cast<int>(std::min<std::size_t>(text.size(), 1 << 20));
    }
};

namespace detail
{

/* Between the worker and a function object that handles runs of a Job. */
template <typename Job, typename Function> struct handler {
    using c_type = typename record<Job>::c_type;

    Function function;

    static culex_outcome call(culex_run *lent, const c_type *params, void *user)
    {
        handler &held = *static_cast<handler *>(user);
        reader in(lent);
        run self(lent);
        const Job job = in.read<Job>(*params);
        using returned = std::invoke_result_t<Function &, run &, const Job &>;
        static_assert(std::is_void_v<returned> || std::is_same_v<returned, culex_outcome> ||
                          std::is_same_v<returned, result_of<Job>>,
                      "a handler returns nothing, a culex_outcome, or the job's result");
        if constexpr (std::is_same_v<returned, culex_outcome>) {
            return held.function(self, job);
        } else if constexpr (std::is_void_v<returned>) {
            held.function(self, job);
        } else {
            self.set_result<Job>(held.function(self, job));
        }
        return CULEX_DONE;
    }
};

template <typename T> struct is_unique_ptr : std::false_type {
};
template <typename T, typename Close>
struct is_unique_ptr<std::unique_ptr<T, Close>> : std::true_type {
};

/* What each process has once, made by a function object; with CULEX_ISOLATION_NONE what each thread
 * has, several of one process. Kept with what closes it. */
template <typename Open> struct process {
    using pointer = std::invoke_result_t<Open &>;

    Open function;
    std::mutex lock{};
    std::vector<pointer> made{};

    /* What is left is of threads that were given up, and may be in use. */
    ~process()
    {
        for (pointer &left : made)
            static_cast<void>(left.release());
    }

    static culex_status open(void *user, void **ret_process, culex_error *told)
    {
        process &self = *static_cast<process *>(user);
        pointer opened = self.function();
        if (opened == nullptr) {
            told->code = CULEX_EINVAL;
            std::snprintf(told->text, sizeof told->text, "on_process made a null pointer");
            return CULEX_EINVAL;
        }
        *ret_process = const_cast<void *>(static_cast<const void *>(opened.get()));
        std::lock_guard<std::mutex> held(self.lock);
        self.made.push_back(std::move(opened));
        return CULEX_OK;
    }

    /* The caller tells what is thrown, which a destructor's caller cannot. */
    static void close(void *process_made, void *user)
    {
        pointer closed = static_cast<process *>(user)->take(process_made);
        typename pointer::pointer bare = closed.release();
        closed.get_deleter()(bare);
    }

  private:
    pointer take(const void *process_made)
    {
        std::lock_guard<std::mutex> held(lock);
        auto found = std::find_if(made.begin(), made.end(), [process_made](const pointer &one) {
            return one.get() == process_made;
        });
        pointer taken = std::move(*found);
        made.erase(found);
        return taken;
    }
};

} /* namespace detail */

/* --- workers -------------------------------------------------------------------------------- */

/* The worker did not take a handler: what() is why. */
class registration_error : public error
{
  public:
    registration_error(culex_status status, const culex_error &told) : error(status, told)
    {
    }
};

/* Runs jobs, and owns their handlers; frees itself. Move only; one that was moved from is only good
 * for its end. */
class worker
{
  public:
    /* Strings in `options` are borrowed for as long as the worker lives. */
    explicit worker(const culex_worker_options &options = culex_worker_options())
        : c_(nullptr, culex_worker_free)
    {
        culex_worker *made = nullptr;
        culex_error told{};
        check(culex_worker_create(&options, &made, &told), told);
        c_.reset(made);
    }

    worker(worker &&) = default;

    /* What this was ends with `other`, in the order of a destructor: handlers last. */
    worker &operator=(worker other) noexcept
    {
        held_.swap(other.held_);
        c_.swap(other.c_);
        return *this;
    }

    /* One that C has made and will free, that of culex_test.h for instance; the handlers given to
     * this end with it, so it lives for as long as the other runs. */
    static worker borrow(culex_worker *lent)
    {
        return worker(lent, 0);
    }

    /* For the functions of C; still owned by this. */
    culex_worker *c() const noexcept
    {
        return c_.get();
    }

    /* Makes the worker run a Job's runs with `handler`, called with (culex::run &, const Job &). It
     * may have captures, is kept until the worker ends, and returns
     * - nothing: the run is done;
     * - a culex_outcome: run.fail(...), run.discard(...), run.snooze(...) or CULEX_DONE;
     * - the result of a job that has one: the run is done, with that; see run::keep.
     * What it throws is a failure of the run, whose text is the exception's type and what(). In a
     * child process it works on a copy of what it captured, as culex_worker_register says of
     * `user`; with CULEX_ISOLATION_NONE several threads may call it at once. */
    template <typename Job, typename Handler> void on(Handler &&handler)
    {
        detail::job_check<Job>();
        using held_type = detail::handler<Job, std::decay_t<Handler>>;
        using c_type = typename record<Job>::c_type;
        std::shared_ptr<held_type> held(new held_type{std::forward<Handler>(handler)});
        held_.push_back(held);
        register_check(
            guard<c_type>::enter(nullptr, &record<Job>::type(), c(), held_type::call, held.get()),
            record<Job>::type().name);
    }

    /* In place of a handler, for a job that is [[retired]]: see culex_worker_retire. */
    template <typename Job> void retire()
    {
        detail::job_check<Job>();
        register_check(culex_worker_retire(c(), &record<Job>::type()), record<Job>::type().name);
    }

    /* Has `open` make what each process keeps from run to run, a connection for instance:
     * run.process<T>() is what the std::unique_ptr<T> points to that it returns, whose deleter
     * closes that. See culex_worker_on_process. It has failed when it throws, for that reason, or
     * returns a null pointer. What the deleter throws is told on standard error. */
    template <typename Open> void on_process(Open &&open)
    {
        constexpr bool is_closed =
            detail::is_unique_ptr<std::invoke_result_t<std::decay_t<Open> &>>::value;
        static_assert(is_closed,
                      "what is called returns a std::unique_ptr, which closes what it has made");
        if constexpr (is_closed) {
            using held_type = detail::process<std::decay_t<Open>>;
            std::shared_ptr<held_type> held(new held_type{std::forward<Open>(open)});
            held_.push_back(held);
            register_check(
                culex_worker_on_process(c(), held_type::open, held_type::close, held.get()),
                "what each process has");
        }
    }

    /* Runs jobs on the calling thread until stop(), or until a drain is over: culex_worker_run. */
    void run()
    {
        culex_error told{};
        check(culex_worker_run(c(), &told), told);
    }

    /* In a loop that the program has: begins, tells what to wait for, and goes on for as long as
     * there is something to do, or for `budget_ms`. False: it has stopped, or its drain is over.
     * See culex_worker_start. */
    void start()
    {
        culex_error told{};
        check(culex_worker_start(c(), &told), told);
    }

    int fd() const noexcept
    {
        return culex_worker_fd(c());
    }

    [[nodiscard]] bool process(std::int64_t budget_ms)
    {
        culex_error told{};
        culex_status status = culex_worker_process(c(), budget_ms, &told);
        if (status != CULEX_EOVER)
            check(status, told);
        return status == CULEX_OK;
    }

    /* Asks it to stop; from any thread and from a signal handler. */
    void stop() const noexcept
    {
        culex_worker_stop(c());
    }

  private:
    template <typename Setup> friend int worker_main(int argc, char **argv, Setup &&setup);

    std::vector<std::shared_ptr<void>> held_; /* outlives c_ */
    std::unique_ptr<culex_worker, void (*)(culex_worker *)> c_;

    static void leave(culex_worker *) noexcept
    {
    }

    /* One that somebody else owns. */
    worker(culex_worker *lent, int) : c_(lent, leave)
    {
    }

    void register_check(culex_status status, const char *what) const
    {
        if (status == CULEX_OK)
            return;
        culex_error told{};
        const char *reason = culex_worker_setup_reason(c());
        if (*reason != '\0')
            std::snprintf(told.text, sizeof told.text, "%s", reason);
        else
            std::snprintf(told.text, sizeof told.text, "%s cannot be registered: %s", what,
                          culex_status_text(status));
        throw registration_error(status, told);
    }
};

/* A whole worker program, as culex_worker_main: calls setup(culex::worker &), which returns
 * nothing, to register the jobs, and returns the exit code. What `setup` throws is told, and the
 * program ends with 1. */
template <typename Setup> int worker_main(int argc, char **argv, Setup &&setup)
{
    static_assert(std::is_void_v<std::invoke_result_t<Setup &, worker &>>,
                  "a setup returns nothing: throw what keeps it from going on");
    struct state {
        std::remove_reference_t<Setup> &setup;
        std::optional<worker> jobs;

        static int call(culex_worker *lent, void *user)
        {
            state *self = static_cast<state *>(user);
            try {
                self->setup(self->jobs.emplace(worker(lent, 0)));
            } catch (const error &it) {
                return culex_worker_setup_failed(lent, "%s", it.what());
            }
            return 0;
        }
    };
    state made{setup, std::nullopt};
    return culex_worker_main(argc, argv, state::call, &made);
}

} /* namespace culex */

#endif
