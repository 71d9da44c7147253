/* sim/redis.h - the virtual Redis: a key space, commands on it, and scripts.
 *
 * It answers as a Redis 7.0 would, for the commands that the product uses and those near them;
 * test_commands.c holds it to a real server. No clock, no network: see server.h. */
#ifndef CULEX_SIM_REDIS_H
#define CULEX_SIM_REDIS_H

#include <stdbool.h>
#include <stdint.h>

#include "bytes.h"
#include "data.h"

struct sim_arg {
    const char *data;
    size_t len;
};

enum sim_mode { /* what every command may be refused for */
                SIM_MODE_OK,
                SIM_MODE_LOADING,
                SIM_MODE_BUSY,
                SIM_MODE_READONLY, /* a replica: writes are refused */
                SIM_MODE_MISCONF,  /* no snapshot can be saved: writes are refused */
                SIM_MODE_OOM /* writes that need memory are refused, but not midway in a script */
};

struct sim_scripts; /* the Lua state and what it compiled; outlives a world */

struct sim_redis {
    struct sim_dict space;
    struct sim_scripts *scripts;
    uint64_t script_epoch; /* digests loaded in another epoch are NOSCRIPT */
    enum sim_mode mode;
    int64_t now_us;
    bool has_written; /* a script has written already: OOM is too late */
    bool in_script;
    bool was_pushed;    /* to a list: blocked clients may be served */
    bool is_line_new;   /* a body, a block or one's lease was written since somebody cleared this */
    bool is_record_new; /* a field of a hash of records was, in the same way */
    uint64_t commands;

    /* Called for every change of a field of a hash whose key ends in ":runs". */
    void (*on_record)(void *user, const struct sim_arg *key, const struct sim_arg *id,
                      const struct sim_text *before, const struct sim_arg *after);
    /* Around each script: `name` is what the product calls it, NULL for a foreign one. */
    void (*on_call)(void *user, const char *digest, const struct sim_arg *keys, size_t key_count,
                    const struct sim_arg *args, size_t arg_count);
    void (*on_return)(void *user, const char *reply, size_t len);
    void *user;
};

struct sim_scripts *sim_scripts_create(void);
void sim_scripts_free(struct sim_scripts *scripts);

/* Runs one command and appends its reply. BLPOP answers "+BLOCK" when it would block. */
void sim_redis_run(struct sim_redis *redis, const struct sim_arg *args, size_t count,
                   struct sim_bytes *reply);

/* --- script.c ------------------------------------------------------------------------------ */

void sim_script_eval(struct sim_redis *redis, const struct sim_arg *args, size_t count,
                     struct sim_bytes *reply);
void sim_script_command(struct sim_redis *redis, const struct sim_arg *args, size_t count,
                        struct sim_bytes *reply);

/* `word` in either case. */
bool sim_arg_is(const struct sim_arg *arg, const char *word);
bool sim_arg_int(const struct sim_arg *arg, int64_t *ret_value);

#endif
