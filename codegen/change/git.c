#include "git.h"

#include <errno.h>
#include <fcntl.h>
#include <fts.h>
#include <spawn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "folder.h"
#include "limits.h"
#include "output.h"
#include "say.h"
#include "text.h"

enum { WORDS_MAX = 8 };

static bool complain(const char *what, const char *fault)
{
    say("%s: %s", what, fault);
    return false;
}

/* A started program inherits neither end; one is made its standard output. */
static bool git_spawn(char *const *words, int output, pid_t *ret_pid)
{
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO);
    int fault = posix_spawnp(ret_pid, "git", &actions, NULL, words, environ);
    posix_spawn_file_actions_destroy(&actions);
    return fault == 0 || complain("cannot run git", strerror(fault));
}

static bool git_wait(pid_t pid, const char *verb)
{
    int status = 0;
    while (waitpid(pid, &status, 0) < 0) {
        if (errno != EINTR)
            return complain("cannot wait for git", strerror(errno));
    }
    return (WIFEXITED(status) && WEXITSTATUS(status) == 0) || complain("git failed", verb);
}

/* Runs `git -C folder words...`; what it prints is appended. Its own complaints are shown. */
static bool git_run(const char *folder, const char *const *words, size_t limit, struct buf *answer)
{
    char *arguments[WORDS_MAX + 4] = {(char *)(uintptr_t) "git", (char *)(uintptr_t) "-C",
                                      (char *)(uintptr_t)folder};
    int ends[2];
    pid_t pid;
    for (size_t i = 0; i < WORDS_MAX && words[i] != NULL; i++)
        arguments[i + 3] = (char *)(uintptr_t)words[i];
    if (pipe2(ends, O_CLOEXEC) != 0)
        return complain("cannot make a pipe", strerror(errno));
    bool is_running = git_spawn(arguments, ends[1], &pid);
    close(ends[1]);
    const char *fault = is_running ? text_read_fd(ends[0], limit, answer) : NULL;
    close(ends[0]);
    if (!is_running || !git_wait(pid, words[0]))
        return false;
    return fault == NULL || complain("cannot read what git says", fault);
}

static bool top_find(struct arena *arena, const char *beside, struct git_tree *tree)
{
    static const char *const words[] = {"rev-parse", "--show-toplevel", NULL};
    const char *slash = strrchr(beside, '/');
    const char *folder = slash == NULL     ? "."
                         : slash == beside ? "/"
                                           : arena_copy(arena, beside, (size_t)(slash - beside));
    struct buf answer = {0};
    bool is_found = git_run(folder, words, LIMIT_PATH_BYTES * 4, &answer) && answer.len > 1;
    if (is_found)
        tree->top = arena_copy(arena, answer.data, answer.len - 1); /* without the line end */
    buf_release(&answer);
    return is_found;
}

/* Names in a commit are untrusted: each must stay inside the folder. */
static bool is_inside(const char *path)
{
    for (const char *at = path; at != NULL; at = strchr(at, '/') ? strchr(at, '/') + 1 : NULL) {
        size_t part = strcspn(at, "/");
        if (part == 0 || (part == 1 && at[0] == '.') || (part == 2 && strncmp(at, "..", 2) == 0))
            return false;
    }
    return true;
}

static bool folders_make(char *path, size_t from)
{
    for (char *slash = strchr(path + from, '/'); slash != NULL; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        bool is_made = mkdir(path, 0700) == 0 || errno == EEXIST;
        *slash = '/';
        if (!is_made)
            return false;
    }
    return true;
}

static bool file_extract(struct arena *arena, const struct git_tree *tree, const char *ref,
                         const char *name)
{
    const char *object = arena_printf(arena, "%s:%s", ref, name);
    const char *const words[] = {"cat-file", "blob", object, NULL};
    char *path = arena_printf(arena, "%s/%s", tree->folder, name);
    struct buf text = {0};
    bool is_read = git_run(tree->top, words, LIMIT_FILE_BYTES + 1, &text);
    bool is_done = is_read && folders_make(path, strlen(tree->folder) + 1) &&
                   output_write(path, text.data, text.len);
    if (is_read && !is_done)
        complain(path, strerror(errno));
    buf_release(&text);
    return is_done;
}

/* A project file is looked for by those who walk the tree. */
static bool is_wanted(const char *name)
{
    const char *slash = strrchr(name, '/');
    return folder_is_schema(name) || strcmp(slash == NULL ? name : slash + 1, PROJECT_FILE) == 0;
}

/* `names`: each with a NUL behind it. */
static bool files_extract(struct arena *arena, const struct git_tree *tree, const char *ref,
                          const struct buf *names)
{
    unsigned count = 0;
    for (size_t at = 0; at < names->len; at += strlen(names->data + at) + 1) {
        const char *name = names->data + at;
        if (!is_wanted(name) || !is_inside(name))
            continue;
        if (++count > LIMIT_FILES)
            return complain(ref, "too many schemas");
        if (!file_extract(arena, tree, ref, name))
            return false;
    }
    return true;
}

static bool folder_make(struct arena *arena, struct git_tree *tree)
{
    const char *parent = getenv("TMPDIR");
    char *path =
        arena_printf(arena, "%s/culexc.XXXXXX", parent != NULL && *parent == '/' ? parent : "/tmp");
    if (mkdtemp(path) == NULL)
        return complain(path, strerror(errno));
    tree->folder = path;
    return true;
}

bool git_extract(struct arena *arena, const char *ref, const char *beside,
                 struct git_tree *ret_tree)
{
    const char *const words[] = {"ls-tree", "-r", "-z", "--name-only", "--full-tree", ref, NULL};
    struct buf names = {0};
    *ret_tree = (struct git_tree){0};
    if (*ref == '\0' || *ref == '-')
        return complain("git:REF", "this is no name of a commit");
    bool is_done = top_find(arena, beside, ret_tree) && folder_make(arena, ret_tree) &&
                   git_run(ret_tree->top, words, LIMIT_ANSWER_BYTES, &names) &&
                   files_extract(arena, ret_tree, ref, &names);
    buf_release(&names);
    return is_done;
}

void git_remove(const struct git_tree *tree)
{
    char *const roots[] = {(char *)(uintptr_t)tree->folder, NULL};
    FTS *walk = tree->folder == NULL ? NULL : fts_open(roots, FTS_PHYSICAL | FTS_NOCHDIR, NULL);
    if (walk == NULL)
        return;
    for (FTSENT *entry = fts_read(walk); entry != NULL; entry = fts_read(walk)) {
        if (entry->fts_info != FTS_D)
            remove(entry->fts_accpath);
    }
    fts_close(walk);
}
