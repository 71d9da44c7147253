"""Shows that the suite bites: breaks the stores one line at a time and expects a red test.

Copies the tree to a temporary folder, builds it once, then for each mutant below changes one
place, rebuilds, and runs the conformance suite, a short differential test and the tests of FSCK
on the store concerned. A mutant that survives is a hole in the suite (exit code 1). Slow: not part of the
test run."""

import argparse
import concurrent.futures
import itertools
import os
import pathlib
import queue
import shutil
import subprocess
import sys
import tempfile

TREE = pathlib.Path(__file__).resolve().parents[3]
LUA, SQL, RULES = "runtime/store/redis/", "runtime/store/sqlite/", "runtime/core/run_rules.def"

# What breaks, where, old text, new text, stores that must notice.
MUTANTS = [
    ("a session of any length", "runtime/store/argument.c", "len > CULEX_STORE_SESSION_MAX ||", "", "memory"),
    ("a batch of any length", "runtime/store/argument.c", "if (count > CULEX_STORE_BATCH_MAX)", "if (false)", "memory"),
    ("a bar in the tags", "runtime/store/argument.c", "!field_is_valid(run->tags, TAGS_TEXT_MAX)", "false", "memory"),
    ("no attempt in the fence", LUA + "lib_leases.lua", "r.attempt == attempt and r.owner == session\nend",
     "r.owner == session\nend", "redis"),
    ("no session in the fence", LUA + "lib_leases.lua", "r.attempt == attempt and r.owner == session\nend",
     "r.attempt == attempt\nend", "redis"),
    ("no state in the fence", LUA + "lib_leases.lua", "return r.state == ACTIVE and r.attempt",
     "return r.attempt", "redis"),
    ("no memory of the step", LUA + "step.lua", "if last_nonce == nonce then",
     "if last_nonce == nil then", "redis"),
    ("a late step counts", LUA + "step.lua", "if last_nonce and is_older(nonce, last_nonce) then", "if false then",
     "redis"),
    ("nonces compare as texts", LUA + "step.lua", "return #a < #b or #a == #b and a < b", "return a < b", "redis"),
    ("a repeated done is stale", LUA + "lib_acks.lua", "return 'R'", "count('stale', 1) return 'S'", "redis"),
    ("done at 0 s leaves a record", LUA + "lib_acks.lua", "if keep == '0' then done_forget", "if false then done_forget",
     "redis"),
    ("a result at 0 s leaves a record", LUA + "lib_acks.lua", "if event == 'DONE' and string.match(r.tail, TAIL_keep_success_ms) == '0'",
     "if false", "redis"),
    ("a step forgets less than it adds", LUA + "lib_retention.lua", "FORGET_MAX + ack_count", "FORGET_MAX", "redis"),
    ("what is to be forgotten asks for no step", LUA + "step.lua", "sooner(forget, sooner(due, lease_end))",
     "sooner(due, lease_end)", "redis"),
    ("each ended run asks for a step", LUA + "lib_retention.lua", "math.max(at, now + FORGET_GAP_MS)", "at",
     "redis"),
    ("ghosts that were dropped still count", LUA + "lib_claims.lua", "then ghosts = call(", "then call(", "redis"),
    ("a cancelled ghost is granted", LUA + "lib_claims.lua", "if not r or r.state ~= WAITING or decided[id] then",
     "if not r or decided[id] then", "redis"),
    ("expired runs start", LUA + "lib_claims.lua", "and now >= expires", "and false", "redis"),
    ("runs of any state come from an index", LUA + "list.lua", "if state == '*' then",
     "if state == '*' then state = WAITING end\nif state == '*' then", "redis"),
    ("the scan of all runs ends after a page", LUA + "list.lua", "{tonumber(page[1])}", "{0}", "redis"),
    ("suspects come in company", LUA + "lib_claims.lua", "return is_suspected and grant_count > 0 or", "return",
     "redis"),
    ("a suspect does not end the claim", LUA + "lib_claims.lua",
     "if is_suspected then is_enough = true end", "", "redis"),
    ("the first run counts as bytes", LUA + "lib_claims.lua", "bytes + #payload > max_bytes",
     "bytes + 2 * #payload > max_bytes", "redis"),
    ("a lease of a clock ahead stands", LUA + "step.lua", "leases_cut(tonumber(facts[5] or nil)) or", "",
     "redis"),
    ("leases are measured by one's own", LUA + "lib_leases.lua", "now + longest + LEASE_LOOK_MS", "now + lease + LEASE_LOOK_MS",
     "redis"),
    ("a lease of a clock ahead stands in SQLite", SQL + "lease.c", "    if (queue->kept[CULEX_RUN_ACTIVE] == 0 || queue->longest",
     "    if (queue->key != 0 || queue->longest", "sqlite"),
    ("beats pass the timeout", LUA + "lib_leases.lua", "if timeout > 0 then", "if timeout < 0 then", "redis"),
    ("an extension shortens", LUA + "lib_leases.lua", "math.max(tonumber(r.timeout_from_ms), now + extend - timeout)",
     "now + extend - timeout", "redis"),
    ("an extension does nothing", LUA + "lib_leases.lua", "now + extend - timeout)", "0)", "redis"),
    ("progress outlives its attempt", LUA + "lib_claims.lua", "write('HDEL', progress, progress_drops)", "", "redis"),
    ("the last progress is not written", LUA + "lib_acks.lua", "if words ~= '' then call('HSET', progress, id, words) end", "",
     "redis"),
    ("progress is not written", LUA + "lib_leases.lua", "write('HSET', progress, progress_puts)", "", "redis"),
    ("a loss does not count itself", LUA + "lib_plan.lua", "r.losses + 1 .. ' of '", "r.losses .. ' of '", "redis"),
    ("a second beat forgets the first", LUA + "lib_leases.lua", "records[ids[at]] or texts[at]", "texts[at]", "redis"),
    ("a paused queue gives out", LUA + "step.lua", "local is_claiming = want > 0 and not is_paused",
     "local is_claiming = want > 0", "redis"),
    ("a long lease outlives its worker's name", LUA + "step.lua", "math.max(lease + 60000 - SESSION_TTL_MS, 0)", "0",
     "redis"),
    ("a long lease outlives its worker's name", SQL + "memo.c",
     "culex__sqlite_later(store->now_ms, step->lease_ms - CULEX_SESSION_TTL_MS)", "store->now_ms", "memory"),
    ("an idle worker loses its name", SQL + "memo.c", "store->idle.seen_ms < store->now_ms - CULEX_SESSION_TTL_MS / 2", "false",
     "memory"),
    ("a repeated hello forgets the last step", SQL + "statement.def", "INSERT OR IGNORE INTO memo", "INSERT OR REPLACE INTO memo",
     "memory"),
    ("a name goes before its session", SQL + "statement.def", "9223372036854775807, seen_ms)", "seen_ms, seen_ms)", "memory"),
    ("urgent runs wait behind others", LUA + "lib_dues.lua", "if #ids < PROMOTE_MAX then return ids end", "if ids then return ids end",
     "redis"),
    ("a backoff forgets its priority", LUA + "lib_plan.lua", "write('ZADD', scheduled_urgent, urgent_due_puts)", "",
     "redis"),
    ("a due urgent run stays scheduled", LUA + "lib_plan.lua", "write('ZREM', scheduled_urgent, urgent_due_drops)", "",
     "redis"),
    ("a worker begins no queue", LUA + "hello.lua", ", 'served', '1',", ",", "redis"),
    ("an unknown queue may be paused", LUA + "pause.lua", "if not is_known() then return 0 end", "", "redis"),
    ("an unknown queue may be bounded", LUA + "limit.lua", "if not is_known() then return 0 end", "", "redis"),
    ("an unknown queue is listed", LUA + "list.lua", "if ARGV[3] == '0' and not is_known() then return {} end", "", "redis"),
    ("an unknown queue has counts", LUA + "stats.lua", "if not m[1] and not m[12] and kept == 0 then return {} end", "",
     "redis"),
    # Over a file the watch on its journal stands behind the knock: memory has the knock alone.
    ("a retry wakes nobody", LUA + "retry.lua", "then wake_one() end", "then end", "redis"),
    ("the end of a pause wakes nobody", LUA + "pause.lua", "then wake_one() end", "then end", "redis"),
    ("a hello that releases runs wakes nobody", LUA + "hello.lua", "then wake_one() end", "then end", "redis"),
    ("new work wakes nobody", SQL + "verb.c", "queue.has_new_work && !queue.is_paused", "false", "memory"),
    ("a queue that is not there is none to refuse", SQL + "verb.c", "absent == CULEX__SQLITE_ABSENT_REFUSED)", "false)",
     "memory"),
    ("a due run is told as scheduled", LUA + "lib_told.lua", "tonumber(at) > now", "true", "redis"),
    ("a due run is purged as scheduled", LUA + "purge.lua", "state == SCHEDULED and '(' .. now or '-inf'", "'-inf'", "redis"),
    ("due runs are counted as scheduled", LUA + "stats.lua", "call('ZCOUNT', scheduled, '-inf', now)", "0", "redis"),
    ("due runs are listed as scheduled only", LUA + "list.lua", "append('ZRANGE', scheduled, listed, due - 1)", "", "redis"),
    ("the reap charges nothing", LUA + "lib_plan.lua", "is_loss and 'LOSS' or 'RELEASE'", "'RELEASE'",
     "redis"),
    ("what had not started is charged", LUA + "lib_plan.lua", "local is_loss = r.started == '1'",
     "local is_loss = true", "redis"),
    ("nobody is in doubt", LUA + "lib_plan.lua", "'RELEASE', 0, now, 1)", "'RELEASE', 0, now, 0)", "redis"),
    ("all starts at once", LUA + "lib_claims.lua", "grant_count < starts and start_text or ahead_text", "start_text",
     "redis"),
    ("a run in doubt is granted ahead", LUA + "lib_claims.lua", "(is_suspected or r.started == '1') and", "is_suspected and",
     "redis"),
    ("a suspect is granted in company", LUA + "lib_claims.lua", "if is_suspected and in_company then", "if false then", "redis"),
    ("an excuse is not heard", LUA + "lib_leases.lua", "if started ~= '0' then", "if started == '1' then", "redis"),
    ("an excuse is not heard", SQL + "statement.def", "CASE ?5 WHEN 2 THEN 0 ELSE", "CASE ?5 WHEN 2 THEN 1 ELSE", "memory"),
    ("a passed suspect is not told", LUA + "step.lua", "(passed_count > 0 and 16 or 0)", "0", "redis"),
    ("a passed suspect is not told", SQL + "claim.c", "scan->reply->has_passed = true;", "", "memory"),
    ("a suspect that stays loses its place", LUA + "lib_claims.lua", "call('LSET', ready, leaving + at - 1, ready_kept[at])", "",
     "redis"),
    ("a suspect goes to the front", LUA + "lib_plan.lua", "event ~= 'LOSS' or not is_suspect(r)", "true", "redis"),
    ("a suspect goes to the front", SQL + "run.c", "!culex__run_is_suspect(&run->counters)", "run != NULL", "memory"),
    ("who was lost once goes to the back", LUA + "lib_plan.lua", "event ~= 'LOSS' or not is_suspect(r)",
     "event ~= 'LOSS'", "redis"),
    ("a start is not heard of", LUA + "lib_leases.lua", "if started ~= '0' then r.started = started == '1' and 1 or 0 end", "", "redis"),
    ("what had not started is charged", SQL + "run.c", "if (run->is_started) {", "if (true) {", "memory"),
    ("nobody is in doubt", SQL + "run.c", "to == CULEX_RUN_WAITING && move->is_doubted", "false", "memory"),
    ("a suspect is granted in company", SQL + "claim.c", "is_suspect(&pick->run) && scan->step->in_company", "false",
     "memory"),
    ("an ack leaves the lease", LUA + "lib_plan.lua", "write('ZREM', active, lease_drops)", "", "redis"),
    ("the payload leaks", LUA + "lib_plan.lua", "write('HDEL', payloads, payload_drops)", "", "redis"),
    ("the unique key leaks", LUA + "lib_plan.lua", "write('HDEL', unique, key_drops)", "", "redis"),
    ("a flagged run goes on", LUA + "lib_plan.lua", "then return CANCELLED end", "then end", "redis"),
    ("crash streak never ends", LUA + "lib_plan.lua", "r.crash_streak = 0", "r.crash_streak = r.crash_streak",
     "redis"),
    ("released to the back", LUA + "lib_plan.lua", "event ~= 'LOSS' or not is_suspect(r)",
     "event == 'LOSS' and not is_suspect(r)", "redis"),
    ("a retry keeps its counters", LUA + "retry.lua",
     "r.failures, r.crashes, r.crash_streak, r.losses = 0, 0, 0, 0", "", "redis"),
    ("a tick is taken twice", LUA + "tick.lua", "mark and tick < mark + interval then",
     "mark and tick < mark then", "redis"),
    ("no attempt in the fence", SQL + "step.c", "return run->attempt == attempt && strcmp",
     "return attempt == attempt && strcmp", "memory"),
    ("no session in the fence", SQL + "step.c",
     "run->attempt == attempt && strcmp(run->owner, session) == 0",
     "run->attempt == attempt && session != NULL", "memory"),
    ("no state in the fence", SQL + "step.c", "if (!is_mine || run.state != CULEX_RUN_ACTIVE)",
     "if (!is_mine)", "memory"),
    ("beats pass the timeout", SQL + "step.c", "if (limit_ms != 0 && at_ms", "if (limit_ms < 0 && at_ms",
     "memory"),
    ("an extension shortens", SQL + "step.c", " || limit_ms < run.limit_ms", "", "memory"),
    ("an extension does nothing", SQL + "step.c", "beat->extend_ms <= 0 ||", "beat->extend_ms >= 0 ||", "memory"),
    ("progress outlives its attempt", SQL + "statement.def", "iif(attempt = :attempt, progress, NULL)", "progress",
     "memory"),
    ("the last progress is not written", SQL + "step.c", "if (progress == NULL || progress[0]", "if (true || progress[0]",
     "memory"),
    ("a loss does not count itself", SQL + "run.c", "run->counters.losses + 1,", "run->counters.losses,",
     "memory"),
    ("any state means waiting", SQL + "inspect.c", "request->state == CULEX_LIST_ANY ||",
     "(request->state == CULEX_LIST_ANY && run->state == CULEX_RUN_WAITING) ||", "memory"),
    ("no memory of the step", SQL + "memo.c", "else if (*ret_is_old)\n", "else if (*ret_is_old && step->nonce > last)\n",
     "memory"),
    ("a late step counts", SQL + "memo.c", "has > 0 && step->nonce <= last", "has > 0 && step->nonce == last",
     "memory"),
    ("nonces have a sign", SQL + "memo.c", "step->nonce <= last;", "(int64_t)step->nonce <= (int64_t)last;", "memory"),
    ("done at 0 s leaves a record", SQL + "run.c", "run->keep_success_ms > 0 ?", "run->keep_success_ms >= 0 ?",
     "memory"),
    ("a step forgets less than it adds", SQL + "retention.c", "left = CULEX_FORGET_MAX + added", "left = CULEX_FORGET_MAX",
     "memory"),
    ("what is to be forgotten asks for no step", SQL + "step.c", "sooner(store, forget, &reply->due_in_ms);", "",
     "memory"),
    ("each ended run asks for a step", SQL + "retention.c", "first < store->now_ms + CULEX_FORGET_GAP_MS", "false",
     "memory"),
    ("lost runs go to the back", SQL + "run.c",
     "(event == CULEX_EVENT_LOSS && !culex__run_is_suspect(&run->counters))", "run == NULL", "memory"),
    ("lower priority first", SQL + "statement.def", "SELECT max(priority) FROM run",
     "SELECT min(priority) FROM run", "memory"),
    ("a worker is forgotten in an hour", SQL + "statement.def",
     "memo.session = worker.session)", "memo.session = '')", "memory"),
    ("leases end a moment late", SQL + "statement.def",
     "state = 'A' AND\"\n          \" at_ms <= ? ORDER", "state = 'A' AND\"\n          \" at_ms < ? ORDER", "memory"),
    ("a retry keeps its expiry", SQL + "statement.def", "SET expires_at_ms = 0 WHERE",
     "SET expires_at_ms = expires_at_ms WHERE", "memory"),
    ("a repeat is done again", LUA + "lib_producers.lua", "if answer then return answer end", "", "redis"),
    ("another call has the same ticket", LUA + "lib_producers.lua", "return last == ARGV[4] and",
     "return sub(last, 1, 15) == sub(ARGV[4], 1, 15) and", "redis"),
    ("an older call is done", LUA + "lib_producers.lua", "sub(entry, 1, 15) >= sub(ARGV[4], 1, 15) and",
     "sub(entry, 1, 15) == sub(ARGV[4], 1, 15) and", "redis"),
    ("tickets never expire", LUA + "lib_producers.lua", "math.abs(ARGV[5] - now) > TICKET_HORIZON_MS and", "false and",
     "redis"),
    ("tickets of a clock ahead pass", LUA + "lib_producers.lua", "math.abs(ARGV[5] - now)", "(now - ARGV[5])", "redis"),
    ("a call is forgotten too soon", LUA + "lib_producers.lua", "now > call_until(last, ms)", "now >= call_until(last, ms)",
     "redis"),
    ("a ticket of a clock ahead is forgotten too soon", LUA + "lib_memory.lua",
     "math.max(tonumber(ms), tonumber(string.sub(sequence, 1, 12), 16))", "tonumber(ms)", "redis"),
    ("calls forget no producers", LUA + "lib_producers.lua",
     "if not entry then memory_forget(producers, producers_until, now, ADDS_FORGET) end", "", "redis"),
    ("steps forget no calls", LUA + "step.lua", "then calls_forget() end", "then end", "redis"),
    ("calls forget no keys", LUA + "lib_enqueue.lua", "  memory_forget(keys, keys_until, now, #key_puts)\n", "", "redis"),
    ("a call that brought nothing is remembered", LUA + "lib_enqueue.lua", "if #ids > 0 then runs_write", "if true then runs_write",
     "redis"),
    ("a key is remembered too long", LUA + "lib_enqueue.lua", "tonumber(until_ms) > now", "tonumber(until_ms) >= now", "redis"),
    ("keys of a batch do not meet", LUA + "lib_enqueue.lua", "keyed[key] or call('HGET', keys, key)", "call('HGET', keys, key)",
     "redis"),
    ("a key comes with any content", LUA + "lib_enqueue.lua", "known == content and 'D' or 'C'", "'D'", "redis"),
    ("a unique key comes before a key", LUA + "lib_enqueue.lua",
     "not known and key ~= '' and unique_holder(key)\n    if known then",
     "key ~= '' and unique_holder(key)\n    if known and not holder then", "redis"),
    ("a number is given twice", LUA + "lib_enqueue.lua", "call('HINCRBY', meta, 'number', #ids)",
     "call('HINCRBY', meta, 'number', #ids - 1)", "redis"),
    ("an id has another time", LUA + "lib_enqueue.lua", "id_prefix(now, tonumber(salt))", "id_prefix(now + 1, tonumber(salt))",
     "redis"),
    ("a known call comes again together", LUA + "lib_callers.lua", "if entry and is_past(entry, made, now) then", "if false then", "redis"),
    ("a call that is over refuses those together", LUA + "lib_callers.lua", "return last and now <= call_until(last, ms)", "return true",
     "redis"),
    ("a past call comes together", LUA + "lib_callers.lua", "if sub(entry, 1, 15) < sub(made, 1, 15) then",
     "if sub(entry, 1, 15) ~= sub(made, 1, 15) then", "redis"),
    ("tickets together never expire", LUA + "lib_callers.lua", "if math.abs(call_ms(at) - now) > TICKET_HORIZON_MS then", "if false then",
     "redis"),
    ("calls together have one answer", LUA + "lib_callers.lua", "      before = before + 1\n", "", "redis"),
    ("calls together that brought nothing are remembered", LUA + "lib_callers.lua", "return answers == '' or sub(answers, at, at) == 'N'",
     "return true", "redis"),
    ("calls together forget no producers", LUA + "lib_callers.lua",
     "  if news > 0 then memory_forget(producers, producers_until, now, CALLER_FORGETS * news) end\n", "", "redis"),
    ("calls together are not listed", LUA + "lib_callers.lua", "  write('ZADD', producers_until, puts)\n", "", "redis"),
    ("a known call comes again together", SQL + "enqueue.c",
     "        if (status == CULEX_OK && is_known)\n            status = culex__refuse_ticket(error);\n", "", "memory"),
    ("two calls of a producer together", "runtime/store/argument.c",
     "producer_is_among(tickets[i].producer, tickets, i)", "producer_is_among(tickets[i].producer, tickets, 0)",
     "memory"),
    ("any number of calls together", "runtime/store/argument.c", "if (count == 0 || count > CULEX_STORE_EACH_MAX)", "if (count == 0)", "memory"),
    ("a repeat is done again", SQL + "producer.c", "*ret_is_answered = true;", "*ret_is_answered = false;", "memory"),
    ("another call has the same ticket", SQL + "producer.c",
     "kept->last.digest != (int64_t)culex__runs_digest(call->runs, call->count)", "kept == NULL", "memory"),
    ("an older call is done", SQL + "producer.c", "|| sequence > kept->last.sequence)", "|| sequence != kept->last.sequence)",
     "memory"),
    ("tickets never expire", SQL + "producer.c", "off_ms <= CULEX_TICKET_HORIZON_MS &&", "off_ms != INT64_MAX &&", "memory"),
    ("tickets of a clock ahead pass", SQL + "producer.c", "off_ms >= -CULEX_TICKET_HORIZON_MS", "off_ms != INT64_MAX",
     "memory"),
    ("a call is forgotten too soon", SQL + "producer.c", "store->now_ms > remembered_ms(&kept->last)",
     "store->now_ms >= remembered_ms(&kept->last)", "memory"),
    ("one producer's call hides another's", SQL + "rear.c", "at == rear->last_count && at < CULEX__SQLITE_LASTS_MAX)",
     "at == rear->last_count && at < 1)", "memory"),
    ("a crowd's calls are forgotten", SQL + "producer.c", "if (is_full && culex__sqlite_rear_find(rear, last->producer) == NULL)",
     "if (false)", "sqlite"),
    ("calls in the rear are never forgotten", SQL + "producer.c", "    rear_forget(&queue->rear, minute);\n", "    (void)rear_forget;\n", "memory"),
    ("what was answered before stays", SQL + "producer.c",
     "    culex__sqlite_rear_drop(&queue->rear, last->producer);\n    return status;", "    return status;", "memory"),
    ("a call that brought nothing is remembered", SQL + "producer.c", "if (call->ticket == NULL || number == 0)",
     "if (call->ticket == NULL)", "memory"),
    ("a key is remembered too long", SQL + "statement.def", "AND key = ? AND until_ms > ?", "AND key = ? AND until_ms >= ?", "memory"),
    ("a kind has room for any name", SQL + "body.c", " && kind_has_room_for(run->job)", "", "memory"),
    ("held runs are claimed", SQL + "body.c", "*ret_first = taken + 1;",
     "*ret_first = taken;", "memory"),
    ("kept runs are claimed", SQL + "block.c", "        status = last_bit(store, SQL_BIND(store, ENDED_LAST, first, last), ret_seq, error);",
     "        status = CULEX_OK;", "memory"),
    ("a block is acked by anybody", SQL + "group.c", "if (status == CULEX_OK && strcmp(ret_group->block.session, step->session) != 0)",
     "if (false)", "memory"),
    ("a block is acked by its keys", SQL + "group.c", "memcmp(&id, group->ids[at], sizeof id) == 0;",
     "true;", "memory"),
    ("an ack of any attempt ends a block", SQL + "group.c", "ack->attempt == 1 && ",
     "", "memory"),
    ("an ordinary success has no result", SQL + "group.c", " && ack->result_len == 0",
     "", "memory"),
    ("an ack of a block forgets progress", SQL + "group.c", " &&\n           !is_text(ack->progress)",
     "", "memory"),
    ("all of a block are kept as its first", SQL + "group.c", " && group->keep_ms[group->order[count]] == keep_ms",
     " && group->keep_ms[group->order[count]] >= 0", "memory"),
    ("an ack counts as often as it is said", SQL + "group.c", "if (bit == 0 || (group->bits & bit) != 0)",
     "if (bit == 0)", "memory"),
    ("a beat of a part is one of all", SQL + "group.c", "*ret_is_whole = group->bits == group->block.held;",
     "*ret_is_whole = true;", "memory"),
    ("a block knows no timeout", SQL + "group.c", "return block->timeout_ms > 0 &&",
     "return false &&", "memory"),
    ("a block gets more time by nobody", SQL + "group.c", "(beat->extend_ms <= 0 || block->timeout_ms == 0)",
     "true", "memory"),
    ("nobody in a block is excused", SQL + "group.c", "group->block.started &= ~bit;",
     "group->block.started |= 0;", "memory"),
    ("nobody in a block starts", SQL + "group.c", "            group->block.started |= bit;",
     "            group->block.started |= 0;", "memory"),
    ("the longest timeout of a block counts", SQL + "claim.c", "return one < other ? one : other;",
     "return one > other ? one : other;", "memory"),
    ("ordinary runs go first", SQL + "claim.c", "        return own->has > 0;\n    return own->place",
     "        return own->has > 0;\n    return false && own->place", "memory"),
    ("ordinary runs go last in their moment", SQL + "claim.c", "own->place < bodies->place : own->seq < bodies->seq",
     "own->place < bodies->place : own->seq > bodies->seq", "memory"),
    ("all of a block start", SQL + "claim.c", "block->started |= is_started ? bit : 0;",
     "block->started |= bit;", "memory"),
    ("damaged ordinary runs are granted", SQL + "claim.c", "culex__sqlite_checksum(body->id, kind->job, body->payload, body->len) == expected",
     "true", "memory"),
    ("a repeat grants a block to anybody", SQL + "claim.c", "if (status != CULEX_OK || strcmp(block.session, step->session) != 0)",
     "if (status != CULEX_OK)", "memory"),
    ("blocks are held for ever", SQL + "lease.c", "culex_status status = blocks_end(store, queue, error);",
     "culex_status status = CULEX_OK;", "memory"),
    ("the end of a block is not foreseen", SQL + "lease.c", "if (status == CULEX_OK && block_ms < *ret_at_ms)",
     "if (false)", "memory"),
    ("the end of a kept block is not foreseen", SQL + "retention.c", "INT64_MAX, &first, error);",
     "INT64_MAX, &at_ms, error);", "memory"),
    ("whole blocks are forgotten", SQL + "retention.c", "int64_t over = bits_first(end.runs, most - *ret_count);",
     "int64_t over = end.runs;", "memory"),
    ("HELLO leaves blocks", SQL + "manage.c", "culex_status status = blocks_take_back(store, queue, session, error);",
     "culex_status status = CULEX_OK;", "memory"),
    ("PURGE leaves kept blocks", SQL + "manage.c", "if (request->state == CULEX_RUN_DONE)",
     "if (false)", "memory"),
    ("long payloads of ordinary runs stay", SQL + "statement.def", "length(payload) > 256\")",
     "length(payload) > 2560\")", "memory"),
    ("payloads of ordinary successes are shown", SQL + "body.c", "        run->payload_len = 0;",
     "        run->payload_len += 0;", "memory"),
    ("LIST looks for no block", SQL + "inspect.c", "if (status != CULEX_OK || run->seq > at->taken)",
     "if (true)", "memory"),
    ("a kept ordinary run is a live one", SQL + "body.c", "*ret_is_live = status == CULEX_OK && !culex__run_state_is_final(stand.state);",
     "*ret_is_live = status == CULEX_OK;", "memory"),
    ("an adopted run has no owner", SQL + "body.c", "const char *owner = is_held ? block->session : is_done",
     "const char *owner = is_done", "memory"),
    ("an adopted run has not started", SQL + "body.c", "SQL_INT(is_started)),",
     "SQL_INT(0)),", "memory"),
    ("an adopted run has no slack", SQL + "body.c", "block->since_ms + CULEX_TIMEOUT_SLACK_MS",
     "block->since_ms", "memory"),
    ("an adopted run stays in its block", SQL + "body.c", "return status == CULEX_OK ? culex__sqlite_stand_leave(store, seq, &stand, error) : status;",
     "return status;", "memory"),
    ("a missing body stays counted", SQL + "body.c", "    queue->kept[CULEX_RUN_ACTIVE]--;\n",
     "", "memory"),
    ("a repeat has an order of its own", SQL + "memo.c", "bit > 0 && last->bits < bit &&",
     "bit > 0 &&", "memory"),
    ("a memo mixes attempts", SQL + "memo.c", " && last->attempt == next.attempt",
     "", "memory"),
    ("a kind in use is swept away", SQL + "kind.c", "return sweep != queue->sweep ? kind_seen(store, queue, *ret_kind, error) : CULEX_OK;",
     "return CULEX_OK;", "memory"),
    ("kinds of bodies are swept away", SQL + "kind.c", "        if (is_other)\n            status = kind_seen(store, queue, kind, error);",
     "        (void)is_other;", "memory"),
    ("kinds stay for ever", SQL + "kind.c", "if (queue->swept == 0 && queue->kinds_left > 0)",
     "if (true)", "memory"),
    ("a call has one kind", SQL + "kind.c", "one->keep_success_ms == other->keep_success_ms &&",
     "true &&", "memory"),
    ("held runs wake workers", SQL + "body.c", "if (status != CULEX_OK || seq < 0 || seq > taken)",
     "if (true)", "memory"),
    ("a cursor counts from the first queue", SQL + "inspect.c", "int64_t after = first + (int64_t)(request->cursor < most ? request->cursor : most);",
     "int64_t after = first + (int64_t)request->cursor;", "memory"),
    ("blocks are not cut", SQL + "statement.def", "lease_ms > ?3 LIMIT ?4", "lease_ms > ?3 LIMIT 0", "memory"),
    ("a key comes with any content", SQL + "idempotency.c", "(uint64_t)sqlite3_column_int64(row, 0) == run->content",
     "row != NULL", "memory"),
    ("producers stay for ever", SQL + "producer.c", "i < CULEX_FORGET_MAX && is_gone", "i < 0 && is_gone", "sqlite"),
    ("keys stay for ever", SQL + "idempotency.c", "i < added + CULEX_FORGET_MAX && is_gone", "i < added * 0 && is_gone", "sqlite"),
    ("a number is given twice", SQL + "queue.c", "queue->rear.number = number;", "queue->rear.number = 1;", "memory"),
    ("a run has the key of the rear", SQL + "queue.c", "return seq <= culex__sqlite_queue_last(queue) ? seq : 0;", "return seq;", "memory"),
    ("LIST tells of the rear", SQL + "queue.h", "((INT64_C(1) << CULEX__SQLITE_QUEUE_SHIFT) - 2);\n}\n/* The key of its rear. */",
     "((INT64_C(1) << CULEX__SQLITE_QUEUE_SHIFT) - 1);\n}\n/* The key of its rear. */", "memory"),
    ("arrived runs are counted once more", SQL + "queue.c", "    queue_count(queue, -queue->rear.arrived);\n", "", "memory"),
    ("a sweep leaves the kind in hand alone", SQL + "kind.c", " && recent->sweep == queue->sweep &&", " &&", "memory"),
    ("queues share the kind in hand", SQL + "kind.c", "recent->key != 0 && recent->queue == queue->key &&", "recent->key != 0 &&", "memory"),
    ("a kind outlives its transaction", SQL + "queue.c",
     "    store->recent_kind.key = 0; /* it may have been made, or seen, in vain */\n", "", "memory"),
    ("keys make no other call", "runtime/store/digest.c", "for (; *key != '\\0'; key++)", "for (; false; key++)", "memory"),
    ("contents make no other call", "runtime/store/digest.c", "digest_mix(digest, runs[i].content)", "digest_mix(digest, 0)",
     "memory"),
    ("four crashes in a row", RULES, "CRASH_STREAK_MAX, 3", "CRASH_STREAK_MAX, 4", "memory redis"),
    ("eleven losses", RULES, "LOSSES_MAX, 10", "LOSSES_MAX, 11", "memory redis"),
    ("a suspect after three", RULES, "SUSPECT_LOSSES, 2", "SUSPECT_LOSSES, 3", "memory redis"),
    ("less slack", RULES, "TIMEOUT_SLACK_MS, 5000", "TIMEOUT_SLACK_MS, 4999", "memory redis"),
    ("a longer horizon", RULES, "TICKET_HORIZON_MS, 600000", "TICKET_HORIZON_MS, 600001", "memory redis"),
    ("a discard is not charged", RULES, "EVENT(DISCARD, 1,", "EVENT(DISCARD, 0,", "memory redis"),
    ("a crash goes to the front", RULES, "TRANSITION(ACTIVE, CRASH, SCHEDULED)",
     "TRANSITION(ACTIVE, CRASH, WAITING)", "redis"),
    ("done may be retried", RULES, "TRANSITION(DEAD, RETRY, WAITING)",
     "TRANSITION(DEAD, RETRY, WAITING)\nTRANSITION(DONE, RETRY, WAITING)", "redis"),
]

