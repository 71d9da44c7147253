/* repair.h - a schema file with its sure fixes, found in memory: nothing is written here.
 *
 * A fix may uncover what the next one is for, so fixes come in rounds, and the text of each round
 * is compiled. What counts is the best of these texts: the first, which is the file's own, unless
 * another has fewer errors, or as many and fewer warnings. So no repair makes a file worse. */
#ifndef CULEXC_REPAIR_H
#define CULEXC_REPAIR_H

#include "buf.h"
#include "cli.h"

enum { REPAIR_ROUNDS = 10 };

/* One text, and what was done to the file for it. */
struct attempt {
    struct buf text;
    struct buf log; /* a line for each change */
    unsigned fixes;
    unsigned errors, warnings;
};

struct repair {
    struct attempt attempts[REPAIR_ROUNDS];
    unsigned count;
    unsigned best;
};

/* Reads the file at `path`, or what `overlays` has in its place. False after a message when it
 * cannot be read. repair_release() is due in any case. */
bool repair_find(struct repair *repair, const struct cli *cli, const struct overlay *overlays,
                 const char *path);
void repair_release(struct repair *repair);

#endif
