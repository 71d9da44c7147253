/* bench/floor.h - what the stores can do at best: the same work by bare hiredis and bare
 * SQLite calls, without types, fencing, retries or statistics. Every figure of the product
 * is printed as a ratio to one of these, measured in the same minute.
 * All functions return seconds for `count` runs, and exit with a message on any failure. */
#ifndef CULEX_BENCH_FLOOR_H
#define CULEX_BENCH_FLOOR_H

#include <stddef.h>
#include <stdint.h>

/* Where the private server of this run listens: a UNIX socket path, or host:port. */
struct floor_server {
    const char *path; /* NULL: use host and port */
    const char *host;
    int port;
};

/* Sends `request` (one command as it goes over the wire) `count` times, one by one, with 8 fresh
 * random bytes at each of `id_offsets`, as one hiredis round trip each. */
double floor_round_trips(const struct floor_server *server, const char *request, size_t len,
                         const size_t *id_offsets, size_t id_count, size_t count);

/* One script per `batch` runs: HSET record, HSET payload, RPUSH id. Keys under "floor:". */
double floor_enqueue(const struct floor_server *server, size_t count, size_t batch);

/* One fused script per `batch`: forget the last ones, claim the next ones with their
 * payloads. Drains what floor_enqueue left; exits unless it gets `count` runs. */
double floor_drain(const struct floor_server *server, size_t count, size_t batch);

/* One INSERT of the same columns per transaction, WAL, synchronous=NORMAL, pages and
 * checkpoints as in the product. */
double floor_sqlite_enqueue(const char *path, size_t count);

#endif
