/* verb_check.c - says what is wrong with schemas, and mends what is plain. */
#include <stdio.h>
#include <string.h>

#include "clashes.h"
#include "cli.h"
#include "output.h"
#include "repair.h"
#include "say.h"
#include "textdiff.h"

struct check {
    struct cli cli;
    bool is_fixing, is_trial;
    const struct overlay *trials; /* texts that --dry-run keeps from the files */
    unsigned fixes, errors, warnings;
    int status;
};

static void log_print(const struct buf *log)
{
    for (size_t at = 0; at < log->len;) {
        size_t len = strcspn(log->data + at, "\n");
        say_line(stderr, log->data + at, len);
        at += len + 1;
    }
}

/* Shows what a file would become, and has it compiled as that from now on. */
static void trial_show(struct check *check, const char *path, const struct buf *before,
                       const struct buf *after)
{
    struct arena *arena = &check->cli.arena;
    struct overlay *trial = arena_alloc(arena, sizeof(*trial));
    struct buf diff = {0};
    textdiff_write(path, before, after, &diff);
    cli_print(diff.data, diff.len);
    buf_release(&diff);
    *trial = (struct overlay){.path = path_resolve(arena, path),
                              .text = arena_copy(arena, after->data, after->len),
                              .size = after->len,
                              .next = check->trials};
    check->trials = trial;
}

static void fixes_use(struct check *check, const char *path, const struct repair *repair)
{
    const struct attempt *best = &repair->attempts[repair->best];
    if (best->fixes == 0)
        return;
    if (check->is_trial) {
        trial_show(check, path, &repair->attempts[0].text, &best->text);
    } else if (!output_replace(path, best->text.data, best->text.len)) {
        say_unwritten(path);
        check->status = EXIT_BROKEN;
        return;
    }
    log_print(&best->log);
    check->fixes += best->fixes;
}

/* False after a message that the file cannot be read. */
static bool file_fix(struct check *check, const char *path)
{
    struct repair repair;
    bool is_read = repair_find(&repair, &check->cli, check->trials, path);
    if (is_read)
        fixes_use(check, path, &repair);
    if (is_read && repair.best == 0 && repair.count > 1)
        say("%s: fixes left out: %u; with them there would be no fewer errors", path,
            repair.attempts[1].fixes);
    repair_release(&repair);
    return is_read;
}

/* A file that cannot be read is not looked at again. */
static void files_fix(struct check *check)
{
    struct texts *files = &check->cli.files;
    size_t kept = 0;
    for (size_t i = 0; i < files->count; i++) {
        if (file_fix(check, files->items[i]))
            files->items[kept++] = files->items[i];
        else
            check->status = EXIT_BROKEN;
    }
    files->count = kept;
}

/* Each file is a compilation of its own, so that what one names does not matter to another; what
 * they must not both have is looked for when nothing else is wrong. */
static void file_check(struct check *check, const char *path)
{
    struct compilation compilation;
    int status = EXIT_BROKEN;
    compilation_init(&compilation);
    compilation.overlays = check->trials;
    if (cli_load(&check->cli, &compilation, path) != NULL)
        status = cli_report(&check->cli, &compilation);
    check->errors += compilation.sink.errors;
    check->warnings += compilation.sink.warnings;
    check->status = cli_worse(check->status, status);
    compilation_release(&compilation);
}

static void clashes_check(struct check *check)
{
    struct clashes clashes = {.overlays = check->trials};
    int status;
    check->errors += clashes_report(&check->cli, &clashes, &status);
    check->status = cli_worse(check->status, status);
}

static void files_check(struct check *check)
{
    if (check->is_fixing)
        files_fix(check);
    for (size_t i = 0; i < check->cli.files.count; i++)
        file_check(check, check->cli.files.items[i]);
    if (check->errors == 0)
        clashes_check(check);
    if (check->is_fixing)
        say("%s: %u; left: errors %u, warnings %u",
            check->is_trial ? "fixes not written" : "fixes applied", check->fixes, check->errors,
            check->warnings);
}

static int run(const struct verb *verb, int argc, char **argv)
{
    struct check check = {0};
    int status;
    const struct cli_option options[] = {
        {"--fix", CLI_FLAG, &check.is_fixing}, {"--dry-run", CLI_FLAG, &check.is_trial}, {0}};
    if (!cli_open(&check.cli, verb, options, argc, argv, &status))
        return cli_close(&check.cli, status);
    check.status = status;
    check.cli.is_output_taken = check.is_trial;
    if (check.is_trial && !check.is_fixing)
        check.status = cli_misused(&check.cli, "--dry-run is for --fix");
    else
        files_check(&check);
    return cli_close(&check.cli, check.status);
}

const struct verb verb_check = {
    .name = "check",
    .summary = "say what is wrong with schemas",
    .help = "usage: culexc check [OPTION...] [--fix [--dry-run]] [FILE...]\n"
            "Says what is wrong with schemas; all of them together are one program.\n"
            "  --fix                   apply the fixes whose meaning is sure to the files named,\n"
            "                          not to what they import; say what was done; check again\n"
            "  --dry-run               with --fix: print what would change, as patch(1) takes\n"
            "                          it, and write nothing\n",
    .shares = CLI_SCHEMAS | CLI_REPORTS,
    .run = run,
};