# FSCK repairs what nobody but its own tests breaks, so these need no other test. A run without
# --all or --only takes every eighth.
FSCK_MUTANTS = [
    ("a damaged tail is taken apart", LUA + "prelude.py", "|({rest})$')", "|(.*)$')", "redis"),
    ("a report lifts times to live", LUA + "fsck.lua", "if is_repairing then call('PERSIST', key) end",
     "call('PERSIST', key)", "redis"),
    ("times to live stay", LUA + "fsck.lua", "if is_repairing then call('PERSIST', key) end",
     "", "redis"),
    ("overlong UTF-8 passes", LUA + "fsck.lua", "if find(text, '\\224[\\128-\\159]') or find(text, '\\237[\\160-\\191]') or",
     "if", "redis"),
    ("loose UTF-8 passes", LUA + "fsck.lua", "return not find(text, '%c') and is_utf8(text)",
     "return not find(text, '%c')", "redis"),
    ("control characters pass", LUA + "fsck.lua", "return not find(text, '%c') and is_utf8(text)",
     "return is_utf8(text)", "redis"),
    ("leading zeros pass", LUA + "fsck.lua", " or find(text, '^0.') then",
     " then", "redis"),
    ("large numbers pass", LUA + "fsck.lua", "return most == 0 or tonumber(text) <= most",
     "return true", "redis"),
    ("any hex passes", LUA + "fsck.lua", "return #text == 16 and not find(text, '[^0-9a-f]')",
     "return #text == 16", "redis"),
    ("any letter passes", LUA + "fsck.lua", "return #text == 1 and find(STATES, text, 1, true) ~= nil",
     "return #text == 1", "redis"),
    ("missing fields pass", LUA + "fsck.lua", "return at == #RECORD_KINDS + 1",
     "return true", "redis"),
    ("short ids pass", LUA + "fsck.lua", "return #id == 16 and text and is_strict(text)",
     "return text and is_strict(text)", "redis"),
    ("a report puts records aside", LUA + "fsck.lua", "if is_repairing then aside_put(id, text) end",
     "aside_put(id, text)", "redis"),
    ("an aside stays in its index", LUA + "lib_aside.lua", "dropped = dropped + call('ZREM', key, id) end",
     "dropped = 1 end", "redis"),
    ("an aside stays urgent", LUA + "lib_aside.lua", "local dropped = call('ZREM', urgent, id)",
     "local dropped = 0", "redis"),
    ("an aside's place is no ghost", LUA + "lib_aside.lua", "if aside_drop(id) == 0 and not was_dead then call('HINCRBY', meta, 'ghosts', 1) end",
     "aside_drop(id)", "redis"),
    ("damaged bytes are not kept", LUA + "lib_aside.lua", "  call('HSET', damaged, id, text)\n",
     "", "redis"),
    ("a short id stays", LUA + "lib_aside.lua", "  call('HDEL', runs, id)\n",
     "", "redis"),
    ("an aside is not dead", LUA + "lib_aside.lua", "call('ZADD', dead, r.at_ms, id) == 0",
     "false", "redis"),
    ("an aside says nothing", LUA + "lib_aside.lua", "  call('HSET', errors, id, 'the record was damaged: its bytes are kept in ' .. damaged)\n",
     "", "redis"),
    ("active runs need payloads", LUA + "fsck.lua", "if r.state == DONE or r.state == ACTIVE or call('HEXISTS'",
     "if r.state == DONE or call('HEXISTS'", "redis"),
    ("final runs keep silent", LUA + "fsck.lua", "if is_repairing then put(text_puts, id, LACKS) end",
     "", "redis"),
    ("no payload, still scheduled", LUA + "fsck.lua", "    due_drop(id, r)\n",
     "", "redis"),
    ("no payload, ghost uncounted", LUA + "fsck.lua", "  elseif call('ZREM', urgent, id) == 0 then\n    call('HINCRBY', meta, 'ghosts', 1)",
     "  elseif call('ZREM', urgent, id) == 0 then", "redis"),
    ("the reason is lost", LUA + "fsck.lua", "  put(text_puts, id, LACKS)\n  finish",
     "  finish", "redis"),
    ("any holder is good", LUA + "fsck.lua", "  if holder == id then return end\n  wrong",
     "  if holder then return end\n  wrong", "redis"),
    ("final runs want keys", LUA + "fsck.lua", "if key == '' or IS_FINAL[r.state] then return end",
     "if key == '' then return end", "redis"),
    ("the key is not given back", LUA + "fsck.lua", "    call('HSET', unique, key, id)\n    return",
     "    return", "redis"),
    ("both keep the key", LUA + "fsck.lua", "call('HSET', runs, id, record_text(r))\nend\n\n-- Priority",
     "end\n\n-- Priority", "redis"),
    ("a false holder wins", LUA + "fsck.lua", "not holder or not is_holder(key, holder)",
     "not holder", "redis"),
    ("any urgent score is good", LUA + "fsck.lua", "if score and urgent_priority(tonumber(score)) == priority_of(r) then return end",
     "if score then return end", "redis"),
    ("urgent runs are not put back", LUA + "fsck.lua", "if is_repairing then ready_put(id, r, false) end",
     "", "redis"),
    ("any time is good", LUA + "fsck.lua", "if score and tonumber(score) == tonumber(r.at_ms) then return end",
     "if score then return end", "redis"),
    ("entries are not put back", LUA + "fsck.lua", "if is_repairing then call('ZADD', key, r.at_ms, id) end",
     "", "redis"),
    ("the walk is short", LUA + "fsck.lua", "more = call('LRANGE', ready, -(from + 1000), -(from + 1))",
     "more = call('LRANGE', ready, -(from + 900), -(from + 1))", "redis"),
    ("the walk begins at the head", LUA + "fsck.lua", "more = call('LRANGE', ready, -(from + 1000), -(from + 1))",
     "more = call('LRANGE', ready, from, from + 999)", "redis"),
    ("the walk stops early", LUA + "fsck.lua", "return answer(left > 0 and tostring(from + 1000) or '0')",
     "return answer('0')", "redis"),
    ("claimed and freed is missing", LUA + "fsck.lua", " and r.attempt == ARGV[at + 1]\n",
     " and true\n", "redis"),
    ("dead and revived is missing", LUA + "fsck.lua", "r.expires_at_ms == ARGV[at + 2]",
     "true", "redis"),
    ("repeated pushes double", LUA + "fsck.lua", "not call('LPOS', ready, id, 'RANK', -1, 'MAXLEN', 1000)",
     "true", "redis"),
    ("lost runs are not pushed", LUA + "fsck.lua", "      call('RPUSH', ready, id)\n",
     "", "redis"),
    ("strangers stay", LUA + "fsck.lua", "if not text then return 'bad' end",
     "if not text then return 'good' end", "redis"),
    ("any state is good", LUA + "fsck.lua", "return is_good(r) and 'good' or 'bad'",
     "return 'good'", "redis"),
    ("damaged ones are wrong too", LUA + "fsck.lua", "if not r then return 'damaged' end",
     "if not r then return 'bad' end", "redis"),
    ("an aside counts twice", LUA + "fsck.lua", "if not is_aside(id) then wrong = wrong + 1 end",
     "wrong = wrong + 1", "redis"),
    ("a report removes entries", LUA + "fsck.lua", "if is_repairing then call(command, key, entry) end",
     "call(command, key, entry)", "redis"),
    ("any key of the run is good", LUA + "fsck.lua", "return not IS_FINAL[r.state] and match(r.tail, TAIL_unique_key) == key\n    end",
     "return not IS_FINAL[r.state]\n    end", "redis"),
    ("dead runs hold keys", LUA + "fsck.lua", "return not IS_FINAL[r.state] and match(r.tail, TAIL_unique_key) == key\n    end",
     "return match(r.tail, TAIL_unique_key) == key\n    end", "redis"),
    ("the number may fall behind", LUA + "fsck.lua", "if not is_sound or most > tonumber(number) then",
     "if not is_sound then", "redis"),
    ("any salt is good", LUA + "fsck.lua", "if not salt or is_int(salt, 67108863) then return end",
     "if salt or not salt then return end", "redis"),
    ("what is remembered may lack its time", LUA + "fsck.lua",
     "if not until_ms or not score or tonumber(score) ~= until_ms then", "if not until_ms then", "redis"),
    ("times without a field stay", LUA + "fsck.lua", "if is_repairing then call('ZREM', times, page[2][at]) end",
     "", "redis"),
    ("sessions stay for ever", LUA + "fsck.lua", "if is_repairing then call('ZADD', sessions_seen, now, page[2][at]) end",
     "", "redis"),
    ("sessions of nobody stay", LUA + "fsck.lua", "if is_repairing then call('ZREM', sessions_seen, name) end",
     "", "redis"),
    ("ghosts are not set", LUA + "fsck.lua", "if is_repairing then call('HSET', meta, field, value) end",
     "", "redis"),
    ("the urgent are ghosts", LUA + "fsck.lua", "call('HLEN', runs) - call('ZCARD', urgent)",
     "call('HLEN', runs)", "redis"),
    ("a doubtful report tells ghosts", LUA + "fsck.lua", "if is_repairing or place == '0' then ghosts_check() end",
     "ghosts_check()", "redis"),
    ("the back may lag", LUA + "fsck.lua", "if most > back then meta_put('back', most) end",
     "", "redis"),
    ("the front may lag", LUA + "fsck.lua", "if least < front then meta_put('front', least) end",
     "", "redis"),
    ("done runs have payloads", LUA + "fsck.lua", "r.state ~= DONE end) end",
     "true end) end", "redis"),
    ("any run has results", LUA + "fsck.lua", "results = function() return hash_share(results, state_is(DONE)) end",
     "results = function() return hash_share(results, function() return true end) end", "redis"),
    ("priority 0 is urgent", LUA + "fsck.lua", "return r.state == WAITING and priority_of(r) > 0 end",
     "return r.state == WAITING end", "redis"),
    ("suspects are never crossed off", LUA + "fsck.c", "found->is_met = true;",
     "found->is_met = false;", "redis"),
    ("met runs are asked for", LUA + "fsck.c", "if (suspect->is_met)",
     "if (!suspect->is_met)", "redis"),
    ("only one page is verified", LUA + "fsck.c", "return at < fsck->count ? at : 0;",
     "return 0;", "redis"),
    ("another queue's cursor passes", LUA + "fsck.c", " || strcmp(redis->fsck->queue, queue) != 0",
     "", "redis"),
    ("checksums are not compared", SQL + "run.c", "(size_t)run->payload_len) ==\n               expected",
     "(size_t)run->payload_len) !=\n               expected + 1", "memory"),
    ("active runs need payloads", SQL + "fsck.c", "return run->state != CULEX_RUN_DONE && run->state != CULEX_RUN_ACTIVE;",
     "return run->state != CULEX_RUN_DONE;", "memory"),
    ("marked runs are marked again", SQL + "fsck.c", " || is_marked(statement))",
     ")", "memory"),
    ("a report marks", SQL + "fsck.c", "    if (!fsck->is_repairing)\n        return CULEX_OK;\n    if (culex__run_state_is_final",
     "    if (culex__run_state_is_final", "memory"),
    ("a delayed damaged run stays", SQL + "fsck.c", "run->is_delayed = false; /* so",
     "/* so", "memory"),
    ("places beyond the last stay", SQL + "fsck.c", "is_placed && run->at_ms > culex__sqlite_queue_horizon",
     "!is_placed && run->at_ms > culex__sqlite_queue_horizon", "memory"),
    ("the front may lag", SQL + "fsck.c", "queue->front = run->at_ms;",
     "", "memory"),
    ("finals may be delayed", SQL + "fsck.c", "fsck->counts.wrong++; /* only",
     "/* only", "memory"),
    ("an aside is not counted as dead", SQL + "run.c",
     "queue->kept[CULEX_RUN_DEAD]++;\n    queue->dead += from", "queue->dead += from", "memory"),
    ("a share ends early", SQL + "fsck.c", "*ret_count == ROWS_MAX\n",
     "*ret_count > ROWS_MAX\n", "memory"),
    ("payloads of nobody stay", SQL + "fsck.c", "PAYLOAD_DELETE, SQL_INT(seq)", "PAYLOAD_GET, SQL_INT(seq)",
     "memory"),
    ("counters stay", SQL + "fsck.c", "fsck->queue->kept[state] = kept[state];",
     "", "memory"),
    ("bits without bodies stay", SQL + "fsck.c", "    *bits &= there;\n",
     "", "memory"),
    ("bodies of no block stay", SQL + "fsck.c", "bool is_stray = status == CULEX_OK && seq <= fsck->taken;",
     "bool is_stray = false;", "memory"),
    ("a number is told by each share", SQL + "fsck.c", "fsck->counts.wrong += !fsck->is_number_told;",
     "fsck->counts.wrong++;", "memory"),
    ("numbers in blocks count for nothing", SQL + "fsck.c", "    fsck->number = number > fsck->number ? number : fsck->number;\n    return status;\n}\n\nstatic culex_status block_check",
     "    return status;\n}\n\nstatic culex_status block_check", "memory"),
    ("a done run is held again", SQL + "statement.def", "WHERE first = ?1 AND until_ms > ?2", "WHERE first = ?1 AND until_ms > ?2 + (1 << 62)", "memory"),
    ("a block keeps what the next one has taken", SQL + "statement.def", "SELECT first, held FROM block WHERE first BETWEEN ?1 + 1 AND ?1 + 62",
     "SELECT first, held FROM block WHERE first BETWEEN ?1 + 1 AND ?1", "memory"),
    ("a block keeps what the next one has done", SQL + "statement.def", "SELECT first, runs FROM ended WHERE first BETWEEN ?1 + 1 AND ?1 + 62",
     "SELECT first, runs FROM ended WHERE first BETWEEN ?1 + 1 AND ?1", "memory"),
    ("bits of two rows count twice", SQL + "fsck.c", "return status == CULEX_OK ? bits_above(fsck, first, until_ms, bits, error) : status;",
     "return (void)bits_above, (void)until_ms, status;", "memory"),
    ("held bits are not counted", SQL + "fsck.c", "kept[CULEX_RUN_ACTIVE] += held;",
     "", "memory"),
    ("kept bits are not counted", SQL + "fsck.c", "kept[CULEX_RUN_DONE] += done;",
     "", "memory"),
    ("short payloads may lie apart", SQL + "statement.def", "SELECT payload_len > ?2 FROM run",
     "SELECT payload_len <> ?2 FROM run", "memory"),
    ("an aside is purged", SQL + "statement.def", "at_ms = 9999999999999",
     "at_ms = 0", "memory"),
]


