/* backup/enqueue.c - copies files, and checks each copy once it is there: enqueue FROM TO ... */
#include <stdio.h>

#include "backup_job.h"

/* The check waits for the end of the copy, whoever runs that and wherever; so does the bad news. */
static culex_status backup(culex_client *client, const char *from, const char *to,
                           culex_error *error)
{
    shop_copy_file_job copy = shop_copy_file_job_make(from, to);
    shop_check_copy_job check = shop_check_copy_job_make(from, to);
    shop_tell_loss_job loss = shop_tell_loss_job_make(from);
    culex_enqueue_options options = culex_enqueue_options_make();
    culex_uuid id;
    culex_status status = shop_copy_file_job_enqueue(client, &copy, NULL, &id, error);
    options.after = &id;
    options.after_queue = shop_copy_file_job_type.queue;
    if (status == CULEX_OK)
        status = shop_check_copy_job_enqueue(client, &check, &options, NULL, error);
    options.batch_when = CULEX_BATCH_ON_DEATH;
    if (status == CULEX_OK)
        status = shop_tell_loss_job_enqueue(client, &loss, &options, NULL, error);
    return status;
}

int main(int argc, char **argv)
{
    culex_error error;
    culex_client *client = NULL;
    culex_status status = culex_client_open(NULL, NULL, &client, &error);
    for (int i = 1; i + 1 < argc && status == CULEX_OK; i += 2)
        status = backup(client, argv[i], argv[i + 1], &error);
    if (status != CULEX_OK)
        fprintf(stderr, "enqueue: %s\n", error.text);
    culex_client_close(client);
    return status == CULEX_OK ? 0 : 1;
}
