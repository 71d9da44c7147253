/* test/params.h - params as texts: what a payload says of one of them, and what is shown of all. */
#ifndef CULEX_TEST_PARAMS_H
#define CULEX_TEST_PARAMS_H

#include <culex_test.h>

/* The param of that name in the schema; NULL when there is none. */
const culex_field *culex__params_field(const culex_job_type *type, const char *name);

/* The value of `field` is written so in the payload: see culex_test_find. */
bool culex__params_say(const culex_buf *payload, const culex_field *field, const char *text);

/* The payload without secrets, cut to fit. */
void culex__params_show(const culex_job_type *type, const void *params, const culex_buf *payload,
                        char *ret_text, size_t size);

#endif
