#include "proxy.h"

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

enum { PAIRS_MAX = 32, CHUNK = 64 * 1024, LISTENERS = 2 };

/* Bytes on their way in one direction. */
struct flow {
    char *bytes;
    size_t len;
    int64_t not_before_ms; /* of the next byte */
    bool has_ended;        /* the sender has closed */
    bool is_shut;          /* and the receiver was told */
};

struct pair {
    int fds[2]; /* [PROXY_REQUEST] the client's, [PROXY_REPLY] the server's: where it comes from */
    struct flow flows[2];
};

struct proxy {
    pthread_t thread;
    pthread_mutex_t lock; /* of everything below */
    bool is_ending;
    int control_fd;
    int listeners[LISTENERS];
    char folder[64];
    char socket[96];
    char url[128];
    char tcp_url[64];
    char upstream[108];
    struct proxy_fault fault;
    uint64_t passed[2];
    unsigned hits;
    unsigned connections;
    struct pair pairs[PAIRS_MAX];
    size_t pair_count;
};

static int64_t now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* --- pairs ------------------------------------------------------------------------------- */

static void pair_close(struct pair *pair)
{
    for (int side = 0; side < 2; side++) {
        close(pair->fds[side]);
        free(pair->flows[side].bytes);
    }
}

static void pair_drop(struct proxy *proxy, size_t at)
{
    pair_close(&proxy->pairs[at]);
    proxy->pairs[at] = proxy->pairs[--proxy->pair_count];
}

static int upstream_connect(const struct proxy *proxy)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    snprintf(address.sun_path, sizeof address.sun_path, "%s", proxy->upstream);
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd >= 0 && connect(fd, (const struct sockaddr *)&address, sizeof address) < 0) {
        close(fd);
        return -1;
    }
    return fd;
}

static void client_refuse(const struct proxy *proxy, int fd)
{
    const struct proxy_fault *fault = &proxy->fault;
    if (fault->text != NULL)
        send(fd, fault->text, strlen(fault->text), MSG_NOSIGNAL);
    close(fd);
}

static void client_accept(struct proxy *proxy, int listener)
{
    int client = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
    if (client < 0)
        return;
    proxy->connections++;
    if (proxy->fault.action == PROXY_REFUSE) {
        proxy->hits++;
        client_refuse(proxy, client);
        return;
    }
    int server = proxy->pair_count < PAIRS_MAX ? upstream_connect(proxy) : -1;
    if (server < 0) {
        close(client);
        return;
    }
    proxy->pairs[proxy->pair_count++] = (struct pair){.fds = {client, server}};
}

/* --- faults ------------------------------------------------------------------------------ */

static void fault_spend(struct proxy *proxy)
{
    proxy->hits++;
    if (proxy->fault.times > 0 && --proxy->fault.times == 0)
        proxy->fault.action = PROXY_PASS;
}

static bool text_has(const struct flow *flow, const char *match)
{
    return match == NULL || memmem(flow->bytes, flow->len, match, strlen(match)) != NULL;
}

/* A request arrives in one piece, as our client sends it. True when it was answered here. */
static bool request_answer(struct proxy *proxy, struct pair *pair)
{
    struct flow *flow = &pair->flows[PROXY_REQUEST];
    const struct proxy_fault *fault = &proxy->fault;
    if (fault->action != PROXY_ANSWER || flow->len == 0 || !text_has(flow, fault->match))
        return false;
    size_t len = fault->text_len > 0 ? fault->text_len : strlen(fault->text);
    for (size_t sent = 0; sent < len;) {
        ssize_t got = send(pair->fds[PROXY_REQUEST], fault->text + sent, len - sent, MSG_NOSIGNAL);
        if (got <= 0)
            break;
        sent += (size_t)got;
    }
    flow->len = 0;
    fault_spend(proxy);
    return true;
}

/* How many of the flow's bytes may go now; *ret_is_over says that the fault's byte is reached. A
 * fault from byte 0 on waits for that byte: by then the other side has acted. */
