-- schema.sql - the tables of a Culex file, made once when the file is new.
--
-- All times are milliseconds since 1970. run.state holds the letters of run_rules.def; 'W' covers
-- waiting and scheduled, which differ in at_ms only, so a due run needs nobody to move it.
--
-- No "IN" with three values or more where every insert passes: SQLite builds a temporary table
-- for it.

CREATE TABLE queue (
    queue INTEGER PRIMARY KEY CHECK (queue BETWEEN 1 AND 32767),
    name TEXT NOT NULL UNIQUE,
    paused_until_ms INTEGER NOT NULL DEFAULT 0, -- 0: not paused; 9223372036854775807: until it is resumed
    capacity INTEGER NOT NULL DEFAULT 0,        -- most runs not yet final; 0 for no limit
    dead_most INTEGER NOT NULL DEFAULT 0,       -- most dead runs that are kept; 0 for no limit
    front INTEGER NOT NULL DEFAULT 0,           -- last place given out at the front; counts down
    longest_lease_ms INTEGER NOT NULL DEFAULT 0, -- that was ever given
    salt INTEGER NOT NULL CHECK (salt BETWEEN 0 AND 67108863), -- of its runs' ids (core/run_id.h)
    -- Of its kinds: see sqlite/kind.c.
    sweep INTEGER NOT NULL DEFAULT 1,           -- the newest one
    swept INTEGER NOT NULL DEFAULT 0,           -- place where it goes on, 0 when it is over
    kinds_left INTEGER NOT NULL DEFAULT 64,     -- so many new ones until the next
    -- Of its runs' limits: see sqlite/parking.c.
    limits INTEGER NOT NULL DEFAULT 0,          -- that it has ever had; 0: no run of it has one
    sweeps INTEGER NOT NULL DEFAULT 0,          -- 1: one of them may be swept
    longest_fill_ms INTEGER NOT NULL DEFAULT 0, -- in which a bucket of theirs was ever full again
    waits INTEGER NOT NULL DEFAULT 0,           -- 1: table wait may have rows of it
    batches INTEGER NOT NULL DEFAULT 0,         -- 1: table batch may have rows of it
    logs INTEGER NOT NULL DEFAULT 0,            -- 1: table run_log may have rows of it
    -- Of its events: see sqlite/events.c.
    events_kept INTEGER NOT NULL DEFAULT 0,     -- at most; 0: none, and nothing is noted
    events_last INTEGER NOT NULL DEFAULT 0,     -- position of the newest
    pending INTEGER NOT NULL DEFAULT 0,         -- runs per stored state, but see the queue's rear
    active INTEGER NOT NULL DEFAULT 0,
    kept_done INTEGER NOT NULL DEFAULT 0,
    kept_dead INTEGER NOT NULL DEFAULT 0,
    kept_cancelled INTEGER NOT NULL DEFAULT 0,
    enqueued INTEGER NOT NULL DEFAULT 0,        -- totals since the queue began, as above
    done INTEGER NOT NULL DEFAULT 0,
    failed INTEGER NOT NULL DEFAULT 0,
    crashed INTEGER NOT NULL DEFAULT 0,
    lost INTEGER NOT NULL DEFAULT 0,
    dead INTEGER NOT NULL DEFAULT 0,
    cancelled INTEGER NOT NULL DEFAULT 0,
    stale INTEGER NOT NULL DEFAULT 0,
    events BLOB NOT NULL DEFAULT x'' CHECK (length(events) <= 1024) -- the newest entries: sqlite/event_notes.c
) STRICT;

