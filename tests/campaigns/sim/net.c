/* sim/net.c - the wire: virtual descriptors, and everything that may happen to bytes on it. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "store/redis/redis.h"
#include "world.h"

static struct sim_conn *conn_of(struct sim_world *world, int fd)
{
    return world->conns[fd - SIM_FD_FIRST];
}

static int64_t latency_ns(struct sim_world *world)
{
    int64_t ns = sim_between(&world->random, 20, 200) * SIM_US;
    if (sim_chance(&world->random, world->weather.delay)) {
        world->faults++;
        SOMETIMES(SLOW_WIRE);
        ns += sim_between(&world->random, 1, 9000) * SIM_MS;
    }
    return ns;
}

/* --- connecting ---------------------------------------------------------------------------- */

static struct sim_conn *conn_make(struct sim_process *process)
{
    struct sim_world *world = process->world;
    if (world->conn_count == world->conn_cap) {
        world->conn_cap = world->conn_cap * 2 + 64;
        world->conns = realloc(world->conns, world->conn_cap * sizeof(struct sim_conn *));
    }
    struct sim_conn *conn = calloc(1, sizeof *conn);
    if (conn == NULL || world->conns == NULL)
        abort();
    conn->fd = SIM_FD_FIRST + (int)world->conn_count;
    conn->process = process;
    conn->is_open = conn->is_served = true;
    world->conns[world->conn_count++] = conn;
    return conn;
}

static culex_status refuse(const char *reason, culex_error *error)
{
    return culex__fail(error, CULEX_ECONNECT, "cannot connect to the virtual server: %s", reason);
}

culex_status sim_connect(void *self, const struct culex_address *address,
                         const struct culex_deadline *deadline, int *ret_fd, culex_error *error)
{
    struct sim_process *process = self;
    struct sim_world *world = process->world;
    (void)address;
    sim_sleep(process, sim_between(&world->random, 50, 300) * SIM_US);
    if (process->is_killed)
        return refuse("the process is dead", error);
    if (sim_chance(&world->random, world->weather.silence)) {
        world->faults++;
        SOMETIMES(CONNECT_TIMES_OUT);
        for (int ms;
             (ms = culex__deadline_wait_ms(deadline, world->now_ns + process->drift_ns)) > 0;)
            sim_sleep(process, ms * SIM_MS);
        return refuse("timed out", error);
    }
    if (world->server.is_down || sim_chance(&world->random, world->weather.refuse)) {
        SOMETIMES(CONNECT_REFUSED);
        return refuse("connection refused", error);
    }
    *ret_fd = conn_make(process)->fd;
    return CULEX_OK;
}

void sim_conn_reset(struct sim_conn *conn)
{
    struct sim_world *world = conn->process->world;
    sim_server_forget(world, conn);
    conn->is_served = false;
    conn->is_reset = true;
    if (!conn->is_silent)
        sim_process_poke(conn->process);
}

void sim_conn_free(struct sim_conn *conn)
{
    sim_bytes_free(&conn->received);
    sim_bytes_free(&conn->asked);
    sim_bytes_free(&conn->blocked);
    free(conn);
}

void sim_close(void *self, int fd)
{
    struct sim_process *process = self;
    struct sim_world *world = process->world;
    struct sim_conn *conn = conn_of(world, fd);
    conn->is_open = false;
    sim_bytes_free(&conn->received);
    /* What is under way still arrives, unless the wire is broken; then the server sees the end,
     * or, behind a broken wire, does not. */
    if (!conn->is_silent && conn->asked.len == 0)
        sim_server_forget(world, conn);
}

/* --- towards the server -------------------------------------------------------------------- */

static void asked_event(struct sim_world *world, void *subject, uint64_t token,
                        struct sim_bytes *bytes)
{
    struct sim_conn *conn = subject;
    (void)token;
    if (!conn->is_open && conn->is_served)
        SOMETIMES(REQUEST_OF_A_CLOSED_CONNECTION);
    if (conn->is_served && !world->server.is_down)
        sim_server_take(world, conn, bytes);
}

