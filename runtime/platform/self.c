#include "platform/self.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

void culex__self_rename(const char *name)
{
    prctl(PR_SET_NAME, name);
}

bool culex__self_follow_parent(int signal)
{
    return prctl(PR_SET_PDEATHSIG, signal) == 0;
}

bool culex__self_adopt_orphans(void)
{
    return prctl(PR_SET_CHILD_SUBREAPER, 1) == 0;
}

void culex__self_conceal(void)
{
    prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
}

int culex__self_no_new_privileges(void)
{
    return prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0);
}

/* --- children ---------------------------------------------------------------------------- */

/* True when `visit` wants more. */
static bool thread_visit(const char *thread, bool (*visit)(void *user, pid_t pid), void *user)
{
    char path[300];
    bool wants_more = true;
    snprintf(path, sizeof path, "/proc/self/task/%s/children", thread);
    FILE *file = fopen(path, "re");
    for (pid_t pid; file != NULL && wants_more && fscanf(file, "%d", &pid) == 1;)
        wants_more = visit(user, pid);
    if (file != NULL)
        fclose(file);
    return wants_more;
}

bool culex__self_visit_children(bool (*visit)(void *user, pid_t pid), void *user)
{
    DIR *threads = opendir("/proc/self/task");
    if (threads == NULL)
        return false;
    for (const struct dirent *thread; (thread = readdir(threads)) != NULL;) {
        if (thread->d_name[0] != '.' && !thread_visit(thread->d_name, visit, user))
            break;
    }
    closedir(threads);
    return true;
}

/* --- files of a line or a few ------------------------------------------------------------- */

/* Reads the beginning of a file; 0 when there is nothing. A signal handler may call it. */
static size_t file_read(const char *path, char *ret_text, size_t size)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return 0;
    ssize_t got = read(fd, ret_text, size);
    close(fd);
    return got > 0 ? (size_t)got : 0;
}

/* Reads the numbers in `text` that another character follows. Returns how many, at most `max`. */
static size_t numbers_parse(const char *text, size_t len, int64_t *ret_numbers, size_t max)
{
    size_t count = 0;
    bool is_inside = false;
    for (size_t i = 0; i < len && count < max; i++) {
        bool is_digit = text[i] >= '0' && text[i] <= '9';
        if (is_digit)
            ret_numbers[count] = (is_inside ? ret_numbers[count] * 10 : 0) + (text[i] - '0');
        else if (is_inside)
            count++;
        is_inside = is_digit;
    }
    return count;
}

bool culex__self_memory(struct culex_memory_use *ret_use)
{
    enum { TOTAL, RESIDENT, SHARED, CODE, LIBRARY, DATA, COUNT }; /* in pages: proc(5), statm */
    char text[256];
    int64_t pages[COUNT], page = sysconf(_SC_PAGESIZE);
    size_t len = file_read("/proc/self/statm", text, sizeof text);
    if (numbers_parse(text, len, pages, COUNT) != COUNT)
        return false;
    ret_use->resident = pages[RESIDENT] * page;
    ret_use->unshared = (pages[RESIDENT] - pages[SHARED]) * page;
    ret_use->data = pages[DATA] * page;
    return true;
}

/* --- descendants ------------------------------------------------------------------------- */

struct family {
    pid_t members[256];
    size_t count;
};

static bool family_add(void *user, pid_t pid)
{
    struct family *family = user;
    if (family->count < sizeof family->members / sizeof family->members[0])
        family->members[family->count++] = pid;
    return true;
}

/* Of a process with one thread, or of the first thread: ours fork by that one alone. */
static void family_add_children_of(struct family *family, pid_t pid)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/%ld/task/%ld/children", (long)pid, (long)pid);
    FILE *file = fopen(path, "re");
    for (pid_t child; file != NULL && fscanf(file, "%d", &child) == 1;)
        family_add(family, child);
    if (file != NULL)
        fclose(file);
}

static int64_t resident_pages(pid_t pid)
{
    enum { TOTAL, RESIDENT, COUNT };
    char path[64], text[256];
    int64_t pages[COUNT];
    snprintf(path, sizeof path, "/proc/%ld/statm", (long)pid);
    size_t len = file_read(path, text, sizeof text);
    return numbers_parse(text, len, pages, COUNT) == COUNT ? pages[RESIDENT] : 0;
}

int64_t culex__self_descendants_memory(void)
{
    struct family family = {.count = 0};
    int64_t pages = 0;
    culex__self_visit_children(family_add, &family);
    for (size_t i = 0; i < family.count; i++) {
        pages += resident_pages(family.members[i]);
        family_add_children_of(&family, family.members[i]);
    }
    return pages * sysconf(_SC_PAGESIZE);
}

void culex__self_list_timers(char *ret_list, size_t size)
{
    size_t len = file_read("/proc/self/timers", ret_list, size);
    memset(ret_list + len, 0, size - len);
}
