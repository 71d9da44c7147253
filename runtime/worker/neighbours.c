#include "worker/neighbours.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "platform/descriptor.h"
#include "platform/events.h"
#include "worker/lanes.h"
#include "worker/outage.h"
#include "worker/outlook.h"
#include "worker/worker_private.h"

enum {
    FILES_MAX = 4096,      /* that one look takes in */
    TEXT_MAX = 64 * 1024,  /* of a file: a worker with more queues leaves the others to leases */
    UNTOLD_MS = 100,       /* between looks where the system tells of no deaths */
    RETRY_MS = 1000,       /* after a HELLO that the store did not take */
    SLOW_MS = 5000,        /* between looks that nobody asked for */
    STALE_S = 24 * 60 * 60 /* a file that nobody has cleared away for so long is of no use */
};

/* --- the file of a dead one ------------------------------------------------------------------- */

/* The file, locked, when its worker is dead; else -1. A lock that is held is of a worker that
 * lives, or of a neighbour that does what we would do. A file without a name was taken away. */
static int dead_open(const char *path)
{
    struct stat info;
    int fd = culex__descriptor_own(open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK));
    if (fd < 0)
        return -1;
    bool is_ours = fstat(fd, &info) == 0 && S_ISREG(info.st_mode) && info.st_uid == geteuid();
    if (is_ours && flock(fd, LOCK_EX | LOCK_NB) == 0 && fstat(fd, &info) == 0 && info.st_nlink == 1)
        return fd;
    culex__descriptor_close(fd);
    return -1;
}

static char *text_read(int fd)
{
    char *text = malloc(TEXT_MAX + 1);
    size_t len = 0;
    ssize_t got = 1;
    while (text != NULL && len < TEXT_MAX && got > 0) {
        got = read(fd, text + len, TEXT_MAX - len);
        len += got > 0 ? (size_t)got : 0;
    }
    if (text != NULL)
        text[len] = '\0';
    return text;
}

static void released_tell(culex_worker *worker, const char *queue, const char *name,
                          size_t released)
{
    const struct culex_log_subject subject = {.queue = queue};
    if (released > 0)
        culex__log_write(&worker->log, CULEX_LOG_WARNING, &subject,
                         "queue %s: worker %s on this machine has died, %zu of its runs were given "
                         "back",
                         queue, name, released);
}

/* A queue that refuses us, or a line that means nothing, is left to the leases. */
static bool hello_say(culex_worker *worker, const char *queue, const char *name)
{
    char session[CULEX_SESSION_SIZE];
    size_t released = 0;
    int64_t now_ms = 0;
    culex_error error = {0};
    culex__session_choose(worker, session);
    culex_status status =
        worker->store->ops->hello(worker->store, queue, name, session, &released, &now_ms, &error);
    if (status != CULEX_OK)
        return culex__status_is_fatal(status);
    struct culex_lane *lane = culex__lanes_find(worker, queue);
    if (lane != NULL)
        culex__outlook_set_likely(lane);
    released_tell(worker, queue, name, released);
    return true;
}

/* Where that fails, the entry goes by itself after a while. */
static void entry_remove(culex_worker *worker, const char *id)
{
    const struct culex_worker_tell request = {.id = id, .is_leaving = true};
    struct culex_worker_wish wish;
    (void)worker->store->ops->worker_tell(worker->store, &request, &wish, NULL);
}

/* True when nothing more is to be done in its place. */
static bool lines_work_off(culex_worker *worker, char *text)
{
    for (char *line = text, *end; (end = strchr(line, '\n')) != NULL; line = end + 1) {
        *end = '\0';
        char *name = strchr(line, ' ');
        if (name == NULL) {
            entry_remove(worker, line);
            continue;
        }
        *name++ = '\0';
        if (!hello_say(worker, line, name))
            return false;
    }
    return true;
}

/* False when the store could not be asked: somebody tries again. */
static bool dead_replace(culex_worker *worker, const char *path)
{
    int fd = dead_open(path);
    if (fd < 0)
        return true;
    char *text = text_read(fd);
    bool is_done = text != NULL && lines_work_off(worker, text);
    if (is_done)
        unlink(path);
    free(text);
    culex__descriptor_close(fd);
    return is_done;
}

