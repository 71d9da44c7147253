/* gen_c.h - C of the schemas for which it is not there yet, all by one renderer. */
#ifndef CULEXC_GEN_C_H
#define CULEXC_GEN_C_H

#include "generation.h"

enum gen_status gen_c(struct generation *generation);

#endif
