/* gallery/upload.c - upload OWNER PATH...: has thumbnails made of pictures. */
#include <stdio.h>

#include "gallery_job.h"

static int upload(culex_client *client, const char *owner, const char *path)
{
    culex_error error;
    gallery_thumbnail_job job = gallery_thumbnail_job_make(path, owner);
    if (gallery_thumbnail_job_enqueue(client, &job, NULL, NULL, &error) == CULEX_OK)
        return 0;
    fprintf(stderr, "upload: %s: %s\n", path, error.text);
    return 1;
}

int main(int argc, char **argv)
{
    culex_error error;
    culex_client *client;
    int failed = 0;
    if (argc < 3) {
        fputs("usage: upload OWNER PATH...\n", stderr);
        return 2;
    }
    if (culex_client_open(NULL, NULL, &client, &error) != CULEX_OK) {
        fprintf(stderr, "upload: %s\n", error.text);
        return 1;
    }
    for (int i = 2; i < argc; i++)
        failed |= upload(client, argv[1], argv[i]);
    culex_client_close(client);
    return failed;
}