static void reset_event(struct sim_world *world, void *subject, uint64_t token,
                        struct sim_bytes *bytes)
{
    struct sim_conn *conn = subject;
    (void)world;
    (void)token;
    (void)bytes;
    sim_conn_reset(conn);
}

static void ask(struct sim_world *world, struct sim_conn *conn, const char *data, size_t len)
{
    struct sim_bytes bytes = {0};
    int64_t at_ns = world->now_ns + latency_ns(world);
    conn->up_ns = at_ns > conn->up_ns ? at_ns : conn->up_ns + 1;
    sim_bytes_add(&bytes, data, len);
    sim_at(world, conn->up_ns, asked_event, conn, 0, &bytes);
}

/* What becomes of a request on its way. */
static void request_fare(struct sim_world *world, struct sim_conn *conn, const char *data,
                         size_t len)
{
    const struct sim_weather *weather = &world->weather;
    if (conn->is_broken)
        return;
    if (sim_chance(&world->random, weather->silence)) {
        world->faults++;
        SOMETIMES(WIRE_FALLS_SILENT);
        conn->is_silent = true;
        return;
    }
    if (sim_chance(&world->random, weather->lose_request)) {
        world->faults++;
        SOMETIMES(REQUEST_LOST);
        conn->is_broken = true;
        sim_after(world, latency_ns(world), reset_event, conn, 0);
        return;
    }
    if (len > 1 && sim_chance(&world->random, weather->cut_request)) {
        world->faults++;
        SOMETIMES(REQUEST_CUT);
        conn->is_broken = true;
        ask(world, conn, data, (size_t)sim_between(&world->random, 1, (int64_t)len - 1));
        sim_at(world, conn->up_ns + 1, reset_event, conn, 0, NULL);
        return;
    }
    ask(world, conn, data, len);
}

ssize_t sim_send(void *self, int fd, const void *bytes, size_t len)
{
    struct sim_process *process = self;
    struct sim_world *world = process->world;
    struct sim_conn *conn = conn_of(world, fd);
    if (conn->is_reset || process->is_killed) {
        errno = EPIPE;
        return -1;
    }
    if (len > 1 && sim_chance(&world->random, world->weather.short_send)) {
        SOMETIMES(SHORT_SEND);
        len = (size_t)sim_between(&world->random, 1, (int64_t)len - 1);
    }
    if (!conn->is_silent)
        request_fare(world, conn, bytes, len);
    return (ssize_t)len;
}

/* --- towards the client -------------------------------------------------------------------- */

static void received_event(struct sim_world *world, void *subject, uint64_t token,
                           struct sim_bytes *bytes)
{
    struct sim_conn *conn = subject;
    (void)world;
    (void)token;
    if (!conn->is_open || conn->is_reset || conn->is_silent)
        return;
    sim_bytes_add(&conn->received, bytes->data, bytes->len);
    sim_process_poke(conn->process);
}

static void end_event(struct sim_world *world, void *subject, uint64_t token,
                      struct sim_bytes *bytes)
{
    struct sim_conn *conn = subject;
    (void)token;
    (void)bytes;
    sim_server_forget(world, conn);
    conn->is_served = false;
    conn->has_end = true;
    sim_process_poke(conn->process);
}

/* The server hears it after everything that was sent, and hangs up as well. */
void sim_hang_up(void *self, int fd)
{
    struct sim_process *process = self;
    struct sim_world *world = process->world;
    struct sim_conn *conn = conn_of(world, fd);
    int64_t at_ns = world->now_ns + latency_ns(world);
    if (conn->is_silent || conn->is_broken || conn->is_reset)
        return;
    conn->up_ns = at_ns > conn->up_ns ? at_ns : conn->up_ns + 1;
    sim_at(world, conn->up_ns, end_event, conn, 0, NULL);
}

static void deliver(struct sim_world *world, struct sim_conn *conn, const char *data, size_t len)
{
    struct sim_bytes bytes = {0};
    int64_t at_ns = world->now_ns + latency_ns(world);
    conn->down_ns = at_ns > conn->down_ns ? at_ns : conn->down_ns + 1;
    sim_bytes_add(&bytes, data, len);
    sim_at(world, conn->down_ns, received_event, conn, 0, &bytes);
}

