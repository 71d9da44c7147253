/* kit.h - a kit for each test, and failures of macros as texts. */
#ifndef KIT_H
#define KIT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>
#include <culex_test.h>

#include "kit_job.h"

/* What the newest failure said, and where it was. */
struct caught {
    jmp_buf back;
    char text[4096];
    char file[256];
    int line;
};

extern struct caught caught;

static inline void failure_catch(void *user, const char *file, int line, const char *text)
{
    struct caught *here = user;
    snprintf(here->text, sizeof here->text, "%s", text);
    snprintf(here->file, sizeof here->file, "%s", file);
    here->line = line;
    longjmp(here->back, 1);
}

/* As culex_test.h shows it. */
static inline void fail_test(void *user, const char *file, int line, const char *text)
{
    (void)user;
    print_error("%s\n", text);
    _fail(file, line);
}

/* `statement` fails with exactly this text, and tells its line. */
#define FAILS(test, statement, wanted)                                                             \
    do {                                                                                           \
        culex_test_on_failure(test, failure_catch, &caught);                                       \
        caught.line = 0;                                                                           \
        if (setjmp(caught.back) == 0) {                                                            \
            (void)(statement);                                                                     \
            fail_msg("%s has not failed", #statement);                                             \
        }                                                                                          \
        culex_test_on_failure(test, fail_test, NULL);                                              \
        assert_string_equal(caught.text, wanted);                                                  \
        assert_in_range(caught.line, __LINE__ - 8, __LINE__ + 8); /* of several */                 \
        assert_non_null(strstr(caught.file, "test_"));                                             \
    } while (0)

static inline int kit_open(void **state)
{
    culex_test *test = NULL;
    if (culex_test_open(NULL, &test, NULL) != CULEX_OK)
        return -1;
    culex_test_on_failure(test, fail_test, NULL);
    *state = test;
    return 0;
}

static inline int kit_close(void **state)
{
    culex_test_close(*state);
    return 0;
}

#define WITH_KIT(function) cmocka_unit_test_setup_teardown(function, kit_open, kit_close)

static inline culex_uuid letter_send(culex_test *test, const char *to)
{
    culex_error error = {0};
    culex_uuid id = {{0}};
    kit_letter_job job = kit_letter_job_make(to);
    if (kit_letter_job_enqueue(culex_test_client(test), &job, NULL, &id, &error) != CULEX_OK)
        fail_msg("%s", error.text);
    return id;
}

#endif
