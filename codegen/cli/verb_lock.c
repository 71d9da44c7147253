/* verb_lock.c - keeps jobs.lock, the record of what the schemas have promised. */
#include <errno.h>
#include <stdio.h>
#include <unistd.h>

#include "against.h"
#include "change.h"
#include "cli.h"
#include "limits.h"
#include "live.h"
#include "output.h"
#include "say.h"

struct order {
    const char *path, *live;
    bool is_check;
};

static int text_put(const struct order *order, const struct buf *text)
{
    if (text->len > LIMIT_LOCK_BYTES) {
        say("the lock would be too large; use --live to forget versions that no store has");
        return EXIT_BROKEN;
    }
    if (order->is_check) {
        if (output_is_same(order->path, text->data, text->len))
            return EXIT_CLEAN;
        say("'%s' is out of date; write it with: culexc lock", order->path);
        return EXIT_DIAGNOSTICS;
    }
    if (output_write(order->path, text->data, text->len))
        return EXIT_CLEAN;
    say_unwritten(order->path);
    return EXIT_BROKEN;
}

static int lock_put(const struct order *order, const struct lock *lock)
{
    struct buf text = {0};
    lock_write(lock, &text);
    int status = text_put(order, &text);
    buf_release(&text);
    return status;
}

/* Without an older lock this is the first version of everything. */
static bool past_load(const struct order *order, struct against *against,
                      const struct lock **ret_before)
{
    *ret_before = NULL;
    if (access(order->path, F_OK) != 0 && errno == ENOENT)
        return true;
    *ret_before = against_load_lock(against, order->path);
    return *ret_before != NULL;
}

/* False after a message or report. */
static bool lock_judge(const struct order *order, struct against *against, struct change *change)
{
    if (order->live != NULL) {
        change->live = live_load(change->sink, order->live);
        if (change->live == NULL)
            return false;
    }
    if (!past_load(order, against, &change->before))
        return false;
    if (change->before != NULL)
        change_compare(change);
    return true;
}

static int lock_update(const struct order *order, struct change *change, struct lock *after)
{
    const char *job = NULL;
    if (change->sink->errors > 0)
        return EXIT_DIAGNOSTICS;
    if (change->before != NULL &&
        !lock_inherit(change->arena, after, change->before, change->live, &job)) {
        say("'%s' has more than %u versions; use --live to forget those that "
            "no store has",
            job, LIMIT_VERSIONS);
        return EXIT_BROKEN;
    }
    return lock_put(order, after);
}

static int modules_lock(const struct order *order, struct compilation *compilation)
{
    struct against against;
    struct lock *after = lock_make(compilation);
    struct change change = {.arena = &compilation->arena,
                            .sink = &compilation->sink,
                            .after = after,
                            .categories = CHANGE_ALL};
    int status = EXIT_DIAGNOSTICS;
    against_init(&against, compilation, NULL);
    if (compilation->sink.errors == 0)
        status = lock_judge(order, &against, &change) ? lock_update(order, &change, after)
                 : compilation->sink.errors > 0       ? EXIT_DIAGNOSTICS
                                                      : EXIT_BROKEN;
    against_release(&against);
    return status;
}

static int all_lock(const struct cli *cli, const struct order *order)
{
    struct compilation compilation;
    compilation_init(&compilation);
    int status = cli_load_all(cli, &compilation);
    if (status == EXIT_CLEAN && compilation.sink.errors == 0)
        status = modules_lock(order, &compilation);
    status = cli_worse(status, cli_report(cli, &compilation));
    compilation_release(&compilation);
    return status;
}

static int run(const struct verb *verb, int argc, char **argv)
{
    struct cli cli;
    int status;
    struct order order = {0};
    const struct cli_option options[] = {
        {"--lock", CLI_TEXT, &order.path},
        {"--live", CLI_TEXT, &order.live},
        {"--check", CLI_FLAG, &order.is_check},
        {0},
    };
    if (cli_open(&cli, verb, options, argc, argv, &status)) {
        if (order.path == NULL)
            order.path = cli.project.lock != NULL ? cli.project.lock : "jobs.lock";
        status = all_lock(&cli, &order);
    }
    return cli_close(&cli, status);
}

const struct verb verb_lock = {
    .name = "lock",
    .summary = "record what the schemas promise",
    .help =
        "usage: culexc lock [--lock FILE] [--check] [--live LISTING] [-I DIR]...\n"
        "                   [--message-format=human|json] [FILE...]\n"
        "Writes FILE (that of the project, or jobs.lock), to be committed: what queued runs and "
        "old programs rely on.\n"
        "All FILEs together are the schema. Refuses, with exit status 1, what 'breaking' calls\n"
        "an error. With --check nothing is written, and a lock out of date is exit status 1.\n"
        "With --live (- is standard input) versions are forgotten that culex-live does not list.\n",
    .shares = CLI_SCHEMAS | CLI_REPORTS,
    .run = run,
};
