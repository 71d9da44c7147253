#include "renderer.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>

#include "digest.h"
#include "input.h"
#include "say.h"

static int is_own_file(const struct dirent *entry)
{
    const char *dot = strrchr(entry->d_name, '.');
    return dot != NULL && (strcmp(dot, ".py") == 0 || strcmp(dot, ".j2") == 0);
}

static int name_compare(const struct dirent **a, const struct dirent **b)
{
    return strcmp((*a)->d_name, (*b)->d_name);
}

static bool file_add(struct arena *arena, struct renderer *renderer, const char *path,
                     const char *name)
{
    struct input text;
    const char *fault = input_read(path, &text);
    if (fault != NULL)
        return say_unread(path, fault);
    renderer->digest = digest_bytes(renderer->digest, name, strlen(name));
    renderer->digest = digest_bytes(renderer->digest, text.bytes, text.size);
    renderer->files = path_list_add(arena, renderer->files, path);
    free(text.bytes);
    return true;
}

static bool folder_add(struct arena *arena, struct renderer *renderer, const char *folder)
{
    struct dirent **entries;
    int count = scandir(folder, &entries, is_own_file, name_compare);
    bool is_done = true;
    for (int i = 0; i < count; i++) {
        const char *name = entries[i]->d_name;
        is_done =
            is_done && file_add(arena, renderer, arena_printf(arena, "%s/%s", folder, name), name);
        free(entries[i]);
    }
    if (count >= 0)
        free(entries);
    return is_done;
}

bool renderer_read(struct arena *arena, const char *folder, struct renderer *ret_renderer)
{
    *ret_renderer = (struct renderer){.digest = DIGEST_START};
    if (!folder_add(arena, ret_renderer, folder) ||
        !folder_add(arena, ret_renderer, arena_printf(arena, "%s/templates", folder)))
        return false;
    if (ret_renderer->files == NULL)
        say("there is no renderer in '%s'", folder);
    return ret_renderer->files != NULL;
}
