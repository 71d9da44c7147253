/* policy.c - the -W switches. */
#include <string.h>

#include "options.h"

static bool refuse_unknown(const struct cli *cli, const char *slug, const struct suggestion *near)
{
    if (near->best != NULL)
        cli_misused(cli, "no diagnostic is called '%s'; did you mean '%s'?", slug, near->best);
    else
        cli_misused(cli, "no diagnostic is called '%s'; 'culexc explain --list' lists them", slug);
    return false;
}

static bool refuse_error(const struct cli *cli, const char *slug)
{
    cli_misused(cli, "'%s' is an error: it cannot be switched off or made a warning", slug);
    return false;
}

/* Moves *word behind `prefix`, when it starts so. */
static bool prefix_skip(const char **word, const char *prefix)
{
    size_t len = strlen(prefix);
    if (strncmp(*word, prefix, len) != 0)
        return false;
    *word += len;
    return true;
}

bool cli_policy_read(const struct cli *cli, const char *word)
{
    struct diag_policy *policy = cli->policy;
    struct suggestion near;
    bool is_whole = strcmp(word, "error") == 0 || strcmp(word, "no-error") == 0;
    if (is_whole) {
        policy->is_strict = *word == 'e';
        return true;
    }
    /* Some ids start with "no-". */
    bool is_id = diag_find(word, NULL) != DIAG_COUNT;
    bool is_no_error = prefix_skip(&word, "no-error=");
    bool is_error = !is_no_error && prefix_skip(&word, "error=");
    bool is_off = !is_no_error && !is_error && !is_id && prefix_skip(&word, "no-");
    enum diag_id id = diag_find(word, &near);
    if (id == DIAG_COUNT)
        return refuse_unknown(cli, word, &near);
    if ((is_no_error || is_off) && diag_default_severity(id) == DIAG_ERROR)
        return refuse_error(cli, word);
    if (is_no_error)
        policy->error[id] = -1;
    else
        policy->shown[id] = is_off ? -1 : 1;
    if (is_error)
        policy->error[id] = 1;
    return true;
}