static size_t flow_allowance(const struct proxy *proxy, const struct flow *flow, int direction,
                             bool *ret_is_over)
{
    const struct proxy_fault *fault = &proxy->fault;
    *ret_is_over = false;
    if (fault->action == PROXY_PASS || (int)fault->direction != direction ||
        fault->action == PROXY_ANSWER || fault->action == PROXY_REFUSE)
        return flow->len;
    uint64_t left =
        fault->after > proxy->passed[direction] ? fault->after - proxy->passed[direction] : 0;
    *ret_is_over = flow->len > 0 && flow->len >= left;
    return flow->len < left ? flow->len : (size_t)left;
}

/* Sends the first `count` bytes. False when the receiver is gone. */
static bool flow_send(struct proxy *proxy, struct pair *pair, int direction, size_t count)
{
    struct flow *flow = &pair->flows[direction];
    size_t sent = 0;
    while (sent < count) {
        ssize_t got =
            send(pair->fds[1 - direction], flow->bytes + sent, count - sent, MSG_NOSIGNAL);
        if (got <= 0)
            return false;
        sent += (size_t)got;
    }
    if (count == 0)
        return true; /* perhaps before anything was received into */
    proxy->passed[direction] += count;
    flow->len -= count;
    memmove(flow->bytes, flow->bytes + count, flow->len);
    return true;
}

static void flow_end(struct pair *pair, int direction)
{
    struct flow *flow = &pair->flows[direction];
    flow->len = 0;
    flow->has_ended = flow->is_shut = true;
    shutdown(pair->fds[1 - direction], SHUT_WR);
}

/* Past the fault's byte. False: close the pair. */
static bool flow_trouble(struct proxy *proxy, struct pair *pair, int direction)
{
    struct flow *flow = &pair->flows[direction];
    int64_t now = now_ms();
    switch (proxy->fault.action) {
    case PROXY_CUT:
        fault_spend(proxy);
        return false;
    case PROXY_HALF:
        fault_spend(proxy);
        flow_end(pair, direction);
        return true;
    case PROXY_DRIP:
    case PROXY_DELAY:
        if (flow->len == 0)
            return true;
        if (flow->not_before_ms == 0) {
            flow->not_before_ms = now + proxy->fault.ms;
            proxy->hits++;
        }
        if (now < flow->not_before_ms)
            return true;
        flow->not_before_ms = proxy->fault.action == PROXY_DRIP ? now + proxy->fault.ms : 0;
        return flow_send(proxy, pair, direction, proxy->fault.action == PROXY_DRIP ? 1 : flow->len);
    default:
        if (flow->len > 0)
            proxy->hits++;
        return true; /* held */
    }
}

/* Moves what may move. False: close the pair. */
static bool flow_move(struct proxy *proxy, struct pair *pair, int direction)
{
    struct flow *flow = &pair->flows[direction];
    bool is_over;
    if (direction == PROXY_REQUEST && request_answer(proxy, pair))
        return true;
    size_t count = flow_allowance(proxy, flow, direction, &is_over);
    if (!flow_send(proxy, pair, direction, count))
        return false;
    if (is_over && !flow->is_shut)
        return flow_trouble(proxy, pair, direction);
    if (flow->has_ended && flow->len == 0 && !flow->is_shut)
        flow_end(pair, direction);
    return !(pair->flows[0].is_shut && pair->flows[1].is_shut);
}

static void flow_fill(struct pair *pair, int direction)
{
    struct flow *flow = &pair->flows[direction];
    if (flow->bytes == NULL)
        flow->bytes = malloc(CHUNK);
    if (flow->bytes == NULL || flow->len == CHUNK || flow->has_ended)
        return;
    ssize_t got =
        recv(pair->fds[direction], flow->bytes + flow->len, CHUNK - flow->len, MSG_DONTWAIT);
    if (got > 0)
        flow->len += (size_t)got;
    else if (got == 0 || (errno != EAGAIN && errno != EINTR))
        flow->has_ended = true;
}

