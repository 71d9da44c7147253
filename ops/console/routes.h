/* ops/console/routes.h - the one table of what the server answers: requests are led by it, and
 * openapi.c writes the document from it. */
#ifndef OPS_CONSOLE_ROUTES_H
#define OPS_CONSOLE_ROUTES_H

#include "console/request.h"

/* Writes the answer to request->json. A failure is told in its place. */
typedef culex_status (*route_fn)(struct request *request, culex_error *error);

struct route_query {
    const char *name, *doc;
};

enum { ROUTE_QUERIES_MAX = 9 };

/* Which client of the store the route has. It says nothing of who may ask. */
enum route_client {
    CLIENT_OF_POOL, /* one that it is given; where the store is away the request fails */
    CLIENT_ITS_OWN, /* one that it takes itself; it answers without one, too */
    CLIENT_NONE
};

struct route {
    const char *method;
    const char *path; /* "{queue}" stands for one part, of which there are REQUEST_PARTS at most */
    const char *name; /* of the operation, one word */
    const char *summary;
    route_fn run;
    bool is_open; /* to anybody, without a token; no change is */
    int roles;    /* bits of enum role that may, where it is not open; 0: operate alone, which
                     always may */
    enum route_client client;
    enum pool_use use; /* of CLIENT_OF_POOL */
    bool
        is_work; /* the worker's side: what becomes of a run stands with the run, and in no audit */
    const char *body;   /* shape of what is sent, NULL for nothing; see shapes.h */
    const char *answer; /* and of what comes back, NULL for what is no JSON of a shape */
    const char *type;   /* of media, NULL for JSON */
    unsigned status;    /* when all is well */
    unsigned other;     /* a second one, 0 for none */
    size_t body_max;    /* bytes, 0 where there is no body */
    const struct route_query *queries; /* ends with a row without a name; NULL for none */
};

/* All of them; the last one has no path. */
extern const struct route routes[];
/* Ends the program where a row is not as it has to be: at its start, before somebody asks. */
void routes_check(void);

/* The route of method and path, with its parts in request->parts. NULL: there is none, and
 * *ret_allowed has the methods that the path has, "" for none. */
enum { ROUTE_ALLOWED_SIZE = 32 };
const struct route *route_find(struct request *request, char ret_allowed[ROUTE_ALLOWED_SIZE]);
/* Whether it changes something. */
bool route_is_change(const struct route *route);

/* ---- pages.c: what is no part of /api/v1 but tells of it */
culex_status route_start(struct request *request, culex_error *error);
culex_status route_page(struct request *request, culex_error *error);
culex_status route_openapi(struct request *request, culex_error *error);
culex_status route_health(struct request *request, culex_error *error);
culex_status route_stream(struct request *request, culex_error *error);

/* ---- queues.c */
culex_status route_queues(struct request *request, culex_error *error);
culex_status route_queue(struct request *request, culex_error *error);
culex_status route_queue_pause(struct request *request, culex_error *error);
culex_status route_queue_resume(struct request *request, culex_error *error);

/* ---- bulk.c */
culex_status route_queue_bulk(struct request *request, culex_error *error);

/* ---- listing.c */
culex_status route_runs(struct request *request, culex_error *error);
culex_status route_tag(struct request *request, culex_error *error);
culex_status route_tags(struct request *request, culex_error *error);

/* ---- run.c */
culex_status route_run(struct request *request, culex_error *error);
culex_status route_run_wait(struct request *request, culex_error *error);
culex_status route_run_cancel(struct request *request, culex_error *error);
culex_status route_run_retry(struct request *request, culex_error *error);
culex_status route_run_delete(struct request *request, culex_error *error);

/* ---- enqueue.c */
culex_status route_enqueue(struct request *request, culex_error *error);
culex_status route_enqueue_bulk(struct request *request, culex_error *error);

/* ---- claims.c */
culex_status route_claim(struct request *request, culex_error *error);
culex_status route_claim_beat(struct request *request, culex_error *error);
culex_status route_claim_complete(struct request *request, culex_error *error);
culex_status route_claim_fail(struct request *request, culex_error *error);
culex_status route_claim_release(struct request *request, culex_error *error);

/* ---- figures.c */
culex_status route_figures(struct request *request, culex_error *error);
culex_status route_batch(struct request *request, culex_error *error);

/* ---- limits.c */
culex_status route_limit_keys(struct request *request, culex_error *error);
culex_status route_limit_set(struct request *request, culex_error *error);
culex_status route_limit_reset(struct request *request, culex_error *error);

/* ---- schedules.c */
culex_status route_schedule_pause(struct request *request, culex_error *error);
culex_status route_schedule_resume(struct request *request, culex_error *error);
culex_status route_schedule_run(struct request *request, culex_error *error);
culex_status route_schedule_delete(struct request *request, culex_error *error);

/* ---- metrics.c */
culex_status route_metrics(struct request *request, culex_error *error);

/* ---- lists.c */
culex_status route_schemas(struct request *request, culex_error *error);
culex_status route_live(struct request *request, culex_error *error);
culex_status route_schema(struct request *request, culex_error *error);
culex_status route_schedules(struct request *request, culex_error *error);
culex_status route_limits(struct request *request, culex_error *error);
culex_status route_workers(struct request *request, culex_error *error);

/* ---- workers.c */
culex_status route_worker_set(struct request *request, culex_error *error);

#endif
