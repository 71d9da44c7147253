/* fuzz_url - any bytes as a store URL: refused without naming the password, or split into
 * parts that hold together; and the masked form for log lines never shows the password. */
#include <stdlib.h>
#include <string.h>

#include "store/store.h"
#include "store/url.h"
#include "store/storeurl.h"
#include "fuzz.h"

enum { TEXT_MAX = 4096 };

unsigned fuzz_taken;

static void parts_check(const struct culex__url *url)
{
    if (url->scheme == NULL || url->host == NULL || url->path == NULL || url->port < 0 ||
        url->port > 65535 || url->param_count > CULEX__URL_PARAMS_MAX ||
        (url->path[0] != '\0' && url->path[0] != '/'))
        abort();
    for (int i = 0; i < url->param_count; i++) {
        if (culex__url_param(url, url->params[i].name) == NULL)
            abort();
    }
}

static unsigned count_of(const char *text, const char *part)
{
    unsigned count = 0;
    for (const char *at = text; (at = strstr(at, part)) != NULL; at++)
        count++;
    return count;
}

/* Other parts of the URL may hold the same text, so it is counted, and only as the URL writes it: a
 * password with escapes in it is not the text that it stands for. */
static void mask_check(const char *text, const struct culex__url *url)
{
    char masked[256];
    culex__store_url_mask(text, masked, sizeof masked);
    const char *secret = strstr(text, ":s3cr3t-pa55@");
    if (secret == NULL || strlen(text) >= sizeof masked || url->password == NULL ||
        strcmp(url->password, "s3cr3t-pa55") != 0)
        return;
    if (count_of(masked, url->password) >= count_of(text, url->password))
        abort();
}

static culex_status parameter_take(void *user, const char *name, const char *value,
                                   culex_error *error)
{
    (void)user;
    (void)error;
    if (strcmp(name, "prefix") != 0 && strcmp(name, "store-timeout") != 0 &&
        strcmp(name, "synchronous") != 0)
        abort();
    return strlen(value) <= TEXT_MAX ? CULEX_OK : CULEX_EINVAL;
}

static void parameters_check(const char *text)
{
    culex_error error = {0};
    culex_status status = culex__store_params_read(text, parameter_take, NULL, &error);
    if (status != CULEX_OK && status != CULEX_EURL && status != CULEX_ENOMEM)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static char text[TEXT_MAX + 1];
    struct culex__url url = {0};
    culex_error error = {0};
    if (size > TEXT_MAX)
        return 0;
    memcpy(text, data, size);
    text[size] = '\0';
    parameters_check(text);
    if (culex__url_parse(text, &url, &error) == CULEX_OK) {
        fuzz_taken++;
        parts_check(&url);
        mask_check(text, &url);
        culex__url_release(&url);
    } else if (error.code != CULEX_EURL && error.code != CULEX_ENOMEM)
        abort();
    else if (strstr(error.text, "s3cr3t-pa55") != NULL && strstr(text, "://s3cr3t") == NULL)
        abort();
    return 0;
}
