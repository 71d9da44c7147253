/* ir_json.h - the model of one file as JSON, in the shape of schemas/ir.schema.json. */
#ifndef CULEXC_IR_JSON_H
#define CULEXC_IR_JSON_H

#include "ir.h"
#include "json_out.h"

struct ir_json_options {
    const char *export_macro; /* NULL: none */
    bool is_import;           /* the command line does not name the file */
};

/* Writes one member of "files". ir_set.h has the whole document. */
void ir_json_file(struct json_out *json, const struct ir_file *file,
                  const struct ir_json_options *options);

#endif
