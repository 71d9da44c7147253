/* store/sqlite/wake.c - waking an idle worker without polling.
 *
 * The door (platform/door.h). A handle that has armed owns one, in the folder PATH.d beside the
 * file, or without a file when that cannot be (memory stores, long paths). Its address stands in
 * table waker from the first arming to the close of the handle, so arming again writes nothing.
 *
 * Idle or busy is kept in the kernel, not in the file: a busy door turns everybody away, until
 * arming opens it.
 *
 * The knock. After the COMMIT that made work, the writer sends one byte to the listed addresses,
 * one after the other from a random one on, until one takes it. That worker's STEP does the same
 * when it leaves runs behind, and so on: a chain, not a herd. The file of a dead door
 * is removed, and its registration goes with this handle's next write.
 *
 * The race. Work may come between a worker's last STEP and its arming, when it still counted as
 * busy. So arming ends with a look into the file, and knocks at the own door when work is there.
 *
 * Foreign writers. Programs that write the file without knocking are seen by inotify on PATH-wal.
 * Every commit shows there, ours too, so a notice counts only when a look into the file finds
 * ready work, or a delayed run that is due sooner than the caller knows.
 *
 * The caller polls one descriptor over both. All of it is a hint: whatever gets lost costs
 * the caller's own timer. */
#include "store/sqlite/wake.h"

#include <assert.h>
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "store/sqlite/beside.h"
#include "store/sqlite/body.h"
#include "store/sqlite/error.h"
#include "store/sqlite/admission.h"
#include "store/sqlite/queue.h"
#include "store/sqlite/sqlite.h"
#include "store/sqlite/statement.h"
#include "store/sqlite/transaction.h"
#include "core/needs.h"
#include "core/run_id.h"
#include "store/sqlite/verbs.h"
#include "store/argument.h"
#include "base/error.h"
#include "platform/descriptor.h"
#include "platform/door.h"
#include "platform/events.h"

void culex__sqlite_wake_init(struct culex_sqlite *store)
{
    struct culex_sqlite_wake *wake = &store->wake;
    wake->watch_fd = wake->door_fd = wake->writes_fd = wake->send_fd = -1;
    wake->known_due_ms = INT64_MAX;
}

/* --- addresses ------------------------------------------------------------------------- */

/* In the table: "@NAME" has no file, "NAME" is a file in PATH.d, so a moved folder stays valid.
 * False when the address is unusable or too long for a door. */
static bool address_write(const struct culex_sqlite *store, const char *name,
                          char ret_address[CULEX_DOOR_ADDRESS_SIZE])
{
    int len = name[0] == '@'
                  ? snprintf(ret_address, CULEX_DOOR_ADDRESS_SIZE, "@culex-%s", name + 1)
                  : snprintf(ret_address, CULEX_DOOR_ADDRESS_SIZE, "%s.d/%s", store->path, name);
    return name[0] != '\0' && strchr(name, '/') == NULL && len >= 0 &&
           len < CULEX_DOOR_ADDRESS_SIZE;
}

static bool place_as(struct culex_sqlite *store, const char *prefix)
{
    struct culex_sqlite_wake *wake = &store->wake;
    char address[CULEX_DOOR_ADDRESS_SIZE];
    snprintf(wake->address, sizeof wake->address, "%s%016llx", prefix,
             (unsigned long long)culex__env_random(store->base.env));
    return address_write(store, wake->address, address) &&
           culex__door_place(wake->door_fd, address);
}

static bool place_in_folder(struct culex_sqlite *store)
{
    struct stat info;
    char *folder = store->is_memory ? NULL : culex__sqlite_beside_name(store->path, ".d");
    if (folder == NULL)
        return false;
    bool is_there = (mkdir(folder, 0700) == 0 || errno == EEXIST) && lstat(folder, &info) == 0 &&
                    S_ISDIR(info.st_mode);
    free(folder);
    return is_there && place_as(store, "w");
}

/* --- opening and closing --------------------------------------------------------------- */

