/* culex/error.h - what can go wrong, as a code for programs and a text for people.
 *
 * Every function that can fail returns a culex_status: CULEX_OK (0) or a negative
 * code. It also fills a culex_error that the caller owns, so a failure needs no
 * allocation and the text may outlive every handle. Passing NULL for the error is
 * allowed everywhere. Outputs (`ret_*`) are set only on CULEX_OK; but a pointer to what the caller
 * would own is NULL after a failure, so it may be freed whatever the call has returned.
 *
 * NULL for an argument that a function needs does no harm. A function that returns a status returns
 * CULEX_EINVAL; any other does nothing and returns NULL, 0, false or "".
 */
#ifndef CULEX_ERROR_H
#define CULEX_ERROR_H

#include <culex/export.h>

#ifdef __cplusplus
extern "C" {
#endif

/* name, number, meaning. The numbers are part of the ABI: append, never renumber. */
#define CULEX_STATUS_MAP(X)                                                                        \
    X(OK, 0, "ok")                                                                                 \
    X(EINVAL, -1, "invalid argument")                                                              \
    X(ENOMEM, -2, "out of memory")                                                                 \
    X(ELIMIT, -3, "larger than the limit")                                                         \
    X(EENCODE, -4, "the value does not satisfy the schema")                                        \
    X(EDECODE, -5, "the payload does not satisfy the schema")                                      \
    X(EUNDERSTAND, -6, "the payload needs a newer schema")                                         \
    X(EURL, -7, "the store URL is not usable")                                                     \
    X(ECONNECT, -8, "the store cannot be reached")                                                 \
    X(EUNKNOWN, -9, "no answer from the store: the call may or may not have been applied")         \
    X(ESTORE, -10, "the store refused the call")                                                   \
    X(EFULL, -11, "the store or the queue is full")                                                \
    X(EREADONLY, -12, "the store is read-only")                                                    \
    X(EBUSY, -13, "the store is busy")                                                             \
    X(ECORRUPT, -14, "stored data is damaged")                                                     \
    X(EVERSION, -15, "made for another version of Culex")                                          \
    X(ENOTFOUND, -16, "no such run or queue")                                                      \
    X(ECONFLICT, -17, "the same ticket or idempotency key came with other content")                \
    X(EEXPIRED, -18, "the ticket is too old or too new to be accepted")                            \
    X(ESTALE, -19, "the lease is over: another worker may hold the run")                           \
    X(ESTATE, -20, "not possible in the run's present state")                                      \
    X(EUNSUPPORTED, -21, "not supported by this build or store")                                   \
    X(EUNIQUE, -22, "another run holds this unique key")                                           \
    X(EUSAGE, -23, "bad option, variable or value")                                                \
    X(EDENIED, -24, "the store denies permission")                                                 \
    X(EBROKEN, -25, "the worker cannot run handlers any more")                                     \
    X(EUNSENT, -26, "the worker ended before the store had taken all results")                     \
    X(EMOVED, -27, "the store's file was removed, replaced or cut off")                            \
    X(ELEFT, -28, "the drain ended with runs that this worker cannot execute")                     \
    X(EOVER, -29, "the worker has come to its end")                                                \
    X(ENOKEY, -30, "no key for what is encrypted")

typedef enum CULEX_INT_ENUM culex_status {
#define CULEX_STATUS_ENUM(name, number, text) CULEX_##name = number,
    CULEX_STATUS_MAP(CULEX_STATUS_ENUM)
#undef CULEX_STATUS_ENUM
} culex_status;

enum { CULEX_ERROR_FIELD_SIZE = 128, CULEX_ERROR_TEXT_SIZE = 384 };

/* Filled by the innermost failure. `field` is the path of the param at fault
 * ("cc[3]", "address.city"), empty when no param is concerned. Both texts are
 * valid UTF-8, NUL-ended and cut at a character border when too long. */
typedef struct culex_error {
    culex_status code;
    char field[CULEX_ERROR_FIELD_SIZE];
    char text[CULEX_ERROR_TEXT_SIZE];
} culex_error;

/* The fixed meaning of a code; never NULL, "unknown status" for a foreign number. */
CULEX_API const char *culex_status_text(culex_status code);

/* The code's name as in this header without the prefix, "EINVAL"; never NULL. */
CULEX_API const char *culex_status_name(culex_status code);

#ifdef __cplusplus
}
#endif
#endif
