/* What a server answers: the text of a record, and the shape of STEP's and LIST's answers. Each is
 * read exactly, or refused. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "store/redis/record.h"
#include "store/redis/reply.h"

static const char good[] =
    "8|A|2|aaaaaaaaaaaaaaaa|1750000001000|1750000000000|1|1|1750000060000|1|1|0|0|3|"
    "1749999999999|1000|30000|5|shop.mail|86400000|00000000000000ff|red,green|abc123|9|7|3|8|"
    "shop.mail:n=a;shop.mail:m=";

/* A copy of exactly `len` bytes, so that ASan sees a read past the end. */
static bool parse(const char *text, size_t len, struct culex__redis_record *ret_record)
{
    char *copy = malloc(len > 0 ? len : 1);
    assert_non_null(copy);
    memcpy(copy, text, len);
    bool is_good = culex__redis_record_parse(copy, len, ret_record);
    free(copy);
    return is_good;
}

static void test_record__each_field_is_read(void **state)
{
    (void)state;
    struct culex__redis_record r;
    memset(&r, 0xff, sizeof r);
    assert_true(culex__redis_record_parse(good, sizeof good - 1, &r));
    assert_int_equal(r.facts.claim_ms, 0); /* not in the record: of a body's grant alone */
    assert_int_equal(r.state, CULEX_RUN_ACTIVE);
    assert_int_equal(r.facts.attempt, 2);
    assert_int_equal(r.facts.counters.failures, 1);
    assert_true(r.is_started);
    assert_int_equal(r.facts.counters.losses, 1);
    assert_int_equal(r.facts.counters.attempts_max, 5);
    assert_int_equal(r.owner.len, 16);
    assert_true(r.is_cancel_requested);
    assert_true(r.at_ms == INT64_C(1750000001000));
    assert_true(r.timeout_from_ms == INT64_C(1750000000000));
    assert_int_equal(r.job.len, 9);
    assert_int_equal(r.priority, 9);
    assert_int_equal(r.facts.counters.retry_for_ms, 7);
    assert_true(r.facts.expires_at_ms == INT64_C(1750000060000));
    assert_int_equal(r.facts.timeout_ms, 30000);
    assert_int_equal(r.keep_success_ms, 1000);
    assert_int_equal(r.keep_failure_ms, 86400000);
    assert_true(r.facts.fingerprint == 0xff);
    assert_memory_equal(r.unique_key.text, "abc123", 6);
    assert_int_equal(r.unique_while, 3);
    assert_true(r.unique_until_ms == 8);
    assert_memory_equal(r.tags.text, "red,green", 9);
}

static void test_record__cut_anywhere_is_refused(void **state)
{
    (void)state;
    struct culex__redis_record record;
    for (size_t len = 0; len < sizeof good - 1; len++)
        assert_false(parse(good, len, &record));
}

static void test_record__one_wrong_field_is_refused(void **state)
{
    (void)state;
    static const char *const bads[][2] = {
        /* what in the good one, by what it is replaced */
        {"8|A", "7|A"},
        {"8|A", "08|A"},
        {"8|A", "8|a"},
        {"8|A", "8|AA"},
        {"8|A", "8|Z"},
        {"8|A", "8|"},
        {"|A|2|", "|A|-2|"},
        {"|A|2|", "|A|+2|"},
        {"|A|2|", "|A||"},
        {"|A|2|", "|A|2.0|"},
        {"|A|2|", "|A|4294967296|"},
        {"|A|2|", "|A| 2|"},
        {"|A|2|", "|A|1e3|"},
        {"|1750000000000|1|", "|1750000000000|2|"},
        {"|1750000060000|1|", "|1750000060000|2|"},
        {"|1750000001000|", "|17500000010000000000|"},
        {"|5|shop", "|0|shop"},
        {"shop.mail", ""},
        {"shop.mail", "shop\x01mail"},
        {"shop.mail", "shop\xffmail"},
        {"|9|7|", "|10|7|"},
        {"|0|0|3|", "|0|0|10|"},
        {"shop.mail:n=a", "shop.mail:n|a"},
        {"00000000000000ff", "ff"},
        {"00000000000000ff", "00000000000000FF"},
        {"00000000000000ff", "00000000000000fg"},
        {"red,green", "red|green"},
    };
    for (size_t i = 0; i < sizeof bads / sizeof bads[0]; i++) {
        char text[512];
        struct culex__redis_record record;
        const char *at = strstr(good, bads[i][0]);
        assert_non_null(at);
        int len = snprintf(text, sizeof text, "%.*s%s%s", (int)(at - good), good, bads[i][1],
                           at + strlen(bads[i][0]));
        if (parse(text, (size_t)len, &record))
            fail_msg("taken: %s", text);
    }
}

