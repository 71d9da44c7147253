#include "arena.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <culex/codec.h>

void memory_exhausted(void)
{
    fputs("culexc: out of memory\n", stderr);
    exit(3);
}

void *memory_resize(void *block, size_t size)
{
    void *resized = realloc(block, size == 0 ? 1 : size);
    if (resized == NULL)
        memory_exhausted();
    return resized;
}

void arena_release(struct arena *arena)
{
    culex_arena_free(arena->memory);
    arena->memory = NULL;
}

void *arena_alloc(struct arena *arena, size_t size)
{
    if (arena->memory == NULL)
        arena->memory = culex_arena_create();
    void *bytes = culex_arena_alloc(arena->memory, size); /* NULL of a NULL too */
    if (bytes == NULL)
        memory_exhausted();
    return bytes;
}

char *arena_copy(struct arena *arena, const char *text, size_t len)
{
    char *copy = arena_alloc(arena, len + 1);
    if (len > 0)
        memcpy(copy, text, len);
    return copy;
}

char *arena_join(struct arena *arena, const char *const *texts)
{
    size_t len = 0;
    for (const char *const *text = texts; *text != NULL; text++)
        len += strlen(*text);
    char *joined = arena_alloc(arena, len + 1), *end = joined;
    for (const char *const *text = texts; *text != NULL; text++)
        end = stpcpy(end, *text);
    return joined;
}

char *arena_vprintf(struct arena *arena, const char *format, va_list args)
{
    va_list again;
    va_copy(again, args);
    int len = vsnprintf(NULL, 0, format, args);
    char *text = arena_alloc(arena, len < 0 ? 1 : (size_t)len + 1);
    if (len > 0)
        vsnprintf(text, (size_t)len + 1, format, again);
    va_end(again);
    return text;
}

char *arena_printf(struct arena *arena, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    char *text = arena_vprintf(arena, format, args);
    va_end(args);
    return text;
}
