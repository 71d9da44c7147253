/* doc.h - the manual of a generated header, made from its schema. */
#ifndef CULEXC_DOC_H
#define CULEXC_DOC_H

#include "buf.h"
#include "module.h"

enum doc_format { DOC_MARKDOWN, DOC_MAN };

/* Appends the page. The module was checked and has no errors. */
void doc_write(struct arena *arena, const struct module *module, enum doc_format format,
               struct buf *out);

#endif
