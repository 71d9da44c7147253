/* settings/settings.h - what our programs are told, by variables and the command line.
 *
 * All options stand in one table (option.h). A value on the command line wins over the variable,
 * the variable over the configuration file (config_file.h), the file over the default; what is said
 * of the store has one more place between them: see storesettings.h. */
#ifndef CULEX_SETTINGS_SETTINGS_H
#define CULEX_SETTINGS_SETTINGS_H

#include <stdbool.h>
#include <stdio.h>

#include <culex/worker.h>

#include "settings/config_file.h"

/* Each has its share of the table. */
enum culex_program { CULEX_PROGRAM_WORKER, CULEX_PROGRAM_LIVE };

struct culex_settings {
    enum culex_program program;
    culex_worker_options options; /* points into argv, the environment and what follows */
    const char *config;           /* the configuration file; NULL: none */
    bool wants_check;
    bool wants_doctor;
    bool wants_ended;
    bool allows_empty; /* a store without any queue */
    bool wants_help;
    bool wants_version;
    char *queues_text, *offers_text;
    const char **queues, **offers;
    culex_queue_options *queue_options;
    struct culex_config_text *config_texts;
    struct culex_config_spot spot; /* where the file is wrong */
};

/* Looks up one variable: getenv, or a test's own. */
typedef const char *(*culex_variable_get)(const char *name);

/* Reads all variables that concern the program, then argv; of those that storesettings.h reads it
 * only sees that they are well-formed. CULEX_EUSAGE with a text that names the
 * option or variable and what it takes; CULEX_EURL when one that says where the store is, is set
 * but empty. Release the settings in any case. */
culex_status culex__settings_read(enum culex_program program, int argc, char **argv,
                                  culex_variable_get variable, struct culex_settings *ret_settings,
                                  culex_error *error);

/* The same, with the configuration file at `config` in place of the one that is named. */
culex_status culex__settings_read_again(const char *config, int argc, char **argv,
                                        culex_variable_get variable,
                                        struct culex_settings *ret_settings, culex_error *error);
void culex__settings_release(struct culex_settings *settings);

/* For storesettings.c: CULEX_PREFIX, CULEX_STORE_TIMEOUT and CULEX_SYNCHRONOUS into `settings`, and
 * one parameter of a URL with an option's name, whose value is borrowed where it is a prefix. */
culex_status culex__store_variables_read(culex_variable_get variable,
                                         struct culex_settings *settings, culex_error *error);
culex_status culex__store_parameter_read(const char *name, const char *value,
                                         struct culex_settings *settings, culex_error *error);

/* The i-th variable that means something to any of our programs; NULL after the last. */
const char *culex__settings_variable(size_t i);

/* The text of --help, at most 80 columns wide; `program` is its name. */
void culex__settings_help(FILE *out, enum culex_program owner, const char *program);

#endif
