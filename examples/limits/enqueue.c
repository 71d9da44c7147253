/* limits/enqueue.c - work for the tenants of queue "limits".
 * enqueue pages TENANT COUNT
 * enqueue previews TENANT
 * enqueue warn TENANT TEXT    says whether the tenant is warned already */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "limits_job.h"

static culex_status pages(culex_client *client, const char *tenant, const char *count,
                          culex_error *error)
{
    culex_status status = CULEX_OK;
    unsigned long last = strtoul(count, NULL, 10);
    for (unsigned long page = 1; page <= last && status == CULEX_OK; page++) {
        shop_render_page_job job = shop_render_page_job_make(tenant, (uint32_t)page);
        status = shop_render_page_job_enqueue(client, &job, NULL, NULL, error);
    }
    return status;
}

static culex_status previews(culex_client *client, const char *tenant, culex_error *error)
{
    shop_draw_previews_job job = shop_draw_previews_job_make(tenant);
    return shop_draw_previews_job_enqueue(client, &job, NULL, NULL, error);
}

static culex_status warn(culex_client *client, const char *tenant, const char *text,
                         culex_error *error)
{
    culex_uuid id;
    char id_text[CULEX_UUID_TEXT_SIZE];
    culex_enqueue_outcome outcome;
    culex_enqueue_options options = culex_enqueue_options_make();
    shop_warn_tenant_job job = shop_warn_tenant_job_make(tenant, text);
    options.ret_outcomes = &outcome;
    culex_status status = shop_warn_tenant_job_enqueue(client, &job, &options, &id, error);
    if (status != CULEX_OK)
        return status;
    culex_uuid_format(id, id_text);
    printf("%s %s\n", id_text, outcome == CULEX_ENQUEUE_NEW ? "new" : "warned already");
    return CULEX_OK;
}

static culex_status command(culex_client *client, int argc, char **argv, culex_error *error)
{
    if (argc == 4 && strcmp(argv[1], "pages") == 0)
        return pages(client, argv[2], argv[3], error);
    if (argc == 3 && strcmp(argv[1], "previews") == 0)
        return previews(client, argv[2], error);
    if (argc == 4 && strcmp(argv[1], "warn") == 0)
        return warn(client, argv[2], argv[3], error);
    snprintf(error->text, sizeof error->text,
             "usage: enqueue pages TENANT COUNT | previews TENANT | warn TENANT TEXT");
    return CULEX_EINVAL;
}

int main(int argc, char **argv)
{
    culex_error error = {.code = CULEX_OK};
    culex_client *client = NULL;
    culex_status status = culex_client_open(NULL, NULL, &client, &error);
    if (status == CULEX_OK)
        status = command(client, argc, argv, &error);
    culex_client_close(client);
    if (status != CULEX_OK)
        fprintf(stderr, "enqueue: %s\n", error.text);
    return status == CULEX_OK ? 0 : 1;
}
