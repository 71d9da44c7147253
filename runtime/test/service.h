/* test/service.h - what the worker of a kit serves and offers: all that there is. */
#ifndef CULEX_TEST_SERVICE_H
#define CULEX_TEST_SERVICE_H

#include <culex_test.h>

#include "base/limits.h"

enum { CULEX_SERVICE_OFFER_SIZE = CULEX_NEED_NAME_MAX + 16 };

/* Of one pass. */
struct culex_service {
    char **names;        /* as the store has them; one block */
    const char **queues; /* these, and those of registered jobs */
    size_t queue_count;
    char offers[CULEX_OFFERS_MAX][CULEX_SERVICE_OFFER_SIZE];
    const char *offer_texts[CULEX_OFFERS_MAX];
    size_t offer_count;
};

/* Looks what there is, and tells the worker, which does not run. */
culex_status culex__service_begin(culex_test *test, culex_error *error);
void culex__service_end(culex_test *test);

#endif
