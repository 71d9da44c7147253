#include "look.h"

#include "redis_check.h"

culex_fsck_counts look_fsck(struct fixture *fixture, bool is_repairing)
{
    struct culex_fsck_reply reply = {.cursor = 0};
    culex_fsck_counts counts = {0};
    int calls = 0;
    do {
        assert_ok(fixture->store->ops->fsck(fixture->store, "q", reply.cursor, is_repairing, &reply,
                                            &call_error));
        counts.records += reply.counts.records;
        counts.wrong += reply.counts.wrong;
        counts.damaged += reply.counts.damaged;
        counts.skipped += reply.counts.skipped;
        assert_true(++calls < 10000);
    } while (reply.cursor != 0);
    return counts;
}

/* Every key of the server with all that it holds, for comparison. */
static char *dump(struct fixture *fixture, size_t *ret_len)
{
    static const char script[] =
        "local all, names = {}, redis.call('KEYS', '*') table.sort(names) "
        "local reads = {hash = {'HGETALL'}, set = {'SMEMBERS'}, list = {'LRANGE', 0, -1},"
        "  zset = {'ZRANGE', 0, -1, 'WITHSCORES'}} "
        "for at, key in ipairs(names) do "
        "  local kind = redis.call('TYPE', key).ok "
        "  local items = redis.call(reads[kind][1], key, unpack(reads[kind], 2)) "
        "  if kind == 'hash' then "
        "    local pairs_of = {} "
        "    for i = 1, #items, 2 do pairs_of[#pairs_of + 1] = items[i] .. '=' .. items[i + 1] end "
        "    items = pairs_of "
        "  end "
        "  if kind == 'hash' or kind == 'set' then table.sort(items) end "
        "  all[at] = key .. redis.call('PEXPIRETIME', key) .. table.concat(items, ',') "
        "end "
        "return table.concat(all, ';')";
    redisReply *reply = redis_server_command(&fixture->server, "EVAL %s 0", script);
    assert_non_null(reply);
    assert_int_equal(reply->type, REDIS_REPLY_STRING);
    char *text = malloc(reply->len + 1);
    assert_non_null(text);
    memcpy(text, reply->str, reply->len + 1);
    *ret_len = reply->len;
    freeReplyObject(reply);
    return text;
}

culex_fsck_counts look_report(struct fixture *fixture)
{
    size_t before_len, after_len;
    char *before = dump(fixture, &before_len);
    culex_fsck_counts counts = look_fsck(fixture, false);
    char *after = dump(fixture, &after_len);
    assert_int_equal(before_len, after_len);
    assert_memory_equal(before, after, before_len);
    free(before);
    free(after);
    return counts;
}

size_t look_drain(struct fixture *fixture)
{
    size_t done = 0;
    bool is_empty = false;
    fixture->now_ms += 20000; /* leases end, scheduled runs are due */
    for (int calls = 0; calls < 2000 && !is_empty; calls++) {
        struct culex_step_reply reply;
        struct culex_step step = fixture_step(fixture, SESSION_B, 4);
        fixture_run_step(fixture, &step, &reply);
        for (size_t i = 0; i < reply.grant_count; i++)
            assert_int_equal(fixture_ack(fixture, SESSION_B, reply.grants[i].facts.id,
                                         reply.grants[i].facts.attempt, CULEX_EVENT_DONE),
                             CULEX_ANSWER_OK);
        done += reply.grant_count;
        is_empty = reply.is_empty;
        fixture->store->ops->step_release(fixture->store, &reply);
    }
    assert_true(is_empty);
    return done;
}

void look_expect(struct fixture *fixture, uint64_t wrong, uint64_t spoilt)
{
    culex_fsck_counts seen = look_report(fixture);
    assert_int_equal(seen.wrong, wrong);
    assert_int_equal(seen.damaged, spoilt);
    seen = look_fsck(fixture, true);
    assert_int_equal(seen.wrong, wrong);
    assert_int_equal(seen.damaged, spoilt);
    assert_true(redis_check(&fixture->server, "culex", "q"));
    seen = look_report(fixture);
    assert_int_equal(seen.wrong, 0);
    assert_int_equal(seen.damaged, 0);
    assert_int_equal(seen.skipped, 0);
}

void look_expect_and_drain(struct fixture *fixture, uint64_t wrong, uint64_t spoilt, size_t live)
{
    look_expect(fixture, wrong, spoilt);
    assert_int_equal(look_drain(fixture), live);
    assert_int_equal(look_fsck(fixture, false).wrong, 0);
    assert_true(redis_check(&fixture->server, "culex", "q"));
}

void look_damage(struct fixture *fixture, const char *verb, const char *name, const char *words,
                 culex_uuid id)
{
    char line[1024];
    snprintf(line, sizeof line, "%s culex:{q}:%s %s", verb, name, words);
    redisReply *reply = redis_server_command(&fixture->server, line, &id, sizeof id);
    assert_non_null(reply);
    assert_int_not_equal(reply->type, REDIS_REPLY_ERROR);
    freeReplyObject(reply);
}

size_t look_live_on(struct fixture *fixture)
{
    size_t done = 0;
    for (int calls = 0; calls < 40; calls++) {
        struct culex_step_reply reply;
        struct culex_step step = fixture_step(fixture, SESSION_B, 4);
        step.offers = "gpu:9";
        fixture->now_ms += 20000;
        fixture_run_step(fixture, &step, &reply);
        for (size_t i = 0; i < reply.grant_count; i++)
            assert_int_equal(fixture_ack(fixture, SESSION_B, reply.grants[i].facts.id,
                                         reply.grants[i].facts.attempt, CULEX_EVENT_DONE),
                             CULEX_ANSWER_OK);
        done += reply.grant_count;
        fixture->store->ops->step_release(fixture->store, &reply);
    }
    return done;
}
