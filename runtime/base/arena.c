#include "base/arena.h"

#include <assert.h>
#include <stdalign.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum {
    ALIGNMENT = alignof(max_align_t),
    CHUNK_SIZE = 4096,      /* of the first chunk; later ones double */
    CHUNK_SIZE_MAX = 65536, /* and stop here; also what a reset keeps at most */
};

struct chunk {
    struct chunk *next;
    size_t size; /* of `data` */
    size_t used;
    alignas(max_align_t) char data[];
};

struct culex_arena {
    struct chunk *head; /* the one being filled; NULL at first */
};

culex_arena *culex_arena_create(void)
{
    return calloc(1, sizeof(culex_arena));
}

static void chunks_free(struct chunk *chunk)
{
    while (chunk != NULL) {
        struct chunk *next = chunk->next;
        free(chunk);
        chunk = next;
    }
}

void culex_arena_free(culex_arena *arena)
{
    if (arena == NULL)
        return;
    chunks_free(arena->head);
    free(arena);
}

void culex_arena_reset(culex_arena *arena)
{
    struct chunk *head = arena != NULL ? arena->head : NULL;
    if (head == NULL)
        return;
    chunks_free(head->next);
    head->next = NULL;
    head->used = 0;
    if (head->size > CHUNK_SIZE_MAX) {
        free(head);
        arena->head = NULL;
    }
}

static size_t chunk_size_next(const struct chunk *head, size_t need)
{
    size_t size = head == NULL ? CHUNK_SIZE : head->size;
    if (head != NULL && size < CHUNK_SIZE_MAX)
        size *= 2;
    if (size > CHUNK_SIZE_MAX)
        size = CHUNK_SIZE_MAX;
    return size < need ? need : size;
}

static bool chunk_push(culex_arena *arena, size_t need)
{
    size_t size = chunk_size_next(arena->head, need);
    if (size > SIZE_MAX - sizeof(struct chunk))
        return false;
    struct chunk *chunk = malloc(sizeof *chunk + size);
    if (chunk == NULL)
        return false;
    *chunk = (struct chunk){.next = arena->head, .size = size};
    arena->head = chunk;
    return true;
}

/* NULL when `size` bytes do not fit. `alignment` is a power of two. */
static char *chunk_take(struct chunk *chunk, size_t size, size_t alignment)
{
    assert(alignment > 0 && (alignment & (alignment - 1)) == 0 && chunk->used <= chunk->size);
    size_t at = (chunk->used + alignment - 1) & ~(alignment - 1);
    if (at > chunk->size || chunk->size - at < size)
        return NULL;
    chunk->used = at + size;
    return chunk->data + at;
}

static char *arena_take(culex_arena *arena, size_t size, size_t alignment)
{
    char *taken = arena->head == NULL ? NULL : chunk_take(arena->head, size, alignment);
    if (taken != NULL)
        return taken;
    if (!chunk_push(arena, size))
        return NULL;
    assert(arena->head->size >= size);
    arena->head->used = size;
    return arena->head->data;
}

void *culex_arena_alloc(culex_arena *arena, size_t size)
{
    char *taken = arena != NULL ? arena_take(arena, size == 0 ? 1 : size, ALIGNMENT) : NULL;
    if (taken != NULL)
        memset(taken, 0, size);
    return taken;
}

char *culex__arena_bytes(culex_arena *arena, size_t size)
{
    return arena_take(arena, size == 0 ? 1 : size, 1);
}
