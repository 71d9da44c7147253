/* values.c - what the words mean that options of several verbs take. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "choice.h"
#include "cname.h"
#include "limits.h"
#include "lint.h"
#include "options.h"

bool cli_format_read(struct cli *cli, const char *word)
{
    static const char *const words[] = {"human", "short", "json", "sarif", "github", "junit", NULL};
    size_t at = choice_find(words, word);
    cli->format = (enum message_format)at;
    if (words[at] == NULL)
        cli_misused(cli, "no such message format: '%s'", word);
    return words[at] != NULL;
}

bool cli_colour_read(struct cli *cli, const char *word)
{
    static const char *const words[] = {"never", "always", "auto", NULL};
    const char *no_color = getenv("NO_COLOR");
    size_t at = choice_find(words, word);
    cli->is_coloured = at == 1;
    if (at == 2)
        cli->is_coloured = isatty(STDERR_FILENO) && (no_color == NULL || *no_color == '\0');
    if (words[at] == NULL)
        cli_misused(cli, "--color is auto, always or never, not '%s'", word);
    return words[at] != NULL;
}

bool cli_max_errors_read(struct cli *cli, const char *word)
{
    char *end;
    unsigned long max = strtoul(word, &end, 10);
    cli->policy->errors_max = (unsigned)max;
    bool is_number = *word >= '0' && *word <= '9' && *end == '\0';
    if (is_number && max >= 1 && max <= LIMIT_ERRORS_MAX)
        return true;
    cli_misused(cli, "--max-errors is 1 to %u, not '%s'", LIMIT_ERRORS_MAX, word);
    return false;
}

bool cli_tiers(const struct cli *cli, const struct texts *names, unsigned *ret_tiers)
{
    *ret_tiers = 0;
    for (size_t i = 0; i < names->count; i++) {
        unsigned tiers = lint_tiers_named(names->items[i]);
        if (tiers == 0)
            return cli_misused(cli, "no such tier: '%s'", names->items[i]), false;
        *ret_tiers |= tiers;
    }
    return true;
}

static bool is_c_name(const char *text)
{
    static const char allowed[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_";
    return *text != '\0' && strchr("0123456789", *text) == NULL &&
           strspn(text, allowed) == strlen(text);
}

bool cli_macro_is_good(const struct cli *cli, const char *text)
{
    if (text == NULL)
        return true;
    const char *owner = is_c_name(text) ? cname_macro_owner(text) : "no name in C";
    if (owner != NULL)
        cli_misused(cli, "--export-macro: '%s' is %s", text, owner);
    return owner == NULL;
}
