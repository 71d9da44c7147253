/* files.c - the files of the command line: a folder becomes the schemas in it. */
#include <sys/stat.h>

#include "cli.h"
#include "diag_print.h"

static bool is_folder(const char *path)
{
    struct stat info;
    return stat(path, &info) == 0 && S_ISDIR(info.st_mode);
}

/* False after a message: not all of it could be read, or there is no schema in it. */
static bool folder_open(struct cli *cli, const char *folder)
{
    const struct folder_filter filter = {0};
    size_t before = cli->files.count;
    texts_add(&cli->folders, folder);
    bool is_good = folder_walk(&cli->arena, folder, &filter, &cli->files);
    if (is_good && cli->files.count == before)
        diag_say("no .job file is in '%s'", folder);
    return is_good && cli->files.count > before;
}

bool cli_files_open(struct cli *cli)
{
    struct texts named = cli->files;
    cli->files = (struct texts){0};
    for (size_t i = 0; i < named.count; i++) {
        if (!is_folder(named.items[i]))
            texts_add(&cli->files, named.items[i]);
        else if (!folder_open(cli, named.items[i]))
            cli->status = EXIT_BROKEN;
    }
    texts_release(&named);
    return cli->files.count > 0;
}
