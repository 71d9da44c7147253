/* gen.c - runs the renderer: the model goes to its standard input, and on its
 * standard output comes {"files": [{"path", "content"}], "inputs": [path]}. The
 * renderer writes no file itself, so nothing it says can reach outside `out`. */
#include "gen.h"

#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "buf.h"
#include "diag_print.h"
#include "ir_json.h"
#include "json_in.h"
#include "limits.h"
#include "output.h"

struct renderer {
    const char *folder;
    const char *python;
};

struct text_list {
    const char *text;
    struct text_list *next;
};

struct rendered {
    const char *name;
    const char *content; /* NULL: the renderer did not send it */
    size_t len;
};

struct generation {
    struct compilation *compilation;
    struct arena *arena;
    const struct module *module;
    struct rendered files[2];
    struct text_list *inputs;
};

static bool complain(const char *what, const char *detail)
{
    diag_say("%s%s%s", what, detail == NULL ? "" : ": ", detail == NULL ? "" : detail);
    return false;
}

/* The folder of this very program, or NULL. */
static const char *program_folder(struct arena *arena)
{
    char path[4096];
    ssize_t len = readlink("/proc/self/exe", path, sizeof(path));
    while (len > 0 && path[len - 1] != '/')
        len--;
    return len <= 0 || len == sizeof(path) ? NULL : arena_copy(arena, path, (size_t)len);
}

static const char *line_read(struct arena *arena, FILE *file)
{
    char line[4096];
    if (fgets(line, sizeof(line), file) == NULL)
        return NULL;
    return arena_copy(arena, line, strcspn(line, "\n"));
}

static void renderer_uninstalled(struct arena *arena, const char *folder, struct renderer *renderer)
{
    FILE *file = fopen(arena_printf(arena, "%sculex-uninstalled.conf", folder), "re");
    if (file == NULL)
        return;
    renderer->folder = line_read(arena, file);
    renderer->python = line_read(arena, file);
    fclose(file);
}

static bool renderer_find(struct arena *arena, struct renderer *renderer)
{
    const char *python = getenv("CULEX_PYTHON");
    const char *folder = program_folder(arena);
    *renderer = (struct renderer){.folder = getenv("CULEX_DATADIR")};
    if (renderer->folder == NULL && folder != NULL) {
        const char *installed = arena_printf(arena, "%s../share/culex/render", folder);
        if (access(installed, R_OK) == 0)
            renderer->folder = installed;
        else
            renderer_uninstalled(arena, folder, renderer);
    }
    if (python != NULL || renderer->python == NULL)
        renderer->python = python != NULL ? python : "python3";
    return renderer->folder != NULL ||
           complain("the renderer was not found; set CULEX_DATADIR to its folder", NULL);
}

/* The model in a file without a name: the child can read it at its own pace. */
static FILE *model_file(const struct module *module, const char *export_macro)
{
    struct buf json = {0};
    FILE *file = tmpfile();
    ir_json_write(module->ir, export_macro, &json);
    if (file != NULL && (fwrite(json.data, 1, json.len, file) != json.len || fflush(file) != 0 ||
                         lseek(fileno(file), 0, SEEK_SET) != 0)) {
        fclose(file);
        file = NULL;
    }
    buf_release(&json);
    return file;
}

static bool renderer_spawn(struct arena *arena, const struct renderer *renderer, int input,
                           int output, pid_t *ret_pid)
{
    posix_spawn_file_actions_t actions;
    char *arguments[] = {(char *)(uintptr_t)renderer->python, (char *)(uintptr_t) "-I",
                         arena_printf(arena, "%s/render.py", renderer->folder), NULL};
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, input, STDIN_FILENO);
    posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO);
    int fault = posix_spawnp(ret_pid, renderer->python, &actions, NULL, arguments, environ);
    posix_spawn_file_actions_destroy(&actions);
    return fault == 0 ||
           complain(arena_printf(arena, "cannot run '%s'", renderer->python), strerror(fault));
}

static bool answer_read(int fd, struct buf *answer)
{
    char chunk[65536];
    for (;;) {
        ssize_t got = read(fd, chunk, sizeof(chunk));
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            return got == 0;
        buf_append(answer, chunk, (size_t)got);
        if (answer->len > LIMIT_ANSWER_BYTES)
            return false;
    }
}

static bool renderer_wait(pid_t pid)
{
    int status = 0;
    while (waitpid(pid, &status, 0) < 0) {
        if (errno != EINTR)
            return complain("cannot wait for the renderer", strerror(errno));
    }
    return (WIFEXITED(status) && WEXITSTATUS(status) == 0) || complain("the renderer failed", NULL);
}

static bool renderer_run(struct arena *arena, const struct renderer *renderer, FILE *model,
                         struct buf *answer)
{
    int ends[2];
    pid_t pid;
    if (pipe2(ends, O_CLOEXEC) != 0)
        return complain("cannot make a pipe", strerror(errno));
    bool is_running = renderer_spawn(arena, renderer, fileno(model), ends[1], &pid);
    close(ends[1]);
    bool is_read = is_running && answer_read(ends[0], answer);
    close(ends[0]);
    if (!is_running || !renderer_wait(pid))
        return false;
    return is_read || complain("cannot read the renderer's answer", NULL);
}

