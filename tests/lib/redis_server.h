/* lib/redis_server.h - a private redis-server for tests.
 *
 * It listens on a UNIX socket in a fresh folder, keeps nothing unless told to, and dies with
 * the test. Every wait is bounded. */
#ifndef CULEX_TESTS_REDIS_SERVER_H
#define CULEX_TESTS_REDIS_SERVER_H

#include <stdbool.h>
#include <sys/types.h>

#include <hiredis/hiredis.h>

enum { REDIS_SERVER_ARGS_MAX = 24 };

struct redis_server {
    pid_t pid; /* 0 while it does not run */
    char folder[64];
    char socket[96];
    char url[128]; /* redis+unix://... */
    const char *extra[REDIS_SERVER_ARGS_MAX];
    size_t extra_count;
};

/* Starts the server with further command line words, NULL-ended and borrowed until it is
 * stopped; NULL for none. False when there is no redis-server or it does not come up in 10 s. */
bool redis_server_start(struct redis_server *server, const char *const *extra);

/* SIGKILL, as a crash does. The folder stays. */
void redis_server_kill(struct redis_server *server);

/* Starts it again in the same folder, with the same words. */
bool redis_server_restart(struct redis_server *server);

/* Kills it and removes the folder. Accepts a zeroed server. */
void redis_server_stop(struct redis_server *server);

/* Runs one command, written as for hiredis' redisCommand(), on a connection of its own. NULL when
 * the server does not answer within 5 s. Free with freeReplyObject(). */
redisReply *redis_server_command(const struct redis_server *server, const char *format, ...);

#endif
