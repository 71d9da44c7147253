/* ops/console/main.c - culex-console: the store over HTTP, for every language and for a browser.
 *
 * A program of its own, which `culex console` becomes: culex itself starts in milliseconds and runs
 * where there is no libmicrohttpd. Both read their options by one table. */
#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "command/command.h"
#include "command/print.h"
#include "console/http.h"
#include "console/listen.h"
#include "console/openapi.h"
#include "console/routes.h"
#include "console/stream.h"
#include "console/tally.h"

enum { CONNECTIONS = 512, CONNECTIONS_MAX = 10000 };

static const char default_place[] = "127.0.0.1:7420";

/* ---- options ----------------------------------------------------------------------------------
 */

static void help_print(void)
{
    printf("usage: culex console [OPTION...]\n\n"
           "Serves the store over HTTP, until SIGTERM: /api/v1 for programs; see docs/http.md.\n\n"
           "options:\n");
    ops_options_help(stdout, OPS_CONSOLE_OPTIONS);
    puts("\noptions, of every command:");
    ops_options_help_global(stdout);
}

static culex_status base_check(const char *base, culex_error *error)
{
    size_t len = base != NULL ? strlen(base) : 0;
    for (size_t i = 0; i < len; i++) {
        if (base[i] <= ' ' || base[i] > '~' || strchr("?#%\"", base[i]) != NULL)
            return ops_usage(error, "--base: letters, digits, '/', '-' and the like");
    }
    return len == 0 || (base[0] == '/' && base[len - 1] != '/')
               ? CULEX_OK
               : ops_usage(error, "--base: it begins with '/' and does not end with one: /culex");
}

static culex_status access_check(const struct listener *listener, const struct console *console,
                                 culex_error *error)
{
    return listener->is_loopback || listener->is_local || console->tokens != NULL
               ? CULEX_OK
               : ops_usage(error,
                           "--listen %s: others than this machine can reach it, so it takes "
                           "--tokens FILE",
                           listener->name);
}

static culex_status audit_open(const char *path, struct outlet *ret_audit, culex_error *error)
{
    int fd = STDERR_FILENO;
    if (path != NULL)
        fd = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
    if (fd < 0)
        return ops_usage(error, "--audit %.200s: %s", path, strerror(errno));
    *ret_audit = outlet_make(fd);
    return CULEX_OK;
}

static culex_status console_make(const struct ops_options *options, struct console *ret_console,
                                 culex_error *error)
{
    uint64_t connections =
        ops_is_given(options, "connections") ? options->connections : CONNECTIONS;
    *ret_console = (struct console){.base = options->base != NULL ? options->base : "",
                                    .hosts = options->host,
                                    .is_read_only = options->is_read_only,
                                    .audit = outlet_make(STDERR_FILENO),
                                    .connections = (unsigned)connections};
    if (connections == 0 || connections > CONNECTIONS_MAX)
        return ops_usage(error, "--connections: 1 to %d", CONNECTIONS_MAX);
    culex_status status = base_check(options->base, error);
    if (status == CULEX_OK && options->tokens != NULL)
        status = tokens_read(options->tokens, &ret_console->tokens, error);
    if (status == CULEX_OK)
        status = audit_open(options->audit, &ret_console->audit, error);
    if (status == CULEX_OK &&
        getrandom(&ret_console->mark, sizeof ret_console->mark, 0) != sizeof ret_console->mark)
        status = ops_fail(error, CULEX_ENOMEM, "no random numbers: %s", strerror(errno));
    return status;
}

static void console_free(struct console *console)
{
    tokens_free(console->tokens);
    if (console->audit.fd != STDERR_FILENO && console->audit.fd >= 0)
        close(console->audit.fd);
}

/* ---- the store --------------------------------------------------------------------------------
 */

/* A URL that is no good is told at once; a store that is away may come back. */
static culex_status store_try(struct pool *pool, culex_error *error)
{
    culex_client *client;
    culex_status status = pool_take(pool, POOL_OTHER, &client, error);
    pool_give(pool, client, CULEX_OK);
    if (status != CULEX_OK && ops_exit_of(status) == OPS_EXIT_USAGE)
        return status;
    if (status != CULEX_OK)
        fprintf(stderr, "culex-console: %s; requests are told so until it is there\n", error->text);
    return CULEX_OK;
}

