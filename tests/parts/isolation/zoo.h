/* isolation/zoo.h - handlers that misbehave, one way each, and a few that behave. */
#ifndef CULEX_ISOLATION_ZOO_H
#define CULEX_ISOLATION_ZOO_H

#include <stdatomic.h>
#include <stdio.h>

#include "handler/execution.h"

struct zoo_params {
    int64_t n;
    const char *text;
};

/* For meddles: a short run that leaves SIGUSR1 ignored. */
enum { ZOO_MEDDLES_SHORTLY = 11 };

/* Memory that the test and all handlers see. */
struct zoo_board {
    atomic_int starts;     /* runs that began */
    atomic_int ends;       /* runs that came to their end */
    atomic_int pid;        /* of the last child that began a run */
    atomic_int other;      /* pid of a grandchild */
    atomic_int forgets;    /* calls of zoo_forget */
    atomic_int may_end;    /* gate opens */
    atomic_llong first_ns; /* boot time of the first instruction of gate and stamp */
};

extern struct zoo_board *zoo_board;

/* For writes_down: a test opens it before the children are made. */
extern FILE *zoo_file;

void zoo_open(void); /* a fresh board */
void zoo_close(void);

const struct culex_job *zoo_jobs(void);
size_t zoo_count(void);
size_t zoo_unbounded_count(void); /* the first, which have no memory limit */
const struct culex_job *zoo_find(const char *name);

#endif
