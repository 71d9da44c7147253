/* ops/console/failure.h - what went wrong, as a program and a person are told over HTTP. */
#ifndef OPS_CONSOLE_FAILURE_H
#define OPS_CONSOLE_FAILURE_H

#include <culex/error.h>

#include "command/print.h"

enum { FAILURE_TEXT_SIZE = CULEX_ERROR_TEXT_SIZE };

struct failure {
    unsigned status;  /* of HTTP */
    const char *code; /* a word for programs; the list is failure.c's */
    char message[FAILURE_TEXT_SIZE];
    char param[CULEX_ERROR_FIELD_SIZE]; /* at fault, "" when it is none */
    const char *hint;                   /* what to do, NULL when the message has it */
    char allow[32];                     /* methods that would do, "" where it is not about that */
    unsigned retry_after_s;             /* 0: to ask again would not help */
    char run[CULEX_UUID_TEXT_SIZE];     /* that is in the way, "" for none */
};

/* One that no call of the store's has. */
CULEX_PRINTF(4, 5)
struct failure failure_make(unsigned status, const char *code, const char *hint, const char *format,
                            ...);
/* That of a call. */
struct failure failure_of(culex_status status, const culex_error *error);
/* The member "error", an object; `json` is within an object. */
void failure_json(struct ops_json *json, const struct failure *failure);

#endif