/* Of another store, whose workers have not come for it: their leases have ended long ago. */
static void stale_remove(const char *path)
{
    struct stat info;
    int fd = dead_open(path);
    if (fd < 0)
        return;
    if (fstat(fd, &info) == 0 && time(NULL) - info.st_mtime > STALE_S)
        unlink(path);
    culex__descriptor_close(fd);
}

/* --- looks --------------------------------------------------------------------------------- */

struct look {
    size_t others; /* files of other workers of our store */
    bool is_done;
};

static void file_look_at(culex_worker *worker, const char *name, struct look *look)
{
    const struct culex_lifeline *lifeline = &worker->lifeline;
    char path[CULEX_LIFELINE_PATH_SIZE];
    if (name[0] == '.' || strlen(name) >= CULEX_LIFELINE_NAME_SIZE ||
        strcmp(name, lifeline->name) == 0)
        return;
    culex__lifeline_path(lifeline, name, path);
    if (strncmp(name, lifeline->store, strlen(lifeline->store)) != 0) {
        if (!worker->neighbours.has_swept)
            stale_remove(path);
        return;
    }
    look->others++;
    look->is_done &= dead_replace(worker, path);
}

static struct look folder_look_at(culex_worker *worker)
{
    struct look look = {.is_done = true};
    struct dirent *entry;
    DIR *folder = opendir(worker->lifeline.folder);
    if (folder == NULL)
        return look;
    for (size_t i = 0; i < FILES_MAX && (entry = readdir(folder)) != NULL; i++)
        file_look_at(worker, entry->d_name, &look);
    closedir(folder);
    worker->neighbours.has_swept = true;
    return look;
}

/* The news of a close comes before the lock has gone, by as much as the kernel takes for that. */
static int64_t pause_ms(const struct culex_neighbours *neighbours, const struct look *look)
{
    static const int64_t soon_ms[] = {2, 10, 50, 250};
    if (!look->is_done)
        return RETRY_MS;
    if (look->others > 0 && neighbours->looks < sizeof soon_ms / sizeof soon_ms[0])
        return soon_ms[neighbours->looks];
    if (look->others > 0 && neighbours->fd < 0)
        return UNTOLD_MS;
    return look->others > 0 || neighbours->fd < 0 ? SLOW_MS : 0;
}

void culex__neighbours_turn(culex_worker *worker, int64_t now_ns)
{
    struct culex_neighbours *neighbours = &worker->neighbours;
    if (now_ns < culex__neighbours_next_ns(worker))
        return;
    struct look look = folder_look_at(worker);
    int64_t wait_ms = pause_ms(neighbours, &look);
    neighbours->looks += neighbours->looks < 100;
    neighbours->look_ns =
        wait_ms > 0 ? culex__worker_now_ns(worker) + wait_ms * CULEX_MS_NS : INT64_MAX;
}

int64_t culex__neighbours_next_ns(const culex_worker *worker)
{
    const struct culex_outage *outage = &worker->outage;
    int64_t look_ns = worker->neighbours.look_ns;
    if (worker->phases.current != CULEX_WORKER_RUNNING || worker->lifeline.folder[0] == '\0')
        return INT64_MAX;
    return outage->is_on && outage->until_ns > look_ns ? outage->until_ns : look_ns;
}

void culex__neighbours_hear(culex_worker *worker)
{
    culex__closes_take(worker->neighbours.fd);
    worker->neighbours.looks = 0;
    worker->neighbours.look_ns = 0;
}

void culex__neighbours_reset(culex_worker *worker)
{
    worker->neighbours = (struct culex_neighbours){.fd = -1};
}

/* Whoever dies before the first look is found by it, and later ones are told of. */
void culex__neighbours_open(culex_worker *worker)
{
    if (worker->lifeline.folder[0] != '\0')
        worker->neighbours.fd = culex__closes_open(worker->lifeline.folder);
}

void culex__neighbours_close(culex_worker *worker)
{
    culex__descriptor_close(worker->neighbours.fd);
    worker->neighbours.fd = -1;
}
