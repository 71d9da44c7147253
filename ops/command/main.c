/* ops/command/main.c - culex: what is in a store, and what is to become of it.
 *
 * Reads the command line, opens the store and calls the command; which there are tells commands.c.
 */
#include <locale.h>
#include <stdlib.h>
#include <string.h>

#include "command/command.h"
#include "command/complete.h"
#include "command/duration.h"
#include "command/guess.h"
#include "command/open.h"
#include "command/print.h"

/* --- help ------------------------------------------------------------------------------------- */

static void help_print(void)
{
    puts("usage: culex [OPTION...] COMMAND [OPTION...] [ARGUMENT...]\n\n"
         "Shows what is in a store of Culex, and steers it.\n\ncommands:");
    for (const struct ops_command *command = ops_commands; command->name != NULL; command++)
        printf("  %-11s %s\n", command->name, command->summary);
    puts("\noptions, of every command:");
    ops_options_help_global(stdout);
    puts("\nculex COMMAND --help tells of one. TIME is of numbers with " OPS_DURATION_UNITS
         ",\nas 90s or 1h30m.\n"
         "Ends with 0; 1: the store refused or failed, or something is wrong there; 2: what was\n"
         "given is no good; 3: the output could not be written.");
}

static void command_help_print(const struct ops_command *command)
{
    printf("usage: culex %s [OPTION...]%s%s\n\n%s.\n", command->name,
           command->arguments[0] != '\0' ? " " : "", command->arguments, command->summary);
    if (command->details != NULL)
        printf("%s\n", command->details);
    if (command->options[0] != '\0') {
        puts("\noptions:");
        ops_options_help(stdout, command->options);
    }
    puts("\noptions, of every command:");
    ops_options_help_global(stdout);
}

/* --- the command ------------------------------------------------------------------------------ */

static culex_status command_find(const char *name, const struct ops_command **ret_command,
                                 culex_error *error)
{
    struct ops_guess guess = ops_guess_begin(name, strlen(name));
    for (const struct ops_command *command = ops_commands; command->name != NULL; command++) {
        if (strcmp(command->name, name) == 0) {
            *ret_command = command;
            return CULEX_OK;
        }
        ops_guess_add(&guess, command->name);
    }
    if (strpbrk(name, ":@=/") != NULL) /* it may be a URL with a password */
        return ops_usage(error, "the first word is no command; a URL goes behind --url");
    if (guess.best != NULL)
        return ops_usage(error, "there is no command %s; did you mean %s?", name, guess.best);
    return ops_usage(error, "there is no command %s: culex --help lists them", name);
}

static culex_status arguments_check(const struct ops *ops, culex_error *error)
{
    const struct ops_command *command = ops->command;
    if (ops->argument_count >= command->least && ops->argument_count <= command->most)
        return CULEX_OK;
    return ops_usage(error, "%s: usage: culex %s%s%s",
                     ops->argument_count < command->least ? "something is missing"
                                                          : "that is too much",
                     command->name, command->arguments[0] != '\0' ? " " : "", command->arguments);
}

static culex_status command_run(struct ops *ops, culex_error *error)
{
    culex_status status =
        ops_options_check(&ops->options, ops->command->name, ops->command->options, error);
    if (status == CULEX_OK)
        status = arguments_check(ops, error);
    ops_table_width_set(ops->options.is_wide ? 0 : ops_terminal_width());
    if (status == CULEX_OK && !ops->command->is_storeless)
        status = ops_store_open(ops, error);
    if (status == CULEX_OK)
        status = ops->command->run(ops, error);
    culex_client_close(ops->client);
    return status;
}

static culex_status words_run(struct ops *ops, char **words, size_t count, culex_error *error)
{
    culex_status status = CULEX_OK;
    if (count > 0)
        status = command_find(words[0], &ops->command, error);
    if (status != CULEX_OK)
        return status;
    if (ops->options.wants_version)
        puts("culex " CULEX_VERSION);
    else if (ops->command == NULL && ops->options.wants_help)
        help_print();
    else if (ops->command == NULL)
        return ops_usage(error, "a command is missing: culex --help lists them");
    else if (ops->options.wants_help)
        command_help_print(ops->command);
    else {
        ops->arguments = (const char *const *)words + 1;
        ops->argument_count = count - 1;
        return command_run(ops, error);
    }
    return CULEX_OK;
}

/* --- the program ------------------------------------------------------------------------------ */

const char ops_program[] = "culex";

/* `culex complete WORD...` is for shells, and no command of the help: its words are nobody's
 * options. */
static bool is_completion(int argc, char **argv)
{
    return argc > 1 && strcmp(argv[1], "complete") == 0;
}

/* A monitor reads another exit status, and standard output, also where the options are wrong. */
static bool is_check(int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        bool is_option = strncmp(argv[i], "--", 2) == 0;
        if (!is_option)
            return strcmp(argv[i], "check") == 0;
        i += ops_option_has_value(argv[i] + 2); /* one with its value behind '=' has no such name */
    }
    return false;
}

/* The options are taken out of the others; a command that is another program gets them all. */
static char **words_copy(int argc, char **argv)
{
    char **words = ops_alloc(NULL, ((size_t)argc + 1) * sizeof *words);
    memcpy(words, argv, ((size_t)argc + 1) * sizeof *words);
    return words;
}

int main(int argc, char **argv)
{
    ops_descriptors_fill();
    setlocale(LC_CTYPE, "C.UTF-8"); /* of what is printed, whatever the terminal's is */
    bool is_for_monitor = is_check(argc, argv);
    struct ops ops = {.command = NULL};
    culex_error error = {.code = CULEX_OK};
    culex_status status = CULEX_OK;
    size_t count = 0;
    ops.words = words_copy(argc, argv);
    if (is_completion(argc, argv)) {
        ops_complete(&ops, argv + 2, (size_t)argc - 2);
        culex_client_close(ops.client);
    } else {
        status = ops_options_read(argc, argv, &ops.options, &count, &error);
        if (status == CULEX_OK)
            status = words_run(&ops, argv, count, &error);
    }
    int code = ops.code;
    if (status != CULEX_OK)
        code = is_for_monitor ? ops_check_failed(status, &error, ops.options.wants_json)
                              : ops_failure_tell(status, &error);
    free(ops.words);
    free(ops.job);
    return ops_output_end(code);
}
