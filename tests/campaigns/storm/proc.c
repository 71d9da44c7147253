#include "proc.h"

#include <ctype.h>
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { PROCESSES_MAX = 8192 };

/* False when there is no such process. The name in the file may hold anything but its last ")". */
static bool entry_read(pid_t pid, struct proc_entry *ret_entry)
{
    char path[64], line[512];
    snprintf(path, sizeof path, "/proc/%ld/stat", (long)pid);
    FILE *file = fopen(path, "r");
    if (file == NULL)
        return false;
    size_t len = fread(line, 1, sizeof line - 1, file);
    fclose(file);
    line[len] = '\0';
    const char *rest = strrchr(line, ')');
    long parent;
    ret_entry->pid = pid;
    if (rest == NULL || sscanf(rest + 1, " %c %ld", &ret_entry->state, &parent) != 2)
        return false;
    ret_entry->parent = (pid_t)parent;
    return true;
}

static size_t all_read(struct proc_entry *entries)
{
    size_t count = 0;
    struct dirent *item;
    DIR *folder = opendir("/proc");
    while (folder != NULL && count < PROCESSES_MAX && (item = readdir(folder)) != NULL) {
        if (isdigit((unsigned char)item->d_name[0]))
            count += entry_read((pid_t)strtol(item->d_name, NULL, 10), &entries[count]);
    }
    if (folder != NULL)
        closedir(folder);
    return count;
}

static void children_add(struct proc_list *list, const struct proc_entry *all, size_t count,
                         pid_t parent, unsigned depth)
{
    for (size_t i = 0; i < count && list->count < PROC_DESCENDANTS_MAX; i++) {
        if (all[i].parent != parent)
            continue;
        list->entries[list->count] = all[i];
        list->entries[list->count++].depth = depth;
    }
}

void proc_descendants(pid_t root, struct proc_list *ret_list)
{
    static struct proc_entry all[PROCESSES_MAX];
    size_t count = all_read(all);
    ret_list->count = 0;
    children_add(ret_list, all, count, root, 1);
    for (size_t i = 0; i < ret_list->count; i++)
        children_add(ret_list, all, count, ret_list->entries[i].pid,
                     ret_list->entries[i].depth + 1);
}

/* glibc has wrappers for these only since 2.36. */
static int handle_open(pid_t pid)
{
    return (int)syscall(SYS_pidfd_open, pid, 0);
}

static bool handle_signal(int handle, int number)
{
    return syscall(SYS_pidfd_send_signal, handle, number, NULL, 0) == 0;
}

bool proc_signal(pid_t pid, pid_t parent, int number)
{
    struct proc_entry entry;
    int handle = handle_open(pid);
    if (handle < 0)
        return false;
    bool is_sent = entry_read(pid, &entry) && entry.parent == parent && entry.state != 'Z' &&
                   handle_signal(handle, number);
    close(handle);
    return is_sent;
}

int proc_descriptors(pid_t pid)
{
    char path[64];
    int count = -2; /* "." and ".." */
    snprintf(path, sizeof path, "/proc/%ld/fd", (long)pid);
    DIR *folder = opendir(path);
    if (folder == NULL)
        return -1;
    while (readdir(folder) != NULL)
        count++;
    closedir(folder);
    return count;
}
