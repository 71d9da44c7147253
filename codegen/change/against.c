#include "against.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "check.h"
#include "diag_print.h"
#include "limits.h"
#include "text.h"

void against_init(struct against *against, struct compilation *now, const char *const *include_dirs,
                  size_t include_count)
{
    *against =
        (struct against){.now = now, .include_dirs = include_dirs, .include_count = include_count};
    compilation_init(&against->then);
}

void against_release(struct against *against)
{
    compilation_release(&against->then);
}

static bool complain(const char *what, const char *fault)
{
    fprintf(stderr, "culexc: cannot read '%s': %s\n", what, fault);
    return false;
}

static bool load_file(struct against *against, const char *path)
{
    const char *fault;
    struct module *module = compilation_load(&against->then, path, &fault);
    if (module == NULL)
        return complain(path, fault);
    check_module(&against->then, module);
    return true;
}

/* Older schemas must be whole too: otherwise nobody can say what they promised. */
static const struct lock *then_make(struct against *against)
{
    struct diag_sink *sink = &against->then.sink;
    const struct lock *lock = sink->errors == 0 ? lock_make(&against->then) : NULL;
    if (sink->errors == 0)
        return lock;
    diag_sort(sink);
    diag_print_human(sink, stderr, false);
    fputs("culexc: the older schema has errors, so there is nothing to compare with\n", stderr);
    return NULL;
}

const struct lock *against_load_lock(struct against *against, const char *path)
{
    struct buf text = {0};
    struct lock *lock = NULL;
    const char *fault = text_read(path, LIMIT_LOCK_BYTES, &text);
    if (fault != NULL)
        complain(path, fault);
    else
        lock = lock_read(&against->now->sink, path, text.data, text.len);
    buf_release(&text);
    return lock;
}

static bool is_schema(const char *name)
{
    size_t len = strlen(name);
    return len > 4 && strcmp(name + len - 4, ".job") == 0;
}

const struct lock *against_load(struct against *against, const char *name)
{
    against->then.include_dirs = against->include_dirs;
    against->then.include_count = against->include_count;
    if (!is_schema(name))
        return against_load_lock(against, name);
    return load_file(against, name) ? then_make(against) : NULL;
}
