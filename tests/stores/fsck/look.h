/* fsck/look.h - what tests of FSCK on Redis do again and again: damage, look, repair, work off. */
#ifndef CULEX_TESTS_FSCK_LOOK_H
#define CULEX_TESTS_FSCK_LOOK_H

#include "fixture.h"

/* A command on key `name` of queue "q"; `%b` of `words` takes the id. */
void look_damage(struct fixture *fixture, const char *verb, const char *name, const char *words,
                 culex_uuid id);

/* A whole FSCK. */
culex_fsck_counts look_fsck(struct fixture *fixture, bool is_repairing);

/* One that repairs nothing, and writes nothing. */
culex_fsck_counts look_report(struct fixture *fixture);

/* A report and a repair that find so many, and then a report that finds nothing. */
void look_expect(struct fixture *fixture, uint64_t wrong, uint64_t spoilt);

/* And then everything is worked off: `live` runs. */
void look_expect_and_drain(struct fixture *fixture, uint64_t wrong, uint64_t spoilt, size_t live);

/* Executes everything; returns how many runs were done. */
size_t look_drain(struct fixture *fixture);

/* Claims everything and ends it, while leases run out in between; returns how many were done. */
size_t look_live_on(struct fixture *fixture);

#endif
