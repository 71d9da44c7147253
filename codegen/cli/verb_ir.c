/* verb_ir.c - prints the checked models of schemas as JSON. */
#include <stdio.h>

#include "cli.h"
#include "ir_set.h"
#include "schemas.h"

static void set_print(const struct schemas *schemas, const char *export_macro)
{
    struct arena arena = {0};
    struct ir_set set;
    struct buf json = {0};
    ir_set_init(&set, &arena);
    set.export_macro = export_macro;
    for (size_t i = 0; i < schemas->clean_count; i++)
        ir_set_add(&set, schemas->clean[i].module, false);
    for (size_t i = 0; i < schemas->clean_count; i++)
        ir_set_add_imports(&set, schemas->clean[i].module);
    ir_set_write(&set, false, &json);
    fwrite(json.data, 1, json.len, stdout);
    buf_release(&json);
    arena_release(&arena);
}

static int files_print(struct cli *cli, const char *export_macro)
{
    struct schemas schemas;
    int status = schemas_load(cli, NULL, &schemas);
    if (status == EXIT_CLEAN)
        set_print(&schemas, export_macro);
    schemas_release(&schemas);
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
    if (!cli_macro_is_good(&cli, export_macro))
        status = EXIT_USAGE;
    else
        status = files_print(&cli, export_macro);
    return cli_close(&cli, status);
}

const struct verb verb_ir = {
    .name = "ir",
    .summary = "print the checked models of schemas as JSON",
    .help = "usage: culexc ir [-I DIR]... [--export-macro NAME] [FILE...]\n"
            "Prints the checked models of the files and of what they import, as one document that\n"
            "schemas/ir.schema.json describes. A plug-in reads the same (schemas/plugin.md).\n",
    .shares = CLI_SCHEMAS,
    .run = run,
};
