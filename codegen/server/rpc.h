/* rpc.h - messages on a pair of descriptors, each behind a Content-Length header. */
#ifndef CULEXC_RPC_H
#define CULEXC_RPC_H

#include <stdbool.h>
#include <stddef.h>

#include "buf.h"

struct rpc {
    int in, out;
    struct buf input; /* read and not taken yet, behind `taken` bytes that were */
    size_t taken;
};

enum rpc_status {
    RPC_MESSAGE,
    RPC_TOO_LARGE, /* it was read over; the next one can be read */
    RPC_END,       /* of the input, between two messages */
    RPC_BROKEN     /* nobody knows where the next message starts */
};

/* Waits for the next message. *ret_text is borrowed until the next call. */
enum rpc_status rpc_read(struct rpc *rpc, const char **ret_text, size_t *ret_len);

/* True when rpc_read() would have to wait for its first byte. */
bool rpc_is_idle(const struct rpc *rpc);

/* False when nobody reads any more. */
bool rpc_write(const struct rpc *rpc, const char *text, size_t len);

void rpc_release(struct rpc *rpc);

#endif
