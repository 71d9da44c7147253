/* promise.h - what an edit breaks of what jobs.lock has promised, told while it is typed. */
#ifndef CULEXC_PROMISE_H
#define CULEXC_PROMISE_H

#include "module.h"

/* Compares the jobs of a checked module with `lock`, that of its project; where that is NULL, with
 * the nearest jobs.lock, in its folder or above. Reports as `culexc breaking` does, except that
 * jobs are gone: they may be in a file that is not looked at. A lock that is missing, too large or
 * not readable is left to the command line. */
void promise_check(struct compilation *compilation, const struct module *module, const char *lock);

#endif
