/* bench/product.h - the product's side: its public functions alone, so that these lines measure any
 * version of it. All exit with a message on any failure. */
#ifndef CULEX_BENCH_PRODUCT_H
#define CULEX_BENCH_PRODUCT_H

#include <stddef.h>
#include <stdint.h>

#include "bench_job.h"
#include "knobs.h"

/* Ends the program. */
void product_die(const char *what, const culex_error *error);

bench_job product_job(int64_t number);

/* Of the callback of a batch, when all of its members have ended. */
enum { PRODUCT_CALLBACK = -2 };

/* The job as its schema has it, but for what the knobs say. */
culex_job_type product_type(const struct knobs *knobs);

culex_client *product_client(const struct knobs *knobs);

/* Enqueues runs `first` to `first + count - 1` as the knobs say: one by one, or many in a call, and
 * maybe all of them in one batch with a callback. */
void product_enqueue(culex_client *client, const struct knobs *knobs, size_t first, size_t count);

/* Encodes and decodes `count` times; returns seconds. */
double product_codec(size_t count);

#endif
