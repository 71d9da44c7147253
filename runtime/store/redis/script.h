/* store/redis/script.h - a Lua script as the build renders it (redis/prelude.py). */
#ifndef CULEX_STORE_REDIS_SCRIPT_H
#define CULEX_STORE_REDIS_SCRIPT_H

#include <stddef.h>

/* What a script may do to a queue: which commands are tried before it is sent. */
enum culex__redis_level {
    CULEX__REDIS_READS, /* none: refused at its first, it has done no harm */
    CULEX__REDIS_PRODUCES,
    CULEX__REDIS_WORKS,
    CULEX__REDIS_REPAIRS
};

struct culex__redis_script {
    const char *name;
    enum culex__redis_level level;
    const char *digest; /* SHA-1, 40 hex characters: its name for EVALSHA */
    const char *text;   /* NULL: it is packed, */
    size_t at;          /* and begins so far into what all packed ones are together */
    size_t len;
    const unsigned char *keys; /* indexes of culex__redis_key_names, in the order of KEYS */
    size_t key_count;
};

/* The packed texts one behind the other, as packing.py writes them. */
extern const unsigned char culex__redis_packed[];
extern const size_t culex__redis_packed_len;

#endif
