/* verb_fmt.c - lays schemas out. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli.h"
#include "format.h"
#include "input.h"
#include "output.h"
#include "say.h"
#include "textdiff.h"

struct modes {
    bool is_writing, is_checking, is_showing;
};

static bool is_stdin(const char *path)
{
    return strcmp(path, "-") == 0;
}

static int file_write(const char *path, const struct buf *layout)
{
    if (output_replace(path, layout->data, layout->len))
        return EXIT_CLEAN;
    say_unwritten(path);
    return EXIT_BROKEN;
}

static int layout_use(const struct modes *modes, const char *path, const struct input *input,
                      const struct buf *layout)
{
    struct buf text = {0};
    int status = EXIT_CLEAN;
    bool is_same = layout->len == input->size &&
                   (layout->len == 0 || memcmp(layout->data, input->bytes, layout->len) == 0);
    if (modes->is_writing)
        status = is_same ? EXIT_CLEAN : file_write(path, layout);
    else if (modes->is_showing)
        textdiff_write(path, &(struct buf){input->bytes, input->size, 0}, layout, &text);
    else if (!modes->is_checking)
        buf_append(&text, layout->data, layout->len);
    else if (!is_same)
        buf_printf(&text, "%s\n", path);
    if (modes->is_checking && !is_same)
        status = EXIT_DIAGNOSTICS;
    cli_print(text.data, text.len);
    buf_release(&text);
    return status;
}

static int input_format(const struct cli *cli, const struct modes *modes, const char *path,
                        const struct input *input)
{
    struct compilation compilation;
    struct buf layout = {0};
    compilation_init(&compilation);
    const struct source *source = source_create(
        &compilation.arena, is_stdin(path) ? "<stdin>" : path, input->bytes, input->size);
    bool is_good = format_source(&compilation.sink, source, &layout);
    int status = cli_report(cli, &compilation);
    if (is_good)
        status = cli_worse(status, layout_use(modes, path, input, &layout));
    buf_release(&layout);
    compilation_release(&compilation);
    return status;
}

static int file_format(const struct cli *cli, const struct modes *modes, const char *path)
{
    struct input input;
    const char *fault =
        is_stdin(path) ? input_read_open(STDIN_FILENO, &input) : input_read(path, &input);
    if (fault != NULL) {
        say_unread(path, fault);
        return EXIT_BROKEN;
    }
    int status = input_format(cli, modes, path, &input);
    free(input.bytes);
    return status;
}

static bool is_stdin_written(const struct cli *cli, const struct modes *modes)
{
    for (size_t i = 0; i < cli->files.count; i++) {
        if (modes->is_writing && is_stdin(cli->files.items[i]))
            return true;
    }
    return false;
}

static int run(const struct verb *verb, int argc, char **argv)
{
    struct cli cli;
    int status;
    struct modes modes = {0};
    const struct cli_option options[] = {
        {"-w", CLI_FLAG, &modes.is_writing},
        {"--check", CLI_FLAG, &modes.is_checking},
        {"-d", CLI_FLAG, &modes.is_showing},
        {0},
    };
    if (!cli_open(&cli, verb, options, argc, argv, &status))
        return cli_close(&cli, status);
    if (modes.is_writing + modes.is_checking + modes.is_showing > 1)
        status = cli_misused(&cli, "-w, --check and -d exclude each other");
    else if (is_stdin_written(&cli, &modes))
        status = cli_misused(&cli, "standard input cannot be rewritten");
    for (size_t i = 0; status != EXIT_USAGE && i < cli.files.count; i++)
        status = cli_worse(status, file_format(&cli, &modes, cli.files.items[i]));
    return cli_close(&cli, status);
}

const struct verb verb_fmt = {
    .name = "fmt",
    .summary = "lay schemas out the one way",
    .help = "usage: culexc fmt [-w | --check | -d] [FILE...]\n"
            "Lays schemas out and prints them; '-' is standard input.\n"
            "  -w       rewrite the files that are laid out otherwise\n"
            "  --check  only name them, exit 1 when there are any\n"
            "  -d       print what would change, as patch(1) takes it\n"
            "A file that does not parse is reported and left alone.\n",
    .shares = CLI_SCHEMAS,
    .run = run,
};