-- A run is ordinary, and a row of table body, when nothing was wanted for it beyond its kind and
-- nothing has happened to it but a claim and a success: it was due at once, does not expire, has no
-- unique key, no limits, no time for retries and a short payload. It is written once. Whatever looks for more moves it to table run,
-- where it keeps its key, and from where it never comes back.
--
-- Within a priority, ordinary runs are claimed in the order of their keys. So those behind the last
-- one of which a block or an end knows are waiting, and nothing else is written about that.
--
-- seq, of both: queue << 48 | priority << 44 | number of its id (core/run_id.h).
CREATE TABLE kind (
    kind INTEGER PRIMARY KEY,
    queue INTEGER NOT NULL,
    sweep INTEGER NOT NULL,                     -- the queue's, when the kind was last seen in use
    job TEXT NOT NULL,
    fingerprint INTEGER NOT NULL,
    attempts_max INTEGER NOT NULL,
    timeout_ms INTEGER NOT NULL,
    keep_success_ms INTEGER NOT NULL,
    keep_failure_ms INTEGER NOT NULL,
    tags TEXT NOT NULL,
    UNIQUE (queue, job, fingerprint, attempts_max, timeout_ms, keep_success_ms, keep_failure_ms,
        tags)
) STRICT;

CREATE INDEX kind_sweep ON kind (queue, sweep);

-- Behind all bodies of a queue, at queue << 48 | 281474976710655, stands its rear: what an enqueue
-- changes of the queue, on the page that it changes anyway (sqlite/rear.h):
--   kind           runs that the queue's row counts neither in pending nor in enqueued
--   created_at_ms  last place given out at the back of the order; never goes back
--   checksum       number of the newest run's id, never given twice
--   payload        of each of the newest enqueue calls whose runs were all new, at most 8, the newest
--                  first and each of another producer: producer, sequence, digest, made_ms and number
--                  as in table producer, where the others are
CREATE TABLE body (
    seq INTEGER PRIMARY KEY,
    kind INTEGER NOT NULL,
    created_at_ms INTEGER NOT NULL,             -- its place in the order too
    checksum INTEGER NOT NULL,                  -- as that of a run
    payload BLOB NOT NULL                       -- a long one is emptied once its run is done
) STRICT;

-- Ordinary runs that one claim has granted, of one priority: bit n of held and started stands for
-- the run with the key first + n. It goes with the last run that is held.
CREATE TABLE block (
    first INTEGER PRIMARY KEY,
    queue INTEGER NOT NULL CHECK (queue = first >> 48),
    session TEXT NOT NULL,
    since_ms INTEGER NOT NULL,                  -- of the claim
    lease_ms INTEGER NOT NULL,                  -- end of the lease
    timeout_ms INTEGER NOT NULL,                -- the least of its runs', 0 when none has one
    held INTEGER NOT NULL CHECK (held > 0),
    started INTEGER NOT NULL                    -- as is_started of a run
) STRICT;

CREATE INDEX block_lease ON block (queue, lease_ms);

-- Successes among the runs of a block that are kept until the same moment.
CREATE TABLE ended (
    first INTEGER NOT NULL,                     -- as the block's
    until_ms INTEGER NOT NULL,
    queue INTEGER NOT NULL CHECK (queue = first >> 48),
    session TEXT NOT NULL,
    runs INTEGER NOT NULL CHECK (runs > 0),     -- bits, as held
    PRIMARY KEY (first, until_ms)
) STRICT, WITHOUT ROWID;

CREATE INDEX ended_until ON ended (queue, until_ms);

