/* ops/console/shapes.h - the objects that the API takes and gives, for its document. What is sent
 * is checked against them by the tests. */
#ifndef OPS_CONSOLE_SHAPES_H
#define OPS_CONSOLE_SHAPES_H

struct shape_member {
    const char *name;
    const char *type; /* "string", "integer", "boolean", "object", a shape; in [] a list of it; with
                         a '?' behind it may be missing, with a '!' it may be null */
    const char *doc;
};

struct shape {
    const char *name, *doc;
    const struct shape_member *members; /* ends with a row without a name */
    const char *list_of;                /* it is a list of this shape, and has no members */
};

/* All of them; the last one has no name. */
extern const struct shape shapes[];

#endif
