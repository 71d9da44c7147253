/* checksum/enqueue.c - enqueues one run per path read from standard input (NUL-ended
 * paths, as `find -print0` writes them): find DIR -type f -print0 | enqueue */
#include <stdio.h>
#include <stdlib.h>

#include "checksum_job.h"

enum { BATCH = 256 };

struct batch {
    checksum_job jobs[BATCH];
    char *paths[BATCH];
    size_t count;
};

static int batch_send(culex_client *client, struct batch *batch)
{
    culex_error error;
    culex_status status =
        checksum_job_enqueue_many(client, batch->jobs, batch->count, NULL, NULL, NULL, &error);
    if (status != CULEX_OK)
        fprintf(stderr, "enqueue: %s\n", error.text);
    for (size_t i = 0; i < batch->count; i++)
        free(batch->paths[i]);
    batch->count = 0;
    return status == CULEX_OK ? 0 : 1;
}

static int paths_enqueue(culex_client *client, size_t *ret_total)
{
    static struct batch batch;
    char *path = NULL;
    size_t size = 0;
    int code = 0;
    while (code == 0 && getdelim(&path, &size, '\0', stdin) > 0) {
        batch.paths[batch.count] = path;
        batch.jobs[batch.count++] = checksum_job_make(path);
        path = NULL; /* the batch has it */
        size = 0;
        ++*ret_total;
        if (batch.count == BATCH)
            code = batch_send(client, &batch);
    }
    free(path);
    return code == 0 && batch.count > 0 ? batch_send(client, &batch) : code;
}

int main(void)
{
    culex_error error;
    culex_client *client = NULL;
    if (culex_client_open(NULL, NULL, &client, &error) != CULEX_OK) {
        fprintf(stderr, "enqueue: %s\n", error.text);
        return 1;
    }
    size_t total = 0;
    int code = paths_enqueue(client, &total);
    culex_client_close(client);
    if (code == 0)
        printf("%zu\n", total);
    return code;
}
