/* bench/floor_codec.c - five params packed and unpacked by hand: lengths and bytes, no names. */
#include <stdlib.h>
#include <string.h>

#include "crowd.h"
#include "floor.h"

enum { TEXTS = 2, ROOM = 512 };

struct params {
    const char *texts[TEXTS];
    int64_t number;
    bool flag;
    unsigned char campaign[16];
};

static size_t bytes_pack(char *room, size_t at, const void *bytes, size_t len)
{
    memcpy(room + at, bytes, len);
    return at + len;
}

static size_t params_pack(char *room, const struct params *params)
{
    size_t at = 0;
    for (int i = 0; i < TEXTS; i++) {
        size_t len = strlen(params->texts[i]) + 1;
        at = bytes_pack(room, at, &len, sizeof len);
        at = bytes_pack(room, at, params->texts[i], len);
    }
    at = bytes_pack(room, at, &params->number, sizeof params->number);
    at = bytes_pack(room, at, &params->flag, sizeof params->flag);
    return bytes_pack(room, at, params->campaign, sizeof params->campaign);
}

static struct params *params_unpack(const char *room)
{
    struct params *params = malloc(sizeof *params + ROOM);
    char *text = (char *)(params + 1);
    for (int i = 0; i < TEXTS; i++) {
        size_t len;
        memcpy(&len, room, sizeof len);
        params->texts[i] = memcpy(text, room + sizeof len, len);
        room += sizeof len + len;
        text += len;
    }
    memcpy(&params->number, room, sizeof params->number);
    room += sizeof params->number;
    memcpy(&params->flag, room, sizeof params->flag);
    memcpy(params->campaign, room + sizeof params->flag, sizeof params->campaign);
    return params;
}

double floor_codec(size_t count)
{
    char room[ROOM];
    struct params params = {{"ann@shop.example", "Hello, is anybody there?"}, 0, true, "campaign"};
    double start = now_s();
    for (size_t i = 0; i < count; i++) {
        params.number = (int64_t)i;
        params_pack(room, &params);
        __asm__ volatile("" : : "r"(room) : "memory"); /* nobody may skip the bytes */
        struct params *read = params_unpack(room);
        if (read->number != (int64_t)i)
            floor_die("codec", "it reads another number");
        free(read);
    }
    return now_s() - start;
}
