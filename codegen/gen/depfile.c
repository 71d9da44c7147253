#include "depfile.h"

#include "buf.h"
#include "output.h"
#include "say.h"

struct path_list *path_list_add(struct arena *arena, struct path_list *list, const char *path)
{
    struct path_list *item = arena_alloc(arena, sizeof(*item));
    *item = (struct path_list){path, list};
    return item;
}

/* Escaped as make and ninja read it. */
static void path_write(struct buf *text, const char *path)
{
    for (; *path != '\0'; path++) {
        if (*path == ' ' || *path == '#')
            buf_char(text, '\\');
        else if (*path == '$')
            buf_char(text, '$');
        buf_char(text, *path);
    }
}

bool depfile_write(const char *depfile, const struct path_list *targets,
                   const struct path_list *sources)
{
    struct buf text = {0};
    for (const struct path_list *at = targets; at != NULL; at = at->next) {
        buf_text(&text, at == targets ? "" : " ");
        path_write(&text, at->path);
    }
    buf_char(&text, ':');
    for (const struct path_list *at = sources; at != NULL; at = at->next) {
        buf_text(&text, " \\\n  ");
        path_write(&text, at->path);
    }
    buf_char(&text, '\n');
    for (const struct path_list *at = sources; at != NULL; at = at->next) {
        path_write(&text, at->path); /* So that a deleted import is no error in make. */
        buf_text(&text, ":\n");
    }
    bool is_done = output_send(depfile, text.data, text.len) || say_unwritten(depfile);
    buf_release(&text);
    return is_done;
}
