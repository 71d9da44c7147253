/* feed/enqueue.c - asks for the entries of the feed in a file: enqueue PATH */
#include <stdio.h>

#include "feed_job.h"

int main(int argc, char **argv)
{
    culex_error error;
    culex_client *client = NULL;
    if (argc != 2) {
        fputs("usage: enqueue PATH\n", stderr);
        return 2;
    }
    culex_status status = culex_client_open(NULL, NULL, &client, &error);
    shop_poll_feed_job job = shop_poll_feed_job_make(argv[1]);
    if (status == CULEX_OK)
        status = shop_poll_feed_job_enqueue(client, &job, NULL, NULL, &error);
    if (status != CULEX_OK)
        fprintf(stderr, "enqueue: %s\n", error.text);
    culex_client_close(client);
    return status == CULEX_OK ? 0 : 1;
}
