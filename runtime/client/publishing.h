/* client/publishing.h - what a client tells the store of the schemas of jobs that it enqueues:
 * culex_client_options.publish_schemas. */
#ifndef CULEX_CLIENT_PUBLISHING_H
#define CULEX_CLIENT_PUBLISHING_H

#include <culex/client.h>
#include <culex/job.h>

struct culex_publishing;

/* NULL without memory. */
struct culex_publishing *culex__publishing_create(void);

/* A run of the job has come into `queue`. Tells the job's schema there, the first time in the
 * client's life; a client without the option has nothing to do. Not in the client's turn. */
void culex__publishing_note(culex_client *client, const culex_job_type *type, const char *queue);

#endif
