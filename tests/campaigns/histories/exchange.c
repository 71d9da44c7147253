/* exchange - lets versions of a schema read what other versions have written.
 *
 * usage: exchange MODULE...
 * Each module is the generated C of one version, compiled and with a table of its jobs
 * (histories.py writes it); they are numbered from 0. A line of standard input is
 *     WRITER (p|r) JOB READERS PAYLOAD
 * with READERS like 0,2: the payload, params or a result, becomes a struct of the writer, is
 * encoded by it, and decoded by each reader. Answered by a line for the writer and one for
 * each reader: `ok TEXT`, as the side itself would write what it has, `refused WHY`, `released
 * WHY` (made by a newer schema), or `unknown` when there is no such job, or none that returns
 * anything. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "history.h"

enum { MODULES_MAX = 16 };

struct exchange {
    const struct history_job *modules[MODULES_MAX];
    size_t module_count;
    culex_arena *arena;
    culex_buf sent, got;
    culex_error error;
};

struct request {
    size_t writer;
    bool is_result;
    const char *job;
    char *readers;
    const char *payload;
};

static const struct history_job *find(const struct exchange *exchange, size_t module,
                                      const struct request *request)
{
    if (module >= exchange->module_count)
        abort();
    const struct history_job *job = history_find(exchange->modules[module], request->job);
    bool is_known = job != NULL && (!request->is_result || job->type->result != NULL);
    return is_known ? job : NULL;
}

static culex_status encode(struct exchange *exchange, const struct history_job *job, bool is_result,
                           const void *value, culex_buf *text)
{
    text->len = 0;
    if (is_result)
        return culex_encode(job->type->result, value, text, &exchange->error);
    return job->encode(value, text, &exchange->error);
}

/* A complaint on one line, whatever of the payload it repeats. */
static void complain(const char *word, const char *text)
{
    printf("%s ", word);
    for (; *text != '\0'; text++)
        putchar((unsigned char)*text < ' ' ? ' ' : *text);
    putchar('\n');
}

/* Decodes `text` and, into `ret_again`, encodes what it became. */
static void pass(struct exchange *exchange, const struct history_job *job, bool is_result,
                 const char *text, size_t len, culex_buf *ret_again)
{
    const void *value = NULL;
    if (job == NULL) {
        puts("unknown");
        return;
    }
    culex_status status = (is_result ? job->decode_result : job->decode)(exchange->arena, text, len,
                                                                         &value, &exchange->error);
    if (status == CULEX_OK)
        status = encode(exchange, job, is_result, value, ret_again);
    if (status == CULEX_OK)
        printf("ok %s\n", ret_again->data);
    else
        complain(status == CULEX_EUNDERSTAND ? "released" : "refused", exchange->error.text);
}

static void answer(struct exchange *exchange, struct request *request)
{
    const struct history_job *writer = find(exchange, request->writer, request);
    exchange->sent.len = 0;
    culex_arena_reset(exchange->arena);
    pass(exchange, writer, request->is_result, request->payload, strlen(request->payload),
         &exchange->sent);
    for (char *at = strtok(request->readers, ","); at != NULL; at = strtok(NULL, ","))
        pass(exchange, find(exchange, strtoul(at, NULL, 10), request), request->is_result,
             exchange->sent.data, exchange->sent.len, &exchange->got);
}

/* Cuts the next word off; an absent one ends the program, as the caller is broken. */
static char *word(char **at)
{
    char *begin = *at;
    char *end = strchr(begin, ' ');
    if (end == NULL)
        abort();
    *end = '\0';
    *at = end + 1;
    return begin;
}

static void serve(struct exchange *exchange)
{
    char *line = NULL;
    size_t size = 0;
    ssize_t len;
    while ((len = getline(&line, &size, stdin)) > 0) {
        char *at = line;
        line[len - 1] = '\0';
        struct request request = {.writer = strtoul(word(&at), NULL, 10)};
        request.is_result = word(&at)[0] == 'r';
        request.job = word(&at);
        request.readers = word(&at);
        request.payload = at;
        answer(exchange, &request);
    }
    free(line);
}

int main(int argc, char **argv)
{
    struct exchange exchange = {.arena = culex_arena_create()};
    if (exchange.arena == NULL || argc > MODULES_MAX)
        return 2;
    for (int at = 1; at < argc; at++)
        exchange.modules[exchange.module_count++] = history_load(argv[at]);
    culex_buf_init(&exchange.sent, 0);
    culex_buf_init(&exchange.got, 0);
    serve(&exchange);
    culex_buf_release(&exchange.sent);
    culex_buf_release(&exchange.got);
    culex_arena_free(exchange.arena);
    return 0;
}
