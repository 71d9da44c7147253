/* client/queue_doctor.h - the doctor on waiting runs that no worker takes, and on batches that are
 * forgotten: nobody closes them, or brings their callbacks.
 *
 * A store does not know which workers are alive and which jobs they know. It knows what they did:
 * runs that wait while none is at work and that nobody takes although they are watched for a
 * second, and runs that workers gave back because no handler was registered. */
#ifndef CULEX_CLIENT_QUEUE_DOCTOR_H
#define CULEX_CLIENT_QUEUE_DOCTOR_H

#include "store/store.h"

/* Adds to `report` what was found in the queues of the store. Reads only, at most some 4000 records
 * a queue, whatever lies there; waits a second at most, and only when runs wait and none is at
 * work, or callbacks are due. What cannot be asked is a note. */
void culex__queues_examine(struct culex_store *store, struct culex_report *report);

#endif
