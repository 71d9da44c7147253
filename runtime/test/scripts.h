/* test/scripts.h - what calls of a job come to without a handler: culex_test_fake. */
#ifndef CULEX_TEST_SCRIPTS_H
#define CULEX_TEST_SCRIPTS_H

#include <culex_test.h>

struct culex_script_line {
    culex_outcome outcome;
    const char *text;   /* NULL: none */
    const void *result; /* what the run returns, of its job's type; NULL: nothing */
    struct culex_script_line *next;
};

struct culex_script {
    const culex_job_type *type;
    struct culex_script_line *once;   /* for a call each */
    struct culex_script_line *always; /* behind those; the last one stays */
};

struct culex_scripts {
    struct culex_script *rows;
    size_t count;
};

/* What the next call of the run's job comes to, and its text; false: as its handler says. */
bool culex__scripts_take(culex_test *test, culex_run *run, culex_outcome *ret_outcome);

/* Registers what has a script and no handler, for a pass. */
culex_status culex__scripts_register(culex_test *test, culex_error *error);

void culex__scripts_free(struct culex_scripts *scripts);

#endif
