/* Enqueues, runs and reads jobs with encrypted params; what is said here shall be in no store.
 * usage: vault enqueue IBAN [KEY] | vault greet NAME | vault wait|show ID | vault [OPTION...] as a
 * worker */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "vault_job.h"

static int fail(const culex_error *error)
{
    fprintf(stderr, "vault: %s: %s (%s)\n", culex_status_name(error->code), error->text,
            error->field);
    return 1;
}

static culex_outcome pay(culex_run *run, const vault_pay_job *job, void *user)
{
    char receipt[64];
    culex_error error = {0};
    (void)user;
    if (strcmp(job->shop, "leaky") == 0)
        return culex_run_fail(run, "no account %s", job->iban);
    printf("paid %s %u %s %zu\n", job->iban, job->cents, job->has_note ? job->note : "-",
           job->lines_len);
    fflush(stdout);
    snprintf(receipt, sizeof receipt, "receipt-of-%s", job->iban);
    const vault_pay_result result = vault_pay_result_make(receipt, false);
    if (vault_pay_job_set_result(run, &result, &error) != CULEX_OK)
        return culex_run_fail(run, "%s", error.text);
    if (strcmp(job->shop, "chain") != 0)
        return CULEX_DONE;
    vault_pay_job next = *job;
    next.shop = "end of the chain";
    if (vault_pay_job_enqueue_from(run, &next, NULL, &error) != CULEX_OK ||
        vault_pay_job_enqueue(culex_run_client(run), &next, NULL, NULL, &error) != CULEX_OK)
        return culex_run_fail(run, "%s", error.text);
    return CULEX_DONE;
}

static culex_outcome greet(culex_run *run, const vault_greet_job *job, void *user)
{
    (void)run, (void)user;
    printf("hello %s\n", job->name);
    return CULEX_DONE;
}

static int setup(culex_worker *worker, void *user)
{
    (void)user;
    if (getenv("VAULT_GREETS_ONLY") == NULL &&
        vault_pay_job_register(worker, pay, NULL) != CULEX_OK)
        return 1;
    return vault_greet_job_register(worker, greet, NULL) != CULEX_OK;
}

static int enqueue(culex_client *client, const char *shop, const char *iban, const char *key)
{
    static const char *const lines[] = {"first-line-of-it", "second-line-of-it"};
    culex_error error = {0};
    culex_uuid id;
    char text[CULEX_UUID_TEXT_SIZE];
    vault_pay_job job = vault_pay_job_make(shop, iban, 3141592653);
    vault_pay_job_set_note(&job, "note-of-the-payer");
    vault_pay_job_set_lines(&job, lines, 2);
    culex_enqueue_options options = culex_enqueue_options_make();
    options.idempotency_key = key;
    if (vault_pay_job_enqueue(client, &job, &options, &id, &error) != CULEX_OK)
        return fail(&error);
    culex_uuid_format(id, text);
    printf("%s\n", text);
    return 0;
}

static int wait_for(culex_client *client, const char *text)
{
    culex_error error = {0};
    culex_uuid id;
    culex_wait_end end;
    const vault_pay_result *result = NULL;
    culex_arena *arena = culex_arena_create();
    if (!culex_uuid_parse(text, &id) || vault_pay_job_wait(client, id, culex_seconds(20), arena,
                                                           &end, &result, &error) != CULEX_OK) {
        culex_arena_free(arena);
        return fail(&error);
    }
    printf("%s\n", result != NULL ? result->receipt : "no result");
    culex_arena_free(arena);
    return 0;
}

/* What an operator with the keys sees of a run. */
static int show(culex_client *client, const char *text)
{
    culex_error error = {0};
    culex_uuid id;
    const void *params = NULL;
    culex_run_info *info = NULL;
    culex_arena *arena = culex_arena_create();
    int code = 1;
    if (culex_uuid_parse(text, &id) &&
        culex_client_get(client, "vault.pay", id, &info, &error) == CULEX_OK &&
        culex_client_decode_params(client, &vault_pay_job_type, arena, info->payload.data,
                                   info->payload.len, &params, &error) == CULEX_OK) {
        printf("%s\n", ((const vault_pay_job *)params)->iban);
        code = 0;
    } else
        fail(&error);
    culex_run_info_free(info);
    culex_arena_free(arena);
    return code;
}

static int client_serve(int argc, char **argv)
{
    culex_client *client = NULL;
    culex_error error = {0};
    int code = 2;
    if (culex_client_open(NULL, NULL, &client, &error) != CULEX_OK)
        return fail(&error);
    if (strcmp(argv[1], "enqueue") == 0)
        code = enqueue(client, "shop", argv[2], argc > 3 ? argv[3] : NULL);
    else if (strcmp(argv[1], "show") == 0)
        code = show(client, argv[2]);
    else if (strcmp(argv[1], "wait") == 0)
        code = wait_for(client, argv[2]);
    else if (strcmp(argv[1], "greet") == 0) {
        const vault_greet_job job = vault_greet_job_make(argv[2]);
        code = vault_greet_job_enqueue(client, &job, NULL, NULL, &error) == CULEX_OK ? 0
                                                                                     : fail(&error);
    } else
        code = enqueue(client, argv[1], argv[2], NULL);
    culex_client_close(client);
    return code;
}

int main(int argc, char **argv)
{
    if (argc > 2 && argv[1][0] != '-')
        return client_serve(argc, argv);
    return culex_worker_main(argc, argv, setup, NULL);
}
