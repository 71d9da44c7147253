/* enqueue.c - enqueues one run of each job. */
#include <stdio.h>

#include "mail_job.h"
#include "note_job.h"

int main(void)
{
    culex_error error;
    culex_client *client = NULL;
    if (culex_client_open(NULL, NULL, &client, &error) != CULEX_OK) {
        fprintf(stderr, "enqueue: %s\n", error.text);
        return 1;
    }
    charge_job charge = charge_job_make("program", money_make(250));
    note_job note = note_job_make("hello");
    int is_done = charge_job_enqueue(client, &charge, NULL, NULL, &error) == CULEX_OK &&
                  note_job_enqueue(client, &note, NULL, NULL, &error) == CULEX_OK;
    if (!is_done)
        fprintf(stderr, "enqueue: %s\n", error.text);
    culex_client_close(client);
    return is_done ? 0 : 1;
}
