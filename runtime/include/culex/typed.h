/* culex/typed.h - makes a wrong type an error where C only warns.
 *
 * In C three mistakes give a warning at most: the struct of another job, a handler that returns
 * nothing, a number in place of a string (gcc before 14, clang before 16; some cases in later
 * versions too). Therefore each generated function, and each function of Culex that takes a
 * callback, is also a macro of the same name, which makes those warnings errors in its own call and
 * nowhere else. Pointers to the functions work as usual. `(P_enqueue)(...)` calls the function
 * without the macro, and CULEX_PLAIN_CALLS, defined before any header of Culex, leaves all macros
 * out.
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
#elif defined(__GNUC__) && __GNUC__ >= 12
/* gcc before 12 takes no pragma in an argument of another macro: there calls are plain ones.
 * gcc takes a pragma among statements only, and a block around the call would end the life of the
 * compound literals in it: so the call stands in a block that is never executed, and again behind
 * it. Plain warnings come from the second call alone, so that each is given once. */
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

/* Generated headers write comma and call themselves, as here: gcc reports a warning, such as the
 * one about an ignored status, where these are written, and reports none in a system header
 * (-isystem), which this one may be. */
#ifdef CULEX_TYPED_BEGIN
#define CULEX_TYPED(name, ...)                                                                     \
    (CULEX_TYPED_BEGIN(name, __VA_ARGS__), (name)(__VA_ARGS__)CULEX_TYPED_END)
#endif

/* An enum of a schema: BEGIN(name, base) { constants } END(name). It has the base's size and a type
 * of its own, so that compilers warn of a constant of another enum and of a switch that lacks a
 * value: by C23 and C++, by clang's form of C23 and by gcc's attribute. Elsewhere it is its base.
 */
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

/* Names a type, although a member of the same struct has that name too. */
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
