/* verb_ir.c - prints the checked model of a schema as JSON. */
#include <stdio.h>

#include "cli.h"
#include "ir_json.h"

static int file_print(const struct cli *cli, const char *path, const char *export_macro)
{
    struct compilation compilation;
    int status = EXIT_BROKEN;
    compilation_init(&compilation);
    struct module *module = cli_load(cli, &compilation, path);
    if (module != NULL)
        status = cli_report(cli, &compilation);
    if (status == EXIT_CLEAN) {
        struct buf json = {0};
        ir_json_write(module->ir, export_macro, &json);
        fwrite(json.data, 1, json.len, stdout);
        buf_release(&json);
    }
    compilation_release(&compilation);
    return status;
}

static int run(const struct verb *verb, int argc, char **argv)
{
    struct cli cli;
    int status;
    const char *export_macro = NULL;
    const struct cli_option options[] = {{"--export-macro", CLI_TEXT, &export_macro}, {0}};
    if (!cli_open(&cli, verb, options, argc, argv, &status))
        return cli_close(&cli, status);
    if (cli.files.count != 1)
        status = cli_misused(&cli, "ir takes one file");
    else if (!cli_macro_is_good(&cli, export_macro))
        status = EXIT_USAGE;
    else
        status = file_print(&cli, cli.files.items[0], export_macro);
    return cli_close(&cli, status);
}

const struct verb verb_ir = {
    .name = "ir",
    .summary = "print the checked model of a schema as JSON",
    .help = "usage: culexc ir [-I DIR]... [--export-macro NAME] FILE\n"
            "Prints the checked model, as schemas/ir.schema.json describes it.\n",
    .shares = CLI_SCHEMAS,
    .run = run,
};
