#include "installation.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "say.h"

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

static void uninstalled_read(struct arena *arena, const char *folder, struct installation *found)
{
    FILE *file = fopen(arena_printf(arena, "%sculex-uninstalled.conf", folder), "re");
    if (file == NULL)
        return;
    found->renderer = line_read(arena, file);
    found->python = line_read(arena, file);
    fclose(file);
}

bool installation_find(struct arena *arena, struct installation *found)
{
    const char *python = getenv("CULEX_PYTHON");
    const char *folder = program_folder(arena);
    *found = (struct installation){.renderer = getenv("CULEX_DATADIR")};
    if (found->renderer == NULL && folder != NULL) {
        const char *installed = arena_printf(arena, "%s../share/culex/render", folder);
        if (access(installed, R_OK) == 0)
            found->renderer = installed;
        else
            uninstalled_read(arena, folder, found);
    }
    if (python != NULL || found->python == NULL)
        found->python = python != NULL ? python : "python3";
    if (found->renderer == NULL) {
        say("the renderer was not found; set CULEX_DATADIR to its folder");
        return false;
    }
    found->plugins = arena_printf(arena, "%s/../plugins", found->renderer);
    return true;
}
