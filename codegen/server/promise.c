#include "promise.h"

#include <string.h>

#include "change.h"
#include "limits.h"
#include "text.h"

/* False when there is none that is read while somebody types. */
static bool lock_load(const char *path, struct buf *ret_text)
{
    if (text_read(path, LIMIT_LOCK_TYPING, ret_text) == NULL)
        return true;
    buf_release(ret_text);
    return false;
}

/* The text of the lock that is nearest to a file. False when there is none. */
static bool lock_find(struct arena *arena, const char *path, struct buf *ret_text)
{
    const char *slash = strrchr(path, '/');
    for (unsigned depth = 0; slash != NULL && depth < LIMIT_FOLDER_DEPTH; depth++) {
        const char *folder = arena_copy(arena, path, (size_t)(slash - path));
        const char *lock = arena_printf(arena, "%s/jobs.lock", folder);
        if (lock_load(lock, ret_text))
            return true;
        slash = strrchr(folder, '/');
        path = folder;
    }
    return false;
}

/* The lock with those jobs only that `after` has as well. */
static struct lock *lock_narrow(struct arena *arena, const struct lock *before,
                                const struct lock *after)
{
    struct lock *narrow = arena_alloc(arena, sizeof(*narrow));
    struct lock_job **end = &narrow->jobs;
    *narrow = *before;
    for (const struct lock_job *at = before->jobs; at != NULL; at = at->next) {
        if (lock_job_find(after, at->wire) == NULL)
            continue;
        *end = arena_alloc(arena, sizeof(**end));
        **end = *at;
        end = &(*end)->next;
    }
    *end = NULL;
    return narrow;
}

void promise_check(struct compilation *compilation, const struct module *module, const char *lock)
{
    struct arena *arena = &compilation->arena;
    struct buf text = {0};
    const char *path = path_resolve(arena, module->path);
    if (path == NULL || !(lock != NULL ? lock_load(lock, &text) : lock_find(arena, path, &text)))
        return;
    struct diag_sink unread;
    diag_sink_init(&unread, arena);
    const struct lock *before = lock_read(&unread, "jobs.lock", text.data, text.len);
    buf_release(&text);
    if (before == NULL)
        return;
    struct change change = {.arena = arena, .sink = &compilation->sink, .categories = CHANGE_ALL};
    change.after = lock_make(compilation);
    change.before = lock_narrow(arena, before, change.after);
    change_compare(&change);
}
