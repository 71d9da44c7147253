/* bench/product.h - what is measured: the product by its public functions alone, so that these
 * lines measure any version of it. All exit with a message on any failure; times are seconds. */
#ifndef CULEX_BENCH_PRODUCT_H
#define CULEX_BENCH_PRODUCT_H

#include <stddef.h>
#include <stdint.h>

#include "bench_job.h"

double product_now_s(void);

/* Ends the program. */
void product_die(const char *what, const culex_error *error);

bench_job product_job(int64_t number);

culex_client *product_client(const char *url);

/* Runs one handler at a time. */
culex_worker *product_worker(const char *url, bool is_drain, culex_isolation isolation,
                             bench_job_handler handler, void *user);

culex_outcome product_handle_nothing(culex_run *run, const bench_job *job, void *user);

double product_enqueue(culex_client *client, size_t count);
double product_enqueue_many(culex_client *client, size_t count);

/* Runs all that waits, by handlers that do nothing. */
double product_drain(const char *url, culex_isolation isolation);

/* Encodes and decodes `count` times. */
double product_codec(size_t count);

#endif