def tests_of(build, store, is_fsck):
    suite = build / "tests/stores/suite"
    if is_fsck:
        yield "fsck", [build / "tests/stores/fsck" / ("test_fsck_redis" if store == "redis" else "test_fsck_sqlite")]
        return
    yield "conformance", [suite / "conformance", store]
    for seed in ("1", "2", "3"):
        yield "differential", [suite / "differential", store, "--ops", "5000", "--seed", seed]
    if store in ("memory", "sqlite"):
        yield "blocks", [build / "tests/stores/sqlite/test_sqlite_block"]
        yield "enqueue", [build / "tests/stores/sqlite/test_sqlite_enqueue"]


def killer(build, store, is_fsck):
    """The test that went red, with its own words; None when all stayed green."""
    for name, command in tests_of(build, store, is_fsck):
        try:
            run = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False,
                                 errors="replace")
        except subprocess.TimeoutExpired:
            return f"{name}: no end"
        if run.returncode != 0:
            lines = (run.stdout + run.stderr).splitlines()
            failed = [line for line in lines if "FAILED  ] " in line and ("__" in line or "test_" in line)]
            word = failed[0].split("] ")[1] if failed else next(
                (line for line in lines if "difference" in line or "redis_check" in line), f"exit {run.returncode}")
            more = f" and {len(set(failed)) - 1} more" if len(set(failed)) > 1 else ""
            return f"{name}: {word}{more}"
    return None