/* --- the loop ---------------------------------------------------------------------------- */

static nfds_t fds_collect(const struct proxy *proxy, struct pollfd *fds)
{
    nfds_t count = 0;
    fds[count++] = (struct pollfd){.fd = proxy->control_fd, .events = POLLIN};
    for (int i = 0; i < LISTENERS; i++)
        fds[count++] = (struct pollfd){.fd = proxy->listeners[i], .events = POLLIN};
    for (size_t i = 0; i < proxy->pair_count; i++) {
        const struct pair *pair = &proxy->pairs[i];
        for (int side = 0; side < 2; side++) {
            bool is_open = !pair->flows[side].has_ended && pair->flows[side].len < CHUNK;
            fds[count++] = (struct pollfd){.fd = is_open ? pair->fds[side] : -1, .events = POLLIN};
        }
    }
    return count;
}

static int wait_choose(const struct proxy *proxy)
{
    int64_t now = now_ms(), wait = -1;
    for (size_t i = 0; i < proxy->pair_count; i++) {
        for (int side = 0; side < 2; side++) {
            const struct flow *flow = &proxy->pairs[i].flows[side];
            if (flow->len == 0 || flow->not_before_ms == 0)
                continue;
            int64_t left = flow->not_before_ms > now ? flow->not_before_ms - now : 0;
            wait = wait < 0 || left < wait ? left : wait;
        }
    }
    return (int)wait;
}

static void pairs_move(struct proxy *proxy, const struct pollfd *fds)
{
    for (size_t i = proxy->pair_count; i-- > 0;) {
        struct pair *pair = &proxy->pairs[i];
        for (int side = 0; side < 2; side++) {
            if (fds != NULL && fds[2 * i + (size_t)side].revents != 0)
                flow_fill(pair, side);
        }
        if (!flow_move(proxy, pair, PROXY_REQUEST) || !flow_move(proxy, pair, PROXY_REPLY))
            pair_drop(proxy, i);
    }
}

static void *proxy_loop(void *arg)
{
    struct proxy *proxy = arg;
    struct pollfd fds[1 + LISTENERS + 2 * PAIRS_MAX];
    pthread_mutex_lock(&proxy->lock);
    while (!proxy->is_ending) {
        nfds_t count = fds_collect(proxy, fds);
        int wait = wait_choose(proxy);
        pthread_mutex_unlock(&proxy->lock);
        int ready = poll(fds, count, wait);
        pthread_mutex_lock(&proxy->lock);
        uint64_t told;
        if (ready > 0 && fds[0].revents != 0 && read(proxy->control_fd, &told, sizeof told) < 0)
            break;
        pairs_move(proxy, ready > 0 ? fds + 1 + LISTENERS : NULL);
        for (int i = 0; ready > 0 && i < LISTENERS; i++) {
            if (fds[1 + i].revents != 0)
                client_accept(proxy, proxy->listeners[i]);
        }
    }
    while (proxy->pair_count > 0)
        pair_drop(proxy, proxy->pair_count - 1);
    pthread_mutex_unlock(&proxy->lock);
    return NULL;
}

/* --- life -------------------------------------------------------------------------------- */

static int socket_listen(struct proxy *proxy)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    snprintf(address.sun_path, sizeof address.sun_path, "%s", proxy->socket);
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd >= 0 &&
        (bind(fd, (const struct sockaddr *)&address, sizeof address) < 0 || listen(fd, 64) < 0)) {
        close(fd);
        return -1;
    }
    return fd;
}

static int port_listen(struct proxy *proxy)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof address;
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd >= 0 &&
        (bind(fd, (const struct sockaddr *)&address, sizeof address) < 0 || listen(fd, 64) < 0 ||
         getsockname(fd, (struct sockaddr *)&address, &size) < 0)) {
        close(fd);
        return -1;
    }
    snprintf(proxy->tcp_url, sizeof proxy->tcp_url, "redis://127.0.0.1:%d",
             (int)ntohs(address.sin_port));
    return fd;
}

