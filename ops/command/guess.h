/* ops/command/guess.h - which name was meant. */
#ifndef OPS_COMMAND_GUESS_H
#define OPS_COMMAND_GUESS_H

#include <stddef.h>

struct ops_guess {
    const char *given;
    size_t len;
    const char *best; /* NULL: none is near enough */
    size_t distance;  /* its own */
};

struct ops_guess ops_guess_begin(const char *given, size_t len);
/* Takes `name`, which is borrowed, when it is nearer than those before; one that ends with a dot
 * and what was given is nearest, unless there are two. */
void ops_guess_add(struct ops_guess *guess, const char *name);

#endif