CREATE TABLE run (
    seq INTEGER PRIMARY KEY,
    queue INTEGER NOT NULL,
    id BLOB NOT NULL CHECK (length(id) = 16),
    state TEXT NOT NULL CHECK (instr('WADXC', state) > 0 AND length(state) = 1),
    priority INTEGER NOT NULL CHECK (priority BETWEEN 0 AND 9),
    -- W: when it is due; an immediate run's place in the order; below zero at the front.
    -- A: end of the lease. Final: when it is forgotten.
    at_ms INTEGER NOT NULL,
    is_delayed INTEGER NOT NULL,                -- W: at_ms is a time to wait for
    attempt INTEGER NOT NULL DEFAULT 0,
    failures INTEGER NOT NULL DEFAULT 0,
    crashes INTEGER NOT NULL DEFAULT 0,
    crash_streak INTEGER NOT NULL DEFAULT 0,
    losses INTEGER NOT NULL DEFAULT 0,
    attempts_max INTEGER NOT NULL,
    owner TEXT NOT NULL DEFAULT '',             -- session of the newest attempt
    is_started INTEGER NOT NULL DEFAULT 0,      -- A: its handler is at work; W: in doubt (store/store.h)
    is_cancel_requested INTEGER NOT NULL DEFAULT 0,
    -- W, of a run with limits: 0 it stands in the ready order, as all without; -1 it waits for its
    -- time, and then for a STEP that gives it a place; else parked, behind limit_key of that number.
    aside INTEGER NOT NULL DEFAULT 0,
    limit_ms INTEGER NOT NULL DEFAULT 0,        -- A: no lease reaches further; 0 for no limit
    timeout_ms INTEGER NOT NULL,
    keep_success_ms INTEGER NOT NULL,
    keep_failure_ms INTEGER NOT NULL,
    retry_for_ms INTEGER NOT NULL DEFAULT 0,    -- no attempt begins so long after the first failure
    expires_at_ms INTEGER NOT NULL,             -- once it has failed: when that time is over
    created_at_ms INTEGER NOT NULL,
    fingerprint INTEGER NOT NULL,
    checksum INTEGER NOT NULL,                  -- over id, job and payload
    payload_len INTEGER NOT NULL,
    job TEXT NOT NULL,
    unique_key TEXT,
    unique_while INTEGER NOT NULL DEFAULT 0,    -- states that keep it, bits; 0: table unique_window does
    unique_until_ms INTEGER NOT NULL DEFAULT 0, -- it is free then at the latest; 0 for no bound
    has_key INTEGER NOT NULL DEFAULT 0,         -- nobody else has taken it since
    tags TEXT NOT NULL,
    limits TEXT,                                -- NAME=KEY;NAME=KEY, in the order of the schema
    share TEXT NOT NULL DEFAULT '',             -- key of the first fair one among them: whose turn it waits for
    error_text TEXT,
    progress TEXT,                              -- of the newest attempt
    result BLOB,
    payload BLOB                                -- NULL when it is in table payload, and once done
) STRICT;

CREATE INDEX run_ready ON run (queue, priority, is_delayed, at_ms, seq)
    WHERE state = 'W' AND aside = 0;
CREATE INDEX run_parked ON run (queue, aside, priority DESC,
    CASE WHEN at_ms >= 0 THEN share ELSE '' END, at_ms, seq) WHERE aside > 0;
CREATE INDEX run_needs ON run (queue, aside, priority DESC, at_ms, seq)
    WHERE aside > 0 AND instr(';' || limits, ';needs ') > 0;
CREATE INDEX run_timed ON run (queue, at_ms) WHERE aside < 0;
CREATE INDEX run_timed_urgent ON run (queue, at_ms) WHERE aside < 0 AND priority > 0;
CREATE INDEX run_delayed ON run (queue, at_ms) WHERE state = 'W' AND is_delayed = 1;
CREATE INDEX run_lease ON run (queue, at_ms) WHERE state = 'A';
CREATE INDEX run_final ON run (queue, state, at_ms) WHERE state <> 'W' AND state <> 'A';
CREATE UNIQUE INDEX run_unique ON run (queue, unique_key)
    WHERE unique_key IS NOT NULL AND has_key = 1 AND state IN ('W', 'A');

-- Limits of runs (store/store.h): what each name means in its queue.
CREATE TABLE run_limit (
    number INTEGER PRIMARY KEY,
    queue INTEGER NOT NULL,
    name TEXT NOT NULL,
    kind INTEGER NOT NULL DEFAULT 0,            -- as enum culex_limit_kind
    count INTEGER NOT NULL DEFAULT 0,           -- as the newest run declared it
    per_ms INTEGER NOT NULL DEFAULT 0,
    burst INTEGER NOT NULL DEFAULT 0,
    set_count INTEGER NOT NULL DEFAULT 0,       -- as an operator set it; 0: he did not
    set_per_ms INTEGER NOT NULL DEFAULT 0,
    set_burst INTEGER NOT NULL DEFAULT 0,
    -- When what is in force has changed, STEPs look at all its keys: '' or '>' and the last one.
    swept TEXT,
    keys INTEGER NOT NULL DEFAULT 0,            -- rows of limit_key without parts; and what all have
    active INTEGER NOT NULL DEFAULT 0,
    parked INTEGER NOT NULL DEFAULT 0,
    UNIQUE (queue, name)
) STRICT;

