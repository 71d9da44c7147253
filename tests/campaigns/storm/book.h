/* storm/book.h - everything that a storm left behind, by run: what producers were promised, what
 * handlers did, what the store says in the end, and what the driver did to whom. */
#ifndef CULEX_STORM_BOOK_H
#define CULEX_STORM_BOOK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    BOOK_ID_SIZE = 37,
    BOOK_WORD_SIZE = 48,
    BOOK_ORDER_SIZE = 21,
    BOOK_FENCE_SIZE = 72,
    BOOK_TEXT_SIZE = 160,
    BOOK_QUEUES_MAX = 8,
    BOOK_LIVES = 4096
};

/* One execution, as its handler wrote it. */
struct episode {
    uint32_t attempt;
    char fence[BOOK_FENCE_SIZE];
    char ending[12]; /* "" when the handler never said */
    long pid, supervisor;
    int64_t start_us;
    int64_t end_us; /* 0 when it never ended */
};

/* The store's record of a run. */
struct record {
    char queue[BOOK_WORD_SIZE];
    char job[BOOK_WORD_SIZE];
    char owner[BOOK_WORD_SIZE]; /* "-" for none */
    char state;                 /* a letter of run_rules.def */
    uint32_t attempt, failures, crashes, crash_streak, losses, attempts_max;
    char text[BOOK_TEXT_SIZE]; /* of the last failure */
};

struct story {
    char id[BOOK_ID_SIZE];
    char act[12]; /* "" when nobody said */
    uint32_t times;
    bool is_ordered, is_acked;
    uint32_t record_count;
    struct record record;
    struct episode *episodes;
    size_t episode_count;
    struct story *next;
};

/* What a producer has ordered: one run, however often it had to ask. */
struct promise {
    char order[BOOK_ORDER_SIZE];
    char act[12];
    uint32_t times;
    char acked[BOOK_ID_SIZE], run[BOOK_ID_SIZE]; /* as it was told, and was started; "": not yet */
    char other[BOOK_ID_SIZE];                    /* a second run of the same order; "": none */
    struct promise *next;
};

/* A process of the storm. */
struct life {
    char kind[12];
    char name[BOOK_WORD_SIZE];
    long pid;
    int64_t born_us, killed_us; /* 0 when unknown */
    size_t stops;
    size_t older; /* 1 + the place of the next older life in the same bucket; 0 for none */
};

struct queue_totals {
    char name[BOOK_WORD_SIZE];
    uint64_t enqueued, done, failed, crashed, lost, dead, cancelled, stale;
};

struct book {
    struct story **buckets;
    size_t bucket_count;
    size_t story_count;
    struct promise **promises; /* in as many buckets */
    struct life *lives;
    size_t life_count;
    size_t newest[BOOK_LIVES]; /* by pid: 1 + the place of the newest life */
    struct queue_totals queues[BOOK_QUEUES_MAX];
    size_t queue_count;
    int64_t *outages_us; /* when the server was killed or stopped, in order */
    size_t outage_count;
    uint64_t acks, kills, stops;
    uint64_t torn;       /* lines that a dying writer left unfinished */
    bool is_sound;       /* the store's own structure was found in order */
    uint64_t wrong;      /* lines that nobody should have written */
    char complaint[200]; /* the first of them */
};

/* Reads FOLDER's ledgers and store.txt. False, with the reason on stderr, when one is missing or
 * there is no memory. */
bool book_read(struct book *book, const char *folder);

void book_free(struct book *book);

/* Calls `visit` for every story. */
void book_visit(const struct book *book, void (*visit)(const struct story *story, void *user),
                void *user);

void book_visit_promises(const struct book *book,
                         void (*visit)(const struct promise *promise, void *user), void *user);

/* The life of `pid` that covers `at_us`; NULL for a stranger. */
const struct life *book_life(const struct book *book, long pid, int64_t at_us);

#endif
