/* culex/export.h - which symbols leave the library.
 *
 * The runtime is built with hidden visibility; CULEX_API marks what applications
 * may call. Symbols of generated code are hidden unless the generator was told
 * otherwise with --export-macro. */
#ifndef CULEX_EXPORT_H
#define CULEX_EXPORT_H

/* CULEX_MUST_USE: the compiler warns when the result is ignored. The result alone tells whether the
 * call worked; a program that ignores it believes that a run is enqueued when none is. To ignore it
 * on purpose, pass it to a function of your own that takes a culex_status: gcc warns despite a cast
 * to void. */
#if defined(__GNUC__)
#define CULEX_API                 __attribute__((visibility("default")))
#define CULEX_HIDDEN              __attribute__((visibility("hidden")))
#define CULEX_PRINTF(text, first) __attribute__((format(printf, text, first)))
#define CULEX_MUST_USE            __attribute__((warn_unused_result))
#define CULEX_DEPRECATED(text)    __attribute__((deprecated(text)))
/* An enum of 32 bits even under -fshort-enums: an application built with it shares structs with a
 * library built without it. */
#define CULEX_INT_ENUM            __attribute__((__mode__(__SI__)))
#else
#define CULEX_API
#define CULEX_HIDDEN
#define CULEX_PRINTF(text, first)
#define CULEX_MUST_USE
#define CULEX_DEPRECATED(text)
#define CULEX_INT_ENUM
#endif

/* Generated code stands between these two. Between them it may use deprecated params, and its own
 * names may hide a type that a schema without a package calls "user" or "value". In C a param may
 * have the same name as its enum; C++ finds the enum by CULEX_OUTER. */
#if defined(__GNUC__)
#ifdef __cplusplus
#define CULEX_GENERATED_IN_C
#else
#define CULEX_GENERATED_IN_C _Pragma("GCC diagnostic ignored \"-Wc++-compat\"")
#endif
#define CULEX_GENERATED_BEGIN                                                                      \
    _Pragma("GCC diagnostic push") _Pragma("GCC diagnostic ignored \"-Wdeprecated-declarations\"") \
        _Pragma("GCC diagnostic ignored \"-Wshadow\"") CULEX_GENERATED_IN_C
#define CULEX_GENERATED_END _Pragma("GCC diagnostic pop")
#else
#define CULEX_GENERATED_BEGIN
#define CULEX_GENERATED_END
#endif

#endif
