/* ops/console/tokens.h - who may do what: a file with a line for each token.
 *
 * A line is a role, a token and, if it helps to read the audit, a name; '#' begins a comment. The
 * file belongs to this user and is readable by nobody else. */
#ifndef OPS_CONSOLE_TOKENS_H
#define OPS_CONSOLE_TOKENS_H

#include <culex/error.h>

/* What a role lets do, as bits of a route. */
enum role {
    ROLE_READ = 1,    /* see all there is */
    ROLE_ENQUEUE = 2, /* enqueue, and follow a run whose id is known */
    ROLE_OPERATE = 4, /* all */
    ROLE_WORK = 8,    /* claim runs, and say what becomes of them */
    ROLE_ANY = ROLE_READ | ROLE_ENQUEUE | ROLE_OPERATE | ROLE_WORK
};

enum { TOKEN_LEN_MIN = 16, TOKEN_LEN_MAX = 128 };

struct token {
    enum role role;
    char name[64]; /* of the line, or "line 3" */
    char text[TOKEN_LEN_MAX + 1];
};

struct tokens;

/* CULEX_EUSAGE with the line that is wrong; a message never has a token in it. */
culex_status tokens_read(const char *path, struct tokens **ret_tokens, culex_error *error);
/* NULL when it is none of them. Takes as long for each text of a length. */
const struct token *tokens_find(const struct tokens *tokens, const char *text);
void tokens_free(struct tokens *tokens);

#endif
