/* clash.h - what two schema files must not both have, since their C meets in one program. */
#ifndef CULEXC_CLASH_H
#define CULEXC_CLASH_H

#include "module.h"

/* Reports C names, include guards and stored names of jobs that two modules of the compilation both
 * have, and with `is_one_folder` also modules whose generated files would be one file. All of them
 * are checked before; what that has reported into the same sink is not said again. */
void clash_check(struct compilation *compilation, bool is_one_folder);

#endif
