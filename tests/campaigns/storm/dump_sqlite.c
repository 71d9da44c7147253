/* storm/dump_sqlite.c - what a storm has left in an SQLite file, for its checker. */
#include "dump.h"

#include <sqlite3.h>
#include <string.h>

/* Behind the bodies of a queue stands its rear, which counts runs that came. */
#define REAR    " body rear ON rear.seq = (q.queue << 48) + 281474976710655"
#define IS_BODY " seq & 281474976710655 < 281474976710655"

/* Ordinary runs, with their states. */
#define BODIES                                                                                     \
    " (SELECT count(*) FROM body b WHERE b.seq >> 48 = q.queue AND" IS_BODY                        \
    " AND CASE WHEN EXISTS"                                                                        \
    " (SELECT 1 FROM block WHERE first BETWEEN seq - 62 AND seq AND held >> seq - first & 1)"      \
    " THEN 'A' WHEN EXISTS"                                                                        \
    " (SELECT 1 FROM ended WHERE first BETWEEN seq - 62 AND seq AND runs >> seq - first & 1)"      \
    " THEN 'D' ELSE 'W' END = "

/* Each must answer 0. */
static const char *const claims[] = {
    "SELECT count(*) FROM pragma_integrity_check WHERE integrity_check <> 'ok'",
    "SELECT count(*) FROM queue q JOIN" REAR " WHERE pending + rear.kind <>"
    " (SELECT count(*) FROM run r WHERE r.queue = q.queue AND state = 'W') +" BODIES "'W')",
    "SELECT count(*) FROM queue q WHERE active <>"
    " (SELECT count(*) FROM run r WHERE r.queue = q.queue AND state = 'A') +" BODIES "'A')",
    "SELECT count(*) FROM queue q WHERE kept_done <>"
    " (SELECT count(*) FROM run r WHERE r.queue = q.queue AND state = 'D') +" BODIES "'D')",
    "SELECT count(*) FROM queue q WHERE kept_dead <>"
    " (SELECT count(*) FROM run r WHERE r.queue = q.queue AND state = 'X')",
    "SELECT count(*) FROM queue q WHERE kept_cancelled <>"
    " (SELECT count(*) FROM run r WHERE r.queue = q.queue AND state = 'C')",
    "SELECT count(*) FROM run WHERE state <> 'D' AND payload IS NULL"
    " AND seq NOT IN (SELECT seq FROM payload)",
    "SELECT count(*) FROM payload WHERE seq NOT IN (SELECT seq FROM run)",
};

static bool rows_visit(sqlite3 *db, const char *sql, void (*row)(sqlite3_stmt *rows, FILE *out),
                       FILE *out)
{
    sqlite3_stmt *rows = NULL;
    int code = sqlite3_prepare_v2(db, sql, -1, &rows, NULL);
    while (code == SQLITE_OK || code == SQLITE_ROW) {
        code = sqlite3_step(rows);
        if (code == SQLITE_ROW)
            row(rows, out);
    }
    sqlite3_finalize(rows);
    if (code == SQLITE_DONE)
        return true;
    fprintf(stderr, "storm_dump: %s: %s\n", sql, sqlite3_errmsg(db));
    return false;
}

static void facts_row(const char *id, sqlite3_stmt *rows, FILE *out)
{
    fprintf(out, "run %s", id);
    for (int i = 1; i < 11; i++)
        fprintf(out, " %s", (const char *)sqlite3_column_text(rows, i));
    fputc(' ', out);
    dump_text(out, (const char *)sqlite3_column_text(rows, 11),
              (size_t)sqlite3_column_bytes(rows, 11));
    fputs(" .\n", out);
}

static void run_row(sqlite3_stmt *rows, FILE *out)
{
    char id[DUMP_ID_SIZE];
    dump_id(sqlite3_column_blob(rows, 0), id);
    facts_row(id, rows, out);
}

/* Its id is a text already. */
static void body_row(sqlite3_stmt *rows, FILE *out)
{
    facts_row((const char *)sqlite3_column_text(rows, 0), rows, out);
}

static void queue_row(sqlite3_stmt *rows, FILE *out)
{
    fputs("queue", out);
    for (int i = 0; i < 9; i++)
        fprintf(out, " %s", (const char *)sqlite3_column_text(rows, i));
    fputs(" .\n", out);
}

static bool is_true(sqlite3 *db, const char *claim)
{
    sqlite3_stmt *rows = NULL;
    bool is_true = sqlite3_prepare_v2(db, claim, -1, &rows, NULL) == SQLITE_OK &&
                   sqlite3_step(rows) == SQLITE_ROW && sqlite3_column_int64(rows, 0) == 0;
    sqlite3_finalize(rows);
    if (!is_true)
        fprintf(stderr, "storm_dump: does not hold: %s\n", claim);
    return is_true;
}

static bool content_dump(sqlite3 *db, FILE *out)
{
    return rows_visit(db,
                      "SELECT id, name, state, attempt, failures, crashes, crash_streak, losses,"
                      " attempts_max, iif(owner = '', '-', owner), job,"
                      " iif(state = 'X', coalesce(error_text, ''), '')"
                      " FROM run JOIN queue USING (queue)",
                      run_row, out) &&
           rows_visit(db,
                      "SELECT printf('%08llx-%04llx-%04llx-%04llx-%012llx', created_at_ms >> 16,"
                      " created_at_ms & 65535, 28672 | (salt >> 14), 32768 | (salt & 16383),"
                      " seq & 281474976710655), name,"
                      " CASE WHEN b.first IS NOT NULL THEN 'A' WHEN e.first IS NOT NULL THEN 'D'"
                      " ELSE 'W' END, b.first IS NOT NULL OR e.first IS NOT NULL, 0, 0, 0, 0,"
                      " attempts_max, coalesce(b.session, e.session, '-'), job, ''"
                      " FROM body JOIN kind USING (kind) JOIN queue q ON" IS_BODY
                      " AND q.queue = seq >> 48"
                      " LEFT JOIN block b ON b.first BETWEEN seq - 62 AND seq AND"
                      " held >> seq - b.first & 1"
                      " LEFT JOIN ended e ON e.first BETWEEN seq - 62 AND seq AND"
                      " runs >> seq - e.first & 1",
                      body_row, out) &&
           rows_visit(
               db,
               "SELECT name, enqueued + rear.kind, done, failed, crashed, lost, dead, cancelled,"
               " stale FROM queue q JOIN" REAR,
               queue_row, out);
}

bool dump_sqlite(const char *path, FILE *out)
{
    sqlite3 *db = NULL;
    bool is_good = sqlite3_open_v2(path, &db, SQLITE_OPEN_READWRITE, NULL) == SQLITE_OK;
    if (is_good)
        is_good = content_dump(db, out);
    else
        fprintf(stderr, "storm_dump: %s: %s\n", path, sqlite3_errmsg(db));
    bool is_sound = is_good;
    for (size_t i = 0; is_good && i < sizeof claims / sizeof claims[0]; i++)
        is_sound &= is_true(db, claims[i]);
    if (is_sound)
        fputs("sound yes .\n", out);
    sqlite3_close(db);
    return is_good;
}
