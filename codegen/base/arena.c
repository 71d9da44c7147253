#include "arena.h"

#include <stdalign.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BLOCK_BYTES = 64 * 1024 };

struct arena_block {
    struct arena_block *next;
    size_t used;
    size_t size;
    alignas(max_align_t) unsigned char bytes[];
};

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
    while (arena->head != NULL) {
        struct arena_block *next = arena->head->next;
        free(arena->head);
        arena->head = next;
    }
}

static void arena_grow(struct arena *arena, size_t size)
{
    size_t block_size = size > BLOCK_BYTES ? size : BLOCK_BYTES;
    struct arena_block *block = memory_resize(NULL, sizeof(*block) + block_size);
    block->next = arena->head;
    block->used = 0;
    block->size = block_size;
    arena->head = block;
}

void *arena_alloc(struct arena *arena, size_t size)
{
    size_t align = alignof(max_align_t);
    size = (size + align - 1) / align * align;
    if (arena->head == NULL || arena->head->size - arena->head->used < size)
        arena_grow(arena, size);
    void *bytes = arena->head->bytes + arena->head->used;
    arena->head->used += size;
    return memset(bytes, 0, size);
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
