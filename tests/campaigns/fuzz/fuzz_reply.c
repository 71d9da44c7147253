/* fuzz_reply - any bytes as what a Redis server sends: read safely, or refused. */
#include <stdlib.h>
#include <string.h>

#include "store/redis/record.h"
#include "store/redis/reply.h"
#include "fuzz.h"

unsigned fuzz_taken;

static void step_check(const redisReply *reply)
{
    static const struct culex_ack acks[2];
    static const struct culex_beat beats[1];
    const struct culex_step step = {
        .acks = acks, .ack_count = 2, .beats = beats, .beat_count = 1, .want = 8};
    struct culex_step_reply read;
    if (culex__redis_step_read(reply, &step, &read, NULL) != CULEX_OK)
        return;
    fuzz_taken++;
    if (read.grant_count > step.want)
        abort();
    volatile unsigned char sum = 0; /* touch all that was promised */
    for (size_t i = 0; i < read.grant_count; i++) {
        sum = (unsigned char)(sum + strlen(read.grants[i].job));
        for (size_t at = 0; at < read.grants[i].payload_len; at++)
            sum = (unsigned char)(sum + ((const unsigned char *)read.grants[i].payload)[at]);
    }
    if (read.acks[1] > CULEX_ANSWER_CANCEL || read.beats[0] > CULEX_ANSWER_CANCEL)
        abort();
    free(read.storage);
}

static void reply_check(const redisReply *reply)
{
    struct culex_list_reply list;
    culex_run_info *info = NULL;
    const culex_uuid id = {{0}};
    step_check(reply);
    if (culex__redis_list_read(reply, "q", 10, &list, NULL) == CULEX_OK) {
        for (size_t i = 0; i < list.count; i++) {
            if (strlen(list.runs[i].job) == 0 || list.runs[i].priority > 9)
                abort();
        }
        fuzz_taken += list.count > 0;
        free(list.storage);
    }
    if (culex__redis_get_read(reply, "q", id, &info, NULL) == CULEX_OK) {
        fuzz_taken++;
        culex__run_info_free(info);
    }
    if (reply->type == REDIS_REPLY_ERROR && culex__redis_refusal_status(reply->str) == CULEX_OK)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct culex__redis_record record;
    struct culex__redis_limits limits;
    void *reply = NULL;
    culex__redis_record_parse((const char *)data, size, &record);
    redisReader *reader = culex__redis_reader_create(&limits);
    if (reader == NULL)
        return 0;
    if (redisReaderFeed(reader, (const char *)data, size) == REDIS_OK &&
        redisReaderGetReply(reader, &reply) == REDIS_OK && reply != NULL) {
        reply_check(reply);
        freeReplyObject(reply);
    }
    redisReaderFree(reader);
    return 0;
}
