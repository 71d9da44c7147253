/* answer.h - what a plug-in answers: {"files": [{"name", "content"}], "errors": [{"file", "line",
 * "column", "message"}]}, either of them optional. */
#ifndef CULEXC_ANSWER_H
#define CULEXC_ANSWER_H

#include <stdbool.h>
#include <stdint.h>

#include "buf.h"
#include "map.h"

struct answer_file {
    const char *name; /* below the folder for output: parts of plain characters, '/' between them */
    const char *content;
    size_t len;
    struct answer_file *next;
};

struct answer_error {
    const char *file;     /* as the question calls it; NULL: of no file */
    int64_t line, column; /* from 1; 0: of the whole file, or line */
    const char *message;
    struct answer_error *next;
};

struct answer {
    struct answer_file *files; /* in the order of the answer */
    struct answer_error *errors;
    struct map by_name; /* of the files */
};

/* False after a message when it is no such thing: a file without a name or content, a member that
 * comes twice, text that is not UTF-8, a name that leads elsewhere or comes twice, be it by case
 * alone or as the folder of another one. `what` is whose it is, for messages; NULL: there are
 * none. */
bool answer_take(struct arena *arena, const char *what, const struct buf *text,
                 struct answer *ret_answer);

#endif