static void proxy_free(struct proxy *proxy)
{
    for (int i = 0; i < LISTENERS; i++) {
        if (proxy->listeners[i] >= 0)
            close(proxy->listeners[i]);
    }
    if (proxy->control_fd >= 0)
        close(proxy->control_fd);
    unlink(proxy->socket);
    rmdir(proxy->folder);
    pthread_mutex_destroy(&proxy->lock);
    free(proxy);
}

struct proxy *proxy_start(const char *upstream)
{
    struct proxy *proxy = calloc(1, sizeof *proxy);
    if (proxy == NULL)
        return NULL;
    pthread_mutex_init(&proxy->lock, NULL);
    proxy->control_fd = eventfd(0, EFD_CLOEXEC);
    proxy->listeners[0] = proxy->listeners[1] = -1;
    snprintf(proxy->upstream, sizeof proxy->upstream, "%s", upstream);
    snprintf(proxy->folder, sizeof proxy->folder, "/tmp/culex-proxy-XXXXXX");
    if (mkdtemp(proxy->folder) != NULL) {
        snprintf(proxy->socket, sizeof proxy->socket, "%s/proxy.sock", proxy->folder);
        snprintf(proxy->url, sizeof proxy->url, "redis+unix://%s", proxy->socket);
        proxy->listeners[0] = socket_listen(proxy);
        proxy->listeners[1] = port_listen(proxy);
    }
    if (proxy->control_fd < 0 || proxy->listeners[0] < 0 || proxy->listeners[1] < 0 ||
        pthread_create(&proxy->thread, NULL, proxy_loop, proxy) != 0) {
        proxy_free(proxy);
        return NULL;
    }
    return proxy;
}

static void proxy_tell(struct proxy *proxy)
{
    uint64_t one = 1;
    ssize_t put = write(proxy->control_fd, &one, sizeof one);
    (void)put;
}

void proxy_stop(struct proxy *proxy)
{
    if (proxy == NULL)
        return;
    pthread_mutex_lock(&proxy->lock);
    proxy->is_ending = true;
    proxy_tell(proxy);
    pthread_mutex_unlock(&proxy->lock);
    pthread_join(proxy->thread, NULL);
    proxy_free(proxy);
}

const char *proxy_url(const struct proxy *proxy)
{
    return proxy->url;
}

const char *proxy_tcp_url(const struct proxy *proxy)
{
    return proxy->tcp_url;
}

void proxy_set(struct proxy *proxy, const struct proxy_fault *fault)
{
    pthread_mutex_lock(&proxy->lock);
    proxy->fault = fault != NULL ? *fault : (struct proxy_fault){.action = PROXY_PASS};
    proxy->passed[0] = proxy->passed[1] = 0;
    proxy->hits = proxy->connections = 0;
    for (size_t i = 0; i < proxy->pair_count; i++)
        proxy->pairs[i].flows[0].not_before_ms = proxy->pairs[i].flows[1].not_before_ms = 0;
    proxy_tell(proxy);
    pthread_mutex_unlock(&proxy->lock);
}

uint64_t proxy_bytes(struct proxy *proxy, enum proxy_direction direction)
{
    pthread_mutex_lock(&proxy->lock);
    uint64_t passed = proxy->passed[direction];
    pthread_mutex_unlock(&proxy->lock);
    return passed;
}

unsigned proxy_hits(struct proxy *proxy)
{
    pthread_mutex_lock(&proxy->lock);
    unsigned hits = proxy->hits;
    pthread_mutex_unlock(&proxy->lock);
    return hits;
}

unsigned proxy_connections(struct proxy *proxy)
{
    pthread_mutex_lock(&proxy->lock);
    unsigned connections = proxy->connections;
    pthread_mutex_unlock(&proxy->lock);
    return connections;
}
