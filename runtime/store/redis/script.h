/* store/redis/script.h - a Lua script as the build renders it (redis/prelude.py). */
#ifndef CULEX_STORE_REDIS_SCRIPT_H
#define CULEX_STORE_REDIS_SCRIPT_H

#include <stddef.h>

struct culex__redis_script {
    const char *name;
    const char *digest; /* SHA-1, 40 hex characters: its name for EVALSHA */
    const char *text;
    size_t len;
    const unsigned char *keys; /* indexes of culex__redis_key_names, in the order of KEYS */
    size_t key_count;
};

#endif
