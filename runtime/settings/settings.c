#include "settings/settings.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/nearest.h"
#include "base/secret_name.h"
#include "settings/option.h"
#include "settings/value.h"

/* --- variables and the store's URL --------------------------------------------------------- */

/* Empty is what a script makes of a name that it does not know. */
static culex_status variable_apply(struct culex_settings *settings,
                                   const struct culex_option *option, const char *value,
                                   culex_error *error)
{
    if (value[0] != '\0')
        return culex__value_apply(settings, option, option->variable, value, error);
    return culex__fail(error, culex__option_is_store(option) ? CULEX_EURL : CULEX_EUSAGE,
                       "%s is set but empty: unset it, or give it a value", option->variable);
}

culex_status culex__store_variables_read(culex_variable_get variable,
                                         struct culex_settings *settings, culex_error *error)
{
    for (size_t i = 0; i < culex__option_count; i++) {
        const struct culex_option *option = &culex__options[i];
        const char *value = culex__option_is_layered(option) ? variable(option->variable) : NULL;
        culex_status status =
            value == NULL ? CULEX_OK : variable_apply(settings, option, value, error);
        if (status != CULEX_OK)
            return status;
    }
    return CULEX_OK;
}

culex_status culex__store_parameter_read(const char *name, const char *value,
                                         struct culex_settings *settings, culex_error *error)
{
    char from[64];
    snprintf(from, sizeof from, "store URL: %.40s", name);
    for (size_t i = 0; i < culex__option_count; i++) {
        const struct culex_option *option = &culex__options[i];
        if (!culex__option_is_layered(option) || strcmp(option->name, name) != 0)
            continue;
        if (culex__value_apply(settings, option, from, value, error) == CULEX_OK)
            return CULEX_OK;
        if (error != NULL)
            error->code = CULEX_EURL;
        return CULEX_EURL;
    }
    return CULEX_OK;
}

/* A store on the command line wins over both variables, whatever they say. A variable that the
 * store's URL may yet overrule is looked at here, and read when the store is opened. */
static culex_status variables_read(const struct culex_settings *asked,
                                   struct culex_settings *settings, culex_variable_get variable,
                                   culex_error *error)
{
    bool has_store = asked->options.url != NULL || asked->options.url_file != NULL;
    for (size_t i = 0; i < culex__option_count; i++) {
        const struct culex_option *option = &culex__options[i];
        struct culex_settings later = {0};
        const char *value = option->variable != NULL ? variable(option->variable) : NULL;
        if (value == NULL || !culex__option_is_for(option, settings->program) ||
            (has_store && culex__option_is_store(option)))
            continue;
        culex_status status = variable_apply(culex__option_is_layered(option) ? &later : settings,
                                             option, value, error);
        if (status != CULEX_OK)
            return status;
    }
    return CULEX_OK;
}

/* --- the command line ---------------------------------------------------------------------- */

/* getopt knows an option by its place in the table, from 1. NULL for what it says besides. */
static const struct culex_option *option_of(int opt)
{
    return opt > 0 && (size_t)opt <= culex__option_count ? &culex__options[opt - 1] : NULL;
}

/* `word` is as it was written: "--concurency=4". What follows the name is not shown, for it may be
 * the URL of a store. */
static culex_status unknown_fail(enum culex_program program, const char *word, culex_error *error)
{
    char name[64];
    struct culex__nearest nearest = {.word = name + 2};
    snprintf(name, sizeof name, "%.*s", (int)strcspn(word, "="), word);
    for (size_t i = 0; i < culex__option_count && strncmp(name, "--", 2) == 0; i++) {
        if (culex__option_is_for(&culex__options[i], program))
            culex__nearest_offer(&nearest, culex__options[i].name);
    }
    return nearest.best != NULL
               ? culex__fail(error, CULEX_EUSAGE,
                             "unknown option '%s', did you mean '--%s'? --help lists all", name,
                             nearest.best)
               : culex__fail(error, CULEX_EUSAGE, "unknown option '%s'; --help lists all",
                             culex__head_shown(name, word));
}

