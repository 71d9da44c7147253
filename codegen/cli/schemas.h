/* schemas.h - the files of a command line, each compiled by itself. What one of them becomes never
 * depends on the others, nor on their order. */
#ifndef CULEXC_SCHEMAS_H
#define CULEXC_SCHEMAS_H

#include "cli.h"
#include "gen.h"

struct schemas {
    struct gen_schema *clean; /* those without an error, in order, each file once */
    size_t clean_count;
    struct compilation *compilations;
    size_t count;
};

/* Loads, checks and reports: the worst exit status. schemas_release() is due in any case. Of those
 * of `beside`, which may be NULL, faults are left to the call that generates them; one that cannot
 * be read is told. */
int schemas_load(struct cli *cli, const struct texts *beside, struct schemas *ret_schemas);
void schemas_release(struct schemas *schemas);

/* Makes the sinks of the clean ones empty, and reports what came into them since. */
void schemas_hush(struct schemas *schemas);
int schemas_report(const struct cli *cli, struct schemas *schemas);

#endif
