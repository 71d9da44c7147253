/* mail/mail.c - the shop's side: mail send TO SUBJECT [CC]..., mail dead, mail log, mail retry */
#include <stdio.h>
#include <string.h>

#include "mail_job.h"

static int complain(const culex_error *error)
{
    if (error->field[0] != '\0')
        fprintf(stderr, "mail: %s: %s\n", error->field, error->text);
    else
        fprintf(stderr, "mail: %s\n", error->text);
    return 1;
}

static int mail_send(culex_client *client, int argc, char **argv)
{
    culex_error error;
    culex_uuid id;
    shop_send_email_job job = shop_send_email_job_make(argv[0], argv[1]);
    shop_send_email_job_set_cc(&job, (const char *const *)argv + 2, (size_t)argc - 2);
    if (shop_send_email_job_enqueue(client, &job, NULL, &id, &error) != CULEX_OK)
        return complain(&error);

    char text[CULEX_UUID_TEXT_SIZE];
    culex_uuid_format(id, text);
    printf("%s\n", text);
    return 0;
}

static bool dead_print(const culex_run_info *run, void *user)
{
    culex_run_info *full = NULL;
    char id[CULEX_UUID_TEXT_SIZE];
    culex_uuid_format(run->id, id);
    if (culex_client_get(user, run->queue, run->id, &full, NULL) == CULEX_OK)
        printf("%s after %u attempts: %s\n", id, full->attempt, full->error_text);
    culex_run_info_free(full);
    return true;
}

/* What its handler has written, in all of its attempts. */
static bool dead_log(const culex_run_info *run, void *user)
{
    culex_error error;
    culex_run_lines *lines = NULL;
    if (culex_client_run_log(user, run->queue, run->id, &lines, &error) != CULEX_OK) {
        complain(&error);
        return true;
    }
    for (size_t i = 0; i < lines->count; i++)
        printf("attempt %u: %s\n", lines->items[i].attempt, lines->items[i].text);
    culex_run_lines_free(lines);
    return true;
}

/* Goes on with the others when one cannot be retried: another may hold its unique key. */
static bool dead_retry(const culex_run_info *run, void *user)
{
    culex_error error;
    if (culex_client_retry(user, run->queue, run->id, &error) != CULEX_OK)
        complain(&error);
    return true;
}

/* Those whose error has `part`; all when it is NULL. */
static int dead_visit(culex_client *client, const char *part, culex_run_visitor visit)
{
    culex_error error;
    culex_list_cursor cursor = {.place = 0};
    const culex_list_filter dead = {.states = CULEX_LIST_STATE(CULEX_RUN_DEAD),
                                    .job = shop_send_email_job_type.wire,
                                    .error_part = part};
    do {
        if (culex_client_find(client, shop_send_email_job_type.queue, &dead, &cursor, 0, visit,
                              client, &error) != CULEX_OK)
            return complain(&error);
    } while (cursor.place != 0);
    return 0;
}

static int usage(void)
{
    fputs("usage: mail send TO SUBJECT [CC]... | mail dead [PART] | mail log [PART] | mail retry "
          "[PART]\n",
          stderr);
    return 2;
}

static int mail_verb(culex_client *client, int argc, char **argv)
{
    if (argc >= 4 && strcmp(argv[1], "send") == 0)
        return mail_send(client, argc - 2, argv + 2);
    if (argc <= 3 && argc >= 2 && strcmp(argv[1], "dead") == 0)
        return dead_visit(client, argv[2], dead_print);
    if (argc <= 3 && argc >= 2 && strcmp(argv[1], "log") == 0)
        return dead_visit(client, argv[2], dead_log);
    if (argc <= 3 && argc >= 2 && strcmp(argv[1], "retry") == 0)
        return dead_visit(client, argv[2], dead_retry);
    return usage();
}

int main(int argc, char **argv)
{
    culex_error error;
    culex_client *client = NULL;
    if (argc < 2)
        return usage();
    if (culex_client_open(NULL, NULL, &client, &error) != CULEX_OK)
        return complain(&error);
    int code = mail_verb(client, argc, argv);
    culex_client_close(client);
    return code;
}