static void test_record__with_a_flipped_bit_stays_within_bounds(void **state)
{
    (void)state;
    for (size_t at = 0; at < sizeof good - 1; at++) {
        for (int bit = 0; bit < 8; bit++) {
            char text[sizeof good];
            struct culex__redis_record r;
            memcpy(text, good, sizeof good);
            text[at] = (char)(text[at] ^ (1 << bit));
            /* What is taken nevertheless stays within the bounds that the rest relies on. */
            if (parse(text, sizeof good - 1, &r))
                assert_true(r.priority <= 9 && r.facts.counters.attempts_max > 0 && r.job.len > 0 &&
                            r.at_ms >= 0 && (unsigned)r.state < CULEX_RUN_STATE_COUNT);
        }
    }
}

/* --- answers of scripts ------------------------------------------------------------------ */

static redisReply *answer(const char *wire)
{
    redisReader *reader = redisReaderCreate();
    void *reply = NULL;
    assert_non_null(reader);
    assert_int_equal(redisReaderFeed(reader, wire, strlen(wire)), REDIS_OK);
    assert_int_equal(redisReaderGetReply(reader, &reply), REDIS_OK);
    assert_non_null(reply);
    redisReaderFree(reader);
    return reply;
}

static void step_refused(const char *wire, uint32_t want, const char *words)
{
    struct culex_step step = {.want = want};
    struct culex_step_reply read;
    culex_error error = {0};
    redisReply *reply = answer(wire);
    assert_int_equal(culex__redis_step_read(reply, &step, &read, &error), CULEX_ECORRUPT);
    assert_string_equal(error.text, words);
    freeReplyObject(reply);
}

#define STEP_NUMBERS ":1\r\n:-1\r\n:0\r\n"
#define STEP_TEXTS   "$0\r\n\r\n$0\r\n\r\n"
#define STEP_LINE    ":5\r\n:7\r\n:1\r\n"
#define STEP_HEAD    STEP_NUMBERS STEP_TEXTS STEP_LINE
#define STEP_GRANT   ":0\r\n$1\r\na\r\n$1\r\nb\r\n$1\r\nc\r\n"
#define BODY         "$52\r\n1749999999999|0|30000|5|a|9000|00000000000000ff|t\n{}\r\n"

static void test_answer__of_step_is_refused_by_what_it_has(void **state)
{
    static const char numbers[] = "the answer to STEP begins with something else than its numbers";
    (void)state;
    step_refused("+OK\r\n", 1, "the answer to STEP has 0 items, not 9 and 4 for each grant");
    step_refused("*10\r\n" STEP_HEAD "*0\r\n:1\r\n", 1,
                 "the answer to STEP has 10 items, not 9 and 4 for each grant");
    step_refused("*17\r\n" STEP_HEAD "*0\r\n" STEP_GRANT STEP_GRANT, 1,
                 "the answer to STEP has 2 grants, and 1 were asked for");
    step_refused("*13\r\n" STEP_HEAD "*3\r\n$-1\r\n$1\r\na\r\n$1\r\nb\r\n" STEP_GRANT, 2,
                 "the answer to STEP has 3 grants, and 2 were asked for");
    step_refused("*9\r\n:1\r\n:-2\r\n:0\r\n" STEP_TEXTS STEP_LINE "*0\r\n", 1, numbers);
    step_refused("*9\r\n" STEP_NUMBERS STEP_TEXTS ":67108864\r\n:7\r\n:1\r\n*0\r\n", 1, numbers);
    step_refused("*9\r\n" STEP_NUMBERS STEP_TEXTS ":5\r\n:17592186044416\r\n:1\r\n*0\r\n", 1,
                 numbers);
    step_refused("*9\r\n" STEP_HEAD "$0\r\n\r\n", 1, numbers);
    step_refused("*9\r\n" STEP_NUMBERS "$1\r\nO\r\n$0\r\n\r\n" STEP_LINE "*0\r\n", 1,
                 "the answer to STEP does not answer its acks and beats");
}

static void step_taken(const char *wire, uint32_t want, struct culex_step_reply *ret_read,
                       redisReply **ret_reply)
{
    struct culex_step step = {.want = want};
    *ret_reply = answer(wire);
    assert_int_equal(culex__redis_step_read(*ret_reply, &step, ret_read, NULL), CULEX_OK);
}

/* Their ids are made of the salt, their number and the time in the body. */
static void test_answer__of_step_makes_runs_of_bodies(void **state)
{
    static const unsigned char id[16] = {0x01, 0x97, 0x74, 0x20, 0xdb, 0xff, 0x70, 0x00,
                                         0x80, 0x05, 0x10, 0x00, 0x00, 0x00, 0x00, 0x08};
    struct culex_step_reply read;
    redisReply *reply;
    (void)state;
    step_taken("*9\r\n" STEP_HEAD "*2\r\n$-1\r\n" BODY, 1, &read, &reply);
    assert_int_equal(read.grant_count, 1);
    assert_int_equal(read.grants[0].facts.attempt, 1);
    assert_int_equal(read.grants[0].facts.timeout_ms, 30000);
    assert_int_equal(read.grants[0].facts.counters.attempts_max, 5);
    assert_int_equal(read.grants[0].facts.counters.losses, 0);
    assert_true(read.grants[0].facts.created_at_ms == INT64_C(1749999999999));
    assert_string_equal(read.grants[0].job, "a");
    assert_memory_equal(read.grants[0].facts.id.b, id, sizeof id);
    assert_int_equal(read.grants[0].payload_len, 2);
    assert_memory_equal(read.grants[0].payload, "{}", 2);
    free(read.storage);
    freeReplyObject(reply);
}

