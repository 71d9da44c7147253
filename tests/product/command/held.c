/* held [WORKER OPTION]...      a worker of queue held, which begins what `chime` declares
 * held enqueue pen|draw COUNT  enqueues so many runs
 * held tell FILE PAYLOAD       enqueues a run by the text of a schema, which it tells the store
 * held schema                  prints the text of the schema of kit.all */
#include <culex/codec.h>
#include <culex/schema.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "held_job.h"
#include "kit_job.h"

static culex_outcome pen(culex_run *run, const pen_job *job, void *user)
{
    const struct timespec tick = {0, 10000000};
    (void)job;
    (void)user;
    while (!culex_run_cancelled(run))
        nanosleep(&tick, NULL);
    return CULEX_FAILED;
}

static culex_outcome draw(culex_run *run, const draw_job *job, void *user)
{
    (void)run;
    (void)job;
    (void)user;
    return CULEX_DONE;
}

static culex_outcome chime(culex_run *run, const chime_job *job, void *user)
{
    (void)run;
    (void)job;
    (void)user;
    return CULEX_DONE;
}

static culex_outcome all(culex_run *run, const kit_all_job *job, void *user)
{
    (void)run;
    (void)job;
    (void)user;
    return CULEX_DONE;
}

static culex_status setup(culex_worker *worker, void *user)
{
    (void)user;
    culex_status status = pen_job_register(worker, pen, NULL);
    if (status == CULEX_OK)
        status = draw_job_register(worker, draw, NULL);
    if (status == CULEX_OK)
        status = chime_job_register(worker, chime, NULL);
    return status == CULEX_OK ? kit_all_job_register(worker, all, NULL) : status;
}

enum { MOST = 4000 };

static culex_status enqueue(culex_client *client, const char *name, size_t count,
                            culex_error *error)
{
    static pen_job pens[MOST];
    static draw_job draws[MOST];
    if (count > MOST)
        count = MOST;
    return strcmp(name, "pen") == 0
               ? pen_job_enqueue_many(client, pens, count, NULL, NULL, NULL, error)
               : draw_job_enqueue_many(client, draws, count, NULL, NULL, NULL, error);
}

static culex_status run_tell(culex_client *client, const culex_schema *schema, const char *payload,
                             culex_error *error)
{
    const culex_job_type *type = culex_schema_type(schema);
    culex_arena *arena = culex_arena_create();
    const void *params;
    culex_status status =
        culex_decode(type->params, arena, payload, strlen(payload), &params, error);
    if (status == CULEX_OK)
        status = culex_client_enqueue(client, type, params, NULL, NULL, error);
    culex_arena_free(arena);
    return status;
}

static culex_status tell(culex_client *client, const char *path, const char *payload,
                         culex_error *error)
{
    static char text[64 * 1024];
    culex_schema *schema = NULL;
    FILE *file = fopen(path, "rb");
    if (file == NULL)
        return CULEX_EINVAL;
    size_t len = fread(text, 1, sizeof text, file);
    fclose(file);
    culex_status status = culex_schema_read(text, len, &schema, error);
    if (status == CULEX_OK)
        status = run_tell(client, schema, payload, error);
    culex_schema_free(schema);
    return status;
}

static int schema_print(void)
{
    char *text = NULL;
    size_t len;
    culex_error error = {.code = CULEX_OK};
    if (culex_schema_write(&kit_all_job_type, &text, &len, &error) != CULEX_OK) {
        fprintf(stderr, "held: %s\n", error.text);
        return 1;
    }
    puts(text);
    free(text);
    return 0;
}

int main(int argc, char **argv)
{
    const culex_client_options options = {.publish_schemas = true};
    culex_client *client = NULL;
    culex_error error = {.code = CULEX_OK};
    bool tells = argc == 4 && strcmp(argv[1], "tell") == 0;
    if (argc == 2 && strcmp(argv[1], "schema") == 0)
        return schema_print();
    if (!tells && (argc < 4 || strcmp(argv[1], "enqueue") != 0))
        return culex_worker_main(argc, argv, setup, NULL);
    culex_status status = culex_client_open(NULL, tells ? &options : NULL, &client, &error);
    if (status == CULEX_OK)
        status = tells ? tell(client, argv[2], argv[3], &error)
                       : enqueue(client, argv[2], (size_t)atoi(argv[3]), &error);
    culex_client_close(client);
    if (status != CULEX_OK)
        fprintf(stderr, "held: %s\n", error.text);
    return status != CULEX_OK;
}
