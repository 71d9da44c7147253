/* verb_init.c - writes a new project that builds and runs. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "arena.h"
#include "buf.h"
#include "cli.h"
#include "limits.h"
#include "skeleton.h"

struct kind {
    const char *name;       /* of the build system */
    const char *build_file; /* its own; the other files are of every kind */
    const char *commands;   /* for the README */
};

static const struct kind kinds[] = {
    {"meson", "meson.build", "    meson setup build\n    ninja -C build"},
    {"cmake", "CMakeLists.txt", "    cmake -B build\n    cmake --build build"},
    {"make", "Makefile", "    make"},
};
enum { KIND_COUNT = sizeof(kinds) / sizeof(kinds[0]) };

struct draft {
    const struct kind *kind;
    const char *name;
    const char *folder;
    struct arena arena;
};

static const struct kind *kind_find(const char *name)
{
    for (size_t i = 0; i < KIND_COUNT; i++) {
        if (strcmp(kinds[i].name, name) == 0)
            return &kinds[i];
    }
    return NULL;
}

/* It stands in build files and in the README, so it is what needs quotes in none of them. */
static bool name_is_good(const char *name)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
    static const char others[] = "0123456789_-";
    size_t len = strspn(name, letters);
    while (len > 0 && name[len] != '\0' &&
           (strchr(letters, name[len]) != NULL || strchr(others, name[len]) != NULL))
        len++;
    return len > 0 && name[len] == '\0' && len <= LIMIT_STEM_BYTES;
}

/* The last part of the current folder's path; "" when there is none. */
static const char *folder_name(struct arena *arena)
{
    char path[4096];
    if (getcwd(path, sizeof(path)) == NULL)
        return "";
    const char *slash = strrchr(path, '/');
    const char *name = slash == NULL ? path : slash + 1;
    return arena_copy(arena, name, strlen(name));
}

static bool file_is_wanted(const struct draft *draft, const struct skeleton_file *file)
{
    for (size_t i = 0; i < KIND_COUNT; i++) {
        if (strcmp(kinds[i].build_file, file->name) == 0)
            return &kinds[i] == draft->kind;
    }
    return true;
}

static const char *file_path(struct draft *draft, const struct skeleton_file *file)
{
    return arena_printf(&draft->arena, "%s/%s", draft->folder, file->name);
}

static void complain(const char *what, const char *path, const char *why)
{
    fprintf(stderr, "culexc: cannot %s '%s': %s; nothing was written\n", what, path, why);
}

/* Something of that name is there already, be it a link to nowhere. */
static bool file_is_in_the_way(struct draft *draft, const struct skeleton_file *file)
{
    struct stat info;
    const char *path = file_path(draft, file);
    if (!file_is_wanted(draft, file) || lstat(path, &info) != 0)
        return false;
    complain("write", path, "it exists already");
    return true;
}

static bool text_replace(struct buf *text, const char **at, const char *mark, const char *value)
{
    size_t len = strlen(mark);
    if (strncmp(*at, mark, len) != 0)
        return false;
    buf_text(text, value);
    *at += len;
    return true;
}

static bool file_fill(const struct draft *draft, const char *at, FILE *out)
{
    struct buf text = {0};
    while (*at != '\0') {
        if (!text_replace(&text, &at, "@NAME@", draft->name) &&
            !text_replace(&text, &at, "@COMMANDS@", draft->kind->commands))
            buf_char(&text, *at++);
    }
    bool is_done = fwrite(text.data, 1, text.len, out) == text.len;
    buf_release(&text);
    return is_done;
}

/* A file that came into being since they were looked for is not overwritten either. */
static bool file_write(struct draft *draft, const struct skeleton_file *file)
{
    const char *path = file_path(draft, file);
    FILE *out = fopen(path, "wxe");
    if (out == NULL)
        return false;
    bool is_done = file_fill(draft, file->text, out);
    is_done = fclose(out) == 0 && is_done;
    int fault = errno;
    if (!is_done)
        unlink(path);
    errno = fault;
    return is_done;
}

static void files_remove(struct draft *draft, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (file_is_wanted(draft, &skeleton_files[i]))
            unlink(file_path(draft, &skeleton_files[i]));
    }
}

/* All files or none: what was written goes again when one fails, and so does a new folder. */
static bool files_write(struct draft *draft)
{
    bool is_new = mkdir(draft->folder, 0777) == 0;
    if (!is_new && errno != EEXIST) {
        complain("make the folder", draft->folder, strerror(errno));
        return false;
    }
    for (size_t i = 0; skeleton_files[i].name != NULL; i++) {
        if (!file_is_wanted(draft, &skeleton_files[i]) || file_write(draft, &skeleton_files[i]))
            continue;
        complain("write", file_path(draft, &skeleton_files[i]), strerror(errno));
        files_remove(draft, i);
        if (is_new)
            rmdir(draft->folder);
        return false;
    }
    return true;
}

static int draft_write(struct draft *draft)
{
    for (const struct skeleton_file *file = skeleton_files; file->name != NULL; file++) {
        if (file_is_in_the_way(draft, file))
            return EXIT_BROKEN;
    }
    if (!files_write(draft))
        return EXIT_BROKEN;
    printf("%s/README.md tells how to build and run it\n", draft->folder);
    return EXIT_CLEAN;
}

/* What the command line asks for: EXIT_CLEAN, or EXIT_USAGE after a message. */
static int draft_read(const struct cli *cli, const char *build, struct draft *draft)
{
    size_t count = cli->files.count;
    draft->kind = kind_find(build);
    draft->name = count > 0 ? cli->files.items[0] : folder_name(&draft->arena);
    draft->folder = count > 1 ? cli->files.items[1] : count > 0 ? draft->name : ".";
    if (draft->kind == NULL)
        return cli_misused(cli, "--build is meson, cmake or make");
    if (count > 2)
        return cli_misused(cli, "init takes a name and a folder, and no more");
    if (!name_is_good(draft->name))
        return cli_misused(cli,
                           "%s cannot be that of a project: letters, digits, '_' and '-', "
                           "a letter first, at most %u bytes",
                           count > 0 ? "this name" : "the current folder's name", LIMIT_STEM_BYTES);
    if (draft->folder[0] == '\0')
        return cli_misused(cli, "the name of the folder is empty");
    return EXIT_CLEAN;
}

static int run(const struct verb *verb, int argc, char **argv)
{
    struct cli cli;
    int status;
    const char *build = kinds[0].name;
    const struct cli_option options[] = {{"--build", CLI_TEXT, &build}, {0}};
    struct draft draft = {0};
    if (!cli_open(&cli, verb, options, argc, argv, &status))
        return cli_close(&cli, status);
    status = draft_read(&cli, build, &draft);
    if (status == EXIT_CLEAN)
        status = draft_write(&draft);
    arena_release(&draft.arena);
    return cli_close(&cli, status);
}

const struct verb verb_init = {
    .name = "init",
    .summary = "write a new project that builds and runs",
    .help =
        "usage: culexc init [--build meson|cmake|make] [NAME [DIR]]\n"
        "Writes a schema, a program that enqueues, a worker, a build file and a README.md into\n"
        "DIR, or into a folder called NAME, or into the current one. Overwrites nothing.\n",
    .run = run,
};
