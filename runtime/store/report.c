#include "store/report.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FINDINGS_MAX = 64, TEXT_MAX = 512 };

/* The public report first, so that one pointer is both. */
struct culex_report {
    culex_doctor_report report;
    bool is_short_of_memory;
    char *promise;
    culex_finding findings[FINDINGS_MAX];
};

const char *culex_severity_name(culex_severity severity)
{
    static const char *const names[] = {"ok", "note", "warning", "error"};
    return (unsigned)severity < sizeof names / sizeof names[0] ? names[severity] : "unknown";
}

struct culex_report *culex__report_create(void)
{
    struct culex_report *report = calloc(1, sizeof *report);
    if (report != NULL)
        report->report.findings = report->findings;
    return report;
}

void culex__report_free(struct culex_report *report)
{
    if (report == NULL)
        return;
    for (size_t i = 0; i < report->report.finding_count; i++) {
        free((char *)report->findings[i].text);
        free((char *)report->findings[i].advice);
    }
    free(report->promise);
    free(report);
}

void culex_doctor_report_free(culex_doctor_report *report)
{
    culex__report_free((struct culex_report *)report);
}

void culex__report_add(struct culex_report *report, culex_severity severity, const char *id,
                       const char *advice, const char *format, ...)
{
    char text[TEXT_MAX];
    if (report->report.finding_count == FINDINGS_MAX)
        return;
    va_list list;
    va_start(list, format);
    vsnprintf(text, sizeof text, format, list);
    va_end(list);
    culex_finding finding = {.severity = severity,
                             .id = id,
                             .text = strdup(text),
                             .advice = strdup(advice != NULL ? advice : "")};
    if (finding.text == NULL || finding.advice == NULL)
        report->is_short_of_memory = true;
    report->findings[report->report.finding_count++] = finding;
    if (severity > report->report.worst)
        report->report.worst = severity;
}

void culex__report_promise(struct culex_report *report, const char *format, ...)
{
    char text[TEXT_MAX];
    va_list list;
    va_start(list, format);
    vsnprintf(text, sizeof text, format, list);
    va_end(list);
    free(report->promise);
    report->promise = strdup(text);
}

culex_doctor_report *culex__report_finish(struct culex_report *report)
{
    if (report->promise == NULL || report->is_short_of_memory) {
        culex__report_free(report);
        return NULL;
    }
    report->report.promise = report->promise;
    return &report->report;
}

/* --- for people ------------------------------------------------------------------------ */

static int finding_print(FILE *stream, const culex_finding *finding)
{
    fprintf(stream, "%-8s %-24s %s\n", culex_severity_name(finding->severity), finding->id,
            finding->text);
    if (finding->advice[0] != '\0')
        fprintf(stream, "%-8s %-24s -> %s\n", "", "", finding->advice);
    return ferror(stream);
}

char *culex_doctor_report_text(const culex_doctor_report *report)
{
    char *text = NULL;
    size_t len = 0;
    FILE *stream = report != NULL ? open_memstream(&text, &len) : NULL;
    if (stream == NULL)
        return NULL;
    int failed = fprintf(stream, "%s\n", report->promise) < 0;
    for (size_t i = 0; i < report->finding_count; i++)
        failed |= finding_print(stream, &report->findings[i]);
    if (fclose(stream) != 0 || failed) {
        free(text);
        return NULL;
    }
    return text;
}
