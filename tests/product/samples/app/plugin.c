/* plugin.c - a shared object that enqueues; two of them share a schema in one process. */
#include "mail_job.h"

int plugin_enqueue(const char *who);

int plugin_enqueue(const char *who)
{
    culex_error error;
    culex_client *client = NULL;
    if (culex_client_open(NULL, NULL, &client, &error) != CULEX_OK)
        return 1;
    charge_job charge = charge_job_make(who, money_make(1));
    culex_status status = charge_job_enqueue(client, &charge, NULL, NULL, &error);
    culex_client_close(client);
    return status == CULEX_OK ? 0 : 1;
}
