/* Redis 6.2 is the oldest that we promise to work with. A newer server tells since when it knows
 * each command and each word of it: nothing that the scripts say, or that SECURITY.md grants, came
 * later. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "commands.h"
#include "redis_server.h"

enum { OLDEST = 602, COMMANDS_MIN = 37, WORDS_MIN = 20 };

static const char *security_path, *scripts_path;

/* --- what a server tells of a command, a list of keys and values ----------------------------- */

static const redisReply *member_of(const redisReply *pairs, const char *key)
{
    for (size_t i = 0; i + 1 < pairs->elements; i += 2) {
        if (strcmp(pairs->element[i]->str, key) == 0)
            return pairs->element[i + 1];
    }
    return NULL;
}

/* 602 for 6.2.1; 0 where it tells nothing. */
static unsigned since_of(const redisReply *pairs)
{
    unsigned major = 0, minor = 0;
    const redisReply *since = member_of(pairs, "since");
    if (since != NULL)
        assert_int_equal(sscanf(since->str, "%3u.%3u", &major, &minor), 2);
    return major * 100 + minor;
}

/* --- what we say ------------------------------------------------------------------------------ */

/* All scripts, as the build renders them: one text. */
static char *scripts_read(const char *path)
{
    static char text[2 * 1024 * 1024];
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    size_t len = fread(text, 1, sizeof text - 1, file);
    assert_true(len > 0 && len < sizeof text - 1);
    text[len] = '\0';
    fclose(file);
    return text;
}

/* Not only with this command: so many words are not worth telling apart. */
static bool word_is_used(const char *scripts, const char *word)
{
    char quoted[64];
    snprintf(quoted, sizeof quoted, "'%s'", word);
    return strstr(scripts, quoted) != NULL;
}

/* What is inside a choice came with it at the earliest. Returns how many words it has seen. */
static size_t words_check(const char *scripts, const char *command, const redisReply *arguments,
                          unsigned outer)
{
    size_t count = 0;
    for (size_t i = 0; arguments != NULL && i < arguments->elements; i++) {
        const redisReply *argument = arguments->element[i], *word = member_of(argument, "token");
        unsigned own = since_of(argument), since = own > outer ? own : outer;
        if (word != NULL && since > OLDEST && word_is_used(scripts, word->str))
            fail_msg("%s: its %s came with %u", command, word->str, since);
        count += word != NULL;
        count += words_check(scripts, command, member_of(argument, "arguments"), since);
    }
    return count;
}

static size_t command_check(const struct redis_server *server, const char *scripts,
                            const char *name)
{
    redisReply *reply = redis_server_command(server, "COMMAND DOCS %s", name);
    assert_non_null(reply);
    if (reply->type != REDIS_REPLY_ARRAY || reply->elements != 2)
        fail_msg("%s: the server does not know it", name);
    unsigned since = since_of(reply->element[1]);
    if (since == 0 || since > OLDEST)
        fail_msg("%s: came with %u", name, since);
    size_t words = words_check(scripts, name, member_of(reply->element[1], "arguments"), 0);
    freeReplyObject(reply);
    return words;
}

/* What SECURITY.md grants: that is all that we send, in scripts and beside them. */
static void granted_collect(struct commands *commands)
{
    char line[2048];
    FILE *file = fopen(security_path, "r");
    assert_non_null(file);
    while (fgets(line, sizeof line, file) != NULL) {
        bool is_user = strncmp(line, "ACL SETUSER", 11) == 0;
        for (char *word = strtok(line, " \n"); is_user && word != NULL;
             word = strtok(NULL, " \n")) {
            if (word[0] == '+')
                command_add(commands, word + 1);
        }
    }
    fclose(file);
}

static void test_commands_and_words__were_there_in_6_2(void **state)
{
    const struct redis_server *server = *state;
    struct commands commands = {.count = 0};
    redisReply *probe = redis_server_command(server, "COMMAND DOCS get");
    assert_non_null(probe);
    bool is_told = probe->type == REDIS_REPLY_ARRAY && probe->elements == 2;
    freeReplyObject(probe);
    if (!is_told) {
        print_message("this server is older than 7.0 and cannot tell\n");
        skip();
    }

    size_t words = 0;
    const struct culex__redis_script scripts = {.text = scripts_read(scripts_path)};
    granted_collect(&commands);
    commands_collect(&commands, &scripts);
    for (size_t i = 0; i < commands.count; i++)
        words += command_check(server, scripts.text, commands.names[i]);
    assert_true(commands.count >= COMMANDS_MIN);
    assert_true(words >= WORDS_MIN);
}

static int server_up(void **state)
{
    static struct redis_server server;
    *state = &server;
    return redis_server_start(&server, NULL) ? 0 : -1;
}

static int server_down(void **state)
{
    redis_server_stop(*state);
    return 0;
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_commands_and_words__were_there_in_6_2),
    };
    if (argc != 3)
        return 2;
    security_path = argv[1];
    scripts_path = argv[2];
    return cmocka_run_group_tests(tests, server_up, server_down);
}
