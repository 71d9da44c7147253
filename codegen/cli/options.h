/* options.h - the command line of a verb: its words, its options, and those that verbs about
 * schemas share. */
#ifndef CULEXC_OPTIONS_H
#define CULEXC_OPTIONS_H

#include "cli.h"

/* Wherever --help stands before "--": who is in the middle of a command line may ask too. */
bool cli_is_help_asked(int argc, char **argv);

/* The help of the options that verbs about schemas share. */
extern const char cli_shared_help[];

/* Reads argv[2] and on into the options' targets and the command line; what is no option stands in
 * cli->files. False after a message. */
bool cli_words_read(struct cli *cli, const struct cli_option *options, int argc, char **argv);

/* values.c: what shared options say. False after a message. */
bool cli_format_read(struct cli *cli, const char *word);
bool cli_colour_read(struct cli *cli, const char *word);
bool cli_max_errors_read(struct cli *cli, const char *word);

/* policy.c: one -W switch; false after a message when there is no such one. */
bool cli_policy_read(const struct cli *cli, const char *word);

#endif
