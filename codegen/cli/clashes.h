/* clashes.h - what is wrong with the files of a command line taken together. */
#ifndef CULEXC_CLASHES_H
#define CULEXC_CLASHES_H

#include "cli.h"

struct clashes {
    const struct overlay *overlays;
    struct texts beside; /* further files, of the same program */
    bool is_one_folder;  /* also reported: files that would be generated twice in it */
};

/* Reports what the files, and what they import, must not both have (clash.h), and a further file
 * that cannot be read. Nothing else is reported, and one of the command line that cannot be read is
 * passed by. The number of errors; *ret_status is as of cli_report(), or EXIT_BROKEN. */
unsigned clashes_report(const struct cli *cli, const struct clashes *clashes, int *ret_status);

#endif
