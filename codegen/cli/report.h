/* report.h - diagnostics in the format that was asked for, each said once in a call. */
#ifndef CULEXC_REPORT_H
#define CULEXC_REPORT_H

#include "cli.h"

/* Before anything is reported, when the format is known. */
void cli_report_begin(struct cli *cli);

/* Prints what is one document for the whole call; `status` is what the call ends with. */
void cli_report_end(struct cli *cli, int status);

#endif
