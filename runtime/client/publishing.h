/* client/publishing.h - what a client tells the store of the schemas of jobs that it enqueues:
 * culex_client_options.publish_schemas. */
#ifndef CULEX_CLIENT_PUBLISHING_H
#define CULEX_CLIENT_PUBLISHING_H

#include <culex/client.h>
#include <culex/job.h>

struct culex_publishing;

/* CULEX_ENOMEM, or CULEX_EUNSUPPORTED in a library for producers. Freed by free(3). */
culex_status culex__publishing_create(struct culex_publishing **ret_publishing, culex_error *error);

/* A run of the job has come into `queue`. Tells the job's schema there, the first time in the
 * client's life; a client without the option has nothing to do. Not in the client's turn. */
void culex__publishing_note(culex_client *client, const culex_job_type *type, const char *queue);

#endif
