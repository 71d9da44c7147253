/* parse_setting.c - the statements of a job, and retry policies. */
#include "parser_base.h"

#include <assert.h>
#include <string.h>

#include "setting.h"

enum { BLOCK_COUNT = 3 };
const char *const job_words[BLOCK_COUNT + SETTING_COUNT + 1] = {
    "params",
    "returns",
    "metadata",
#define SETTING(symbol, word, place, form, text) word,
#include "settings.def"
    NULL,
};

static bool parse_names(struct parser *parser, struct ast_names **ret_names)
{
    struct ast_names **end = ret_names;
    if (!parser_expect(parser, TOKEN_LEFT_PAREN))
        return false;
    do {
        struct ast_names *names = arena_alloc(parser->arena, sizeof(*names));
        if (!parser_name(parser, &names->name))
            return false;
        *end = names;
        end = &names->next;
    } while (parser_accept(parser, TOKEN_COMMA));
    return parser_expect(parser, TOKEN_RIGHT_PAREN);
}

/* A minus parses, so that "out of range" can be said. */
static bool parse_count(struct parser *parser, struct literal *ret_literal)
{
    return parser_at(parser, TOKEN_MINUS) ? parser_literal(parser, ret_literal)
                                          : parser_literal_of(parser, TOKEN_INT, ret_literal);
}

static bool parse_by(struct parser *parser, struct ast_names **ret_names)
{
    return !parser_accept_word(parser, "by") || parse_names(parser, ret_names);
}

static bool parse_queue(struct parser *parser, struct ast_setting *setting)
{
    return parser_literal_of(parser, TOKEN_STRING, &setting->value);
}

static bool parse_scalar(struct parser *parser, struct ast_setting *setting)
{
    static const enum token_kind tokens[] = {
        [FORM_DURATION] = TOKEN_DURATION, [FORM_SIZE] = TOKEN_SIZE};
    assert(scalar_of(setting->kind) != NULL); /* else settings.def lacks a row SCALAR */
    enum scalar_form form = scalar_of(setting->kind)->form;
    return form == FORM_COUNT ? parse_count(parser, &setting->value)
                              : parser_literal_of(parser, tokens[form], &setting->value);
}

static bool parse_keep(struct parser *parser, struct ast_setting *setting)
{
    static const char *const words[] = {"success", "failure", "log", NULL};
    do {
        struct literal *literal = &setting->keep.success;
        bool is_log = parser_at_word(parser, "log");
        if (is_log)
            literal = &setting->keep.log;
        else if (parser_at_word(parser, "failure"))
            literal = &setting->keep.failure;
        else if (!parser_at_word(parser, "success"))
            return parser_unknown(parser, DIAG_UNKNOWN_WORD, "'success', 'failure' or 'log'",
                                  words);
        if (literal->kind != LITERAL_NONE)
            diag_report(parser->sink, DIAG_DUPLICATE_SETTING, parser_span(parser),
                        "this is set twice");
        parser_advance(parser);
        if (!(is_log ? parse_count(parser, literal)
                     : parser_literal_of(parser, TOKEN_DURATION, literal)))
            return false;
    } while (parser_accept(parser, TOKEN_COMMA));
    return true;
}

static bool parse_retry(struct parser *parser, struct ast_setting *setting)
{
    if (parser_at(parser, TOKEN_LEFT_BRACE))
        return parse_policy(parser, &setting->retry.policy);
    return parser_reference(parser, &setting->retry.name);
}

static bool parse_one_of(struct parser *parser, struct ast_name *ret_name, const char *what,
                         const char *const *words)
{
    for (size_t i = 0; words[i] != NULL; i++) {
        if (parser_at_word(parser, words[i]))
            return parser_name(parser, ret_name);
    }
    return parser_unknown(parser, DIAG_UNKNOWN_WORD, what, words);
}

static bool parse_unique_by(struct parser *parser, struct ast_unique *unique)
{
    static const char *const all[] = {"all", NULL};
    if (!parser_accept_word(parser, "by"))
        return true;
    return parser_at(parser, TOKEN_LEFT_PAREN)
               ? parse_names(parser, &unique->by)
               : parse_one_of(parser, &unique->all, "params in parentheses, or 'all'", all);
}

