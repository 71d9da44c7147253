/* enqueue.c - asks for one greeting: enqueue [NAME] */
#include <stdio.h>

#include "hello_job.h"

int main(int argc, char **argv)
{
    culex_error error;
    culex_client *client = NULL;
    if (culex_client_open(NULL, NULL, &client, &error) != CULEX_OK) {
        fprintf(stderr, "enqueue: %s\n", error.text);
        return 1;
    }

    hello_job job = hello_job_make();
    if (argc > 1)
        job.name = argv[1];
    culex_status status = hello_job_enqueue(client, &job, NULL, NULL, &error);
    if (status != CULEX_OK)
        fprintf(stderr, "enqueue: %s\n", error.text);
    culex_client_close(client);
    return status == CULEX_OK ? 0 : 1;
}
