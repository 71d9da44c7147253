/* core/end_text.h - texts of runs' ends that one part writes and another recognises or writes, too.
 */
#ifndef CULEX_CORE_END_TEXT_H
#define CULEX_CORE_END_TEXT_H

/* Of who has failed and said nothing. */
#define CULEX__NO_REASON_TEXT         "it gave no reason"
#define CULEX__HANDLER_NO_REASON_TEXT "the handler gave no reason"

/* Of who has returned what is no culex_outcome: who, and what. */
#define CULEX__NO_OUTCOME_FORMAT "%s returned %d, which is no outcome"

/* A run of a job that nobody registered. */
#define CULEX__UNKNOWN_JOB_TEXT "no handler is registered for this job"

/* A run that a claim found before one of a job that it wanted: it lacks nothing, so neither the
 * doctor nor `culex check` counts it among those that workers give back. */
#define CULEX__PASSED_BY_TEXT "a claim wanted other jobs"

/* How the text of a run that was not understood begins. */
#define CULEX__NOT_UNDERSTOOD_TEXT "not understood: "
/* Behind it where the worker knows nothing of the chain that the run goes on with. */
#define CULEX__NEXT_STEP_TEXT      "the next step of its chain is "

/* What stands behind that where a key is missing. */
#define CULEX__NO_KEY_TEXT "no key: "

/* How the texts of damaged runs begin, and two of them. */
#define CULEX__DAMAGED_TEXT      "damaged in the store: "
#define CULEX__LONG_PAYLOAD_TEXT CULEX__DAMAGED_TEXT "the payload is longer than 1048576 bytes"
#define CULEX__CHECKSUM_TEXT     CULEX__DAMAGED_TEXT "the checksum over id, job and payload differs"

#endif