static bool parse_unique(struct parser *parser, struct ast_setting *setting)
{
    static const char *const conflicts[] = {"keep", "replace", "error", NULL};
    struct ast_unique *unique = &setting->unique;
    if (!parse_unique_by(parser, unique))
        return false;
    if (parser_accept_word(parser, "debounce"))
        return parser_literal_of(parser, TOKEN_DURATION, &unique->debounce);
    if (parser_accept_word(parser, "for") &&
        !parser_literal_of(parser, TOKEN_DURATION, &unique->time))
        return false;
    if (parser_accept_word(parser, "while") && !parse_names(parser, &unique->states))
        return false;
    return !parser_accept_word(parser, "on_conflict") ||
           parse_one_of(parser, &unique->on_conflict, "'keep', 'replace' or 'error'", conflicts);
}

static bool parse_concurrency(struct parser *parser, struct ast_setting *setting)
{
    return parse_count(parser, &setting->limit.count) && parse_by(parser, &setting->limit.by);
}

static bool parse_rate(struct parser *parser, struct ast_setting *setting)
{
    struct ast_limit *rate = &setting->limit;
    if (!parse_count(parser, &rate->count))
        return false;
    if (!parser_accept_word(parser, "per"))
        return parser_expected(parser, "'per'");
    if (!parser_literal_of(parser, TOKEN_DURATION, &rate->per) || !parse_by(parser, &rate->by))
        return false;
    return !parser_accept_word(parser, "burst") || parse_count(parser, &rate->burst);
}

static bool parse_fair(struct parser *parser, struct ast_setting *setting)
{
    if (!parser_accept_word(parser, "by"))
        return parser_expected(parser, "'by' and the params whose values take turns");
    return parse_names(parser, &setting->limit.by);
}

static bool parse_needs(struct parser *parser, struct ast_setting *setting)
{
    return parser_literal_of(parser, TOKEN_STRING, &setting->need.name) &&
           parse_count(parser, &setting->need.units);
}

static bool parse_spread(struct parser *parser, struct ast_spread *spread)
{
    static const char *const overlap[] = {"skip", "allow", NULL};
    if (parser_accept_word(parser, "jitter") &&
        !parser_literal_of(parser, TOKEN_DURATION, &spread->jitter))
        return false;
    return !parser_accept_word(parser, "overlap") ||
           parse_one_of(parser, &spread->overlap, "'skip' or 'allow'", overlap);
}

static bool parse_every(struct parser *parser, struct ast_setting *setting)
{
    struct ast_every *every = &setting->every;
    return parser_literal_of(parser, TOKEN_DURATION, &every->interval) &&
           parse_spread(parser, &every->spread);
}

static bool parse_cron(struct parser *parser, struct ast_setting *setting)
{
    static const char *const missed[] = {"skip", "once", "all", NULL};
    struct ast_cron *cron = &setting->cron;
    if (!parser_literal_of(parser, TOKEN_STRING, &cron->fields))
        return false;
    if (!parser_accept_word(parser, "tz"))
        return parser_expected(parser, "'tz' and a time zone");
    if (!parser_literal_of(parser, TOKEN_STRING, &cron->zone))
        return false;
    if (parser_accept_word(parser, "missed") &&
        !parse_one_of(parser, &cron->missed, "'skip', 'once' or 'all'", missed))
        return false;
    return parse_spread(parser, &cron->spread);
}

static bool parse_tags(struct parser *parser, struct ast_setting *setting)
{
    return parser_literals(parser, TOKEN_STRING, &setting->tags);
}

/* What follows the word of each setting. */
static bool (*const parse_bodies[SETTING_COUNT])(struct parser *, struct ast_setting *) = {
#define SETTING(symbol, word, place, form, text) parse_##form,
#include "settings.def"
};

/* Settings whose value goes on with words in one order. */
static const struct {
    enum setting_kind kind;
    const char *words[7];
    const char *order;
} orders[] = {
    {SETTING_UNIQUE,
     {"by", "debounce", "throttle", "for", "while", "on_conflict", NULL},
     "'unique' goes on with by, for (a throttle), while and on_conflict, or with by and debounce, "
     "in this order"},
    {SETTING_RATE,
     {"per", "by", "burst", NULL},
     "'rate' goes on with per, by and burst, in this order"},
    {SETTING_EVERY,
     {"tz", "missed", "jitter", "overlap", NULL},
     "'every' goes on with jitter and overlap, in this order; 'tz' and 'missed' are of 'cron'"},
    {SETTING_CRON,
     {"tz", "missed", "jitter", "overlap", NULL},
     "'cron' goes on with tz, missed, jitter and overlap, in this order"},
};

