/* torn_sqlite/torn.c - a power cut at every write, and what is left afterwards.
 *
 * usage: torn [POINTS [SEED]]
 *
 * A session of enqueues, claims, acks and checkpoints runs once on a VFS that keeps a log of what
 * reaches the files. Then the files are made anew as a cut would have left them: at first from each
 * prefix of the log, as after a killed process; then, POINTS times, from a random prefix of which
 * the writes that no sync had followed are lost, torn at a sector, or torn within one. On each the
 * shipped store is opened, and has to find a sound file with everything that was acknowledged.
 * With synchronous=normal the newest acknowledgements may be gone, but nothing else.
 *
 * Each enqueue has a ticket, and producers make two calls each: whatever a cut has left of one, its
 * repeat makes it one run, and not another one where it was acknowledged. */
#include "fixture.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "shim.h"
#include "store/sqlite/checkpoint.h"

enum { GUARDED = 3040001, SECTOR = 512, FACTS_MAX = 400, POINTS = 500 };

#define ONE "aaaaaaaaaaaaaaaa"
#define TWO "bbbbbbbbbbbbbbbb"

/* What the store has acknowledged, and how long the log was then. */
struct fact {
    size_t at;
    culex_uuid id;
    bool is_done;               /* else enqueued */
    struct culex_ticket ticket; /* with which it was */
};

struct session {
    struct fixture fixture;
    const char *synchronous;
    int version;
    struct fact facts[FACTS_MAX];
    size_t fact_count;
    uint64_t calls;
};

static uint64_t seed;

