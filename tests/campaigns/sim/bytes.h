/* sim/bytes.h - a growing run of bytes, and replies in the wire format of Redis. */
#ifndef CULEX_SIM_BYTES_H
#define CULEX_SIM_BYTES_H

#include <stddef.h>
#include <stdint.h>

struct sim_bytes {
    char *data;
    size_t len, cap;
};

void sim_bytes_add(struct sim_bytes *bytes, const void *data, size_t len);
void sim_bytes_cut(struct sim_bytes *bytes, size_t from_front); /* drops the first bytes */
void sim_bytes_free(struct sim_bytes *bytes);

void sim_reply_status(struct sim_bytes *reply, const char *text);
void sim_reply_error(struct sim_bytes *reply, const char *text);
void sim_reply_int(struct sim_bytes *reply, int64_t value);
void sim_reply_bulk(struct sim_bytes *reply, const void *data, size_t len);
void sim_reply_text(struct sim_bytes *reply, const char *text);
void sim_reply_score(struct sim_bytes *reply, double score);
void sim_reply_nil(struct sim_bytes *reply);
void sim_reply_nil_array(struct sim_bytes *reply);
void sim_reply_array(struct sim_bytes *reply, size_t count);

#endif
