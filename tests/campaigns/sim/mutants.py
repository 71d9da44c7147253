"""Shows that the simulation sees: breaks the product on purpose and expects a violation.

Copies the tree to a temporary folder, builds the simulation once, then for each mutant below
changes one place, rebuilds, and runs seeds until one is found or the steps are made. A mutant that
survives is a hole in the oracle (exit code 1). Not part of the test run."""

import argparse
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

TREE = pathlib.Path(__file__).resolve().parents[3]
LUA, SQL, WORKER = "runtime/store/redis/", "runtime/store/sqlite/", "runtime/worker/"

# What breaks, where, old text, new text, store.
MUTANTS = [
    ("no fence at all", LUA + "lib_leases.lua",
     "return r.state == ACTIVE and r.attempt == attempt and r.owner == session",
     "return r.state == ACTIVE", "redis"),
    ("no attempt in the fence", LUA + "lib_leases.lua", "r.attempt == attempt and r.owner == session\nend",
     "r.owner == session\nend", "redis"),
    ("no owner in the fence", LUA + "lib_leases.lua", "r.attempt == attempt and r.owner == session\nend",
     "r.attempt == attempt\nend", "redis"),
    ("the nonce's memo is ignored", LUA + "step.lua", "if last_nonce == nonce then",
     "if last_nonce == '' then", "redis"),
    ("a late step counts", LUA + "step.lua", "if last_nonce and (#nonce < #last_nonce or #nonce == #last_nonce and nonce < last_nonce) then",
     "if false then", "redis"),
    ("the reaper is off", LUA + "step.lua", "if lease_end and lease_end <= now then",
     "if lease_end and lease_end < 0 then", "redis"),
    ("the reap charges nothing", LUA + "lib_plan.lua", "is_loss and 'LOSS' or 'RELEASE'", "'RELEASE'",
     "redis"),
    ("what snoozed keeps its expiry", WORKER + "acks.c", "ack.has_begun = atomic_load_explicit(&flight->run.started_ns, memory_order_relaxed) > 0;",
     "ack.has_begun = false;", "redis"),
    ("what was granted once does not expire", SQL + "scan.c", "run->expires_at_ms != 0 && ",
     "run->expires_at_ms != 0 && run->attempt == 0 && ", "sqlite"),
    ("one run more than there are slots", SQL + "parking.c", "if (room_of(store, keys->counters[i]) <= 0) {",
     "if (room_of(store, keys->counters[i]) < 0) {", "sqlite"),
    ("one run more than there are slots", LUA + "lib_slots.lua", "if l.kind == 'C' then return l.count - g.whole.active end",
     "if l.kind == 'C' then return l.count + 1 - g.whole.active end", "redis"),
    ("more is granted than a worker offers", LUA + "lib_claims.lua", "    needs_take(n)\n", "", "redis"),
    ("more is granted than a worker offers", SQL + "scan_needs.c", "culex__needs_take(&candidate->needs->units, &scan->offers);",
     "(void)0;", "sqlite"),
    ("a granted run is parked behind what it needs", LUA + "lib_claims.lua", "    r.behind = '1' -- it may have been parked behind what it needs\n",
     "", "redis"),
    ("a worker offers what is in use", "runtime/worker/units.c", "    in_use_change(units, held, 1);\n", "", "sqlite"),
    ("a step that is sent ahead offers what was just granted", "runtime/worker/lane.c", " &&\n           !grants_need(reply)", "", "redis"),
    ("a free slot is told to no part", SQL + "ledger.c", "        status = needs_ask(store, queue, &has_parts, error);\n        if (status == CULEX_OK && has_parts)\n            status = slot_spread",
     "        if (false)\n            status = slot_spread", "sqlite"),
    ("nobody who is parked is let in", LUA + "step.lua", "if look and look <= now then place_admit() end", "", "redis"),
    ("nobody who is parked for a slot is let in", SQL + "admission.c",
     "counter != NULL && (counter->whole->key[0] == '\\0') == are_of_all)",
     "counter != NULL && (counter->whole->key[0] == '\\0') == are_of_all && counter->limit->kind != CULEX_LIMIT_CONCURRENCY)", "sqlite"),
    ("a key is not kept for its time", LUA + "lib_unique.lua", "if until_text ~= '' then return is_within(until_text, now) and id or nil end",
     "if until_text ~= '' then return nil end", "redis"),
    ("a key is not kept for its time", SQL + "unique.c", "unique->is_held = sqlite3_column_int64(row, 1) > store->now_ms;",
     "unique->is_held = false;", "sqlite"),
    ("who has begun is replaced", LUA + "lib_enqueue.lua", "and tonumber(r.attempt) == 0 and r or nil", "and r or nil", "redis"),
    ("a move counts an attempt", SQL + "manage.c", "culex__sqlite_run_place(store, queue, &run, request->place, error)",
     "(run.attempt++, culex__sqlite_run_place(store, queue, &run, request->place, error))", "sqlite"),
    ("a suspect has company", WORKER + "lane.c", "!culex__solitude_lets_claim(lane) ||", "false ||", "sqlite"),
    ("suspects come in company", LUA + "lib_claims.lua", "return is_suspected and granted.count > 0 or", "return",
     "redis"),
    ("a body outlives its run", LUA + "lib_plan.lua", "  list_write('HDEL', bodies, 'body_drops')\n", "", "redis"),
    ("a block is not given back", LUA + "lib_held.lua", "      vanish(o.id, ordinary_adopt(o), how, now)\n", "", "redis"),
    ("the tick's mark is ignored", LUA + "tick.lua", "return at >= s.mark + (is_of_calendar and 1 or interval) and at or nil",
     "return at >= 0 and at or nil", "redis"),
    ("a repeat is done again", LUA + "lib_producers.lua", "if last and now <= call_until(last, ms) then", "if false then", "redis"),
    ("an older call is done", LUA + "lib_producers.lua", "if sub(entry, 1, 19) >= sub(made, 1, 19) then",
     "if sub(entry, 1, 19) == sub(made, 1, 19) then", "redis"),
    ("keys are not looked at", LUA + "lib_enqueue.lua", "keyed[key] or call('HGET', keys, key)", "keyed[key]", "redis"),
    ("a number is given twice", LUA + "lib_enqueue.lua", "call('HINCRBY', meta, 'number', #ids)",
     "call('HINCRBY', meta, 'number', #ids - 1)", "redis"),
    ("an ack leaves the lease", LUA + "lib_plan.lua", "list_write('ZREM', active, 'lease_drops')", "",
     "redis"),
    ("the payload leaks", LUA + "lib_plan.lua", "list_write('HDEL', payloads, 'payload_drops')", "",
     "redis"),
    ("a cancelled ghost is granted", LUA + "lib_claims.lua", "if r.state ~= WAITING or decided[id] or",
     "if decided[id] or", "redis"),
    ("the connection's end is taken for an answer", "runtime/store/redis/conn.c",
     "return conn_fail(conn, CULEX_EUNKNOWN, \"no answer from\", \"the server closed the connection\",",
     "return conn_fail(conn, CULEX_ECONNECT, \"no answer from\", \"the server closed the connection\",",
     "redis"),
    ("the engine loses acks when a step fails", WORKER + "lane.c",
     "    culex__worker_call_failed(lane->worker, lane, &lane->trouble, status, error);",
     "    lane->step.is_pending = false;\n"
     "    culex__worker_call_failed(lane->worker, lane, &lane->trouble, status, error);", "redis"),
    ("a repeated step gets a new nonce", WORKER + "lane.c",
     "    struct culex_step step = step_make(lane);\n    struct culex_step_reply",
     "    state->nonce = worker->nonce++;\n    struct culex_step step = step_make(lane);\n    struct culex_step_reply",
     "redis"),
    ("the lease is never looked at locally", WORKER + "flight.c",
     "if (now_ns >= flight->run.lease_ns)", "if (now_ns >= INT64_MAX)", "redis"),
    ("a stale beat is ignored", WORKER + "beats.c",
     "if (answers[i] == CULEX_ANSWER_STALE || answers[i] == CULEX_ANSWER_GONE) {\n            culex__flight_lose",
     "if (answers[i] == CULEX_ANSWER_GONE) {\n            culex__flight_lose", "redis"),
    ("no beats are sent", WORKER + "beats.c", "if (now_ns < lane->beat_ns)\n        return;",
     "if (now_ns < INT64_MAX)\n        return;", "redis"),
    ("what ended too late is told", WORKER + "verdict.c", "if (has_begun && ended_ns(flight) >= flight->run.lease_ns)",
     "if (has_begun && ended_ns(flight) >= INT64_MAX)", "redis"),
    ("a lease is shorter than it is", WORKER + "flight.c", "lease_ns - lease_ns / 10;", "lease_ns / 2;", "redis"),
    ("the unique key leaks", LUA + "lib_plan.lua", "list_write('HDEL', unique, 'key_drops')", "", "redis"),
    ("unique keys are not looked at", LUA + "lib_unique.lua", "    entry = call('HGET', unique, key)\n",
     "    entry = false\n", "redis"),
    ("progress outlives its attempt", LUA + "lib_claims.lua", "write('HDEL', progress, progress_drops)", "", "redis"),
    ("an extension does nothing", LUA + "lib_leases.lua", "now + extend - timeout)", "0)", "redis"),
    ("beats pass the timeout", LUA + "lib_leases.lua", "if timeout > 0 then\n    if extend", "if timeout < 0 then\n    if extend", "redis"),
    ("fsck sees what is not", LUA + "fsck.lua", "if ghosts >= 0 and ghosts ~= meta_number('ghosts') then",
     "if ghosts > 0 then", "redis"),
    ("progress outlives its attempt", SQL + "statement.def", "iif(attempt = :attempt, progress, NULL)", "progress",
     "sqlite"),
    ("an extension does nothing", SQL + "step.c", "beat->extend_ms <= 0 ||", "beat->extend_ms >= 0 ||", "sqlite"),
    ("an uncertain try is forgotten", "runtime/client/effort.c",
     "effort->is_unknown |= status == CULEX_EUNKNOWN;", "", "sqlite"),
    ("no attempt in the fence", SQL + "step.c", "return run->attempt == attempt && strcmp",
     "return attempt == attempt && strcmp", "sqlite"),
    ("no state in the fence", SQL + "step.c", "if (!is_mine || run.state != CULEX_RUN_ACTIVE)",
     "if (!is_mine)", "sqlite"),
    ("the nonce's memo is ignored", SQL + "memo.c", "else if (*ret_is_old)\n",
     "else if (*ret_is_old && step->nonce > last)\n", "sqlite"),
    ("a repeat is done again", SQL + "producer.c", "*ret_is_answered = true;", "*ret_is_answered = false;", "sqlite"),
    ("an older call is done", SQL + "producer.c", "|| sequence > kept->last.sequence)", "|| sequence != kept->last.sequence)",
     "sqlite"),
    ("one producer's call hides another's", SQL + "rear.c", "at == rear->last_count && at < CULEX__SQLITE_LASTS_MAX)",
     "at == rear->last_count && at < 1)", "sqlite"),
    ("a repeat is told of the next run", SQL + "producer.c", ".number = number};", ".number = number + 1};", "sqlite"),
    ("a call is told of the run before", SQL + "enqueue.c", "        *ret_result = result;",
     "        *ret_result = result, ret_result->id.b[15] -= result.outcome == CULEX_ENQUEUED_NEW && result.id.b[15] > 1;",
     "sqlite"),
    ("keys are not looked at", SQL + "statement.def", "AND key = ? AND until_ms > ?", "AND key = ? AND until_ms < ?", "sqlite"),
    ("a client keeps its producer", "runtime/client/enqueue.c", "culex__client_leave_producers(order->client);", "(void)0;", "redis"),
    ("the engine loses acks when a step fails", WORKER + "lane.c",
     "    culex__worker_call_failed(lane->worker, lane, &lane->trouble, status, error);",
     "    lane->step.is_pending = false;\n"
     "    culex__worker_call_failed(lane->worker, lane, &lane->trouble, status, error);", "sqlite"),
    ("a known rider is taken along", LUA + "lib_callers.lua",
     "if last and now <= call_until(last, ms) then return {'!'} end", "", "redis"),
    ("a rider's time is not looked at", LUA + "lib_callers.lua",
     "if math.abs(call_ms(at) - now) > TICKET_HORIZON_MS then return {'?'} end", "", "redis"),
    ("riders are not remembered", LUA + "lib_callers.lua", "  write('HSET', producers, puts)\n", "", "redis"),
    ("riders are forgotten at once", LUA + "lib_callers.lua", "math.max(call_ms(at), now) + TICKET_HORIZON_MS",
     "now - LISTED_SLACK_MS", "redis"),
    ("a refused rider is remembered as new", LUA + "lib_callers.lua", "return answers == '' or string.find(answers, '^[NR]', at) ~= nil",
     "return true", "redis"),
    ("a rider is remembered with the run of the one before", LUA + "lib_callers.lua", "first = first + 1 elseif", "first = first elseif",
     "redis"),
    ("riders are remembered by the first one's ticket", LUA + "lib_callers.lua", "puts[#puts + 1] = calls[at] ..",
     "puts[#puts + 1] = calls[1] ..", "redis"),
    ("riders beyond the limit are told the others' answers", LUA + "lib_line.lua",
     "string.rep('N', count) .. string.rep('F', wanted - count)",
     "string.rep('F', wanted - count) .. string.rep('N', count)", "redis"),
    ("one rider may pass the limit", LUA + "lib_enqueue.lua", "elseif room <= 0 then", "elseif room < 0 then", "redis"),
    ("riders do not see each other's unique keys", LUA + "lib_unique.lua", "  unique_entries[key] = entry\n  unique_touched", "  unique_touched", "redis"),
    ("riders do not see each other's idempotency keys", LUA + "lib_enqueue.lua", "  keyed[key] = text\n", "", "redis"),
    ("a rider's refusal is given to another", "runtime/store/redis/enqueue.c", "outcome_read(letters[i],",
     "outcome_read(letters[len - 1 - i],", "redis"),
    ("a rider is told who holds another's key", "runtime/store/redis/enqueue.c", "HEAD_ITEMS + others++,",
     "HEAD_ITEMS + 0 * others++,", "redis"),
    ("riders have the first one's digest", "runtime/store/redis/enqueue.c", "&tickets[i], culex__runs_digest(&runs[i], 1)",
     "&tickets[i], culex__runs_digest(&runs[0], 1)", "redis"),
    ("a known rider is taken along", SQL + "enqueue.c", "            status = culex__refuse_ticket(error);\n",
     "            status = CULEX_OK;\n", "sqlite"),
    ("riders have the first one's ticket", SQL + "enqueue.c", "{&calls->tickets[i], &calls->runs[i], 1,",
     "{&calls->tickets[0], &calls->runs[i], 1,", "sqlite"),
    ("riders before a refused one stay", SQL + "enqueue.c", "            status = culex__refuse_ticket(error);\n",
     "            return CULEX_OK;\n", "sqlite"),
    ("a rider's time is not looked at", SQL + "producer.c", "status = culex__refuse_ticket_time(error);", "(void)0;", "sqlite"),
    ("a refused rider is remembered as new", SQL + "producer.c", "if (call->ticket == NULL || (number == 0 && !has_replaced(call)))",
     "if (call->ticket == NULL)", "sqlite"),
    ("one rider may pass the limit", SQL + "enqueue.c", "live >= capacity", "live > capacity", "sqlite"),
    ("unique keys are not looked at", SQL + "enqueue.c", "    if (ret_unique->is_held)\n", "    if (false)\n", "sqlite"),
    ("a paused schedule ticks", LUA + "tick.lua", "schedule_has(s, 'p') or not may_overlap", "not may_overlap", "redis"),
    ("a paused schedule ticks", SQL + "schedule.c", "*ret_is_taken = schedule->row.is_paused;", "*ret_is_taken = false;", "sqlite"),
    ("a run out of turn is asked for again", LUA + "schedule_run.lua", "if s.asked == ARGV[7] then", "if false then", "redis"),
    ("a run out of turn is asked for again", SQL + "schedule.c", "if (schedule->asking == request->asking)",
     "if (request->asking == 0)", "sqlite"),
    ("follow-ups come in twice", LUA + "follow.lua", "write('ZREM', kept, brought)\n", "", "redis"),
    ("follow-ups are not kept", LUA + "lib_acks.lua", "    call('ZADD', follow_ups, call('HINCRBY', meta, 'follow_ups', 1), id .. queue .. '\\n' .. take())",
     "    take()", "redis"),
    ("a stale end brings its follow-ups", LUA + "lib_acks.lua", "  if not holds(r, attempt) then\n    if event == 'DONE' and",
     "  if not holds(r, attempt) then\n    if has_blob == '2' then follow_ups_keep(id, blob) end\n    if event == 'DONE' and", "redis"),
    ("a stale end brings its follow-ups", SQL + "follow_up.c", "reply->acks[i] == CULEX_ANSWER_OK; at++)", "true; at++)", "sqlite"),
    ("follow-ups into a second queue are forgotten", SQL + "follow_up.c", "if (is_known(all, i))", "if (i > 0)", "sqlite"),
    ("a repeat brings follow-ups again", SQL + "follow_up.c", "if (status == CULEX_OK && !*is_repeat)", "if (status == CULEX_OK)", "sqlite"),
    ("follow-ups that were put off are dropped", "runtime/store/redis/follow_up.c", "now_ns(all) + LEFT_MS * CULEX_MS_NS", "INT64_MAX", "redis"),
    ("a queue forgets that follow-ups were put off", LUA + "step.lua", "if counted.has_follow_ups and call('ZCARD', follow_ups) == 0 then",
     "if counted.has_follow_ups and #acks == 0 then", "redis"),
    ("a follow-up with a delay is dropped", SQL + "follow_up.c", "            all->of[all->count++] = &ack->follow_ups[at];",
     "            if (ack->follow_ups[at].run.delay_ms == 0)\n                all->of[all->count++] = &ack->follow_ups[at];", "sqlite"),
    ("a follow-up comes in without its delay", LUA + "lib_follow_up.lua", "    if not follow_up_is_sound(list, first)",
     "    list[first + 1] = string.gsub(list[first + 1], '^%d+', '0')\n    if not follow_up_is_sound(list, first)", "redis"),
    ("an end is told without its follow-ups", WORKER + "acks.c", "ack.follow_up_count = flight->run.followed_count;",
     "ack.follow_up_count = 0;", "sqlite"),
    ("a callback of a batch is dropped", LUA + "lib_batches.lua", "  call('ZADD', follow_ups, place, string.sub(b.id, 1, 15) .. kind .. text)\n", "", "redis"),
    ("a batch tells before its close", LUA + "lib_batches.lua", "if b.state ~= 'C' or b.added >", "if b.added >", "redis"),
    ("a batch takes no account of who died", LUA + "lib_batches.lua", "if how == 'dead' then batch_tell(b, 'd') end", "", "redis"),
    ("who is purged stays a member of its batch", LUA + "purge.lua", "  for at = 1, batch_end and #ids or 0 do batch_end(ids[at], 'cancelled') end\n", "", "redis"),
    ("a member of a batch is counted at each of its ends", LUA + "lib_batches.lua", "  leavers[#leavers + 1] = 'm' .. id\n", "", "redis"),
    ("a batch that nobody closes stays open", LUA + "lib_batch_ends.lua", "if b and b.state == 'O' then", "if b and b.state == 'o' then", "redis"),
    ("a batch tells before its close", SQL + "members.c", "batch->state == 'C' && batch->added", "batch->added", "sqlite"),
    ("a batch takes any end for success", SQL + "members.c", "if (status == CULEX_OK && *ret_has_ended && culex__sqlite_batch_is_success(batch))",
     "if (status == CULEX_OK && *ret_has_ended)", "sqlite"),
    ("a callback of a batch is brought again", SQL + "batch.c", "    return status == CULEX_OK\n               ? culex__sqlite_finish(store,\n                                      SQL_BIND(store, CALL_DONE,",
     "    return status != CULEX_OK\n               ? culex__sqlite_finish(store,\n                                      SQL_BIND(store, CALL_DONE,", "sqlite"),
    ("who waits for an end is told the wrong one", "runtime/client/wait.c", "        *ret_end = CULEX_WAIT_DEAD;", "        *ret_end = CULEX_WAIT_DONE;", "redis"),
    ("who waits for an end is not told before the time is over", "runtime/client/wait.c", "LOOK_MS = 5000,", "LOOK_MS = 3600000,", "sqlite"),
    ("who waits for an end stays too long", "runtime/client/wait.c", "if (left == 0 || (status", "if ((status", "sqlite"),
    ("who waits for an end gives up too early", "runtime/client/wait.c", "    if (state != CULEX_RUN_STATE_COUNT && !end_of(state, &end))\n        return CULEX_OK;",
     "    if (!end_of(state, &end))\n        state = CULEX_RUN_STATE_COUNT;", "redis"),
]