static bool watch(struct culex_sqlite_wake *wake, int fd)
{
    return culex__watch_add(wake->watch_fd, fd, POLLIN, 0);
}

static void close_fd(int *fd)
{
    culex__descriptor_close(*fd);
    *fd = -1;
}

/* Without inotify (its instances are few) foreign writers are found by the caller's timer. */
static void watch_wal(struct culex_sqlite *store)
{
    struct culex_sqlite_wake *wake = &store->wake;
    char *path = store->is_memory ? NULL : culex__sqlite_beside_name(store->path, "-wal");
    if (path == NULL)
        return;
    wake->writes_fd = culex__writes_open(path);
    if (wake->writes_fd >= 0 && !watch(wake, wake->writes_fd))
        close_fd(&wake->writes_fd);
    free(path);
}

static void remove_file(const struct culex_sqlite *store, const char *name)
{
    char address[CULEX_DOOR_ADDRESS_SIZE];
    if (address_write(store, name, address))
        culex__door_remove(address);
}

static void leave_door(struct culex_sqlite_wake *wake)
{
    close_fd(&wake->door_fd);
    close_fd(&wake->writes_fd);
    close_fd(&wake->watch_fd);
    free(wake->queues);
    wake->queues = NULL;
    wake->is_armed = false;
}

static void close_door(struct culex_sqlite *store)
{
    struct culex_sqlite_wake *wake = &store->wake;
    if (wake->door_fd >= 0)
        remove_file(store, wake->address);
    leave_door(wake);
}

static culex_status open_door(struct culex_sqlite *store, culex_error *error)
{
    struct culex_sqlite_wake *wake = &store->wake;
    wake->watch_fd = culex__watch_open();
    wake->door_fd = culex__door_open();
    bool is_open = wake->watch_fd >= 0 && wake->door_fd >= 0 &&
                   (place_in_folder(store) || place_as(store, "@")) && watch(wake, wake->door_fd);
    if (is_open) {
        watch_wal(store);
        return CULEX_OK;
    }
    int cause = errno;
    close_door(store);
    return culex__fail(error, CULEX_ESTORE, "%s: no socket for wake-ups: %s", store->path,
                       strerror(cause));
}

/* --- registration ---------------------------------------------------------------------- */

static char *join(const char *const *queues, size_t count)
{
    size_t size = 1;
    for (size_t i = 0; i < count; i++)
        size += strlen(queues[i]) + 1;
    char *joined = malloc(size);
    char *at = joined;
    for (size_t i = 0; i < count && at != NULL; i++)
        at = stpcpy(at, queues[i]) + 1;
    if (at != NULL)
        *at = '\0';
    return joined;
}

static bool is_same(const char *joined, const char *const *queues, size_t count)
{
    for (size_t i = 0; i < count && joined != NULL; i++) {
        if (joined[0] == '\0' || strcmp(joined, queues[i]) != 0)
            return false;
        joined += strlen(joined) + 1;
    }
    return joined != NULL && joined[0] == '\0';
}

static culex_status remove_address(struct culex_sqlite *store, const char *address,
                                   culex_error *error)
{
    return culex__sqlite_finish(store, SQL_BIND(store, WAKER_DELETE, SQL_TEXT(address)), error);
}

static culex_status add_address(struct culex_sqlite *store, const char *queue, culex_error *error)
{
    return culex__sqlite_finish(store,
                                SQL_BIND(store, WAKER_ADD, SQL_TEXT(queue),
                                         SQL_TEXT(store->wake.address), SQL_INT(store->now_ms)),
                                error);
}

static culex_status enlist(struct culex_sqlite *store, const char *const *queues, size_t count,
                           culex_error *error)
{
    culex_status status = culex__sqlite_begin(store, error);
    if (status != CULEX_OK)
        return status;
    status = remove_address(store, store->wake.address, error);
    if (count == 0 && status == CULEX_OK)
        status = add_address(store, "", error);
    for (size_t i = 0; i < count && status == CULEX_OK; i++)
        status = add_address(store, queues[i], error);
    return culex__sqlite_end_transaction(store, status, error);
}

