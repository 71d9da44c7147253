/* ir_json.h - the model as JSON, in the shape of schemas/ir.schema.json. */
#ifndef CULEXC_IR_JSON_H
#define CULEXC_IR_JSON_H

#include "buf.h"
#include "ir.h"

/* Appends the whole object and a line end. `export_macro` may be NULL. */
void ir_json_write(const struct ir_file *file, const char *export_macro, struct buf *buf);

#endif
