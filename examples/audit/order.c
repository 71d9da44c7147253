/* order.c - orders a transfer: order ACCOUNT CENTS
 *
 * Who orders is written into each run, and nobody orders without a name: a hook before the enqueue,
 * set once, does so for all calls of the program. */
#include <stdio.h>
#include <stdlib.h>

#include "audit_job.h"

static culex_status order_sign(culex_enqueue_call *call, void *user, culex_error *error)
{
    const char *name = user;
    char tag[64];
    if (name == NULL || name[0] == '\0') {
        snprintf(error->text, sizeof error->text, "who orders this? set ORDERED_BY");
        return CULEX_EDENIED;
    }
    snprintf(tag, sizeof tag, "by:%s", name);
    return culex_enqueue_tag(call, tag, error);
}

static culex_status order(culex_client *client, char **argv, culex_error *error)
{
    char *name = getenv("ORDERED_BY");
    uint32_t account = (uint32_t)strtoul(argv[1], NULL, 10);
    uint64_t cents = strtoull(argv[2], NULL, 10);
    bank_transfer_job job = bank_transfer_job_make(account, cents, name != NULL ? name : "");
    culex_status status = culex_client_on_enqueue(client, order_sign, name, error);
    return status == CULEX_OK ? bank_transfer_job_enqueue(client, &job, NULL, NULL, error) : status;
}

int main(int argc, char **argv)
{
    culex_error error;
    culex_client *client = NULL;
    if (argc != 3) {
        fprintf(stderr, "usage: order ACCOUNT CENTS\n");
        return 2;
    }
    if (culex_client_open(NULL, NULL, &client, &error) != CULEX_OK) {
        fprintf(stderr, "order: %s\n", error.text);
        return 1;
    }
    culex_status status = order(client, argv, &error);
    if (status != CULEX_OK)
        fprintf(stderr, "order: %s\n", error.text);
    culex_client_close(client);
    return status == CULEX_OK ? 0 : 1;
}
