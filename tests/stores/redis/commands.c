#include "commands.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include <ctype.h>

void command_add(struct commands *commands, const char *name)
{
    char text[COMMAND_SIZE];
    size_t len = strcspn(name, "'");
    assert_true(len < sizeof text && commands->count < COMMANDS_MAX);
    for (size_t i = 0; i < len; i++)
        text[i] = (char)tolower((unsigned char)name[i]);
    text[len] = '\0';
    for (size_t i = 0; i < commands->count; i++) {
        if (strcmp(commands->names[i], text) == 0)
            return;
    }
    strcpy(commands->names[commands->count++], text);
}

void commands_collect(struct commands *commands, const struct culex__redis_script *script)
{
    static const char *const verbs[] = {"call('", "write('"};
    for (size_t i = 0; i < sizeof verbs / sizeof verbs[0]; i++) {
        for (const char *at = script->text; (at = strstr(at, verbs[i])) != NULL;) {
            at += strlen(verbs[i]);
            command_add(commands, at);
        }
    }
}
