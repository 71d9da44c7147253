/* ops/console/request.h - one request, as the routes see it: read, let in, and given a client. */
#ifndef OPS_CONSOLE_REQUEST_H
#define OPS_CONSOLE_REQUEST_H

#include <stdatomic.h>

#include "command/command.h"
#include "command/print.h"
#include "console/failure.h"
#include "console/pool.h"
#include "console/outlet.h"
#include "console/schema_cache.h"
#include "console/tokens.h"

/* What the server was told, and what all requests share. */
struct console {
    const char *base;  /* path that a proxy puts before all others: "" or "/culex" */
    const char *hosts; /* names, with commas, by which it may be called; NULL: none but its own */
    bool is_read_only;
    bool is_local;         /* it listens at a Unix socket, which no browser reaches */
    struct tokens *tokens; /* NULL: whoever reaches it may do all */
    struct outlet audit;
    struct pool *pool;
    struct schema_cache *schemas;
    struct streams *streams;
    struct tally *tally;
    uint64_t mark; /* of this life of the server, in the cursors that it gives out */
    unsigned connections;
    atomic_bool is_ending;    /* whoever waits answers now */
    atomic_uint at_work;      /* requests that are being answered */
    atomic_size_t body_bytes; /* of large bodies */
    atomic_bool is_counting;  /* somebody has the runs of a queue read, see lists.c */
};

enum { REQUEST_PARTS = 2, REQUEST_PART_SIZE = 256 };

struct request {
    struct console *console;
    const struct route *route;                    /* NULL: there is none */
    void *connection;                             /* of libmicrohttpd */
    const char *method, *path;                    /* the path is without the base */
    char parts[REQUEST_PARTS][REQUEST_PART_SIZE]; /* what stands for {..} in the route's path */
    char *body;                                   /* owned */
    size_t body_len, body_size;
    size_t reserved;         /* of console->body_bytes */
    const struct token *who; /* NULL: nobody asked */
    bool is_at_work;         /* counted in console->at_work */

    struct ops ops; /* as for a command: its client is the request's */

    /* What a failure of the route is told as, where its status is not 0: as none of the store's. */
    struct failure refusal;
    /* The answer: what `json` has written, when the route returns CULEX_OK. */
    struct ops_json json;
    unsigned status;                   /* 200 where the route does not say otherwise */
    const char *type;                  /* NULL: JSON */
    const char *tag;                   /* of a file of the page, quoted; NULL: it is none */
    bool is_bare;                      /* asked for the base itself, without its '/' */
    bool is_stream;                    /* it goes on, as stream.h has it */
    char audited[160];                 /* what the line of the audit has besides, "" for nothing */
    const char *audited_as;            /* the name of that, NULL for "run" */
    char in_way[CULEX_UUID_TEXT_SIZE]; /* of a failure: the run because of which, "" for none */
};

/* A parameter of the query, NULL when it is not there; it lives as long as the request. */
const char *request_query(const struct request *request, const char *name);
/* The names of all that are there. */
void request_query_each(const struct request *request, void (*see)(const char *name, void *user),
                        void *user);
/* A header, or NULL. */
const char *request_header(const struct request *request, const char *name);
/* The values of all headers of that name. */
void request_header_each(const struct request *request, const char *name,
                         void (*see)(const char *value, void *user), void *user);
unsigned request_header_count(const struct request *request, const char *name);
/* Whoever asked has gone. */
bool request_is_deserted(const struct request *request);

#endif
