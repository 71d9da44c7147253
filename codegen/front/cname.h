/* cname.h - the only maker of C names, and the only judge of them.
 *
 * A schema name is letters, digits and single underscores; a C name is made of
 * the package and the name, joined by underscores. What C, C++ or a C library
 * already owns is refused, and so are two schema names with one C name. */
#ifndef CULEXC_CNAME_H
#define CULEXC_CNAME_H

#include "diag.h"
#include "ir.h"
#include "map.h"

/* "shop.mail", "lang", "_type" -> shop_mail_lang_type. `package` may be NULL. */
const char *cname_join(struct arena *arena, const char *package, const char *name,
                       const char *suffix);

/* The same in upper case, for constants and include guards; what cannot stand in
 * a C name becomes an underscore. */
const char *cname_upper(struct arena *arena, const char *package, const char *name,
                        const char *suffix);

/* A name that declarations of a kind make at file scope (cnames.def). */
struct cname_row {
    const char *suffix;
    enum ast_decl_kind owner;
    size_t block;           /* of the declaration: only when it is written; 0: always */
    size_t offset;          /* of the text in the owner's struct of the model */
    const char *parameters; /* of a function that the manual shows, else NULL */
};

/* Ends with a zeroed one. */
extern const struct cname_row cname_rows[];

bool cname_is_made(const struct cname_row *row, const struct ast_decl *decl);

/* Puts the names of a declaration into its ir_enum, ir_struct, ir_user, ir_job or ir_chain; what is
 * not made stays NULL. */
void cname_fill(struct arena *arena, const char *package, const struct ast_decl *decl, void *made);

/* The function that sets a field of the C struct `c`. */
const char *cname_setter(struct arena *arena, const char *c, const char *field);

/* Reports a schema name that is too long or not of the allowed shape. */
bool cname_check_shape(struct diag_sink *sink, const struct ast_name *name);

/* Reports a C name that belongs to C. Field names are members and parameters;
 * type names stand at file scope, where the C library's functions are too;
 * constants are upper case, with the enum's name in front. */
enum cname_scope { CNAME_FIELD, CNAME_TYPE, CNAME_CONSTANT };
bool cname_check_free(struct diag_sink *sink, const char *c, struct span span,
                      enum cname_scope scope);

/* Whose name a macro would take away that generated headers define as nothing ("a keyword of C or
 * C++"), or NULL. No families are looked at: EXPORT and M_API are good names. */
const char *cname_macro_owner(const char *c);

/* Whether a name of this file has `c` already. */
bool cname_is_claimed_in(const struct map *scope, const char *c, const struct source *source);

/* Claims `c` in a scope; reports a collision with the name that has it. */
void cname_claim(struct map *scope, struct diag_sink *sink, const char *c, struct span span,
                 const char *schema_name);

#endif
