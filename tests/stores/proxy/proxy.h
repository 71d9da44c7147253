/* proxy/proxy.h - a proxy between a test's client and a real server, which can make trouble.
 *
 * It runs on a thread of its own, listens on a UNIX socket in a fresh folder and on a loopback
 * port, and copies bytes to and from the server's UNIX socket. A fault says what happens from the
 * byte on which it takes hold; nothing is ever sent twice. */
#ifndef CULEX_TESTS_PROXY_H
#define CULEX_TESTS_PROXY_H

#include <stdbool.h>
#include <stdint.h>

enum proxy_direction { PROXY_REQUEST, PROXY_REPLY };

enum proxy_action {
    PROXY_PASS,   /* no fault */
    PROXY_CUT,    /* let `after` bytes pass, then close both sides */
    PROXY_HALF,   /* let `after` bytes pass, then end only this direction */
    PROXY_HOLD,   /* let `after` bytes pass, then keep what comes: a black hole until cleared */
    PROXY_DRIP,   /* let `after` bytes pass, then one byte every `ms` */
    PROXY_DELAY,  /* let `after` bytes pass, and the rest `ms` later */
    PROXY_ANSWER, /* requests that hold `match` never reach the server; `text` is the reply */
    PROXY_REFUSE  /* new connections are closed at once, after `text` if there is one */
};

/* Bytes count from the moment the fault was set, over all connections. Texts are borrowed until
 * the next fault is set. */
struct proxy_fault {
    enum proxy_action action;
    enum proxy_direction direction;
    uint64_t after;
    int ms;
    const char *match; /* NULL: every request */
    const char *text;  /* as it goes over the wire */
    uint64_t text_len; /* 0: its strlen */
    unsigned times;    /* CUT, HALF, ANSWER: the fault is over after so many; 0: never */
};

struct proxy;

/* A proxy in front of the server that listens on `upstream`; NULL when it cannot be made. */
struct proxy *proxy_start(const char *upstream);

/* Closes every connection. Accepts NULL. */
void proxy_stop(struct proxy *proxy);

/* Store URLs by socket and by loopback port. */
const char *proxy_url(const struct proxy *proxy);
const char *proxy_tcp_url(const struct proxy *proxy);

/* Replaces the fault and starts the counts anew; NULL clears it, and what was held goes on. */
void proxy_set(struct proxy *proxy, const struct proxy_fault *fault);

/* Bytes passed, faults that took hold, and connections taken, since the fault was set. */
uint64_t proxy_bytes(struct proxy *proxy, enum proxy_direction direction);
unsigned proxy_hits(struct proxy *proxy);
unsigned proxy_connections(struct proxy *proxy);

#endif