CREATE INDEX run_limit_swept ON run_limit (queue) WHERE swept IS NOT NULL;

-- What counts apart within a limit. It goes when nothing is left of it.
CREATE TABLE limit_key (
    number INTEGER PRIMARY KEY,
    run_limit INTEGER NOT NULL,
    queue INTEGER NOT NULL,
    key TEXT NOT NULL,                          -- of a part of it (sqlite/ledger.h): char(1) and needs behind
    active INTEGER NOT NULL DEFAULT 0,          -- runs with it that are at work
    standing INTEGER NOT NULL DEFAULT 0,        -- that wait in the ready order
    parked INTEGER NOT NULL DEFAULT 0,          -- that are parked behind it
    held INTEGER NOT NULL DEFAULT 0,            -- of a fair share: that are parked behind another one
    turn TEXT,                                  -- run.share of the one that was admitted last, as long as
    turn_ms INTEGER NOT NULL DEFAULT 0,         -- others are parked that take turns; and its at_ms since
    tat_us INTEGER NOT NULL DEFAULT 0,          -- of a rate: when its bucket is full again
    look_ms INTEGER,                            -- when a STEP looks at it
    UNIQUE (run_limit, key)
) STRICT;

CREATE INDEX limit_key_look ON limit_key (queue, look_ms) WHERE look_ms IS NOT NULL;

-- Payloads too long to be rewritten with every change of their run.
CREATE TABLE payload (
    seq INTEGER PRIMARY KEY,
    bytes BLOB NOT NULL
) STRICT;

-- Log lines that runs keep (core/run_log.h), in chunks of 4096 bytes at most, or one line; they go with the run.
CREATE TABLE run_log (
    seq INTEGER NOT NULL,
    chunk INTEGER NOT NULL,                     -- each one more than the one before
    lines INTEGER NOT NULL,                     -- that the run has told up to the end of this one,
    ends INTEGER NOT NULL,                      -- and their bytes; with those that are gone
    shown_from INTEGER NOT NULL,                -- of the last chunk: so many of the lines are not kept any more
    bytes BLOB NOT NULL,
    PRIMARY KEY (seq, chunk)
) STRICT, WITHOUT ROWID;

-- Each producer's last enqueue call in each queue, where it brought a run: see sqlite/producer.c.
CREATE TABLE producer (
    queue INTEGER NOT NULL,
    producer INTEGER NOT NULL,
    minute INTEGER NOT NULL,                    -- since 1970: not forgotten before its end
    sequence INTEGER NOT NULL,
    digest INTEGER NOT NULL,                    -- of its runs
    made_ms INTEGER NOT NULL,
    number INTEGER NOT NULL,                    -- of its first new run, as last_number
    answers BLOB,
    PRIMARY KEY (queue, producer)
) STRICT, WITHOUT ROWID;

CREATE INDEX producer_minute ON producer (minute);

-- Idempotency keys, and the runs they have brought.
CREATE TABLE idempotency (
    queue INTEGER NOT NULL,
    key TEXT NOT NULL,
    content INTEGER NOT NULL,
    id BLOB NOT NULL CHECK (length(id) = 16),
    until_ms INTEGER NOT NULL,                  -- forgotten from then on
    PRIMARY KEY (queue, key)
) STRICT, WITHOUT ROWID;

CREATE INDEX idempotency_until ON idempotency (until_ms);