static uint64_t draw(uint64_t below)
{
    seed += UINT64_C(0x9e3779b97f4a7c15);
    uint64_t z = (seed ^ seed >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return (z ^ z >> 31) % below;
}

/* --- the session --------------------------------------------------------------------------- */

static struct culex_store *open_store(struct session *session)
{
    char url[128];
    struct culex_store_options options = {.timeout_ms = 2000, .synchronous = session->synchronous};
    struct culex_store *store = NULL;
    culex_error error = {.text = ""};
    snprintf(url, sizeof url, "%s?reserve=0", session->fixture.path);
    if (culex__sqlite_open_as(session->version, url, false, &options, &session->fixture.env, &store,
                              &error) != CULEX_OK)
        fail_msg("open: %s", error.text);
    return store;
}

static void note(struct session *session, struct fact fact)
{
    assert_true(session->fact_count < FACTS_MAX);
    fact.at = shim_op_count();
    session->facts[session->fact_count++] = fact;
}

/* All runs are alike to a repeat, so that any length may be sent with it. */
static culex_status enqueue_with(struct culex_store *store, struct culex_ticket ticket, size_t len,
                                 culex_uuid *ret_id)
{
    static const char payload[6000];
    struct culex_new_run run = fixture_run(payload, len);
    struct culex_enqueue_result result = {.outcome = CULEX_ENQUEUED_NEW};
    run.keep_success_ms = 86400000;
    culex_status status = store->ops->enqueue(store, "q", &ticket, &run, 1, &result, NULL);
    assert_int_equal(result.outcome, CULEX_ENQUEUED_NEW);
    *ret_id = result.id;
    return status;
}

static void enqueue(struct session *session, size_t len)
{
    struct fixture *fixture = &session->fixture;
    struct fact fact = {.is_done = false};
    fixture->now_ms++;
    fact.ticket = (struct culex_ticket){1 + session->calls++ / 2, (uint64_t)fixture->now_ms << 12};
    assert_int_equal(enqueue_with(fixture->store, fact.ticket, len, &fact.id), CULEX_OK);
    note(session, fact);
}

static void work(struct session *session, const char *worker, uint32_t want)
{
    struct culex_store *store = session->fixture.store;
    struct culex_step_reply reply = fixture_step(store, "q", worker, want, NULL, 0);
    struct culex_ack acks[8];
    size_t count = reply.grant_count;
    for (size_t i = 0; i < count; i++)
        acks[i] = (struct culex_ack){.id = reply.grants[i].facts.id,
                                     .attempt = reply.grants[i].facts.attempt,
                                     .event = i % 3 == 2 ? CULEX_EVENT_FAIL : CULEX_EVENT_DONE,
                                     .delay_ms = 60000,
                                     .text = "not today"};
    store->ops->step_release(store, &reply);
    reply = fixture_step(store, "q", worker, 0, acks, count);
    for (size_t i = 0; i < count; i++) {
        assert_int_equal(reply.acks[i], CULEX_ANSWER_OK);
        if (acks[i].event == CULEX_EVENT_DONE)
            note(session, (struct fact){.id = acks[i].id, .is_done = true});
    }
    store->ops->step_release(store, &reply);
}

/* The log is written back in between, so that it is begun anew, over its old frames, and once cut
 * off. */
static void session_run(struct session *session)
{
    struct fixture *fixture = &session->fixture;
    shim_record(true);
    fixture->store = open_store(session);
    for (int round = 0; round < 4; round++) {
        for (int i = 0; i < 5; i++)
            enqueue(session, i == 2 ? 5000 : (size_t)i * 150);
        work(session, ONE, 4);
        work(session, TWO, 1);
        culex__sqlite_checkpoint(culex__sqlite_of(fixture->store), round == 2);
    }
    fixture->store->ops->close(fixture->store);
    fixture->store = open_store(session);
    for (int i = 0; i < 5; i++)
        enqueue(session, 300);
    work(session, ONE, 8);
    fixture->store->ops->close(fixture->store);
    fixture->store = NULL;
    shim_record(false);
}

/* --- the files after a cut ----------------------------------------------------------------- */

struct image {
    unsigned char *bytes;
    size_t len, room;
    bool is_there;
};

static void image_resize(struct image *image, size_t len)
{
    if (len > image->room) {
        image->room = 2 * len;
        image->bytes = realloc(image->bytes, image->room);
        assert_non_null(image->bytes);
    }
    if (len > image->len)
        memset(image->bytes + image->len, 0, len - image->len);
    image->len = len;
}

static void image_write(struct image *image, int64_t offset, const unsigned char *bytes, size_t len)
{
    size_t end = (size_t)offset + len;
    image->is_there = true;
    if (end > image->len)
        image_resize(image, end);
    memcpy(image->bytes + offset, bytes, len);
}

/* Some sectors of the write, and perhaps a part of one. */
static void image_tear(struct image *image, const struct shim_op *op)
{
    uint64_t how = draw(3);
    for (size_t at = 0; at < op->len; at += SECTOR) {
        size_t len = op->len - at < SECTOR ? op->len - at : SECTOR;
        if (how == 0 && draw(2) == 0)
            continue;
        if (how == 1 && draw(4) == 0)
            len = (size_t)draw(len);
        image_write(image, op->offset + (int64_t)at, op->bytes + at, len);
        if (how == 2 && draw(3) == 0)
            return;
    }
}

static void image_apply(struct image *image, const struct shim_op *op, bool is_safe)
{
    uint64_t fortune = is_safe ? 0 : draw(3);
    switch (op->kind) {
    case SHIM_WRITE:
        if (fortune == 0)
            image_write(image, op->offset, op->bytes, op->len);
        else if (fortune == 1)
            image_tear(image, op);
        image->is_there = true;
        break;
    case SHIM_TRUNCATE:
        if (fortune == 0)
            image_resize(image, (size_t)op->offset);
        break;
    case SHIM_DELETE:
        image->is_there = false;
        image->len = 0;
        break;
    case SHIM_SYNC:
        break;
    }
}

/* The first `count` operations; with `is_torn` those after the file's last sync are in danger. */
static void images_make(struct image images[SHIM_PART_COUNT], size_t count, bool is_torn)
{
    size_t safe[SHIM_PART_COUNT] = {0};
    for (size_t i = 0; i < count; i++) {
        const struct shim_op *op = shim_op(i);
        if (op->kind == SHIM_SYNC || op->kind == SHIM_DELETE)
            safe[op->part] = i;
    }
    for (int part = 0; part < SHIM_PART_COUNT; part++) {
        images[part].len = 0;
        images[part].is_there = false;
    }
    for (size_t i = 0; i < count; i++) {
        const struct shim_op *op = shim_op(i);
        image_apply(&images[op->part], op, !is_torn || i < safe[op->part]);
    }
}

static void image_save(const struct image *image, const char *path)
{
    unlink(path);
    if (!image->is_there)
        return;
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL, 0600);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, image->bytes, image->len), image->len);
    close(fd);
}