/* getopt is past it, but for a letter with others behind it: the word before may be a value. */
static const char *unknown_word(char **argv)
{
    const char *word = argv[optind - 1];
    bool is_letter = optopt != 0;
    return is_letter && (word[0] != '-' || word[1] == '-') ? argv[optind] : word;
}

static culex_status argument_fail(enum culex_program program, char **argv, int opt,
                                  culex_error *error)
{
    const struct culex_option *option = option_of(optopt);
    if (option == NULL)
        return unknown_fail(program, unknown_word(argv), error);
    return culex__fail(error, CULEX_EUSAGE,
                       opt == ':' ? "--%s needs a value" : "--%s takes no value", option->name);
}

/* One of two values would win in silence. `place` is that of the word in argv, `*first` that of
 * the one before, 0 for none. */
static culex_status repeat_check(const struct culex_option *option, int place, int *first,
                                 culex_error *error)
{
    if (*first > 0 && culex__option_takes_value(option))
        return culex__fail(error, CULEX_EUSAGE, "--%s is given twice, as arguments %d and %d; %s",
                           option->name, *first, place,
                           option->kind == CULEX_OPTION_QUEUES   ? "write one list like a,b"
                           : option->kind == CULEX_OPTION_OFFERS ? "write one list like a=1,b=2"
                                                                 : "leave one");
    *first = place;
    return CULEX_OK;
}

/* Where the option stands that was read last: its value may be a word of its own. */
static int option_place(char **argv)
{
    bool is_apart = optarg != NULL && optarg == argv[optind - 1];
    return optind - 1 - is_apart;
}

/* Those of the program, as getopt takes them; zeros end them. */
static void options_list(enum culex_program program,
                         struct option ret_options[CULEX_OPTION_MAX + 1])
{
    size_t count = 0;
    for (size_t i = 0; i < culex__option_count; i++) {
        const struct culex_option *option = &culex__options[i];
        int takes = culex__option_takes_value(option) ? required_argument : no_argument;
        if (culex__option_is_for(option, program))
            ret_options[count++] = (struct option){option->name, takes, NULL, (int)i + 1};
    }
    ret_options[count] = (struct option){0};
}

static culex_status argument_read(struct culex_settings *settings,
                                  const struct culex_option *option, int place, int *first,
                                  culex_error *error)
{
    char from[32];
    snprintf(from, sizeof from, "--%s", option->name);
    culex_status status = repeat_check(option, place, first, error);
    return status == CULEX_OK ? culex__value_apply(settings, option, from, optarg, error) : status;
}

/* The second word of a key whose quotes were forgotten, or the URL of a store without its --url. */
static culex_status unexpected_fail(const char *word, culex_error *error)
{
    if (culex__name_is_secret(word))
        return culex__fail(error, CULEX_EUSAGE,
                           "unexpected argument, which looks like a URL or a key and is not shown; "
                           "--help lists all");
    return culex__fail(error, CULEX_EUSAGE, "unexpected argument '%s'; --help lists all", word);
}

static culex_status arguments_read(struct culex_settings *settings, int argc, char **argv,
                                   culex_error *error)
{
    struct option options[CULEX_OPTION_MAX + 1];
    int places[CULEX_OPTION_MAX] = {0};
    culex_status status = CULEX_OK;
    options_list(settings->program, options);
    opterr = 0;
    optind = 0; /* so that a second call in one process begins afresh */
    for (int opt; (opt = getopt_long(argc, argv, ":h", options, NULL)) != -1;) {
        const struct culex_option *option = option_of(opt);
        if (opt == 'h')
            settings->wants_help = true;
        else if (option == NULL)
            status = argument_fail(settings->program, argv, opt, error);
        else
            status = argument_read(settings, option, option_place(argv), &places[opt - 1], error);
        if (status != CULEX_OK)
            return status;
    }
    return optind < argc ? unexpected_fail(argv[optind], error) : CULEX_OK;
}

/* --- all of them --------------------------------------------------------------------------- */

