/* codec.c - what the generated C makes of payloads: each line of standard input is the name of a
 * job, a blank and a payload in hex; the answer is "ok" and the canonical payload, or the
 * status, in a line. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <culex/culex.h>

#include "attributes_job.h"
#include "types_defaults_job.h"
#include "types_job.h"
#include "types_optional_job.h"

static const culex_job_type *const types[] = {
    &kitchen_defaults_of_all_job_type,
    &kitchen_required_of_all_job_type,
    &kitchen_optional_of_all_job_type,
    &attr_limits_job_type,
};

static const culex_job_type *type_find(const char *name)
{
    for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
        if (strcmp(types[i]->name, name) == 0)
            return types[i];
    }
    fprintf(stderr, "codec: no job '%s'\n", name);
    exit(1);
}

static size_t hex_read(char *text)
{
    size_t len = strlen(text) / 2;
    for (size_t i = 0; i < len; i++) {
        char digits[] = {text[2 * i], text[2 * i + 1], '\0'};
        text[i] = (char)strtoul(digits, NULL, 16);
    }
    return len;
}

static void payload_try(const culex_job_type *type, const char *payload, size_t len)
{
    culex_arena *arena = culex_arena_create();
    culex_buf text;
    const void *value;
    culex_error error;
    culex_buf_init(&text, 0);
    culex_status status = culex_decode(type->params, arena, payload, len, &value, &error);
    if (status == CULEX_OK)
        status = culex_encode(type->params, value, &text, &error);
    fputs(status == CULEX_OK ? "ok " : culex_status_name(status), stdout);
    for (size_t i = 0; i < text.len; i++)
        printf("%02x", (unsigned char)text.data[i]);
    putchar('\n');
    fflush(stdout);
    culex_buf_release(&text);
    culex_arena_free(arena);
}

int main(void)
{
    char *line = NULL;
    size_t size = 0;
    while (getline(&line, &size, stdin) > 0) {
        char *payload = strchr(line, ' ');
        if (payload == NULL)
            return 1;
        *payload++ = '\0';
        payload[strcspn(payload, "\n")] = '\0';
        payload_try(type_find(line), payload, hex_read(payload));
    }
    free(line);
    return 0;
}