/* The ';' of the setting; says so where one of its words stands too late. */
static bool parse_setting_end(struct parser *parser, enum setting_kind kind)
{
    for (size_t i = 0; i < sizeof(orders) / sizeof(orders[0]); i++) {
        if (orders[i].kind != kind || !parser_at_word_of(parser, orders[i].words))
            continue;
        parser->has_errors = true;
        if (!parser_is_excused(parser) && !parser_tell(parser, DIAG_SYNTAX)) {
            parser_report_expected(parser, "';'");
            diag_help(parser->sink, "%s", orders[i].order);
        }
        return false;
    }
    return parser_semicolon(parser);
}

bool parse_setting(struct parser *parser, bool is_in_job, struct ast_setting **ret_setting)
{
    int kind = 0;
    while (kind < SETTING_COUNT && !parser_at_word(parser, setting_word((enum setting_kind)kind)))
        kind++;
    if (kind == SETTING_COUNT)
        return parser_unknown(parser, DIAG_UNKNOWN_SETTING, "a setting",
                              is_in_job ? job_words : job_words + BLOCK_COUNT);
    struct ast_setting *setting = arena_alloc(parser->arena, sizeof(*setting));
    setting->kind = (enum setting_kind)kind;
    setting->span = parser_span(parser);
    parser_advance(parser);
    if (!parse_bodies[kind](parser, setting))
        return false;
    *ret_setting = setting;
    if (setting->kind == SETTING_RETRY && setting->retry.policy != NULL) {
        parser_accept(parser, TOKEN_SEMICOLON);
        return true;
    }
    return parse_setting_end(parser, setting->kind);
}

static bool parse_backoff(struct parser *parser, struct ast_policy *policy)
{
    if (!parse_one_of(parser, &policy->backoff, "a kind of backoff", ir_backoff_words))
        return false;
    assert(policy->backoff.text != NULL);
    if (strcmp(policy->backoff.text, ir_backoff_words[BACKOFF_STEPS]) == 0)
        return parser_literals(parser, TOKEN_DURATION, &policy->steps);
    if (!parser_literal_of(parser, TOKEN_DURATION, &policy->base))
        return false;
    if (strcmp(policy->backoff.text, ir_backoff_words[BACKOFF_CONSTANT]) == 0)
        return true;
    if (parser_accept_word(parser, "factor") && !parser_number(parser, &policy->factor))
        return false;
    return !parser_accept_word(parser, "cap") ||
           parser_literal_of(parser, TOKEN_DURATION, &policy->cap);
}

static bool parse_jitter(struct parser *parser, struct ast_policy *policy)
{
    if (parser_at(parser, TOKEN_INT) || parser_at(parser, TOKEN_FLOAT))
        return parser_number(parser, &policy->jitter_ratio);
    return parse_one_of(parser, &policy->jitter, "'none', 'full', 'equal' or a number",
                        ir_jitter_words);
}

static bool parse_policy_item(struct parser *parser, struct ast_policy *policy)
{
    static const char *const words[] = {"max", "for", "backoff", "jitter", NULL};
    const struct ast_policy before = *policy;
    struct span span = parser_span(parser);
    bool is_twice = false;
    bool is_read = false;
    if (parser_accept_word(parser, "max")) {
        is_twice = policy->max.kind != LITERAL_NONE;
        is_read = parse_count(parser, &policy->max);
    } else if (parser_accept_word(parser, "for")) {
        is_twice = policy->time.kind != LITERAL_NONE;
        is_read = parser_literal_of(parser, TOKEN_DURATION, &policy->time);
    } else if (parser_accept_word(parser, "backoff")) {
        is_twice = policy->backoff.text != NULL;
        is_read = parse_backoff(parser, policy);
    } else if (parser_accept_word(parser, "jitter")) {
        is_twice = policy->jitter.text != NULL || policy->jitter_ratio.kind != LITERAL_NONE;
        is_read = parse_jitter(parser, policy);
    } else {
        return parser_unknown(parser, DIAG_UNKNOWN_SETTING, "a setting of a retry policy", words);
    }
    if (is_twice)
        diag_report(parser->sink, DIAG_DUPLICATE_SETTING, span, "this is set twice");
    if (parser->item.is_told)
        *policy = before;
    return is_read && parser_semicolon(parser);
}

bool parse_policy(struct parser *parser, struct ast_policy **ret_policy)
{
    struct ast_policy *policy = arena_alloc(parser->arena, sizeof(*policy));
    *ret_policy = policy;
    struct span open = parser_span(parser);
    if (!parser_expect(parser, TOKEN_LEFT_BRACE))
        return false;
    while (parser_item_next(parser, HABIT_POLICY))
        parser_item_end(parser, parse_policy_item(parser, policy));
    return parser_close(parser, open);
}
