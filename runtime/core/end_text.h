/* core/end_text.h - texts of runs' ends that the worker writes and the doctor recognises. */
#ifndef CULEX_CORE_END_TEXT_H
#define CULEX_CORE_END_TEXT_H

/* A run of a job that nobody registered. */
#define CULEX__UNKNOWN_JOB_TEXT "no handler is registered for this job"

/* How the text of a run that was not understood begins. */
#define CULEX__NOT_UNDERSTOOD_TEXT "not understood: "

#endif
