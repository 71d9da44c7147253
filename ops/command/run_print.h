/* ops/command/run_print.h - runs, as the commands show them. */
#ifndef OPS_COMMAND_RUN_PRINT_H
#define OPS_COMMAND_RUN_PRINT_H

#include <culex/lines.h>

#include "command/print.h"
#include "command/schema_find.h"

/* What culex_run_info.at_ms is of a run in that state: "due", "lease ends", "forgotten". */
const char *ops_run_at_name(culex_run_state state);
/* The members that a list has; `json` is within the run's object. */
void ops_run_json(struct ops_json *json, const culex_run_info *run);
/* The member "tags", a list, of tags with commas between them. */
void ops_tags_json(struct ops_json *json, const char *tags);

/* Params or the result, as the store has them. */
struct ops_part {
    const char *name;
    culex_bytes text;
    const culex_struct_type *type; /* NULL: the schema is not known */
    const culex_job_type *job;     /* the same */
    culex_client *keys;            /* NULL: what is encrypted stays so */
};

/* By what of the schema they are shown: another version than the run's may not know what is secret,
 * and shows nothing, unless somebody named it or asks for secrets, too. */
void ops_parts_make(const culex_run_info *run, const struct ops_schema *schema, bool shows_secrets,
                    struct ops_part ret_parts[2]);
/* What the text says by the schema, in `arena`, and the type to print it by. What the keys do not
 * open stays encrypted: CULEX_OK, and *error says why. */
culex_status ops_part_decode(const struct ops_part *part, culex_arena *arena,
                             const culex_struct_type **ret_type, const void **ret_value,
                             culex_error *error);

/* All that the store has of the run, an object without a name; its members alone, within it. */
void ops_run_members_json(struct ops_json *json, const culex_run_info *run,
                          const struct ops_schema *schema, const culex_run_lines *lines,
                          bool shows_secrets);
void ops_run_whole_json(struct ops_json *json, const culex_run_info *run,
                        const struct ops_schema *schema, const culex_run_lines *lines,
                        bool shows_secrets);

#endif
