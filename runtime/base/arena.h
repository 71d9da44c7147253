/* base/arena.h - the inside of a culex_arena that only the runtime needs. */
#ifndef CULEX_BASE_ARENA_H
#define CULEX_BASE_ARENA_H

#include <culex/codec.h>

/* `size` bytes, neither zeroed nor aligned; for text. NULL when out of memory. */
char *culex__arena_bytes(culex_arena *arena, size_t size);

#endif
