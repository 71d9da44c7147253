/* ops/command/carry.h - runs of another store on their way into that of the command.
 *
 * Each has the idempotency key "culex-import:ID", of the id that it has where it comes from, so it
 * comes once, however often that is tried. What is not brought is counted, by what it is left for.
 */
#ifndef OPS_COMMAND_CARRY_H
#define OPS_COMMAND_CARRY_H

#include "command/command.h"
#include "command/print.h"
#include "command/record.h"

/* How long the store remembers those keys: all that it may. */
#define OPS_CARRY_WINDOW (30 * CULEX_DAY)

struct ops_carry_counts {
    uint64_t looked;
    uint64_t wanted;     /* of these, by their states; all but the dry run's are in the next ones */
    uint64_t revived;    /* of these: they are dead where they come from */
    uint64_t came;       /* new ones */
    uint64_t before;     /* had come before */
    uint64_t gone;       /* of a move, of these: not here any more, and left where they come from */
    uint64_t kept_out;   /* another run has their unique key */
    uint64_t conflicts;  /* their id has brought another content */
    uint64_t unreadable; /* they have no payload any more */
    uint64_t members;    /* of batches, or waited for: carried as plain runs, but not moved */
    uint64_t changed;    /* were over, or at work, when their turn came */
    uint64_t removed;    /* from where they came from */
    uint64_t doubled;    /* begun there meanwhile, and here */
    uint64_t left[CULEX_RUN_STATE_COUNT]; /* by states that are not carried */
};

/* One call of the command. */
struct ops_carry {
    struct ops *ops;
    culex_client *from; /* NULL: a file */
    /* Of a move: the same store, by a handle that does not wait for the disk. The last run of each
     * round is taken out by `from`, which waits for the others as well. */
    culex_client *from_fast;
    bool is_dry, is_move;
    bool is_quiet;   /* tells no counts */
    unsigned states; /* that are carried */
    /* The queue at hand, and what an operator has set in it. */
    char queue[OPS_QUEUE_SIZE]; /* "": none */
    bool is_paused;
    uint64_t capacity, dead_limit;
    culex_transfer_limit *limits; /* owned, as are their names */
    size_t limit_count;
    struct ops_carry_counts counts;
    /* Those that wait to be brought. */
    struct ops_cargo *cargo; /* owned */
    size_t cargo_count, cargo_bytes;
    culex_arena *arena; /* of a file's: emptied when they are brought */
    struct ops_table table;
    uint64_t brought; /* of all queues */
    uint64_t all;     /* that are to be; 0: not known */
};

void ops_carry_begin(struct ops_carry *carry, struct ops *ops);
/* Frees what it has, the table printed before. */
void ops_carry_end(struct ops_carry *carry);

void ops_carry_queue(struct ops_carry *carry, const char *queue, bool is_paused);
/* A limit that is set in it. */
void ops_carry_limit(struct ops_carry *carry, const char *name, const culex_limit_value *value);
/* Takes the run. `info`, which it borrows from, is the carry's then, to be freed; or NULL. Brings
 * what has gathered when that is enough for one round trip. */
culex_status ops_carry_run(struct ops_carry *carry, const struct ops_record *record,
                           culex_run_info *info, culex_error *error);
/* Brings what has gathered. */
culex_status ops_carry_flush(struct ops_carry *carry, culex_error *error);
/* Brings the rest, then what is set in the queue, and tells the counts. `status` is how it went so
 * far: after a failure it tells what was done. */
culex_status ops_carry_queue_end(struct ops_carry *carry, culex_status status, culex_error *error);
/* Whether a run of this state would be brought. */
bool ops_carry_wants(const struct ops_carry *carry, culex_run_state state);

#endif
