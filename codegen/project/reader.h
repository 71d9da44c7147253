/* reader.h - a flat YAML file, one key after another. */
#ifndef CULEXC_READER_H
#define CULEXC_READER_H

#include <yaml.h>

#include "diag.h"

/* A key or a value, and where it stands. */
struct word {
    const char *text; /* in the arena of the sink, without a NUL inside */
    struct span span;
};

struct reader {
    struct diag_sink *sink;
    const struct source *source;
    yaml_parser_t yaml;
    yaml_event_t event; /* the present one */
    bool is_in_list;    /* of the value that is taken */
    void *context;      /* of the two functions */

    /* Takes a key; false after a report that it is wrong, and its value is skipped then. */
    bool (*take_key)(struct reader *reader, const struct word *key);
    /* Takes one of its values; a list that is empty is reported here. */
    void (*take_value)(struct reader *reader, const struct word *value);
};

/* Hands everything in `source` to the two functions, and reports what is no YAML, or not of the
 * shape "key: text" and "key: [text, text]". */
void reader_run(struct reader *reader);

#endif