/* Only when the list of queues is another than before. */
static culex_status enlist_anew(struct culex_sqlite *store, const char *const *queues, size_t count,
                                culex_error *error)
{
    if (is_same(store->wake.queues, queues, count))
        return CULEX_OK;
    char *joined = join(queues, count);
    if (joined == NULL)
        return culex__sqlite_no_memory(error);
    culex_status status = enlist(store, queues, count, error);
    free(store->wake.queues);
    store->wake.queues = status == CULEX_OK ? joined : NULL;
    if (status != CULEX_OK)
        free(joined);
    return status;
}

void culex__sqlite_wake_close(struct culex_sqlite *store)
{
    struct culex_sqlite_wake *wake = &store->wake;
    if (wake->queues != NULL && culex__sqlite_begin(store, NULL) == CULEX_OK)
        culex__sqlite_end_transaction(store, remove_address(store, wake->address, NULL), NULL);
    close_door(store);
    close_fd(&wake->send_fd);
    free(wake->told.addresses);
}

void culex__sqlite_wake_abandon(struct culex_sqlite *store)
{
    leave_door(&store->wake);
    close_fd(&store->wake.send_fd);
    free(store->wake.told.addresses);
}

/* --- a look into the file -------------------------------------------------------------- */

static culex_status has_ready_run(struct culex_sqlite *store,
                                  const struct culex_sqlite_queue *queue, int64_t *ret_has_ready,
                                  culex_error *error)
{
    int64_t first, lane = CULEX_RUN_LANE_MAX;
    culex_status status = culex__sqlite_bodies_find(store, queue, &lane, &first, error);
    *ret_has_ready = status == CULEX_OK && lane >= 0;
    if (status != CULEX_OK || *ret_has_ready)
        return status;
    return culex__sqlite_first_int(store,
                                   SQL_BIND(store, READY_ANY, SQL_INT(queue->key),
                                            SQL_INT(culex__sqlite_queue_horizon(store, queue)),
                                            SQL_INT(store->now_ms), SQL_INT(CULEX_SUSPECT_LOSSES)),
                                   0, ret_has_ready, error);
}

/* Of "QUEUE NEEDS": whether runs are there that need this, and that a STEP would grant. */
static culex_status needs_look(struct culex_sqlite *store, const char *bell, bool *is_ready,
                               culex_error *error)
{
    char name[CULEX_QUEUE_NAME_MAX + 1], limit[CULEX_LIMIT_NAME_MAX + 1];
    struct culex_sqlite_queue queue;
    int64_t has_ready = 0;
    size_t len = strcspn(bell, " ");
    snprintf(name, sizeof name, "%.*s", (int)len, bell);
    snprintf(limit, sizeof limit, CULEX__NEEDS_WORD "%s", bell + len + 1);
    culex_status status = culex__sqlite_queue_load(store, name, false, &queue, error);
    if (status == CULEX_OK && !culex__sqlite_queue_is_paused(store, &queue))
        status = culex__sqlite_first_int(store,
                                         SQL_BIND(store, NEEDS_READY_ANY, SQL_INT(queue.key),
                                                  SQL_TEXT(limit), SQL_INT(CULEX_SUSPECT_LOSSES)),
                                         0, &has_ready, error);
    *is_ready = *is_ready || has_ready > 0;
    return status;
}

