/* ops/command/complete.c - culex complete: what may stand where a command line ends, for shells.
 *
 * The words are those behind `culex`, the last one as far as it is typed. A line for each that it
 * may become; one that cannot be completed is no failure, and nor is a store that is away. */
#include "command/complete.h"

#include <stdlib.h>
#include <string.h>

#include <culex/limits.h>
#include <culex/schedules.h>
#include <culex/schemas.h>
#include <culex/workers.h>

#include "command/find.h"
#include "command/open.h"
#include "command/schema_find.h"
#include "command/print.h"

enum { OFFERS_MAX = 200 };

/* The word that is completed, how many more may be offered, and what was. */
struct offers {
    const char *word;
    size_t left, count;
    char *told[OFFERS_MAX]; /* owned */
};

static bool is_told(const struct offers *offers, const char *word)
{
    for (size_t i = 0; i < offers->count; i++) {
        if (strcmp(offers->told[i], word) == 0)
            return true;
    }
    return false;
}

/* What a shell would take for more than one word is left out, and what was offered, as a job that
 * several queues have. */
static bool offer(struct offers *offers, const char *word)
{
    if (offers->left == 0 || strncmp(word, offers->word, strlen(offers->word)) != 0)
        return offers->left > 0;
    if (word[strspn(word,
                    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.:@/+#=-")] ==
            '\0' &&
        !is_told(offers, word)) {
        puts(word);
        offers->told[offers->count++] = ops_copy(word, strlen(word));
        offers->left--;
    }
    return offers->left > 0 && !ferror(stdout);
}

static void all_offer(struct offers *offers, const char *const *words)
{
    for (; *words != NULL; words++)
        offer(offers, *words);
}

/* --- from the store --------------------------------------------------------------------------- */

static bool queue_offer(const char *queue, void *user)
{
    return offer(user, queue);
}

static bool worker_offer(const culex_worker_info *worker, void *user)
{
    return offer(user, worker->name) && offer(user, worker->id);
}

static bool schedule_offer(const culex_schedule_info *schedule, void *user)
{
    return offer(user, schedule->name);
}

static bool limit_offer(const culex_limit_info *limit, void *user)
{
    return offer(user, limit->name);
}

static bool run_offer(const culex_run_info *run, void *user)
{
    char id[CULEX_UUID_TEXT_SIZE];
    culex_uuid_format(run->id, id);
    return offer(user, id);
}

typedef culex_status (*queue_fn)(struct ops *ops, const char *queue, struct offers *offers,
                                 culex_error *error);

/* Of the queue that is named, or of all, as long as there is room. */
static culex_status queues_offer(struct ops *ops, queue_fn of_queue, struct offers *offers,
                                 culex_error *error)
{
    struct ops_names names = {.of = NULL};
    const char *named = ops->options.queue;
    culex_status status = named == NULL ? ops_names_read(ops, &names, error) : CULEX_OK;
    size_t count = named == NULL ? names.count : 1;
    for (size_t i = 0; i < count && status == CULEX_OK && offers->left > 0; i++)
        status = of_queue(ops, named != NULL ? named : names.of[i], offers, error);
    ops_names_free(&names);
    return status;
}

static culex_status runs_offer(struct ops *ops, const char *queue, struct offers *offers,
                               culex_error *error)
{
    culex_list_cursor cursor = {.place = 0};
    return culex_client_find(ops->client, queue, NULL, &cursor, OFFERS_MAX, run_offer, offers,
                             error);
}

/* Those whose schemas the queue has: what its runs are of is no question for a key. */
static culex_status jobs_offer(struct ops *ops, const char *queue, struct offers *offers,
                               culex_error *error)
{
    culex_schemas *schemas = NULL;
    culex_status status = culex_client_schemas(ops->client, queue, &schemas, error);
    for (size_t i = 0; status == CULEX_OK && i < schemas->count; i++)
        offer(offers, schemas->items[i].wire);
    culex_schemas_free(schemas);
    return status;
}

/* --- by the place in the line ----------------------------------------------------------------- */

static const char *const states[] = {"scheduled", "waiting",   "active", "done",
                                     "dead",      "cancelled", NULL};

static void commands_offer(struct offers *offers)
{
    for (const struct ops_command *command = ops_commands; command->name != NULL; command++)
        offer(offers, command->name);
}

/* The value of an option. */
static culex_status value_offer(struct ops *ops, const char *option, struct offers *offers,
                                culex_error *error)
{
    static const char *const places[] = {"oldest", "now", NULL};
    static const char *const healths[] = {"ok", "warning", "critical", NULL};
    static const char *const kinds[] = {"error", NULL};
    if (strcmp(option, "state") == 0)
        all_offer(offers, states);
    else if (strcmp(option, "no-worker") == 0 || strcmp(option, "full") == 0 ||
             strcmp(option, "paused") == 0 || strcmp(option, "unoffered") == 0 ||
             strcmp(option, "given-back") == 0)
        all_offer(offers, healths);
    else if (strcmp(option, "by") == 0)
        all_offer(offers, kinds);
    else if (strcmp(option, "from") == 0)
        all_offer(offers, places);
    else if (strcmp(option, "queue") == 0)
        return culex_client_queues(ops->client, queue_offer, offers, error);
    else if (strcmp(option, "job") == 0)
        return queues_offer(ops, jobs_offer, offers, error);
    return CULEX_OK;
}

static void param_value_offer(struct offers *offers, const char *name, const char *value)
{
    char text[544];
    snprintf(text, sizeof text, "%s=%s", name, value);
    offer(offers, text);
}

/* Behind NAME= what a param may be, where that is one of a few words. */
static void param_offer(const culex_field *field, struct offers *offers)
{
    size_t len = strlen(field->name);
    bool is_value = strncmp(offers->word, field->name, len) == 0 && offers->word[len] == '=';
    if (!is_value) {
        param_value_offer(offers, field->name, "");
    } else if (field->kind == CULEX_KIND_BOOL) {
        param_value_offer(offers, field->name, "true");
        param_value_offer(offers, field->name, "false");
    } else if (field->kind == CULEX_KIND_ENUM) {
        for (size_t i = 0; i < field->enum_type->value_count; i++)
            param_value_offer(offers, field->name, field->enum_type->values[i].name);
    }
}

/* The params of the job, each with the '=' that comes behind it, or the values of one. */
static culex_status params_offer(struct ops *ops, const char *job, struct offers *offers,
                                 culex_error *error)
{
    struct ops_schema schema;
    culex_status status = ops_schema_of_job(ops, job, &schema, error);
    for (size_t i = 0; status == CULEX_OK && i < schema.type->params->field_count; i++)
        param_offer(&schema.type->params->fields[i], offers);
    ops_schema_release(&schema);
    return status;
}

/* The arguments of the commands with words of their own. */
static culex_status word_offer(struct ops *ops, const char *command, const char *const *before,
                               size_t count, struct offers *offers, culex_error *error)
{
    static const char *const orders[] = {"quiet", "go", "stop", "concurrency", NULL};
    static const char *const verbs[] = {"pause", "resume", "run", "delete", NULL};
    if (strcmp(command, "workers") == 0 && count == 0)
        all_offer(offers, orders);
    else if (strcmp(command, "workers") == 0)
        return culex_client_workers(ops->client, worker_offer, offers, error);
    else if (strcmp(command, "purge") == 0 && count == 1)
        all_offer(offers, states);
    else if (strcmp(command, "schedules") == 0 && count == 1)
        all_offer(offers, verbs);
    else if (strcmp(command, "schedules") == 0 && count == 2)
        return culex_client_schedules(ops->client, before[0], schedule_offer, offers, error);
    else if ((strcmp(command, "enqueue") == 0 || strcmp(command, "schema") == 0) && count == 0)
        return queues_offer(ops, jobs_offer, offers, error);
    else if (strcmp(command, "enqueue") == 0)
        return params_offer(ops, before[0], offers, error);
    else if (strcmp(command, "limit") == 0 && count == 1)
        return culex_client_limits(ops->client, before[0], limit_offer, offers, error);
    return CULEX_OK;
}

/* By what the help calls the first argument. */
static culex_status argument_offer(struct ops *ops, const struct ops_command *command,
                                   const char *const *before, size_t count, struct offers *offers,
                                   culex_error *error)
{
    bool is_queue = strstr(command->arguments, "QUEUE") != NULL;
    bool is_many = strstr(command->arguments, "QUEUE...") != NULL;
    if (is_queue && (count == 0 || is_many))
        return culex_client_queues(ops->client, queue_offer, offers, error);
    if (!is_queue && strcmp(command->name, "workers") != 0 &&
        strstr(command->arguments, "ID...") != NULL)
        return queues_offer(ops, runs_offer, offers, error);
    return word_offer(ops, command->name, before, count, offers, error);
}

static const struct ops_command *command_named(const char *name)
{
    for (const struct ops_command *command = ops_commands; command->name != NULL; command++) {
        if (strcmp(command->name, name) == 0)
            return command;
    }
    return NULL;
}

/* `words`: what stands before the last one, without options. */
static culex_status place_offer(struct ops *ops, const char *const *words, size_t count,
                                const char *option, struct offers *offers, culex_error *error)
{
    const struct ops_command *command = count > 0 ? command_named(words[0]) : NULL;
    if (option != NULL && command != NULL && command->run == ops_import &&
        strcmp(option, "from") == 0)
        return CULEX_OK; /* a URL is nothing that we could know */
    if (option != NULL)
        return value_offer(ops, option, offers, error);
    if (offers->word[0] == '-')
        ops_options_offer(command != NULL ? command->options : "", offers->word);
    else if (count == 0)
        commands_offer(offers);
    else if (command != NULL)
        return argument_offer(ops, command, words + 1, count - 1, offers, error);
    return CULEX_OK;
}

/* The option whose value the last word is; NULL: none. */
static const char *option_before(char *const *words, size_t count)
{
    const char *last = count > 1 ? words[count - 2] : "";
    return strncmp(last, "--", 2) == 0 && ops_option_has_value(last + 2) ? last + 2 : NULL;
}

/* Reads the options before the place, opens the store where it is asked, and offers. */
static culex_status line_offer(struct ops *ops, char **line, size_t count, const char *option,
                               struct offers *offers, culex_error *error)
{
    size_t kept;
    culex_status status = ops_options_read((int)count, line, &ops->options, &kept, error);
    if (status != CULEX_OK)
        return status;
    ops->options.store_timeout = CULEX_SECOND;
    bool is_of_store = option != NULL || (kept > 0 && offers->word[0] != '-');
    if (is_of_store && ops_store_open(ops, error) != CULEX_OK)
        ops->client = NULL; /* what needs none is offered all the same */
    return place_offer(ops, (const char *const *)line, kept, option, offers, error);
}

void ops_complete(struct ops *ops, char **words, size_t count)
{
    struct offers offers = {.word = count > 0 ? words[count - 1] : "", .left = OFFERS_MAX};
    const char *option = option_before(words, count);
    size_t before = count > 0 ? count - 1 - (option != NULL) : 0;
    char **line = ops_alloc(NULL, (before + 1) * sizeof *line);
    culex_error ignored = {.code = CULEX_OK};
    line[0] = NULL;
    memcpy(line + 1, words, before * sizeof *line);
    if (line_offer(ops, line, before + 1, option, &offers, &ignored) != CULEX_OK)
        ops->code = 0; /* a shell has no place for what was wrong */
    for (size_t i = 0; i < offers.count; i++)
        free(offers.told[i]);
    free(line);
}
