/* scan_needs.c - who of those that need something is met: what fits into what the worker offers. */
#include "store/sqlite/scan.h"

#include <stdio.h>
#include <stdlib.h>

#include "core/needs.h"
#include "store/sqlite/error.h"
#include "store/sqlite/ledger.h"
#include "store/sqlite/queue.h"
#include "store/sqlite/sqlite.h"
#include "store/sqlite/statement.h"

enum { NEEDS_MORE = 16 /* runs looked at beside those that fit */ };

/* What some runs need, and the key behind which they are parked. */
struct needs {
    struct culex_needs units;
    int64_t key;
};

struct candidate {
    const struct needs *needs;
    int64_t seq, priority, at_ms;
};

/* As long as it is used, `needs` does not move: the candidates point into it. */
struct choice {
    struct needs *needs;
    size_t needs_count;
    struct candidate *candidates;
    size_t count, room;
};

/* How many runs with these needs fit, up to `most`. */
static size_t fitting_count(const struct culex_needs *needs, struct culex_needs offers, size_t most)
{
    size_t count = 0;
    while (count < most && culex__needs_fit(needs, &offers)) {
        culex__needs_take(needs, &offers);
        count++;
    }
    return count;
}

/* All needs that begin with the name, as far as a STEP looks. */
static culex_status choice_list(struct culex_sqlite_scan *scan, const char *name,
                                struct choice *choice, culex_error *error)
{
    char from[CULEX_LIMIT_NAME_MAX + 1], before[CULEX_LIMIT_NAME_MAX + 1];
    int has;
    snprintf(from, sizeof from, CULEX__NEEDS_WORD "%s:", name);
    snprintf(before, sizeof before, CULEX__NEEDS_WORD "%s;", name); /* the next character */
    sqlite3_stmt *row = SQL_BIND(scan->store, NEEDS_PARKED, SQL_INT(scan->queue->key),
                                 SQL_TEXT(from), SQL_TEXT(before), SQL_INT(CULEX_NEEDS_LOOK_MAX));
    while ((has = culex__sqlite_next(scan->store, row, error)) > 0) {
        struct needs *needs = &choice->needs[choice->needs_count];
        const char *limit = (const char *)sqlite3_column_text(row, 1);
        const char *text = limit != NULL ? culex__needs_of_limit(limit) : NULL;
        needs->key = sqlite3_column_int64(row, 0);
        choice->needs_count += text != NULL && culex__needs_read(text, &needs->units) &&
                               culex__needs_are_offered(&needs->units, &scan->offers);
    }
    culex__sqlite_end(row);
    return has < 0 ? (culex_status)has : CULEX_OK;
}

static bool choice_add(struct choice *choice, struct candidate candidate)
{
    if (choice->count == choice->room) {
        size_t room = choice->room == 0 ? 64 : 2 * choice->room;
        struct candidate *wider = realloc(choice->candidates, room * sizeof *wider);
        if (wider == NULL)
            return false;
        choice->candidates = wider;
        choice->room = room;
    }
    choice->candidates[choice->count++] = candidate;
    return true;
}

/* The first ones with these needs: as many as fit, and some more, one at least. */
static culex_status choice_fill(struct culex_sqlite_scan *scan, const struct needs *needs,
                                struct choice *choice, culex_error *error)
{
    size_t fitting = fitting_count(&needs->units, scan->offers, scan->step->want - scan->granted);
    size_t most = fitting > 0 ? fitting + NEEDS_MORE : 1, found = 0;
    culex_status status = CULEX_OK;
    int has = 0;
    sqlite3_stmt *row = SQL_BIND(scan->store, NEEDS_READY, SQL_INT(scan->queue->key),
                                 SQL_INT(needs->key), SQL_INT((int64_t)most));
    while (status == CULEX_OK && (has = culex__sqlite_next(scan->store, row, error)) > 0) {
        const struct candidate candidate = {needs, sqlite3_column_int64(row, 0),
                                            sqlite3_column_int64(row, 1),
                                            sqlite3_column_int64(row, 2)};
        found++;
        if (!choice_add(choice, candidate))
            status = culex__sqlite_no_memory(error);
    }
    culex__sqlite_end(row);
    scan->is_needs_cut = scan->is_needs_cut || (fitting > 0 && found == most);
    return has < 0 ? (culex_status)has : status;
}

/* The order of claims. */
static int candidate_compare(const void *a, const void *b)
{
    const struct candidate *left = a, *right = b;
    if (left->priority != right->priority)
        return left->priority > right->priority ? -1 : 1;
    if (left->at_ms != right->at_ms)
        return left->at_ms < right->at_ms ? -1 : 1;
    return left->seq < right->seq ? -1 : left->seq > right->seq;
}

static culex_status choice_make(struct culex_sqlite_scan *scan, struct choice *choice,
                                culex_error *error)
{
    culex_status status = CULEX_OK;
    choice->needs =
        malloc(scan->offers.count * (size_t)CULEX_NEEDS_LOOK_MAX * sizeof *choice->needs);
    if (choice->needs == NULL)
        return culex__sqlite_no_memory(error);
    for (size_t i = 0; i < scan->offers.count && status == CULEX_OK; i++)
        status = choice_list(scan, scan->offers.of[i].name, choice, error);
    for (size_t i = 0; i < choice->needs_count && status == CULEX_OK; i++)
        status = choice_fill(scan, &choice->needs[i], choice, error);
    if (choice->count > 1)
        qsort(choice->candidates, choice->count, sizeof choice->candidates[0], candidate_compare);
    return status;
}

/* Looks at one that fits, and takes its units when it is granted. */
static culex_status candidate_scan(struct culex_sqlite_scan *scan,
                                   const struct candidate *candidate, culex_error *error)
{
    size_t granted = scan->granted;
    sqlite3_stmt *row = SQL_BIND(scan->store, RUN_WHOLE_BY_SEQ, SQL_INT(candidate->seq));
    int has = culex__sqlite_next(scan->store, row, error);
    culex_status status = has < 0 ? (culex_status)has : CULEX_OK;
    if (has > 0)
        status = culex__sqlite_scan_row(scan, row, error);
    culex__sqlite_end(row);
    if (scan->granted > granted)
        culex__needs_take(&candidate->needs->units, &scan->offers);
    return status;
}

/* Before all others: what fits into what the worker has free. */
culex_status culex__sqlite_scan_needs(struct culex_sqlite_scan *scan, culex_error *error)
{
    struct choice choice = {.count = 0};
    if (scan->offers.count == 0 || scan->queue->limits == 0)
        return CULEX_OK;
    culex_status status = culex__sqlite_ledger_save(scan->store, scan->queue, error);
    scan->is_needs_cut = scan->reply->is_short = false;
    if (status == CULEX_OK)
        status = choice_make(scan, &choice, error);
    scan->is_of_needs = true;
    for (size_t i = 0; i < choice.count && status == CULEX_OK && culex__sqlite_scan_wants(scan);
         i++) {
        if (culex__needs_fit(&choice.candidates[i].needs->units, &scan->offers))
            status = candidate_scan(scan, &choice.candidates[i], error);
        else
            scan->reply->is_short = true;
    }
    scan->is_of_needs = false;
    free(choice.needs);
    free(choice.candidates);
    return status;
}