static culex_status look_at(struct culex_sqlite *store, const char *name, bool *is_ready,
                            int64_t *due_ms, culex_error *error)
{
    struct culex_sqlite_queue queue;
    if (strchr(name, ' ') != NULL)
        return needs_look(store, name, is_ready, error);
    int64_t has_ready = 0, due = INT64_MAX;
    culex_status status = culex__sqlite_queue_load(store, name, false, &queue, error);
    bool is_paused = culex__sqlite_queue_is_paused(store, &queue);
    if (is_paused)
        due = culex__sqlite_queue_resumes_ms(store, &queue);
    bool has_runs = queue.kept[CULEX_RUN_WAITING] > 0 && !is_paused;
    if (status == CULEX_OK && has_runs)
        status = has_ready_run(store, &queue, &has_ready, error);
    if (status == CULEX_OK && has_runs)
        status = culex__sqlite_first_int(
            store, SQL_BIND(store, NEXT_DUE, SQL_INT(queue.key), SQL_INT(store->now_ms)), INT64_MAX,
            &due, error);
    int64_t look_ms = INT64_MAX;
    if (status == CULEX_OK)
        status = culex__sqlite_admission_next(store, &queue, &look_ms, error);
    *is_ready = *is_ready || has_ready || look_ms <= store->now_ms;
    due = look_ms < due ? look_ms : due;
    *due_ms = due < *due_ms ? due : *due_ms;
    return status;
}

static culex_status look(struct culex_sqlite *store, bool *ret_has_work, culex_error *error)
{
    const char *queue = store->wake.queues;
    bool is_ready = false;
    int64_t due_ms = INT64_MAX;
    *ret_has_work = false;
    /* Armed for all queues: the caller finds out which of them has work. */
    if (queue != NULL && queue[0] == '\0') {
        *ret_has_work = true;
        return CULEX_OK;
    }
    culex_status status = culex__sqlite_begin_read(store, error);
    if (status != CULEX_OK)
        return status;
    for (; status == CULEX_OK && queue != NULL && queue[0] != '\0'; queue += strlen(queue) + 1)
        status = look_at(store, queue, &is_ready, &due_ms, error);
    *ret_has_work = is_ready || due_ms < store->wake.known_due_ms;
    store->wake.known_due_ms = due_ms;
    return culex__sqlite_end_transaction(store, status, error);
}

/* --- idle and busy --------------------------------------------------------------------- */

static void become_busy(struct culex_sqlite *store)
{
    char address[CULEX_DOOR_ADDRESS_SIZE];
    if (address_write(store, store->wake.address, address))
        culex__door_become_busy(store->wake.door_fd, address);
    store->wake.is_armed = false;
}

static void become_idle(struct culex_sqlite *store)
{
    culex__door_become_idle(store->wake.door_fd);
    store->wake.is_armed = true;
}

static bool drain(int fd)
{
    char bytes[4096];
    bool has_any = false;
    for (int i = 0; i < 64 && fd >= 0 && read(fd, bytes, sizeof bytes) > 0; i++)
        has_any = true;
    return has_any;
}

static void knock_at_own_door(struct culex_sqlite *store)
{
    char address[CULEX_DOOR_ADDRESS_SIZE];
    if (address_write(store, store->wake.address, address))
        culex__door_knock(store->wake.door_fd, address);
}

culex_status culex__sqlite_wake_arm(struct culex_store *base, const char *const *queues,
                                    size_t count, int64_t timeout_ms, int *ret_fd,
                                    culex_error *error)
{
    assert(culex__argument_queues(queues, count, NULL) == CULEX_OK);
    (void)timeout_ms; /* a registration costs nothing while it stands */
    struct culex_sqlite *store = culex__sqlite_of(base);
    struct culex_sqlite_wake *wake = &store->wake;
    bool has_work = false;
    culex_status status = wake->door_fd < 0 ? open_door(store, error) : CULEX_OK;
    if (status == CULEX_OK)
        status = enlist_anew(store, queues, count, error);
    if (status == CULEX_OK && !wake->is_armed) {
        drain(wake->writes_fd);
        become_idle(store);
        /* Armed for all queues: the caller's STEPs just before were the look. */
        if (count > 0)
            status = look(store, &has_work, error);
    }
    if (status == CULEX_OK && has_work)
        knock_at_own_door(store);
    if (status == CULEX_OK)
        *ret_fd = wake->watch_fd;
    else
        close_door(store);
    return status;
}

