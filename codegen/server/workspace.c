#include "workspace.h"

#include <dirent.h>
#include <string.h>
#include <sys/stat.h>

#include "folder.h"
#include "limits.h"

/* An analysis to be released. */
struct owned {
    struct analysis *analysis;
    struct owned *next;
};

static void modules_add(struct workspace *workspace, struct analysis *analysis)
{
    for (struct module *at = analysis->compilation.modules; at != NULL; at = at->next) {
        struct file *file = arena_alloc(&workspace->arena, sizeof(*file));
        *file = (struct file){module_key(&workspace->arena, at), analysis, at, NULL};
        if (map_add(&workspace->by_key, file->key, file) != NULL)
            continue;
        *workspace->end = file;
        workspace->end = &file->next;
        workspace->count++;
    }
}

static void path_add(struct workspace *workspace, const char *path)
{
    const char *key = path_resolve(&workspace->arena, path);
    if (map_get(&workspace->by_key, key != NULL ? key : path) != NULL)
        return;
    struct owned *owned = arena_alloc(&workspace->arena, sizeof(*owned));
    *owned = (struct owned){analysis_create(&workspace->input, path), workspace->owned};
    workspace->owned = owned;
    modules_add(workspace, owned->analysis);
}

/* False when there is more than is looked at. */
static bool has_room(struct workspace *workspace, unsigned depth)
{
    bool is_room = workspace->count < LIMIT_FILES && depth < LIMIT_FOLDER_DEPTH &&
                   workspace->entries++ < LIMIT_FOLDER_ENTRIES;
    workspace->is_partial |= !is_room;
    return is_room;
}

/* Links are not followed, hidden folders not looked into. */
static void folder_add(struct workspace *workspace, const char *folder, unsigned depth)
{
    DIR *dir = opendir(folder);
    struct dirent *entry;
    while (dir != NULL && (entry = readdir(dir)) != NULL) {
        struct stat info;
        bool may_be_folder = entry->d_type == DT_DIR || entry->d_type == DT_UNKNOWN;
        if (entry->d_name[0] == '.' || (!may_be_folder && !folder_is_schema(entry->d_name)))
            continue;
        const char *path = arena_printf(&workspace->arena, "%s/%s", folder, entry->d_name);
        if (lstat(path, &info) != 0)
            continue;
        bool is_file = S_ISREG(info.st_mode) && folder_is_schema(entry->d_name);
        if ((is_file || S_ISDIR(info.st_mode)) && !has_room(workspace, depth))
            break;
        if (is_file)
            path_add(workspace, path);
        else if (S_ISDIR(info.st_mode))
            folder_add(workspace, path, depth + 1);
    }
    if (dir != NULL)
        closedir(dir);
}

void workspace_open(struct workspace *workspace, struct server *server,
                    const struct overlay *overlays)
{
    *workspace = (struct workspace){.server = server, .input = server->input};
    workspace->end = &workspace->files;
    workspace->input.overlays = overlays;
    map_init(&workspace->by_key, &workspace->arena);
    for (const struct document *at = server->documents.first; at != NULL; at = at->next) {
        if (!at->is_lost)
            path_add(workspace, at->path);
    }
    for (unsigned i = 0; i < server->folder_count; i++)
        folder_add(workspace, server->folders[i], 0);
}

void workspace_close(struct workspace *workspace)
{
    for (struct owned *at = workspace->owned; at != NULL; at = at->next)
        analysis_release(at->analysis);
    arena_release(&workspace->arena);
}

/* Puts the use where it belongs among those of its file. */
static void use_add(struct workspace *workspace, struct use **first, struct file *file,
                    const struct mark *mark)
{
    struct use *use = arena_alloc(&workspace->arena, sizeof(*use));
    while (*first != NULL && (*first)->span.offset < mark->span.offset)
        first = &(*first)->next;
    *use = (struct use){file, mark->span, mark_is_declaration(mark), *first};
    *first = use;
}

struct use *workspace_uses(struct workspace *workspace, const struct thing *thing)
{
    struct use *uses = NULL;
    struct use **end = &uses;
    for (struct file *file = workspace->files; file != NULL; file = file->next) {
        const struct mark *mark = marks_find(&file->analysis->compilation, file->module);
        for (; mark != NULL; mark = mark->next) {
            if (thing_is(&workspace->arena, &mark->thing, thing))
                use_add(workspace, end, file, mark);
        }
        while (*end != NULL)
            end = &(*end)->next;
    }
    return uses;
}
