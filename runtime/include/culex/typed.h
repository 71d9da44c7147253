/* culex/typed.h - makes a wrong type an error where C only warns.
 *
 * In C a call with another job's struct, a handler that returns nothing or a number for a string is
 * a warning at most (gcc before 14, clang before 16, and both for some of it later). Each generated
 * function, and each of ours that takes a callback, is therefore a macro of the same name too,
 * which makes those warnings errors in the call, and nowhere else. Pointers to the functions are as
 * ever; `(P_enqueue)(...)` is the bare call, and CULEX_PLAIN_CALLS, defined before any header of
 * Culex, leaves the macros out.
 */
#ifndef CULEX_TYPED_H
#define CULEX_TYPED_H

#if defined(__cplusplus) || defined(CULEX_PLAIN_CALLS)
/* C++ refuses by itself. */
/* clang-format off */
#elif defined(__clang__)
#define CULEX_TYPED_BEGIN(name, ...) \
    (void)0 _Pragma("clang diagnostic push") \
    _Pragma("clang diagnostic error \"-Wincompatible-pointer-types\"") \
    _Pragma("clang diagnostic error \"-Wint-conversion\"") \
    _Pragma("clang diagnostic error \"-Wenum-conversion\"") \
    _Pragma("clang diagnostic error \"-Warray-bounds\"")
#define CULEX_TYPED_END _Pragma("clang diagnostic pop")
#elif defined(__GNUC__) && __GNUC__ >= 10
/* gcc takes a pragma among statements only, and a block around the call would end the life of the
 * compound literals in it: so the call stands in a block that is never executed, and again behind
 * it. The second one tells all that is no error, once. */
#define CULEX_TYPED_BEGIN(name, ...) \
    (void)sizeof(__extension__({ \
        _Pragma("GCC diagnostic push") \
        _Pragma("GCC diagnostic ignored \"-Wconversion\"") \
        _Pragma("GCC diagnostic ignored \"-Wsign-conversion\"") \
        _Pragma("GCC diagnostic ignored \"-Wdeprecated-declarations\"") \
        _Pragma("GCC diagnostic error \"-Wincompatible-pointer-types\"") \
        _Pragma("GCC diagnostic error \"-Wint-conversion\"") \
        _Pragma("GCC diagnostic error \"-Wenum-conversion\"") \
        (name)(__VA_ARGS__); \
        _Pragma("GCC diagnostic pop") \
        0; \
    }))
#define CULEX_TYPED_END
#endif
/* clang-format on */

/* Comma and call are written in the user's own header, as the generated ones do: gcc places what it
 * warns of, such as a status that is ignored, where these are written, and tells nothing of what is
 * written in a system header (-isystem), as this one may be. */
#ifdef CULEX_TYPED_BEGIN
#define CULEX_TYPED(name, ...)                                                                     \
    (CULEX_TYPED_BEGIN(name, __VA_ARGS__), (name)(__VA_ARGS__)CULEX_TYPED_END)
#endif

/* An enum of a schema: BEGIN(name, base) { constants } END(name). It has the base's size and a type
 * of its own, so that a foreign constant and a switch that misses a value are told: by C23 and C++,
 * by clang's form of C23 and by gcc's attribute. Elsewhere it is its base. */
#if defined(__cplusplus) || (defined(__STDC_VERSION__) && __STDC_VERSION__ >= 202311L)
#define CULEX_ENUM_BEGIN(name, base) typedef enum name : base
#define CULEX_ENUM_END(name)         name
#elif defined(__clang__)
#define CULEX_ENUM_BEGIN(name, base) __extension__ typedef enum name : base
#define CULEX_ENUM_END(name)         name
#elif defined(__GNUC__)
#define CULEX_ENUM_BEGIN(name, base)                                                               \
    typedef enum __attribute__((__mode__(CULEX_ENUM_MODE_##base))) name
#define CULEX_ENUM_END(name)     name
#define CULEX_ENUM_MODE_int8_t   __QI__
#define CULEX_ENUM_MODE_int16_t  __HI__
#define CULEX_ENUM_MODE_int32_t  __SI__
#define CULEX_ENUM_MODE_int64_t  __DI__
#define CULEX_ENUM_MODE_uint8_t  __QI__
#define CULEX_ENUM_MODE_uint16_t __HI__
#define CULEX_ENUM_MODE_uint32_t __SI__
#define CULEX_ENUM_MODE_uint64_t __DI__
#else
#define CULEX_ENUM_BEGIN(name, base)                                                               \
    typedef base name;                                                                             \
    enum
#define CULEX_ENUM_END(name)
#endif

/* A type by a name that a member of the same struct has too. */
#ifdef __cplusplus
#define CULEX_OUTER(name) ::name
#else
#define CULEX_OUTER(name) name
#endif

/* The size of an array parameter, for compilers that look at it: fewer elements are an error
 * (clang) or a warning (gcc). */
#if defined(__GNUC__) && !defined(__cplusplus)
#define CULEX_AT_LEAST(count) static count
#else
#define CULEX_AT_LEAST(count) count
#endif

#endif
