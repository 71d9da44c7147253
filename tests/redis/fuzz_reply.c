/* Fuzz target: whatever a server sends must be read safely, or refused.
 *
 * With libFuzzer: clang -fsanitize=fuzzer,address -DCULEX_FUZZER. Otherwise main() replays the
 * files named on the command line, or changes built-in replies at random for a while. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "backend/redis_record.h"
#include "backend/redis_reply.h"

/* Replies that were taken: shows that the seeds are good ones. */
static unsigned taken;

static void step_check(const redisReply *reply)
{
    static const struct culex_ack acks[2];
    static const struct culex_beat beats[1];
    const struct culex_step step = {
        .acks = acks, .ack_count = 2, .beats = beats, .beat_count = 1, .want = 8};
    struct culex_step_reply read;
    if (culex__redis_step_read(reply, &step, &read, NULL) != CULEX_OK)
        return;
    taken++;
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

static void info_free(culex_run_info *info)
{
    free(info->job);
    free(info->queue);
    free(info->tags);
    free(info->error_text);
    free((void *)(uintptr_t)info->payload.data);
    free((void *)(uintptr_t)info->result.data);
    free(info);
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
        taken += list.count > 0;
        free(list.storage);
    }
    if (culex__redis_get_read(reply, "q", id, &info, NULL) == CULEX_OK) {
        taken++;
        info_free(info);
    }
    if (reply->type == REDIS_REPLY_ERROR && culex__redis_refusal_status(reply->str) == CULEX_OK)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct culex__redis_record record;
    redisReplyObjectFunctions functions;
    void *reply = NULL;
    culex__redis_record_parse((const char *)data, size, &record);
    redisReader *reader = culex__redis_reader_create(&functions);
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

#ifndef CULEX_FUZZER

#define RECORD                                                                                     \
    "1|A|2|aaaaaaaaaaaaaaaa|1750000001000|1750000000000|1|0|1|1|0|0|1749999999999|1000||5|"        \
    "shop.mail|9|30000|86400000|00000000000000ff|fedcba9876543210|red"

static const char *const seeds[] = {
    "*8\r\n:1750000000000\r\n:-1\r\n:2\r\n$2\r\nOR\r\n$1\r\nC\r\n$16\r\n0123456789abcdef\r\n"
    "$149\r\n" RECORD "\r\n$2\r\n{}\r\n",
    "*3\r\n:0\r\n$16\r\n0123456789abcdef\r\n$149\r\n" RECORD "\r\n",
    "*4\r\n$149\r\n" RECORD "\r\n$2\r\n{}\r\n$0\r\n\r\n$1\r\nx\r\n",
    "-ERR Error running script: -READONLY You can't write\r\n",
    "*1000000000\r\n",
    "*2147483647\r\n*2147483647\r\n",
    "$9000000000000000000\r\n",
    "*-2\r\n",
    RECORD,
};

static uint64_t noise = 88172645463325252u;

static size_t below(size_t bound)
{
    noise ^= noise << 13;
    noise ^= noise >> 7;
    noise ^= noise << 17;
    return (size_t)(noise % bound);
}

static void seed_mutate(const char *seed, size_t changes)
{
    size_t len = strlen(seed);
    uint8_t *bytes = malloc(len + 1);
    if (bytes == NULL)
        abort();
    memcpy(bytes, seed, len);
    while (changes-- > 0)
        bytes[below(len)] =
            below(3) > 0 ? (uint8_t) "0123456789*$:-|\r\n"[below(17)] : (uint8_t)below(256);
    LLVMFuzzerTestOneInput(bytes, below(8) > 0 ? len : below(len));
    free(bytes);
}

static int file_replay(const char *path)
{
    static uint8_t bytes[1 << 20];
    FILE *file = fopen(path, "rb");
    if (file == NULL)
        return 1;
    size_t len = fread(bytes, 1, sizeof bytes, file);
    fclose(file);
    return LLVMFuzzerTestOneInput(bytes, len);
}

int main(int argc, char **argv)
{
    enum { ROUNDS = 200000 };
    int failures = 0;
    for (int i = 1; i < argc; i++)
        failures += file_replay(argv[i]);
    for (size_t i = 0; i < 3; i++)
        LLVMFuzzerTestOneInput((const uint8_t *)seeds[i], strlen(seeds[i]));
    if (taken != 3)
        return 2;
    for (int i = 0; i < ROUNDS && argc == 1; i++)
        seed_mutate(seeds[below(sizeof seeds / sizeof seeds[0])], below(4));
    return failures;
}
#endif
