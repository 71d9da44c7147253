/* verb_doc.c - writes the manual of generated headers. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "clashes.h"
#include "cli.h"
#include "doc.h"
#include "output.h"
#include "say.h"

struct target {
    enum doc_format format;
    const char *out; /* NULL: standard output */
};

static int page_write(const struct target *target, struct compilation *compilation,
                      const struct module *module, const struct buf *page)
{
    const char *suffix = target->format == DOC_MAN ? "3" : "md";
    const char *path =
        arena_printf(&compilation->arena, "%s/%s_job.%s", target->out, module->stem, suffix);
    if ((mkdir(target->out, 0777) == 0 || errno == EEXIST) &&
        output_write(path, page->data, page->len))
        return EXIT_CLEAN;
    say_unwritten(path);
    return EXIT_BROKEN;
}

static int file_document(const struct cli *cli, const struct target *target, const char *path)
{
    struct compilation compilation;
    struct buf page = {0};
    int status = EXIT_BROKEN;
    compilation_init(&compilation);
    const struct module *module = cli_load(cli, &compilation, path);
    if (module != NULL)
        status = cli_report(cli, &compilation);
    if (status == EXIT_CLEAN) {
        doc_write(&compilation.arena, module, target->format, &page);
        if (target->out == NULL)
            cli_print(page.data, page.len);
        else
            status = page_write(target, &compilation, module, &page);
    }
    buf_release(&page);
    compilation_release(&compilation);
    return status;
}

/* Nothing is written where one page would undo another. */
static int files_document(const struct cli *cli, const struct target *target)
{
    struct clashes clashes = {.is_one_folder = true};
    int status = EXIT_CLEAN;
    if (target->out != NULL && clashes_report(cli, &clashes, &status) > 0)
        return status;
    for (size_t i = 0; i < cli->files.count; i++)
        status = cli_worse(status, file_document(cli, target, cli->files.items[i]));
    return status;
}

static int run(const struct verb *verb, int argc, char **argv)
{
    struct cli cli;
    int status;
    struct target target = {0};
    const char *format = "md";
    const struct cli_option options[] = {
        {"--format", CLI_TEXT, &format},
        {"--out", CLI_TEXT, &target.out},
        {0},
    };
    if (!cli_open(&cli, verb, options, argc, argv, &status))
        return cli_close(&cli, status);
    target.format = strcmp(format, "man") == 0 ? DOC_MAN : DOC_MARKDOWN;
    if (target.format == DOC_MARKDOWN && strcmp(format, "md") != 0)
        status = cli_misused(&cli, "no such format: '%s'", format);
    else
        status = files_document(&cli, &target);
    return cli_close(&cli, status);
}

const struct verb verb_doc = {
    .name = "doc",
    .summary = "write the manual of generated headers",
    .help = "usage: culexc doc [-I DIR]... [--format md|man] [--out DIR] [FILE...]\n"
            "Prints what the documentation and the settings of schemas say, as Markdown or as a\n"
            "page for man(1); with --out, writes NAME_job.md or NAME_job.3 for each NAME.job.\n",
    .shares = CLI_SCHEMAS,
    .run = run,
};
