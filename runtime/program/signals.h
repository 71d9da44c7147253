/* program/signals.h - SIGINT, SIGTERM and SIGHUP stop one worker of this process, or SIGHUP lets it
 * read its options again. */
#ifndef CULEX_PROGRAM_SIGNALS_H
#define CULEX_PROGRAM_SIGNALS_H

#include <culex/worker.h>

/* From now on each SIGINT or SIGTERM calls culex_worker_stop(worker), as does a first SIGHUP where
 * that signal was at its default; SIGPIPE is ignored.
 * One worker at a time: only a program's main uses this. */
void culex__signals_catch(culex_worker *worker);

/* Puts back what was there before. */
void culex__signals_restore(void);

/* From now on SIGHUP rings for a reload (worker/reload.h), wherever it was at, and does so before
 * the calls above and behind them. */
void culex__signals_reload(culex_worker *worker);

/* The worker is about to go: SIGHUP is ignored, as whoever sends it means a program that is ending
 * by itself. Nothing without the call before. */
void culex__signals_reload_end(void);

#endif
