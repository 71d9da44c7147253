/* gen_plugin.h - files of the schemas by the plug-in of the order, whatever it makes. */
#ifndef CULEXC_GEN_PLUGIN_H
#define CULEXC_GEN_PLUGIN_H

#include "generation.h"

/* A complaint of the plug-in about a schema goes to that schema's sink. */
enum gen_status gen_plugin(struct generation *generation);

#endif
