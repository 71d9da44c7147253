/* sweep_schema - the n-th allocation fails, for every n: writing and reading the text of a schema
 * must say so, leave nothing behind (a sanitizer or valgrind looks), and succeed in the end. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <culex/schema.h>

#include "failing_malloc.h"
#include "own_types_job.h"

enum { SWEEP_MAX = 1000 };

static long calls_left = -1; /* the allocation after so many more fails; -1 for none */

bool malloc_fails(void)
{
    return calls_left >= 0 && calls_left-- == 0;
}

static culex_status write_once(culex_error *error)
{
    char *text = NULL;
    size_t len;
    culex_status status = culex_schema_write(&shop_own_charge_job_type, &text, &len, error);
    if ((status == CULEX_OK) != (text != NULL))
        abort();
    free(text);
    return status;
}

static culex_status read_once(const char *text, size_t len, culex_error *error)
{
    culex_schema *schema = NULL;
    culex_status status = culex_schema_read(text, len, &schema, error);
    if ((status == CULEX_OK) != (schema != NULL))
        abort();
    culex_schema_free(schema);
    return status;
}

/* The number of failures before it went through, or -1. */
static int sweep(const char *text, size_t len)
{
    for (int n = 0; n < SWEEP_MAX; n++) {
        culex_error error = {0};
        calls_left = n;
        culex_status status = text == NULL ? write_once(&error) : read_once(text, len, &error);
        calls_left = -1;
        if (status == CULEX_OK)
            return n;
        if (status != CULEX_ENOMEM || error.code != CULEX_ENOMEM)
            return -1;
    }
    return -1;
}

int main(void)
{
    char *text = NULL;
    size_t len;
    if (culex_schema_write(&shop_own_charge_job_type, &text, &len, NULL) != CULEX_OK)
        return 1;
    int writes = sweep(NULL, 0);
    int reads = sweep(text, len);
    free(text);
    printf("allocations that failed in turn: %d to write, %d to read\n", writes, reads);
    return writes < 4 || reads < 4;
}
