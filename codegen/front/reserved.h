/* reserved.h - the names and numbers that a block or an enum has reserved, to be asked often. */
#ifndef CULEXC_RESERVED_H
#define CULEXC_RESERVED_H

#include "ast.h"
#include "map.h"

struct reserved {
    struct map names, numbers; /* -> struct literal */
};

void reserved_init(struct reserved *reserved, struct arena *arena, const struct literal *list);

/* Where it was reserved, or NULL. */
const struct literal *reserved_name(const struct reserved *reserved, const char *name);
const struct literal *reserved_number(const struct reserved *reserved, struct wide number);

#endif
