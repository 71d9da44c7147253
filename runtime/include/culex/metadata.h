/* culex/metadata.h - what a job keeps from run to run: `metadata { int64 count = 0; }` in its
 * schema.
 *
 * A few named values, at most 16 KiB as text, of at most 256 jobs of a queue. They stand once for
 * each queue that the job's runs are in, outlive runs and workers, and no time forgets them. Until
 * something is set, each field has its default. Generated functions call what is declared here:
 *
 *     P_metadata_get, P_metadata_set      in a handler, those of its run's queue
 *     P_metadata_read, P_metadata_write   in any program, those of the job's own queue
 *
 * Who reads is told a version, and who sets says which one he replaces: CULEX_ECONFLICT, and
 * nothing changes, when another was first. Then read again, and do it again:
 *
 *     do {
 *         status = P_metadata_get(run, &kept, &version, &error);
 *         if (status != CULEX_OK)
 *             break;
 *         kept.count++;
 *         status = P_metadata_set(run, &kept, &version, &error);
 *     } while (status == CULEX_ECONFLICT);
 *
 * It is set at the call, not with the end of the run: a run that fails afterwards has set it, and
 * its next attempt finds it so. A run whose lease is over sets nothing (CULEX_ESTALE).
 *
 * In Redis who sets needs the rights of a worker, and who lists (culex_client_metadata) those of an
 * operator.
 *
 * What a newer schema wrote is read by an older one, which skips what it does not know; when that
 * one sets it, what it did not know is gone, and has its default again. */
#ifndef CULEX_METADATA_H
#define CULEX_METADATA_H

#include <culex/client.h>
#include <culex/codec.h>
#include <culex/job.h>
#include <culex/worker.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Reads what the run's job keeps into *ret_value, a struct of `type`, which is that of the run's
 * job; what it points to lives until the handler returns. *ret_version is 0 when nothing is kept.
 * CULEX_EDECODE and CULEX_EUNDERSTAND as culex_decode; *ret_version is told then too, so that it
 * can be replaced. It asks the store as culex_run_client does, from any isolation; other codes are
 * as there. */
CULEX_API CULEX_MUST_USE culex_status culex_run_metadata_get(culex_run *run,
                                                             const culex_struct_type *type,
                                                             void *ret_value, uint64_t *ret_version,
                                                             culex_error *error);

/* Keeps the value in place of *version and of no other; *version is the new one then. Copies.
 * CULEX_ECONFLICT when another version is there by now, CULEX_ESTALE when the run's lease is over,
 * CULEX_ELIMIT when the text is longer than 16 KiB, CULEX_EENCODE as culex_encode. CULEX_EUNKNOWN:
 * it may have been set, so read it again. */
CULEX_API CULEX_MUST_USE culex_status culex_run_metadata_set(culex_run *run,
                                                             const culex_struct_type *type,
                                                             const void *value, uint64_t *version,
                                                             culex_error *error);

/* The same for a program that is no run of the job; what *ret_value points to lives in `arena`. */
CULEX_API CULEX_MUST_USE culex_status
culex_client_metadata_read(culex_client *client, const culex_job_type *type, culex_arena *arena,
                           void *ret_value, uint64_t *ret_version, culex_error *error);
/* CULEX_ENOTFOUND when nobody has used the queue yet. */
CULEX_API CULEX_MUST_USE culex_status culex_client_metadata_write(culex_client *client,
                                                                  const culex_job_type *type,
                                                                  const void *value,
                                                                  uint64_t *version,
                                                                  culex_error *error);

/* What one job keeps, as it is stored. */
typedef struct culex_metadata_info {
    const char *job; /* its stored name */
    uint64_t version;
    int64_t set_at_ms; /* the store's clock, ms since 1970 */
    culex_bytes text;  /* as a payload (schemas/payload.md); may hold values that are secret */
} culex_metadata_info;

/* Called for each job; return false to stop. What it is shown is borrowed. */
typedef bool (*culex_metadata_visitor)(const culex_metadata_info *metadata, void *user);

/* Visits what the jobs of `queue` keep, by their names. Needs no schema. */
CULEX_API CULEX_MUST_USE culex_status culex_client_metadata(culex_client *client, const char *queue,
                                                            culex_metadata_visitor visit,
                                                            void *user, culex_error *error);

/* Forgets what the job of that stored name keeps in `queue`, whatever its version is: each field
 * has its default again. CULEX_OK also when nothing was kept, CULEX_ENOTFOUND for no queue. */
CULEX_API CULEX_MUST_USE culex_status culex_client_metadata_delete(culex_client *client,
                                                                   const char *queue,
                                                                   const char *job,
                                                                   culex_error *error);

/* A function of another type for a callback is an error; see culex/typed.h. */
#ifdef CULEX_TYPED
#define culex_client_metadata(...) CULEX_TYPED(culex_client_metadata, __VA_ARGS__)
#endif

#ifdef __cplusplus
}
#endif
#endif