static void images_save(const struct image images[SHIM_PART_COUNT], const char *path)
{
    static const char *const suffixes[] = {"", "-wal", "-journal"};
    char name[128];
    for (int part = 0; part < SHIM_PART_COUNT; part++) {
        snprintf(name, sizeof name, "%s%s", path, suffixes[part]);
        image_save(&images[part], name);
    }
    snprintf(name, sizeof name, "%s-shm", path);
    unlink(name);
}

/* --- what must hold ------------------------------------------------------------------------ */

static int64_t ask(sqlite3 *db, const char *sql, const culex_uuid *id)
{
    sqlite3_stmt *statement;
    sqlite3_exec(db, FIXTURE_RUNS, NULL, NULL, NULL);
    if (sqlite3_prepare_v2(db, sql, -1, &statement, NULL) != SQLITE_OK)
        fail_msg("%s: %s", sql, sqlite3_errmsg(db));
    if (id != NULL)
        sqlite3_bind_int64(statement, 1, fixture_place(*id));
    int64_t value = sqlite3_step(statement) == SQLITE_ROW ? sqlite3_column_int64(statement, 0) : -1;
    sqlite3_finalize(statement);
    return value;
}

static void check_sound(sqlite3 *db)
{
    assert_int_equal(ask(db, "SELECT integrity_check = 'ok' FROM pragma_integrity_check", NULL), 1);
    assert_int_equal(
        ask(db,
            "SELECT count(*) FROM queues AS q WHERE"
            " pending <> (SELECT count(*) FROM runs AS r WHERE r.queue = q.queue AND state = 'W') "
            "OR"
            " active <> (SELECT count(*) FROM runs AS r WHERE r.queue = q.queue AND state = 'A') OR"
            " enqueued <> (SELECT count(*) FROM runs AS r WHERE r.queue = q.queue) OR"
            " q.done <> (SELECT count(*) FROM runs AS r WHERE r.queue = q.queue AND state = 'D')",
            NULL),
        0);
    assert_int_equal(ask(db,
                         "SELECT count(*) FROM run LEFT JOIN payload USING (seq) WHERE"
                         " (payload_len > 1024) <> (bytes IS NOT NULL)",
                         NULL),
                     0);
}

static void check_facts(const struct session *session, sqlite3 *db, size_t count)
{
    for (size_t i = 0; i < session->fact_count && session->facts[i].at <= count; i++) {
        const struct fact *fact = &session->facts[i];
        const char *sql = fact->is_done
                              ? "SELECT count(*) FROM runs WHERE place = ? AND state = 'D'"
                              : "SELECT count(*) FROM runs WHERE place = ?";
        if (ask(db, sql, &fact->id) != 1)
            fail_msg("fact %zu (%s, acknowledged at %zu) is gone", i,
                     fact->is_done ? "done" : "enqueued", fact->at);
    }
}

/* The producer's call behind this one; NULL when there is none. */
static const struct fact *fact_next(const struct session *session, const struct fact *fact)
{
    const struct fact *end = session->facts + session->fact_count;
    for (const struct fact *next = fact + 1; next < end; next++) {
        if (!next->is_done && next->ticket.producer == fact->ticket.producer)
            return next;
    }
    return NULL;
}

/* Where its producer may have begun the next call, this one may not be the last any more. */
static void check_repeat(const struct session *session, struct culex_store *store,
                         const struct fact *fact, size_t count)
{
    const struct fact *next = fact_next(session, fact);
    culex_uuid id;
    culex_status status = enqueue_with(store, fact->ticket, 10, &id);
    if (next != NULL && (next->at <= count || status != CULEX_OK))
        assert_int_equal(status, CULEX_ECONFLICT);
    else
        assert_int_equal(status, CULEX_OK);
    if (status == CULEX_OK)
        assert_memory_equal(&id, &fact->id, sizeof id);
}

/* The call that the cut has hit comes to one run. */
static void check_hit(struct culex_store *store, const struct fact *fact)
{
    sqlite3 *db = culex__sqlite_of(store)->db;
    int64_t before = ask(db, "SELECT count(*) FROM runs", NULL);
    culex_uuid first, again;
    assert_int_equal(enqueue_with(store, fact->ticket, 10, &first), CULEX_OK);
    assert_int_equal(enqueue_with(store, fact->ticket, 10, &again), CULEX_OK);
    assert_memory_equal(&first, &again, sizeof first);
    assert_int_equal(ask(db, "SELECT count(*) FROM runs WHERE place = ?", &first), 1);
    assert_in_range(ask(db, "SELECT count(*) FROM runs", NULL), before, before + 1);
}