/* What cannot be read is left out, and the others keep their order. */
static void test_answer__of_step_keeps_the_order_of_its_grants(void **state)
{
#define RECORD(before, attempt)                                                                    \
    ":" before "\r\n$16\r\n0123456789abcdef\r\n$125\r\n8|A|" attempt                               \
    "|aaaaaaaaaaaaaaaa|1750000001000|1750000000000|1|0|0|0|0|0|0|0|1749999999999|1000|30000|5|b|"  \
    "8|00000000000000ff|||0|0|0|0|\r\n$1\r\np\r\n"
    struct culex_step_reply read;
    redisReply *reply;
    (void)state;
    step_taken("*25\r\n" STEP_HEAD "*3\r\n" BODY "$3\r\nbad\r\n" BODY RECORD("0", "2")
                   RECORD("2", "3") RECORD("3", "4") STEP_GRANT,
               7, &read, &reply);
    assert_int_equal(read.grant_count, 5);
    static const uint32_t attempts[] = {2, 1, 3, 1, 4};
    for (size_t i = 0; i < 5; i++)
        assert_int_equal(read.grants[i].facts.attempt, attempts[i]);
    free(read.storage);
    freeReplyObject(reply);
}

static const char good_body[] = "1749999999999|0|30000|5|a|9000|00000000000000ff|t\n{|}\n";

static bool body_parse(const char *text, size_t len, size_t *ret_payload)
{
    struct culex__redis_record record;
    char *copy = malloc(len > 0 ? len : 1);
    assert_non_null(copy);
    memcpy(copy, text, len);
    bool is_good = culex__redis_body_parse(copy, len, &record, ret_payload);
    free(copy);
    return is_good;
}

static void test_body__head_is_read_and_its_payload_may_be_anything(void **state)
{
    size_t payload = 0, end = (size_t)(strchr(good_body, '\n') - good_body) + 1;
    (void)state;
    for (size_t len = 0; len < sizeof good_body; len++)
        assert_int_equal(body_parse(good_body, len, &payload), len >= end);
    assert_int_equal(payload, end);
}

static void test_body__one_wrong_field_is_refused(void **state)
{
    static const char *const bads[] = {
        "",
        "\n",
        "1749999999999|0|30000|0|a|9000|00000000000000ff|t\n",
        "1749999999999|0|30000|5||9000|00000000000000ff|t\n",
        "1749999999999|0|30000|5|a|9000|00000000000000fg|t\n",
        "1749999999999|00|30000|5|a|9000|00000000000000ff|t\n",
        "1749999999999|0|30000|5|a|9000|00000000000000ff\n",
        "1749999999999|0|30000|5|a|9000|00000000000000ff|t|\n",
        "|0|30000|5|a|9000|00000000000000ff|t\n",
        "1749999999999|0|30000|5|a|9000|00000000000000ff|t\r\n",
    };
    size_t payload;
    (void)state;
    for (size_t i = 0; i < sizeof bads / sizeof bads[0]; i++) {
        if (body_parse(bads[i], strlen(bads[i]), &payload))
            fail_msg("taken: %s", bads[i]);
    }
}

static void test_answer__of_list_is_refused_by_what_it_has(void **state)
{
    struct culex_list_reply read;
    culex_error error = {0};
    redisReply *reply = answer("*5\r\n" STEP_GRANT ":1\r\n");
    (void)state;
    assert_int_equal(culex__redis_list_read(reply, "q", 1, &read, &error), CULEX_ECORRUPT);
    assert_string_equal(error.text,
                        "the answer to LIST has 5 items, not 2 of a cursor and 2 for each of "
                        "at most 1 runs");
    freeReplyObject(reply);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_record__each_field_is_read),
        cmocka_unit_test(test_record__cut_anywhere_is_refused),
        cmocka_unit_test(test_record__one_wrong_field_is_refused),
        cmocka_unit_test(test_record__with_a_flipped_bit_stays_within_bounds),
        cmocka_unit_test(test_body__head_is_read_and_its_payload_may_be_anything),
        cmocka_unit_test(test_body__one_wrong_field_is_refused),
        cmocka_unit_test(test_answer__of_step_is_refused_by_what_it_has),
        cmocka_unit_test(test_answer__of_step_makes_runs_of_bodies),
        cmocka_unit_test(test_answer__of_step_keeps_the_order_of_its_grants),
        cmocka_unit_test(test_answer__of_list_is_refused_by_what_it_has),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
