/* thumbnails/enqueue.c - begins a chain for each picture: enqueue PATH... */
#include <stdio.h>

#include "thumbnails_job.h"

int main(int argc, char **argv)
{
    culex_error error;
    culex_client *client = NULL;
    culex_status status = culex_client_open(NULL, NULL, &client, &error);
    for (int i = 1; i < argc && status == CULEX_OK; i++) {
        shop_measure_job job = shop_measure_job_make(argv[i]);
        status = shop_thumbnail_chain_enqueue(client, &job, NULL, NULL, &error);
    }
    if (status != CULEX_OK)
        fprintf(stderr, "enqueue: %s\n", error.text);
    culex_client_close(client);
    return status == CULEX_OK ? 0 : 1;
}
