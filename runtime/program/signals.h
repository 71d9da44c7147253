/* program/signals.h - SIGINT and SIGTERM stop one worker of this process. */
#ifndef CULEX_PROGRAM_SIGNALS_H
#define CULEX_PROGRAM_SIGNALS_H

#include <culex/worker.h>

/* From now on each SIGINT or SIGTERM calls culex_worker_stop(worker), and SIGPIPE is ignored.
 * One worker at a time: only a program's main uses this. */
void culex__signals_catch(culex_worker *worker);

/* Puts back what was there before. */
void culex__signals_restore(void);

#endif
