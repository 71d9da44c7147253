#include "worker/lifeline.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "worker/worker_private.h"

#define PLACELESS "new" /* what the name begins with before the store is known */

enum { HIGH_FD = 500 /* where no program and no handler counts its descriptors */ };

/* A store says where it is in as many bytes as it likes; files are found by this much of it. */
static uint64_t text_digest(const char *text)
{
    uint64_t digest = UINT64_C(0xcbf29ce484222325); /* FNV-1a */
    for (; *text != '\0'; text++)
        digest = (digest ^ (unsigned char)*text) * UINT64_C(0x100000001b3);
    return digest;
}

static void off_tell(const culex_worker *worker, const char *why)
{
    culex__log_write(&worker->log, CULEX_LOG_INFO, NULL,
                     "no file for a lock that tells others on this machine of this worker's death, "
                     "they see it by its leases: %s",
                     why);
}

void culex__lifeline_path(const struct culex_lifeline *lifeline, const char *name,
                          char ret_path[CULEX_LIFELINE_PATH_SIZE])
{
    snprintf(ret_path, CULEX_LIFELINE_PATH_SIZE, "%s/%s", lifeline->folder, name);
}

/* Somebody who looks between the two calls finds no lock, and takes the file away: then another one
 * is made. */
static int file_make(const char *path)
{
    struct stat info;
    int fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW | O_APPEND, 0600);
    if (fd < 0)
        return -1;
    if (flock(fd, LOCK_EX | LOCK_NB) == 0 && fstat(fd, &info) == 0 && info.st_nlink == 1)
        return fd;
    int failure = errno;
    unlink(path);
    close(fd);
    errno = failure;
    return -1;
}

/* Not noted as the library's: the zygote and the children are to keep it. Programs that they start
 * do not. */
static int fd_raise(int fd)
{
    int high = fcntl(fd, F_DUPFD_CLOEXEC, HIGH_FD);
    if (high < 0)
        return fd;
    close(fd);
    return high;
}

static void file_open(culex_worker *worker)
{
    enum { TRIES = 3 };
    struct culex_lifeline *lifeline = &worker->lifeline;
    char path[CULEX_LIFELINE_PATH_SIZE];
    for (int i = 0; i < TRIES && lifeline->fd < 0; i++) {
        snprintf(lifeline->name, sizeof lifeline->name, PLACELESS "-%016llx",
                 (unsigned long long)culex__env_random(worker->env));
        culex__lifeline_path(lifeline, lifeline->name, path);
        lifeline->fd = file_make(path);
    }
    if (lifeline->fd < 0)
        off_tell(worker, strerror(errno));
    else
        lifeline->fd = fd_raise(lifeline->fd);
}

void culex__lifeline_open(culex_worker *worker)
{
    char why[CULEX_RUNTIME_FOLDER_WHY_SIZE];
    struct culex_lifeline *lifeline = &worker->lifeline;
    *lifeline = (struct culex_lifeline){.fd = -1};
    /* No other process of this machine has that store. */
    if (worker->given_store != NULL || worker->env->is_simulated)
        return;
    if (!culex__runtime_folder_find(lifeline->folder, why)) {
        lifeline->folder[0] = '\0';
        off_tell(worker, why);
        return;
    }
    bool has_fixed_name = worker->options.name != NULL && worker->options.name[0] != '\0';
    if (!has_fixed_name)
        file_open(worker);
}

static void file_remove(struct culex_lifeline *lifeline)
{
    char path[CULEX_LIFELINE_PATH_SIZE];
    if (lifeline->fd < 0)
        return;
    culex__lifeline_path(lifeline, lifeline->name, path);
    unlink(path);
    close(lifeline->fd);
    lifeline->fd = -1;
}

static void file_rename(culex_worker *worker)
{
    struct culex_lifeline *lifeline = &worker->lifeline;
    char before[CULEX_LIFELINE_PATH_SIZE], path[CULEX_LIFELINE_PATH_SIZE],
        name[sizeof lifeline->name];
    snprintf(name, sizeof name, "%.17s%.16s", lifeline->store,
             lifeline->name + sizeof PLACELESS "-" - 1);
    culex__lifeline_path(lifeline, lifeline->name, before);
    culex__lifeline_path(lifeline, name, path);
    if (rename(before, path) < 0) {
        off_tell(worker, strerror(errno));
        file_remove(lifeline);
        return;
    }
    strcpy(lifeline->name, name);
}

static void line_write(culex_worker *worker, const char *line, int len)
{
    struct culex_lifeline *lifeline = &worker->lifeline;
    if (lifeline->fd < 0 || lifeline->is_broken || write(lifeline->fd, line, (size_t)len) == len)
        return;
    lifeline->is_broken = true; /* the next one would be read as the rest of this one */
    off_tell(worker, "it cannot be written");
}

/* A line of one word, which a Culex that knows no such line passes over. */
static void entry_note(culex_worker *worker)
{
    char line[sizeof worker->presence.id + 1];
    int len = snprintf(line, sizeof line, "%s\n", worker->presence.id);
    if (worker->presence.is_on)
        line_write(worker, line, len);
}

void culex__lifeline_place(culex_worker *worker)
{
    struct culex_lifeline *lifeline = &worker->lifeline;
    char place[1024];
    if (lifeline->folder[0] == '\0')
        return;
    culex__store_place_tell(worker->store, place, sizeof place);
    if (place[0] == '\0') {
        file_remove(lifeline);
        lifeline->folder[0] = '\0';
        return;
    }
    snprintf(lifeline->store, sizeof lifeline->store, "%016llx-",
             (unsigned long long)text_digest(place));
    entry_note(worker);
    if (lifeline->fd >= 0)
        file_rename(worker);
}

/* A line is written before the HELLO: the other way round a death between the two would be one that
 * nobody can tell. A line that was cut short is of a HELLO that was never said. */
void culex__lifeline_note(const struct culex_lane *lane)
{
    culex_worker *worker = lane->worker;
    char line[CULEX_QUEUE_NAME_MAX + sizeof worker->identity.name + 3];
    int len = snprintf(line, sizeof line, "%s %s\n", lane->name, worker->identity.name);
    line_write(worker, line, len);
}

void culex__lifeline_close(culex_worker *worker)
{
    file_remove(&worker->lifeline);
    worker->lifeline.folder[0] = '\0';
}