/* Whoever ends a run knows the address from the run's note, so nobody else knocks; and what stands
 * in the file is asked for by WAIT. */
culex_status culex__sqlite_wait_arm(struct culex_store *base, const char *const *queues,
                                    size_t count, int64_t timeout_ms, int *ret_fd,
                                    culex_error *error)
{
    assert(culex__argument_queues(queues, count, NULL) == CULEX_OK);
    (void)queues, (void)count, (void)timeout_ms;
    struct culex_sqlite *store = culex__sqlite_of(base);
    culex_status status = store->wake.door_fd < 0 ? open_door(store, error) : CULEX_OK;
    if (status != CULEX_OK)
        return status;
    if (!store->wake.is_armed)
        become_idle(store);
    *ret_fd = store->wake.door_fd;
    return CULEX_OK;
}

culex_status culex__sqlite_wake_take(struct culex_store *base, bool *ret_woken, culex_error *error)
{
    struct culex_sqlite *store = culex__sqlite_of(base);
    bool is_woken = false;
    culex_status status = CULEX_OK;
    if (store->wake.door_fd >= 0) {
        bool is_noticed = drain(store->wake.writes_fd);
        is_woken = drain(store->wake.door_fd);
        if (!is_woken && is_noticed)
            status = look(store, &is_woken, error);
    }
    if (status != CULEX_OK) {
        close_door(store);
        return status;
    }
    if (is_woken)
        become_busy(store);
    *ret_woken = is_woken;
    return CULEX_OK;
}

void culex__sqlite_wake_disarm(struct culex_store *base)
{
    struct culex_sqlite *store = culex__sqlite_of(base);
    if (store->wake.door_fd >= 0)
        become_busy(store);
}

/* --- knocking at others' --------------------------------------------------------------- */

/* Who waits for this comes behind the first `*count` targets. */
static culex_status targets_add(struct culex_sqlite *store, const char *bell, size_t *count,
                                culex_error *error)
{
    struct culex_sqlite_wake *wake = &store->wake;
    sqlite3_stmt *statement = SQL_BIND(store, WAKER_LIST, SQL_TEXT(bell));
    int has = 0;
    while (*count < CULEX__SQLITE_WAKE_MAX &&
           (has = culex__sqlite_next(store, statement, error)) > 0) {
        const char *address = (const char *)sqlite3_column_text(statement, 0);
        if (address != NULL && strlen(address) < CULEX__SQLITE_ADDRESS_SIZE)
            strcpy(wake->targets[(*count)++], address);
    }
    culex__sqlite_end(statement);
    return has < 0 ? (culex_status)has : CULEX_OK;
}

static culex_status dead_remove(struct culex_sqlite *store, culex_error *error)
{
    struct culex_sqlite_wake *wake = &store->wake;
    if (wake->dead[0] == '\0')
        return CULEX_OK;
    culex_status status = remove_address(store, wake->dead, error);
    if (status != CULEX_OK)
        return status;
    wake->dead[0] = '\0';
    store->recent.has_targets = false;
    return CULEX_OK;
}

/* Those of the queue itself, which the handle knows from its last call as a rule. */
static culex_status queue_aim(struct culex_sqlite *store, const char *queue, culex_error *error)
{
    struct culex_sqlite_wake *wake = &store->wake;
    if (store->recent.has_targets) {
        assert(strcmp(store->recent.name, queue) == 0); /* saved just before */
        wake->target_count = store->recent.target_count;
        return CULEX_OK;
    }
    culex_status status = targets_add(store, queue, &wake->target_count, error);
    store->recent.has_targets = status == CULEX_OK && store->recent.is_saved;
    store->recent.target_count = wake->target_count;
    return status;
}