static void check_repeats(const struct session *session, struct culex_store *store, size_t count)
{
    sqlite3 *db = culex__sqlite_of(store)->db;
    int64_t before = ask(db, "SELECT count(*) FROM runs", NULL);
    size_t i = 0;
    for (; i < session->fact_count && session->facts[i].at <= count; i++) {
        if (!session->facts[i].is_done)
            check_repeat(session, store, &session->facts[i], count);
    }
    assert_int_equal(ask(db, "SELECT count(*) FROM runs", NULL), before);
    if (i < session->fact_count && !session->facts[i].is_done)
        check_hit(store, &session->facts[i]);
}

/* What is recorded as done stays so: nobody is granted it, and all the rest can be worked off. */
static void check_work(struct session *session, struct culex_store *store)
{
    sqlite3 *db = culex__sqlite_of(store)->db;
    struct culex_ack acks[64];
    int64_t done = ask(db, "SELECT count(*) FROM runs WHERE state = 'D'", NULL);
    int64_t kept = ask(db, "SELECT count(*) FROM runs", NULL);
    session->fixture.now_ms += 3600000; /* leases run out, retries are due */
    for (int i = 0; i < 64; i++) {
        struct culex_step_reply reply = fixture_step(store, "q", TWO, 64, NULL, 0);
        size_t count = reply.grant_count;
        bool is_empty = reply.is_empty;
        for (size_t k = 0; k < count; k++)
            acks[k] = (struct culex_ack){.id = reply.grants[k].facts.id,
                                         .attempt = reply.grants[k].facts.attempt,
                                         .event = CULEX_EVENT_DONE};
        store->ops->step_release(store, &reply);
        reply = fixture_step(store, "q", TWO, 0, acks, count);
        for (size_t k = 0; k < count; k++)
            assert_int_equal(reply.acks[k], CULEX_ANSWER_OK);
        store->ops->step_release(store, &reply);
        done += (int64_t)count;
        if (is_empty)
            break;
    }
    session->fixture.now_ms -= 3600000;
    assert_int_equal(done, kept);
    check_sound(db);
}

static void check_cut(struct session *session, struct image images[SHIM_PART_COUNT], size_t count,
                      bool is_torn)
{
    images_make(images, count, is_torn);
    images_save(images, session->fixture.path);
    struct culex_store *store = open_store(session);
    check_sound(culex__sqlite_of(store)->db);
    if (!is_torn || strcmp(session->synchronous, "full") == 0)
        check_facts(session, culex__sqlite_of(store)->db, count);
    if (!is_torn || strcmp(session->synchronous, "full") == 0)
        check_repeats(session, store, count);
    if (!is_torn || draw(8) == 0)
        check_work(session, store);
    store->ops->close(store);
}

/* --- runner -------------------------------------------------------------------------------- */

static void campaign(const char *synchronous, int version, long points, uint64_t begun)
{
    struct session session = {.synchronous = synchronous, .version = version};
    struct image images[SHIM_PART_COUNT] = {{0}};
    fixture_init(&session.fixture);
    session_run(&session);
    size_t count = shim_op_count();
    assert_true(count > 150);
    seed = begun;
    for (size_t i = 0; i <= count; i++)
        check_cut(&session, images, i, false);
    for (long i = 0; i < points; i++)
        check_cut(&session, images, 1 + (size_t)draw(count), true);
    printf("synchronous=%s, %s: %zu operations, %zu prefixes and %ld torn cuts from seed %llu, "
           "%zu acknowledgements: all sound\n",
           synchronous, version < CULEX__SQLITE_WAL_RESET_FIXED ? "our checkpoints" : "SQLite's",
           count, count + 1, points, (unsigned long long)begun, session.fact_count);
    for (int part = 0; part < SHIM_PART_COUNT; part++)
        free(images[part].bytes);
    fixture_release(&session.fixture);
}

int main(int argc, char **argv)
{
    long points = argc > 1 ? strtol(argv[1], NULL, 10) : POINTS;
    uint64_t begun = argc > 2 ? strtoull(argv[2], NULL, 10) : 1;
    shim_install();
    campaign("full", GUARDED, points / 2, begun);
    campaign("full", CULEX__SQLITE_WAL_RESET_FIXED, points / 4, begun);
    campaign("normal", GUARDED, points - points / 2 - points / 4, begun);
    shim_record(true); /* frees the log */
    shim_record(false);
    return 0;
}
