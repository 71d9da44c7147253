#include "console/tokens.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "command/fail.h"
#include "command/print.h"
#include "platform/secret_file.h"

enum { TOKENS_MAX = 256, LINE_SIZE = 512 };

struct tokens {
    size_t count;
    struct token of[TOKENS_MAX];
};

/* ---- lines ------------------------------------------------------------------------------------
 */

static bool role_read(const char *word, enum role *ret_role)
{
    static const struct {
        const char *name;
        enum role role;
    } roles[] = {{"read", ROLE_READ},
                 {"enqueue", ROLE_ENQUEUE},
                 {"operate", ROLE_OPERATE},
                 {"work", ROLE_WORK}};
    for (size_t i = 0; i < sizeof roles / sizeof roles[0]; i++) {
        if (strcmp(roles[i].name, word) == 0) {
            *ret_role = roles[i].role;
            return true;
        }
    }
    return false;
}

static bool is_token(const char *word)
{
    size_t len = strlen(word);
    for (const char *at = word; *at != '\0'; at++) {
        if (*at <= ' ' || *at > '~')
            return false;
    }
    return len >= TOKEN_LEN_MIN && len <= TOKEN_LEN_MAX;
}

static culex_status line_read(struct tokens *tokens, char *line, size_t number, const char *path,
                              culex_error *error)
{
    char *rest, *role = strtok_r(line, " \t\r\n", &rest);
    if (role == NULL || role[0] == '#')
        return CULEX_OK;
    const char *text = strtok_r(NULL, " \t\r\n", &rest), *name = strtok_r(NULL, " \t\r\n", &rest);
    struct token *token = &tokens->of[tokens->count];
    if (tokens->count == TOKENS_MAX)
        return ops_usage(error, "%.200s:%zu: more than %d tokens", path, number, TOKENS_MAX);
    *token = (struct token){.role = ROLE_READ};
    if (!role_read(role, &token->role))
        return ops_usage(error,
                         "%.200s:%zu: a line is ROLE TOKEN [NAME], and a role is read, enqueue, "
                         "work or operate",
                         path, number);
    if (text == NULL || !is_token(text))
        return ops_usage(error,
                         "%.200s:%zu: a token has %d to %d letters, digits or signs; openssl rand "
                         "-hex 32 makes one",
                         path, number, TOKEN_LEN_MIN, TOKEN_LEN_MAX);
    if (tokens_find(tokens, text) != NULL)
        return ops_usage(error, "%.200s:%zu: another line has this token, and it has one role",
                         path, number);
    memcpy(token->text, text, strlen(text));
    if (name != NULL && name[0] != '#')
        snprintf(token->name, sizeof token->name, "%s", name);
    else
        snprintf(token->name, sizeof token->name, "line %zu", number);
    tokens->count++;
    return CULEX_OK;
}

static culex_status lines_read(FILE *file, const char *path, struct tokens *tokens,
                               culex_error *error)
{
    char line[LINE_SIZE];
    culex_status status = CULEX_OK;
    for (size_t number = 1; status == CULEX_OK && fgets(line, sizeof line, file) != NULL;
         number++) {
        if (strchr(line, '\n') == NULL && !feof(file))
            status = ops_usage(error, "%.200s:%zu: the line is too long", path, number);
        else
            status = line_read(tokens, line, number, path, error);
    }
    explicit_bzero(line, sizeof line);
    if (status == CULEX_OK && ferror(file) != 0)
        return ops_usage(error, "%.200s: %s", path, strerror(EIO));
    return status == CULEX_OK && tokens->count == 0
               ? ops_usage(error, "%.200s: it has no token: a line is ROLE TOKEN [NAME]", path)
               : status;
}

/* ---- the file ---------------------------------------------------------------------------------
 */

static culex_status file_check(FILE *file, const char *path, culex_error *error)
{
    struct stat info;
    return fstat(fileno(file), &info) == 0
               ? culex__secret_file_check("file of tokens", path, &info, CULEX_EUSAGE, error)
               : ops_usage(error, "%.200s: %s", path, strerror(errno));
}

culex_status tokens_read(const char *path, struct tokens **ret_tokens, culex_error *error)
{
    *ret_tokens = NULL;
    FILE *file = fopen(path, "re");
    if (file == NULL)
        return ops_usage(error, "--tokens %.200s: %s", path, strerror(errno));
    struct tokens *tokens = ops_alloc(NULL, sizeof *tokens);
    tokens->count = 0;
    culex_status status = file_check(file, path, error);
    if (status == CULEX_OK)
        status = lines_read(file, path, tokens, error);
    fclose(file);
    if (status == CULEX_OK)
        *ret_tokens = tokens;
    else
        tokens_free(tokens);
    return status;
}

void tokens_free(struct tokens *tokens)
{
    if (tokens != NULL)
        explicit_bzero(tokens, sizeof *tokens);
    free(tokens);
}

/* ---- looking one up ----------------------------------------------------------------------------
 */

/* All of both is looked at, whatever is found. */
static bool is_same(const char *one, const char *other)
{
    unsigned char difference = 0;
    for (size_t i = 0; i < TOKEN_LEN_MAX; i++)
        difference = (unsigned char)(difference | (one[i] ^ other[i]));
    return difference == 0;
}

const struct token *tokens_find(const struct tokens *tokens, const char *text)
{
    char padded[TOKEN_LEN_MAX + 1] = "";
    const struct token *found = NULL;
    size_t len = strlen(text);
    if (len < TOKEN_LEN_MIN || len > TOKEN_LEN_MAX)
        return NULL;
    memcpy(padded, text, len);
    for (size_t i = 0; i < tokens->count; i++) {
        if (is_same(padded, tokens->of[i].text))
            found = &tokens->of[i];
    }
    explicit_bzero(padded, sizeof padded);
    return found;
}
