/* history.h - the table that each compiled version of a schema has for exchange.c and workers.c. */
#ifndef HISTORY_H
#define HISTORY_H

#include <culex/culex.h>

typedef culex_status (*history_encode)(const void *value, culex_buf *ret_text, culex_error *error);
typedef culex_status (*history_decode)(culex_arena *arena, const void *text, size_t len,
                                       const void **ret_value, culex_error *error);

struct history_job {
    const culex_job_type *type; /* NULL behind the last */
    history_encode encode;
    history_decode decode;
    history_decode decode_result; /* NULL when the job returns nothing */
    bool is_retired;
};

/* The table of a module. Ends the program, with a word about it, when there is none. */
const struct history_job *history_load(const char *path);

/* NULL when there is no such job. */
const struct history_job *history_find(const struct history_job *jobs, const char *wire);

/* The generated functions, which know their structs, as functions that exchange.c can call. */
#define HISTORY_ENCODE(name, c)                                                                    \
    static culex_status name(const void *value, culex_buf *text, culex_error *error)               \
    {                                                                                              \
        return c(value, text, error);                                                              \
    }

#define HISTORY_DECODE(name, type, c)                                                              \
    static culex_status name(culex_arena *arena, const void *text, size_t len, const void **ret,   \
                             culex_error *error)                                                   \
    {                                                                                              \
        const type *value = NULL;                                                                  \
        culex_status status = c(arena, text, len, &value, error);                                  \
        *ret = value;                                                                              \
        return status;                                                                             \
    }

#endif
