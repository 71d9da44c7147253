/* files.c - the files of the command line, and the project that they belong to: a folder becomes
 * the schemas in it, and where nothing is named, those of the project are meant. */
#include <string.h>

#include "cli.h"
#include "folder.h"
#include "say.h"

static void say_empty(const char *folder, const char *project)
{
    if (project == NULL)
        say("no .job file is in '%s'", folder);
    else
        say("no .job file is in '%s' but in other projects, such as '%s'; name one of them", folder,
            project);
}

/* False after a message: not all of it could be read, or there is no schema in it. */
static bool folder_open(struct cli *cli, const char *folder)
{
    const struct folder_filter filter = project_filter(&cli->project);
    struct folder_finds found = {0};
    bool is_good = folder_walk(&cli->arena, folder, &filter, &found);
    bool is_empty = found.schemas.count == 0;
    texts_add(&cli->folders, folder);
    for (size_t i = 0; i < found.schemas.count; i++)
        texts_add(&cli->files, found.schemas.items[i]);
    if (is_good && is_empty)
        say_empty(folder, found.project);
    texts_release(&found.schemas);
    return is_good && !is_empty;
}

static void words_open(struct cli *cli, const struct texts *words)
{
    for (size_t i = 0; i < words->count; i++) {
        if (!folder_exists(words->items[i]))
            texts_add(&cli->files, words->items[i]);
        else if (!folder_open(cli, words->items[i]))
            cli->status = EXIT_BROKEN;
    }
}

/* ---- the project ---- */

static const char *project_shown(const char *path)
{
    return path == NULL ? "no culex.yaml" : path;
}

/* Whether `path` belongs to the project of those before; false after a message. */
static bool project_agree(struct cli *cli, const char *path, bool is_first, const char **project)
{
    const char *found = project_find(&cli->arena, path);
    bool is_same = found == NULL ? *project == NULL : *project && strcmp(found, *project) == 0;
    if (is_first)
        *project = found;
    else if (!is_same)
        cli->status = cli_misused(cli,
                                  "'%s' belongs to %s, what is named before it to %s: "
                                  "call once for each",
                                  path, project_shown(found), project_shown(*project));
    return is_first || is_same;
}

/* The project of all words, or of the current folder where there is none; standard input belongs
 * to any. False after a message. */
static bool project_choose(struct cli *cli, const struct texts *words, const char **ret_project)
{
    bool is_first = true;
    *ret_project = NULL;
    for (size_t i = 0; i < words->count; i++) {
        if (strcmp(words->items[i], "-") == 0)
            continue;
        if (!project_agree(cli, words->items[i], is_first, ret_project))
            return false;
        is_first = false;
    }
    return words->count > 0 || project_agree(cli, ".", true, ret_project);
}

/* False after a message or a report. */
static bool project_take(struct cli *cli, const char *path)
{
    struct diag_sink sink;
    const char *fault;
    diag_sink_init(&sink, &cli->arena);
    sink.policy = cli->policy;
    if (!project_read(&sink, path, &cli->project, &fault)) {
        say_unread(path, fault);
        cli->status = EXIT_BROKEN;
        return false;
    }
    cli->status = cli_report_sink(cli, &sink);
    for (size_t i = 0; i < cli->project.imports.count; i++)
        texts_add(&cli->include_dirs, cli->project.imports.items[i]);
    return cli->status == EXIT_CLEAN;
}

static bool files_find(struct cli *cli, const struct texts *words)
{
    const char *project;
    cli->is_project = words->count == 0;
    if (!project_choose(cli, words, &project) || (project != NULL && !project_take(cli, project)))
        return false;
    if (words->count == 0 && project == NULL)
        cli->status = cli_misused(cli, "no schema file or folder given, and no " PROJECT_FILE
                                       " that names one");
    else
        words_open(cli, words->count > 0 ? words : &cli->project.folders);
    return cli->files.count > 0;
}

bool cli_files_open(struct cli *cli)
{
    struct texts words = cli->files;
    cli->files = (struct texts){0};
    bool is_good = files_find(cli, &words);
    texts_release(&words);
    return is_good;
}