/* What is made of a large body is given back to the system with it: the allocator's own rule would
 * keep as much as ever was needed at once, in each of its arenas. */
static void memory_bound(void)
{
    enum { LARGE_BYTES = 128 * 1024, ARENAS = 4 };
    mallopt(M_MMAP_THRESHOLD, LARGE_BYTES);
    mallopt(M_ARENA_MAX, ARENAS);
}

/* ---- the program ------------------------------------------------------------------------------
 */

/* Threads of the server are made with signals blocked, so this one alone takes them. */
static void signals_block(sigset_t *ret_ending)
{
    sigemptyset(ret_ending);
    sigaddset(ret_ending, SIGTERM);
    sigaddset(ret_ending, SIGINT);
    pthread_sigmask(SIG_BLOCK, ret_ending, NULL);
    signal(SIGPIPE, SIG_IGN);
}

static culex_status serve(struct listener *listener, struct console *console, culex_error *error)
{
    sigset_t ending;
    int number = 0;
    signals_block(&ending);
    struct http *http = http_start(listener->fd, console);
    if (http == NULL)
        return ops_fail(error, CULEX_ENOMEM, "the server cannot be started");
    listener->fd = -1;
    fprintf(stderr, "culex-console: listening at %s%s%s\n", listener->is_local ? "" : "http://",
            listener->name, console->base);
    while (sigwait(&ending, &number) != 0)
        ;
    http_stop(http);
    return CULEX_OK;
}

static culex_status listen_and_serve(const char *where, struct console *console, culex_error *error)
{
    struct listener listener;
    culex_status status = listener_open(where, &listener, error);
    console->is_local = listener.is_local;
    if (status == CULEX_OK)
        status = access_check(&listener, console, error);
    if (status == CULEX_OK)
        status = store_try(console->pool, error);
    if (status == CULEX_OK)
        status = serve(&listener, console, error);
    if (listener.fd >= 0)
        close(listener.fd);
    if (listener.path[0] != '\0')
        unlink(listener.path);
    return status;
}

static culex_status console_run(const struct ops_options *options, culex_error *error)
{
    const culex_client_options store = {.timeout_ms = options->store_timeout / CULEX_MILLISECOND,
                                        .prefix = options->prefix,
                                        .url_file = options->url_file,
                                        .must_exist = true};
    struct console console;
    unsetenv("CULEX_KEYS"); /* no reader of HTTP is shown what is encrypted: docs/http.md */
    routes_check();
    culex_status status = console_make(options, &console, error);
    memory_bound();
    if (status == CULEX_OK) {
        console.pool = pool_make(options->url, &store);
        console.schemas = schema_cache_make();
        console.streams = streams_make(&console);
        console.tally = tally_make();
        status = listen_and_serve(options->listen != NULL ? options->listen : default_place,
                                  &console, error);
        tally_free(console.tally);
        streams_free(console.streams);
        schema_cache_free(console.schemas);
        pool_free(console.pool);
    }
    console_free(&console);
    return status;
}

static culex_status words_run(const struct ops_options *options, const char *first, size_t count,
                              culex_error *error)
{
    struct ops_json json = {.out = stdout};
    culex_status status = ops_options_check(options, "console", OPS_CONSOLE_OPTIONS, error);
    if (status != CULEX_OK)
        return status;
    if (count > 0)
        return ops_usage(error, "%.100s is too much: see culex console --help", first);
    if (options->wants_version)
        puts("culex-console " CULEX_VERSION);
    else if (options->wants_help)
        help_print();
    else if (options->wants_openapi)
        openapi_json(&json);
    else
        return console_run(options, error);
    return CULEX_OK;
}

const char ops_program[] = "culex-console";

int main(int argc, char **argv)
{
    ops_descriptors_fill();
    struct ops_options options;
    culex_error error = {.code = CULEX_OK};
    size_t count = 0;
    culex_status status = ops_options_read(argc, argv, &options, &count, &error);
    if (status == CULEX_OK)
        status = words_run(&options, argv[0], count, &error);
    return status == CULEX_OK ? ops_output_end(0) : ops_failure_tell(status, &error);
}