/* One {"path": ..., "content": ...}; only the two expected names are taken. */
static void file_take(struct generation *generation, struct json_in *in)
{
    char *name, *path = NULL, *content = NULL, *text;
    size_t len, name_len, content_len = 0;
    bool is_first = true;
    if (!json_in_expect(in, '{'))
        return;
    while (json_in_more(in, '}', &is_first)) {
        if (!json_in_string(in, generation->arena, &name, &name_len) || !json_in_expect(in, ':') ||
            !json_in_string(in, generation->arena, &text, &len))
            return;
        if (strcmp(name, "path") == 0)
            path = text;
        else if (strcmp(name, "content") == 0)
            content = text, content_len = len;
    }
    for (size_t i = 0; i < 2 && path != NULL && content != NULL; i++) {
        struct rendered *file = &generation->files[i];
        if (strcmp(file->name, path) != 0 || file->content != NULL)
            continue;
        file->content = content;
        file->len = content_len;
        return;
    }
    in->is_bad = true; /* A name that nobody asked for, or one sent twice. */
}

static void input_take(struct generation *generation, struct json_in *in)
{
    struct text_list *input = arena_alloc(generation->arena, sizeof(*input));
    char *text;
    size_t len;
    if (!json_in_string(in, generation->arena, &text, &len))
        return;
    in->is_bad |= strlen(text) != len || strchr(text, '\n') != NULL;
    *input = (struct text_list){text, generation->inputs};
    generation->inputs = input;
}

static bool answer_take(struct generation *generation, const struct buf *answer)
{
    struct json_in in = {.at = answer->data, .end = answer->data + answer->len};
    bool is_first = true;
    char *name;
    size_t len;
    if (answer->len == 0 || !json_in_expect(&in, '{'))
        return complain("the renderer's answer is not JSON", NULL);
    while (json_in_more(&in, '}', &is_first)) {
        bool is_first_item = true;
        if (!json_in_string(&in, generation->arena, &name, &len) || !json_in_expect(&in, ':'))
            break;
        bool is_files = strcmp(name, "files") == 0;
        if (!is_files && strcmp(name, "inputs") != 0) {
            json_in_skip(&in);
            continue;
        }
        json_in_expect(&in, '[');
        while (json_in_more(&in, ']', &is_first_item)) {
            if (is_files)
                file_take(generation, &in);
            else
                input_take(generation, &in);
        }
    }
    bool is_whole =
        !in.is_bad && generation->files[0].content != NULL && generation->files[1].content != NULL;
    return is_whole || complain("the renderer's answer has not the expected files", NULL);
}

static bool files_write(const struct generation *generation, const char *out)
{
    if (mkdir(out, 0777) != 0 && errno != EEXIST)
        return complain(out, strerror(errno));
    for (size_t i = 0; i < 2; i++) {
        const struct rendered *file = &generation->files[i];
        const char *path = arena_printf(generation->arena, "%s/%s", out, file->name);
        if (!output_write(path, file->content, file->len))
            return complain(arena_printf(generation->arena, "cannot write '%s'", path),
                            strerror(errno));
    }
    return true;
}

/* Escaped as make and ninja read it. */
static void depfile_path(struct buf *text, const char *path)
{
    for (; *path != '\0'; path++) {
        if (*path == ' ' || *path == '#')
            buf_char(text, '\\');
        else if (*path == '$')
            buf_char(text, '$');
        buf_char(text, *path);
    }
}

static struct text_list *list_before(struct arena *arena, const char *text, struct text_list *rest)
{
    struct text_list *item = arena_alloc(arena, sizeof(*item));
    *item = (struct text_list){text, rest};
    return item;
}

/* Everything that was read: schemas first, then their project, then the renderer's own files. */
static struct text_list *prerequisites(const struct generation *generation)
{
    const struct compilation *compilation = generation->compilation;
    struct text_list *first = generation->inputs;
    if (compilation->project != NULL)
        first = list_before(generation->arena, compilation->project, first);
    for (const struct module *at = compilation->modules; at != NULL; at = at->next)
        first = list_before(generation->arena, at->path, first);
    return first;
}

static bool depfile_write(const struct generation *generation, const char *out, const char *depfile)
{
    struct text_list *first = prerequisites(generation);
    struct buf text = {0};
    /* The C file first, as builds list their outputs: ninja compares the first of both lists. */
    for (size_t i = 2; i-- > 0;) {
        buf_text(&text, i > 0 ? "" : " ");
        depfile_path(&text,
                     arena_printf(generation->arena, "%s/%s", out, generation->files[i].name));
    }
    buf_char(&text, ':');
    for (const struct text_list *at = first; at != NULL; at = at->next) {
        buf_text(&text, " \\\n  ");
        depfile_path(&text, at->text);
    }
    buf_char(&text, '\n');
    for (const struct text_list *at = first; at != NULL; at = at->next) {
        depfile_path(&text, at->text); /* So that a deleted import is no error in make. */
        buf_text(&text, ":\n");
    }
    bool is_done = output_write(depfile, text.data, text.len);
    buf_release(&text);
    return is_done || complain(depfile, strerror(errno));
}

bool gen_write(struct compilation *compilation, const struct module *module, const char *out,
               const char *depfile, const char *export_macro)
{
    struct generation generation = {
        .compilation = compilation,
        .arena = &compilation->arena,
        .module = module,
        .files = {{.name = module->ir->header}, {.name = module->ir->source}}};
    struct renderer renderer;
    struct buf answer = {0};
    if (!renderer_find(generation.arena, &renderer))
        return false;
    FILE *model = model_file(module, export_macro);
    if (model == NULL)
        return complain("cannot make a temporary file", strerror(errno));
    bool is_done = renderer_run(generation.arena, &renderer, model, &answer) &&
                   answer_take(&generation, &answer) && files_write(&generation, out) &&
                   (depfile == NULL || depfile_write(&generation, out, depfile));
    buf_release(&answer);
    fclose(model);
    return is_done;
}
