/* culex/export.h - which symbols leave the library.
 *
 * The runtime is built with hidden visibility; CULEX_API marks what applications
 * may call. Symbols of generated code are hidden unless the generator was told
 * otherwise with --export-macro. */
#ifndef CULEX_EXPORT_H
#define CULEX_EXPORT_H

#if defined(__GNUC__)
#define CULEX_API                 __attribute__((visibility("default")))
#define CULEX_HIDDEN              __attribute__((visibility("hidden")))
#define CULEX_PRINTF(text, first) __attribute__((format(printf, text, first)))
#define CULEX_MUST_USE            __attribute__((warn_unused_result))
#else
#define CULEX_API
#define CULEX_HIDDEN
#define CULEX_PRINTF(text, first)
#define CULEX_MUST_USE
#endif

#endif