-- Unique keys that are kept for a time, whatever becomes of the run that has taken them.
CREATE TABLE unique_window (
    queue INTEGER NOT NULL,
    key TEXT NOT NULL,
    id BLOB NOT NULL CHECK (length(id) = 16),
    until_ms INTEGER NOT NULL,                  -- free from then on
    PRIMARY KEY (queue, key)
) STRICT, WITHOUT ROWID;

CREATE INDEX unique_window_until ON unique_window (until_ms);

-- What a session's last step was answered.
CREATE TABLE memo (
    queue INTEGER NOT NULL,
    session TEXT NOT NULL,
    nonce INTEGER NOT NULL,
    seen_ms INTEGER NOT NULL,
    answers BLOB NOT NULL,
    PRIMARY KEY (queue, session)
) STRICT, WITHOUT ROWID;

CREATE TABLE worker (
    queue INTEGER NOT NULL,
    name TEXT NOT NULL,
    session TEXT NOT NULL,
    seen_ms INTEGER NOT NULL,
    PRIMARY KEY (queue, name)
) STRICT, WITHOUT ROWID;

CREATE TABLE schedule (
    queue INTEGER NOT NULL,
    name TEXT NOT NULL,
    mark_ms INTEGER NOT NULL,
    newest BLOB NOT NULL,                       -- id of its newest run; zeroes: none yet
    next_ms INTEGER NOT NULL,                   -- tick to come, 0: not told yet
    asking INTEGER NOT NULL,                    -- of the last run out of turn, 0: none
    brought BLOB NOT NULL,                      -- its id
    is_of_calendar INTEGER NOT NULL,
    may_overlap INTEGER NOT NULL,
    is_paused INTEGER NOT NULL,
    template BLOB NOT NULL,                     -- its run (store/template.h)
    PRIMARY KEY (queue, name)
) STRICT, WITHOUT ROWID;

-- What jobs keep from run to run: see sqlite/metadata.c.
CREATE TABLE metadata (
    queue INTEGER NOT NULL,
    job TEXT NOT NULL,
    version INTEGER NOT NULL CHECK (version > 0),
    set_ms INTEGER NOT NULL,
    bytes BLOB NOT NULL,
    PRIMARY KEY (queue, job)
) STRICT, WITHOUT ROWID;

-- The texts of schemas: see sqlite/schemas.c.
CREATE TABLE job_schema (
    queue INTEGER NOT NULL,
    job TEXT NOT NULL,
    fingerprint INTEGER NOT NULL CHECK (fingerprint <> 0),
    digest INTEGER NOT NULL CHECK (digest <> 0), -- of the text
    told_ms INTEGER NOT NULL,                   -- by somebody who has the job
    looked_ms INTEGER NOT NULL,                 -- for runs that need it, 0: not since it was told
    text BLOB NOT NULL CHECK (length(text) BETWEEN 1 AND 65536),
    PRIMARY KEY (queue, job, fingerprint, digest)
) STRICT, WITHOUT ROWID;

-- Workers that are at work, and what is wished of them: see store.h.
CREATE TABLE presence (
    id TEXT PRIMARY KEY,
    told_ms INTEGER NOT NULL,
    heard INTEGER NOT NULL,                     -- number of the newest wish that it has taken up
    concurrency INTEGER NOT NULL,               -- the most that it can have
    number INTEGER NOT NULL,                    -- of the wish, 0: none
    quiet INTEGER NOT NULL,
    stop INTEGER NOT NULL,
    wish INTEGER NOT NULL,                      -- runs at a time, 0: none wished
    sheet BLOB NOT NULL                         -- store/worker_sheet.h
) STRICT, WITHOUT ROWID;

CREATE INDEX presence_told ON presence (told_ms);

-- Who waits for the end of a run that has one to come, a row of table run then: see sqlite/wait.c.
CREATE TABLE wait (
    queue INTEGER NOT NULL CHECK (queue = seq >> 48),
    seq INTEGER NOT NULL,                       -- of the run
    address TEXT NOT NULL,                      -- as in table waker, in which it does not stand
    until_ms INTEGER NOT NULL,                  -- forgotten from then on
    PRIMARY KEY (seq, address)
) STRICT, WITHOUT ROWID;

