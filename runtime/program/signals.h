/* program/signals.h - SIGINT, SIGTERM and SIGHUP stop one worker of this process. */
#ifndef CULEX_PROGRAM_SIGNALS_H
#define CULEX_PROGRAM_SIGNALS_H

#include <culex/worker.h>

/* From now on each SIGINT or SIGTERM calls culex_worker_stop(worker), as does a first SIGHUP where
 * that signal was at its default; SIGPIPE is ignored.
 * One worker at a time: only a program's main uses this. */
void culex__signals_catch(culex_worker *worker);

/* Puts back what was there before. */
void culex__signals_restore(void);

#endif
