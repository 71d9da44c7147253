/* bench_codec - nanoseconds per encode and decode of five params: two strings, an int64, a
 * bool and a UUID. Aim: under 500 ns for both together with -O2. */
#include <culex/codec.h>

#include <stdio.h>
#include <string.h>
#include <time.h>

enum { ROUNDS = 7, CALLS = 200000 };

struct params {
    const char *to;
    const char *subject;
    int64_t tenant;
    bool is_urgent;
    culex_uuid campaign;
};

#define FIELD(id, of_kind)                                                                         \
    {                                                                                              \
        .name = #id, .wire = #id, .kind = of_kind, .flags = CULEX_FIELD_REQUIRED,                  \
        .offset = offsetof(struct params, id)                                                      \
    }

static const culex_field fields[] = {
    FIELD(to, CULEX_KIND_STRING),     FIELD(subject, CULEX_KIND_STRING),
    FIELD(tenant, CULEX_KIND_INT64),  FIELD(is_urgent, CULEX_KIND_BOOL),
    FIELD(campaign, CULEX_KIND_UUID),
};
static const culex_struct_type type = {"bench", sizeof(struct params), fields, 5};

static double now_ns(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec * 1e9 + (double)time.tv_nsec;
}

static double encode_ns(culex_buf *buf, const struct params *value)
{
    double start = now_ns();
    for (int call = 0; call < CALLS; call++) {
        buf->len = 0;
        if (culex_encode(&type, value, buf, NULL) != CULEX_OK)
            return -1;
    }
    return (now_ns() - start) / CALLS;
}

static double decode_ns(const culex_buf *buf, culex_arena *arena)
{
    const void *value;
    double start = now_ns();
    for (int call = 0; call < CALLS; call++) {
        culex_arena_reset(arena);
        if (culex_decode(&type, arena, buf->data, buf->len, &value, NULL) != CULEX_OK)
            return -1;
    }
    return (now_ns() - start) / CALLS;
}

static double least(double left, double right)
{
    return left < right ? left : right;
}

int main(void)
{
    struct params value = {"ann@example.com", "Your order has been sent", 4711, true, {{1, 2, 3}}};
    culex_arena *arena = culex_arena_create();
    culex_buf buf;
    double encode = 1e9;
    double decode = 1e9;
    culex_buf_init(&buf, 0);
    for (int round = 0; round < ROUNDS && arena != NULL; round++) {
        encode = least(encode, encode_ns(&buf, &value));
        decode = least(decode, decode_ns(&buf, arena));
    }
    printf("{\"bench\":\"codec\",\"bytes\":%zu,\"encode_ns\":%.0f,\"decode_ns\":%.0f}\n", buf.len,
           encode, decode);
    culex_buf_release(&buf);
    culex_arena_free(arena);
    return encode < 0 || decode < 0 || arena == NULL;
}
