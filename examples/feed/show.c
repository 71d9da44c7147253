/* feed/show.c - what the job keeps from run to run: show [--forget] */
#include <stdio.h>
#include <string.h>

#include "feed_job.h"

static culex_status show(culex_client *client, culex_error *error)
{
    shop_poll_feed_metadata kept;
    uint64_t version;
    culex_arena *arena = culex_arena_create();
    culex_status status = shop_poll_feed_job_metadata_read(client, arena, &kept, &version, error);
    if (status == CULEX_OK)
        printf("%llu entries, the newest is '%s'\n", (unsigned long long)kept.entries, kept.newest);
    culex_arena_free(arena);
    return status;
}

int main(int argc, char **argv)
{
    culex_error error;
    culex_client *client = NULL;
    culex_status status = culex_client_open(NULL, NULL, &client, &error);
    if (status == CULEX_OK && argc == 2 && strcmp(argv[1], "--forget") == 0)
        status = culex_client_metadata_delete(client, shop_poll_feed_job_type.queue,
                                              shop_poll_feed_job_type.wire, &error);
    else if (status == CULEX_OK)
        status = show(client, &error);
    if (status != CULEX_OK)
        fprintf(stderr, "show: %s\n", error.text);
    culex_client_close(client);
    return status == CULEX_OK ? 0 : 1;
}
