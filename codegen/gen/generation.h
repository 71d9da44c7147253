/* generation.h - one call of gen_run(): what it is given, and the steps that C and the files of
 * plug-ins have in common. */
#ifndef CULEXC_GENERATION_H
#define CULEXC_GENERATION_H

#include "answer.h"
#include "depfile.h"
#include "gen.h"
#include "plugin.h"

struct generation {
    const struct gen_order *order;
    const struct gen_schema *schemas;
    size_t count;
    struct arena arena;
    struct installation installation;
    struct plugin plugin;
    struct answer answer;
    struct path_list *targets; /* of the depfile */
    struct path_list *inputs;  /* of the depfile, besides schemas */
};

/* Asks the plug-in; the answer stands in the generation. False after a message. */
bool generation_ask(struct generation *generation, const struct buf *question);

/* Adds a file below `out` to the depfile, before those that are there. */
void generation_target(struct generation *generation, const char *name);

/* Writes or compares the files of the answer, and writes the depfile. */
enum gen_status generation_put(struct generation *generation);

#endif
