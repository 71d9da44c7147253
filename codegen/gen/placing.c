#include "placing.h"

#include <assert.h>
#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "output.h"
#include "say.h"

static bool folder_make(const char *path)
{
    if (mkdir(path, 0777) == 0 || errno == EEXIST)
        return true;
    say("cannot make '%s': %s", path, strerror(errno));
    return false;
}

/* A link is none: what is written by way of it would be elsewhere. */
static bool is_folder(const char *path)
{
    struct stat info;
    return lstat(path, &info) == 0 && S_ISDIR(info.st_mode);
}

/* The folders between `out` and the file. */
static bool folders_make(struct arena *arena, const char *out, const char *name)
{
    for (const char *at = strchr(name, '/'); at != NULL; at = strchr(at + 1, '/')) {
        const char *path = arena_printf(arena, "%s/%.*s", out, (int)(at - name), name);
        if (!folder_make(path))
            return false;
        if (!is_folder(path)) {
            say("cannot write '%s/%s': '%s' is no folder, or a link to one", out, name, path);
            return false;
        }
    }
    return true;
}

bool placing_write(struct arena *arena, const char *out, const struct answer_file *files)
{
    if (!folder_make(out))
        return false;
    for (const struct answer_file *at = files; at != NULL; at = at->next) {
        assert(strchr("./", at->name[0]) == NULL); /* answer.h: names lead nowhere else. */
        if (!folders_make(arena, out, at->name))
            return false;
    }
    for (; files != NULL; files = files->next) {
        const char *path = arena_printf(arena, "%s/%s", out, files->name);
        if (!output_write(path, files->content, files->len))
            return say_unwritten(path);
    }
    return true;
}

unsigned placing_compare(struct arena *arena, const char *out, const struct answer_file *files)
{
    unsigned count = 0;
    for (; files != NULL; files = files->next) {
        const char *path = arena_printf(arena, "%s/%s", out, files->name);
        if (output_is_same(path, files->content, files->len))
            continue;
        say("'%s' %s", path, access(path, F_OK) == 0 ? "is out of date" : "is missing");
        count++;
    }
    return count;
}
