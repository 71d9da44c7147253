/* store/report.h - a doctor's report under construction: struct culex_report. */
#ifndef CULEX_STORE_REPORT_H
#define CULEX_STORE_REPORT_H

#include <culex/export.h>
#include <culex/maintain.h>

struct culex_report;

/* Returns owned, NULL when out of memory: culex__report_finish or culex__report_free. */
struct culex_report *culex__report_create(void);

/* Accepts NULL. */
void culex__report_free(struct culex_report *report);

/* Adds a finding. `id` is a constant; `advice` may be NULL; `format` makes the text. Without
 * memory the report remembers that and finish fails, so callers need not look. */
void culex__report_add(struct culex_report *report, culex_severity severity, const char *id,
                       const char *advice, const char *format, ...) CULEX_PRINTF(5, 6);

/* Sets the promise, a whole sentence. A later call replaces it. */
void culex__report_promise(struct culex_report *report, const char *format, ...) CULEX_PRINTF(2, 3);

/* Turns it into what the user gets, and frees `report`. NULL when out of memory. */
culex_doctor_report *culex__report_finish(struct culex_report *report);

#endif
