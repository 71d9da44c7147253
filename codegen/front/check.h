/* check.h - syntax trees to the checked model.
 *
 * check_module reports everything wrong with a module and its imports and fills
 * module->ir; the model is whole only when the sink counts no error. */
#ifndef CULEXC_CHECK_H
#define CULEXC_CHECK_H

#include "module.h"

void check_module(struct compilation *compilation, struct module *module);

#endif
