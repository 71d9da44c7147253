/* redis/commands.h - the commands that a script calls, read out of its text. */
#ifndef CULEX_TESTS_REDIS_COMMANDS_H
#define CULEX_TESTS_REDIS_COMMANDS_H

#include <stddef.h>

#include "store/redis/scripts.h"

enum { COMMANDS_MAX = 64, COMMAND_SIZE = 32 };

struct commands {
    char names[COMMANDS_MAX][COMMAND_SIZE]; /* lower case */
    size_t count;
};

/* Adds a name unless it is there; fails the test when there is no room. */
void command_add(struct commands *commands, const char *name);

/* Adds what the script calls: the first argument of call(), pcall() and write(). */
void commands_collect(struct commands *commands, const struct culex__redis_script *script);

#endif
