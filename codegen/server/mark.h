/* mark.h - the names in a file, each with what it means: what hover, definition, references and
 * rename look at. */
#ifndef CULEXC_MARK_H
#define CULEXC_MARK_H

#include "module.h"

enum thing_kind {
    THING_NONE,
    THING_BUILTIN, /* a type of the language */
    THING_FILE,    /* an imported file */
    THING_DECL,    /* an enum, struct, retry policy or job */
    THING_FIELD,   /* of a struct, of params or of returns */
    THING_VALUE    /* of an enum */
};

/* What a name stands for. */
struct thing {
    enum thing_kind kind;
    enum ir_kind builtin;
    const struct module *module; /* of the declaration; FILE: the file itself */
    const struct ast_decl *decl; /* itself, or what it is declared in */
    const struct ast_field *field;
    const struct ast_enum_value *value;
};

struct mark {
    struct span span; /* of a path its last name */
    struct thing thing;
    struct mark *next;
};

/* All names of `module` that mean something, in no order. */
struct mark *marks_find(struct compilation *compilation, struct module *module);

/* The one at `offset`, an end counting as inside; NULL: none. */
const struct mark *mark_at(const struct mark *marks, size_t offset);

/* Where the name is declared; a FILE's is empty and at its start. */
struct span thing_span(const struct thing *thing);
const char *thing_name(const struct thing *thing);
bool mark_is_declaration(const struct mark *mark);

/* Whether both are the same, also when they come from two compilations of the same texts. */
bool thing_is(struct arena *arena, const struct thing *a, const struct thing *b);

/* What `name` means in `module`, NULL: nothing. */
struct symbol *symbol_find(struct compilation *compilation, struct module *module,
                           const char *name);

#endif
