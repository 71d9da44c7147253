/* arena.h - memory that lives as long as one compilation.
 *
 * Syntax trees, models and messages are allocated here and freed all at once.
 * Allocation never returns NULL: a compiler without memory has nothing useful
 * left to do, so it says so and exits with status 3. */
#ifndef CULEXC_ARENA_H
#define CULEXC_ARENA_H

#include <stdarg.h>
#include <stddef.h>

/* The runtime's arena, with a promise of its own about running out of memory. */
struct arena {
    struct culex_arena *memory; /* NULL at first */
};

/* A zeroed struct is an empty arena. */
void arena_release(struct arena *arena);

/* `size` zeroed bytes, aligned for any type. */
void *arena_alloc(struct arena *arena, size_t size);

/* A NUL-terminated copy of `len` bytes of `text`. */
char *arena_copy(struct arena *arena, const char *text, size_t len);

/* The texts one behind the other; a NULL ends them. Names are made by the thousand, and formatting
 * was a third of a check. */
char *arena_join(struct arena *arena, const char *const *texts);

/* A formatted string. */
char *arena_printf(struct arena *arena, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
char *arena_vprintf(struct arena *arena, const char *format, va_list args)
    __attribute__((format(printf, 2, 0)));

/* malloc and realloc with the same promise. */
void *memory_resize(void *block, size_t size);

/* What keeps it, for libraries that tell of an allocation that failed. */
_Noreturn void memory_exhausted(void);

#endif
