/* plugin_keys URL TENANT DOCUMENT PAGE - enqueues that page by the generated C and prints its id.
 */
#include <stdio.h>
#include <stdlib.h>

#include "limits_job.h"

int main(int argc, char **argv)
{
    culex_client *client = NULL;
    culex_error error = {0};
    culex_uuid id;
    char text[CULEX_UUID_TEXT_SIZE];
    if (argc != 5)
        return 2;
    shop_render_page_job page =
        shop_render_page_job_make(argv[2], argv[3], (uint32_t)strtoul(argv[4], NULL, 10));
    culex_status status = culex_client_open(argv[1], NULL, &client, &error);
    if (status == CULEX_OK)
        status = shop_render_page_job_enqueue(client, &page, NULL, &id, &error);
    culex_client_close(client);
    if (status != CULEX_OK) {
        fprintf(stderr, "%s\n", error.text);
        return 1;
    }
    culex_uuid_format(id, text);
    puts(text);
    return 0;
}
