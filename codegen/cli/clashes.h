/* clashes.h - what is wrong with the files of a command line taken together. */
#ifndef CULEXC_CLASHES_H
#define CULEXC_CLASHES_H

#include "cli.h"

/* Reports what the files, and what they import, must not both have (clash.h); with `is_one_folder`
 * also files that would be generated twice in it. Nothing else is reported, and a file that cannot
 * be read is passed by. EXIT_CLEAN or EXIT_DIAGNOSTICS; adds to *errors. */
int clashes_report(const struct cli *cli, const struct overlay *overlays, bool is_one_folder,
                   unsigned *errors);

#endif