static void drip(struct sim_world *world, struct sim_conn *conn, const char *data, size_t len)
{
    for (size_t at = 0; at < len;) {
        size_t part = (size_t)sim_between(&world->random, 1, (int64_t)(len / 3 + 2));
        part = part > len - at ? len - at : part;
        deliver(world, conn, data + at, part);
        conn->down_ns += sim_between(&world->random, 0, 300) * SIM_MS;
        at += part;
    }
}

void sim_reply_send(struct sim_world *world, struct sim_conn *conn, const char *data, size_t len)
{
    const struct sim_weather *weather = &world->weather;
    if (conn->is_silent)
        return;
    if (sim_chance(&world->random, weather->cut_reply)) {
        world->faults++;
        SOMETIMES(REPLY_LOST);
        int64_t later_ns = latency_ns(world);
        bool is_end = sim_chance(&world->random, 500);
        sim_after(world, later_ns, is_end ? end_event : reset_event, conn, 0);
    } else if (len > 1 && sim_chance(&world->random, weather->cut_midway)) {
        world->faults++;
        SOMETIMES(REPLY_CUT_MIDWAY);
        deliver(world, conn, data, (size_t)sim_between(&world->random, 1, (int64_t)len - 1));
        sim_at(world, conn->down_ns + 1, end_event, conn, 0, NULL);
    } else if (sim_chance(&world->random, weather->drip)) {
        world->faults++;
        SOMETIMES(REPLY_DRIPS);
        drip(world, conn, data, len);
    } else {
        deliver(world, conn, data, len);
    }
}

/* The worker has sent a step ahead, whose answer is what comes on this connection. */
static bool is_ahead(const struct sim_conn *conn)
{
    const culex_worker *worker = conn->process->worker;
    const struct culex__redis *redis =
        worker != NULL && worker->store != NULL ? culex__redis_of(worker->store) : NULL;
    return redis != NULL && redis->conn.fd == conn->fd && redis->ahead.queue != NULL;
}

static void ahead_tell(const struct sim_conn *conn, ssize_t got)
{
    const struct culex__redis *redis = culex__redis_of(conn->process->worker->store);
    if (got > 0)
        SOMETIMES(STEP_SENT_AHEAD);
    if (got == 0 || (got < 0 && conn->is_reset))
        SOMETIMES(STEP_SENT_AHEAD_AND_LOST);
    if (redis->call_queue != redis->ahead.queue)
        SOMETIMES(STEP_SENT_AHEAD_OF_ANOTHER_CALL);
}

static ssize_t received_take(struct sim_conn *conn, void *ret_bytes, size_t len)
{
    if (conn->is_reset && !conn->is_silent) {
        errno = ECONNRESET;
        return -1;
    }
    if (conn->received.len > 0) {
        size_t part = conn->received.len < len ? conn->received.len : len;
        memcpy(ret_bytes, conn->received.data, part);
        sim_bytes_cut(&conn->received, part);
        return (ssize_t)part;
    }
    if (conn->has_end && !conn->is_silent)
        return 0;
    errno = EAGAIN;
    return -1;
}

ssize_t sim_recv(void *self, int fd, void *ret_bytes, size_t len, int timeout_ms)
{
    struct sim_process *process = self;
    struct sim_conn *conn = conn_of(process->world, fd);
    if (process->is_killed)
        return 0;
    ssize_t got = received_take(conn, ret_bytes, len);
    if (got < 0 && errno == EAGAIN && timeout_ms > 0) {
        sim_process_wait(process, timeout_ms * SIM_MS);
        if (process->is_killed)
            return 0;
        got = received_take(conn, ret_bytes, len);
    }
    if (is_ahead(conn))
        ahead_tell(conn, got);
    return got;
}

short sim_conn_events(struct sim_world *world, int fd, short wanted)
{
    const struct sim_conn *conn = conn_of(world, fd);
    bool is_over = !conn->is_silent && (conn->is_reset || conn->has_end);
    short events = 0;
    if (conn->received.len > 0 || is_over)
        events = POLLIN;
    if ((wanted & POLLOUT) != 0)
        events = (short)(events | POLLOUT);
    return (short)(events & wanted);
}