def build_all(build):
    return subprocess.run(["ninja", "-C", build, "-j1", "tests/stores/suite/conformance",
                           "tests/stores/suite/differential", "tests/stores/fsck/test_fsck_redis",
                           "tests/stores/fsck/test_fsck_sqlite", "tests/stores/sqlite/test_sqlite_block",
                           "tests/stores/sqlite/test_sqlite_enqueue"], capture_output=True, check=False).returncode == 0


def tree_copy(target):
    files = subprocess.run(["git", "-C", TREE, "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
                           capture_output=True, text=True, check=True).stdout.split("\0")
    for name in filter(None, files):
        if (TREE / name).is_file():
            (target / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(TREE / name, target / name)
    build = target / "build"
    subprocess.run(["meson", "setup", build, target, "-Dtests=true"], stdout=subprocess.DEVNULL,
                   check=True)
    if not build_all(build):
        sys.exit("mutants.py: the tree does not build as it is")
    return target


def try_mutant(tree, build, path, old, new, stores, is_fsck):
    original = (tree / path).read_text()
    if original.count(old) != 1:
        return [f"STALE: the text is there {original.count(old)} times"]
    (tree / path).write_text(original.replace(old, new))
    try:
        if not build_all(build):
            return ["STALE: does not build"]
        return [killer(build, store, is_fsck) or f"SURVIVED on {store}" for store in stores.split()]
    finally:
        (tree / path).write_text(original)


def judge(mutant, trees):
    """Borrows a tree, so that as many mutants are tried at a time as there are trees."""
    name, path, old, new, stores = mutant
    tree = trees.get()
    try:
        verdicts = try_mutant(tree, tree / "build", path, old, new, stores, mutant in FSCK_MUTANTS)
    finally:
        trees.put(tree)
    return [(verdict, f"{pathlib.Path(path).name}: {name}: {verdict}") for verdict in verdicts]


def chosen_read():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", metavar="TEXT", default="", help="those with TEXT in their name or in their file's path")
    parser.add_argument("--all", action="store_true", help="try every mutant, instead of each second one, and each eighth of FSCK")
    options = parser.parse_args()
    every, fsck = (1, 1) if options.only or options.all else (2, 8)
    chosen = [mutant for mutant in MUTANTS[::every] + FSCK_MUTANTS[::fsck] if options.only in mutant[0] + mutant[1]]
    return chosen or parser.error(f"no mutant has '{options.only}' in its name or in its file's path")


def main():
    chosen = chosen_read()
    lanes = min(len(os.sched_getaffinity(0)), len(chosen))
    bad = 0
    with tempfile.TemporaryDirectory(prefix="culex-mutants-") as folder, \
            concurrent.futures.ThreadPoolExecutor(max(lanes, 1)) as pool:
        trees = queue.SimpleQueue()
        for tree in pool.map(tree_copy, [pathlib.Path(folder) / str(lane) for lane in range(lanes)]):
            trees.put(tree)
        for said in pool.map(judge, chosen, itertools.repeat(trees)):
            for verdict, line in said:
                bad += verdict.startswith(("SURVIVED", "STALE"))
                print(line, flush=True)
    print(f"{bad} mutants survived or are stale")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