def run(command, folder, seconds=900):
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=seconds)


def build(folder):
    return run(["ninja", "-C", "build", "-j2", "tests/campaigns/sim/sim"], folder)


def verdict(folder, store, steps):
    """What the simulation says, and after how many steps; None when it sees nothing."""
    total = 0
    for seed in range(1, 1000000):  # one process each: a mutant may hang
        done = run(["build/tests/campaigns/sim/sim", "--store", store, "--seed", str(seed)], folder, 120)
        text = done.stdout + done.stderr
        found = re.search(r"VIOLATION seed (\d+) store \w+ step (\d+).*?s: (.*)", text)
        if found:
            return f"seed {seed}, after {total + int(found.group(2))} steps: {found.group(3)}"
        if done.returncode != 0:
            return f"seed {seed}: the simulation ends with {done.returncode}: {text[:100]}"
        total += int(re.search(r"(\d+) steps,", text).group(1))
        if total >= steps:
            return None
    return None


def try_mutant(folder, mutant, steps):
    name, path, old, new, store = mutant
    source = folder / path
    text = source.read_text()
    if old not in text:
        print(f"  ?        {store}: {name}: {path} has changed; adapt this mutant")
        return False
    source.write_text(text.replace(old, new, 1))
    try:
        if build(folder).returncode != 0:
            print(f"  ?        {store}: {name}: does not build")
            return False
        seen = verdict(folder, store, steps)
    except subprocess.TimeoutExpired:
        seen = "the simulation does not come to an end"
    finally:
        source.write_text(text)
    print(f"  {'seen    ' if seen else 'SURVIVED'} {store}: {name}{': ' + seen if seen else ''}",
          flush=True)
    return bool(seen)


def options_read():
    """The mutants, and for how many steps each is tried."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", metavar="TEXT", default="", help="those with TEXT in their name")
    parser.add_argument("--steps", metavar="N", type=int, default=2000000, help="of each mutant (%(default)s)")
    options = parser.parse_args()
    chosen = [mutant for mutant in MUTANTS if options.only in mutant[0]]
    return chosen or parser.error(f"no mutant has '{options.only}' in its name"), options.steps


def main():
    chosen, steps = options_read()
    with tempfile.TemporaryDirectory() as temporary:
        folder = pathlib.Path(temporary) / "tree"
        shutil.copytree(TREE, folder, ignore=shutil.ignore_patterns("build", "build-*", ".git"))
        setup = run(["meson", "setup", "build", "--buildtype=release", "-Dtests=true"], folder)
        if setup.returncode != 0 or build(folder).returncode != 0:
            sys.exit(f"mutants.py: the tree itself does not build\n{setup.stdout[-2000:]}")
        seen = [try_mutant(folder, mutant, steps) for mutant in chosen]
    print(f"{sum(seen)} of {len(seen)} mutants seen")
    return 0 if all(seen) else 1


if __name__ == "__main__":
    sys.exit(main())