static culex_status urls_check(const struct culex_settings *asked,
                               const struct culex_settings *settings, culex_error *error)
{
    if (asked->options.url != NULL && asked->options.url_file != NULL)
        return culex__fail(error, CULEX_EUSAGE, "--url and --url-file exclude each other");
    if (settings->options.url != NULL && settings->options.url_file != NULL)
        return culex__fail(error, CULEX_EUSAGE, "CULEX_URL and CULEX_URL_FILE exclude each other");
    return CULEX_OK;
}

/* What is said elsewhere of where the store is wins, whichever of the two says it. */
static culex_status file_read(const struct culex_settings *asked, struct culex_settings *settings,
                              culex_variable_get variable, culex_error *error)
{
    culex_worker_options *options = &settings->options;
    culex_status status =
        culex__config_file_read(settings->config, settings, &settings->spot, error);
    if (status == CULEX_OK && options->url != NULL && options->url_file != NULL)
        status = culex__fail(error, CULEX_EUSAGE, "%s: url and url-file exclude each other",
                             culex__text_shown(settings->config));
    if (asked->options.url != NULL || asked->options.url_file != NULL ||
        variable("CULEX_URL") != NULL || variable("CULEX_URL_FILE") != NULL)
        options->url = options->url_file = NULL;
    return status;
}

/* NULL where none is named. */
static const char *config_find(const struct culex_settings *asked, culex_variable_get variable)
{
    if (asked->config != NULL || asked->program != CULEX_PROGRAM_WORKER)
        return asked->config;
    return variable("CULEX_CONFIG");
}

static culex_status settings_read(enum culex_program program, const char *config, int argc,
                                  char **argv, culex_variable_get variable,
                                  struct culex_settings *ret_settings, culex_error *error)
{
    *ret_settings = (struct culex_settings){.program = program};
    /* First the command line alone: --help works whatever the variables say. */
    struct culex_settings asked = {.program = program};
    culex_status status = arguments_read(&asked, argc, argv, error);
    bool is_question = asked.wants_help || asked.wants_version;
    ret_settings->wants_help = asked.wants_help;
    ret_settings->wants_version = asked.wants_version;
    culex__settings_release(&asked);
    if (status != CULEX_OK || is_question)
        return status;
    ret_settings->config = config != NULL ? config : config_find(&asked, variable);
    if (ret_settings->config != NULL && ret_settings->config[0] != '\0')
        status = file_read(&asked, ret_settings, variable, error);
    if (status != CULEX_OK)
        return status;
    status = variables_read(&asked, ret_settings, variable, error);
    if (status == CULEX_OK)
        status = urls_check(&asked, ret_settings, error);
    if (status != CULEX_OK)
        return status;
    return arguments_read(ret_settings, argc, argv, error);
}

culex_status culex__settings_read(enum culex_program program, int argc, char **argv,
                                  culex_variable_get variable, struct culex_settings *ret_settings,
                                  culex_error *error)
{
    return settings_read(program, NULL, argc, argv, variable, ret_settings, error);
}

culex_status culex__settings_read_again(const char *config, int argc, char **argv,
                                        culex_variable_get variable,
                                        struct culex_settings *ret_settings, culex_error *error)
{
    return settings_read(CULEX_PROGRAM_WORKER, config, argc, argv, variable, ret_settings, error);
}

void culex__settings_release(struct culex_settings *settings)
{
    free(settings->queues_text);
    free(settings->queues);
    settings->queues_text = NULL;
    settings->queues = NULL;
    settings->options.queues = NULL;
    settings->options.queue_count = 0;
    free(settings->offers_text);
    free(settings->offers);
    settings->offers_text = NULL;
    settings->offers = NULL;
    settings->options.offers = NULL;
    settings->options.offer_count = 0;
    free(settings->queue_options);
    settings->queue_options = NULL;
    settings->options.queue_options = NULL;
    settings->options.queue_option_count = 0;
    culex__config_texts_free(settings->config_texts);
    settings->config_texts = NULL;
}

const char *culex__settings_variable(size_t i)
{
    /* Not an option: a password does not belong on a command line. */
    static const char password[] = "CULEX_PASSWORD";
    for (size_t at = 0; at < culex__option_count; at++) {
        if (culex__options[at].variable != NULL && i-- == 0)
            return culex__options[at].variable;
    }
    return i == 0 ? password : NULL;
}