CREATE INDEX wait_until ON wait (queue, until_ms);

-- Batches of runs: see sqlite/members.c.
CREATE TABLE batch (
    batch INTEGER PRIMARY KEY,
    queue INTEGER NOT NULL,
    id BLOB NOT NULL CHECK (length(id) = 16),
    state TEXT NOT NULL DEFAULT 'O' CHECK (instr('OCE', state) > 0 AND length(state) = 1), -- open, closed, ended
    is_expired INTEGER NOT NULL DEFAULT 0,      -- it was closed by time
    added INTEGER NOT NULL DEFAULT 0,           -- members, and how many have ended how
    done INTEGER NOT NULL DEFAULT 0,
    dead INTEGER NOT NULL DEFAULT 0,
    cancelled INTEGER NOT NULL DEFAULT 0,
    keep_ms INTEGER NOT NULL,
    at_ms INTEGER NOT NULL,                     -- when it is closed, or forgotten
    depth INTEGER NOT NULL,
    parent BLOB NOT NULL CHECK (length(parent) = 16), -- id of the batch that it is in, kept when that is forgotten; zeroes for none
    opened_ms INTEGER NOT NULL,
    UNIQUE (queue, id)
) STRICT;

CREATE INDEX batch_at ON batch (queue, at_ms);

CREATE INDEX batch_open ON batch (queue, opened_ms) WHERE state = 'O';

-- Runs that have not ended and are members of some: see sqlite/members.c.
CREATE TABLE member (
    seq INTEGER NOT NULL,                       -- of the run
    batch INTEGER NOT NULL,
    PRIMARY KEY (seq, batch)
) STRICT, WITHOUT ROWID;

-- Callbacks of batches: see sqlite/batch.c.
CREATE TABLE batch_call (
    batch INTEGER NOT NULL,
    kind INTEGER NOT NULL,                      -- ORDER culex_batch_when
    queue INTEGER NOT NULL,                     -- of the batch
    is_due INTEGER NOT NULL,                    -- 1: it is to be brought; 2: it was, and nobody could read it
    at_ms INTEGER NOT NULL,                     -- not tried again before, as its queue has refused it; 0: not yet
    digest INTEGER NOT NULL,                    -- tells a repeat from another callback: see store/digest.h
    target TEXT NOT NULL,                       -- the queue that it goes to
    delay_ms INTEGER NOT NULL,
    run BLOB,                                   -- as in store/template.h; NULL once it was brought
    PRIMARY KEY (batch, kind)
) STRICT, WITHOUT ROWID;

CREATE INDEX batch_call_due ON batch_call (queue, at_ms) WHERE is_due = 1;

-- What workers have counted of their runs, by hours since 1970: see core/figures.h.
CREATE TABLE figure (
    queue INTEGER NOT NULL,
    hour INTEGER NOT NULL,
    job TEXT NOT NULL,                          -- '': of jobs for which there was no row
    counts TEXT NOT NULL,
    PRIMARY KEY (queue, hour, job)
) STRICT, WITHOUT ROWID;

-- The last call of each session that has told figures.
CREATE TABLE figure_call (
    queue INTEGER NOT NULL,
    session TEXT NOT NULL,
    number INTEGER NOT NULL,
    seen_ms INTEGER NOT NULL,
    PRIMARY KEY (queue, session)
) STRICT, WITHOUT ROWID;

-- What became of runs, an entry for each call, and each row some entries: see store/event_entry.h.
-- The newest ones are in the queue's row.
CREATE TABLE event (
    seq INTEGER PRIMARY KEY,                    -- queue << 48 | position of the last event
    entries BLOB NOT NULL
) STRICT;

-- Sockets to knock at, see sqlite/wake.c; queue '' stands for all.
CREATE TABLE waker (
    queue TEXT NOT NULL,
    address TEXT NOT NULL,
    armed_ms INTEGER NOT NULL,
    PRIMARY KEY (queue, address)
) STRICT, WITHOUT ROWID;