culex_status culex__sqlite_wake_aim(struct culex_sqlite *store, const char *queue, bool is_ready,
                                    culex_error *error)
{
    struct culex_sqlite_wake *wake = &store->wake;
    char bell[CULEX_QUEUE_NAME_MAX + sizeof wake->bells.of[0].needs + 1];
    assert(store->is_writing && !sqlite3_get_autocommit(store->db));
    wake->target_count = 0;
    culex_status status = dead_remove(store, error);
    if (status == CULEX_OK && is_ready)
        status = queue_aim(store, queue, error);
    size_t end = wake->target_count;
    if (wake->bells.count > 0) /* they lie where the queue's own ones were remembered */
        store->recent.has_targets = store->recent.has_targets && is_ready;
    for (size_t i = 0; i < wake->bells.count && status == CULEX_OK; i++) {
        snprintf(bell, sizeof bell, "%s %s", queue, wake->bells.of[i].needs);
        status = targets_add(store, bell, &end, error);
        wake->bells.of[i].end = end;
    }
    return status;
}

/* True when the knock was heard. A dead door is noted. */
static bool knock(struct culex_sqlite *store, const char *name)
{
    char address[CULEX_DOOR_ADDRESS_SIZE];
    if (!address_write(store, name, address))
        return false;
    enum culex_knock knock = culex__door_knock(store->wake.send_fd, address);
    if (knock == CULEX_KNOCK_DEAD) {
        culex__door_remove(address);
        strcpy(store->wake.dead, name);
    }
    return knock == CULEX_KNOCK_HEARD;
}

/* One of the targets from `first` on, up to `end`. */
static void knock_one(struct culex_sqlite *store, size_t first, size_t end)
{
    struct culex_sqlite_wake *wake = &store->wake;
    if (first == end)
        return;
    if (wake->send_fd < 0)
        wake->send_fd = culex__door_open();
    size_t count = end - first, from = (size_t)(culex__env_random(store->base.env) % count);
    for (size_t i = 0; i < count && wake->send_fd >= 0; i++) {
        if (knock(store, wake->targets[first + (from + i) % count]))
            break;
    }
}

void culex__sqlite_wake_send(struct culex_sqlite *store)
{
    struct culex_sqlite_wake *wake = &store->wake;
    size_t first = wake->target_count;
    assert(sqlite3_get_autocommit(store->db)); /* a woken worker finds what was committed */
    knock_one(store, 0, wake->target_count);
    for (size_t i = 0; i < wake->bells.count; i++) {
        knock_one(store, first, wake->bells.of[i].end);
        first = wake->bells.of[i].end;
    }
    wake->target_count = wake->bells.count = 0;
}

void culex__sqlite_wake_put_off(struct culex_sqlite *store, struct culex_sqlite_aim *ret_aim)
{
    struct culex_sqlite_wake *wake = &store->wake;
    ret_aim->target_count = wake->target_count;
    memcpy(ret_aim->targets, wake->targets, sizeof ret_aim->targets);
    ret_aim->bells = wake->bells;
    wake->target_count = wake->bells.count = 0;
}

void culex__sqlite_wake_send_later(struct culex_sqlite *store, const struct culex_sqlite_aim *aim)
{
    struct culex_sqlite_wake *wake = &store->wake;
    wake->target_count = aim->target_count;
    memcpy(wake->targets, aim->targets, sizeof wake->targets);
    wake->bells = aim->bells;
    store->recent.has_targets = false; /* they may have been another queue's */
    culex__sqlite_wake_send(store);
}

/* --- those who wait for ends --------------------------------------------------------------- */

const char *culex__sqlite_wake_address(const struct culex_sqlite *store)
{
    return store->wake.door_fd >= 0 ? store->wake.address : NULL;
}

void culex__sqlite_wake_tell(struct culex_sqlite *store, bool is_committed)
{
    struct culex_sqlite_wake *wake = &store->wake;
    size_t count = wake->told.count;
    wake->told.count = 0;
    if (!is_committed || count == 0)
        return;
    if (wake->send_fd < 0)
        wake->send_fd = culex__door_open();
    for (size_t i = 0; i < count && wake->send_fd >= 0; i++)
        knock(store, wake->told.addresses[i]);
}
