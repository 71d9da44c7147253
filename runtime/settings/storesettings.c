/* settings/storesettings.c - the sources one over the other. */
#include "settings/storesettings.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "base/misspelt.h"
#include "base/secret_name.h"
#include "settings/settings.h"
#include "store/storeurl.h"

/* Of what settings.c has read and found well-formed. */
static void found_take(struct culex_store_settings *settings, const culex_worker_options *found)
{
    if (found->prefix != NULL)
        strcpy(settings->prefix, found->prefix);
    if (found->store_timeout_ms > 0)
        settings->timeout_ms = found->store_timeout_ms;
    if (found->synchronous != NULL)
        settings->synchronous = found->synchronous;
}

static const char *variable_get(const char *name)
{
    return getenv(name);
}

static culex_status variables_take(struct culex_store_settings *settings, culex_error *error)
{
    struct culex_settings found = {0};
    culex_status status = culex__store_variables_read(variable_get, &found, error);
    if (status == CULEX_OK)
        found_take(settings, &found.options);
    return status;
}

static culex_status parameter_take(void *user, const char *name, const char *value,
                                   culex_error *error)
{
    struct culex_settings found = {0};
    culex_status status = culex__store_parameter_read(name, value, &found, error);
    if (status == CULEX_OK)
        found_take(user, &found.options);
    return status;
}

culex_status culex__store_timeout_check(const char *member, int64_t timeout_ms,
                                        culex_status refusal, culex_error *error)
{
    if (timeout_ms == 0 ||
        (timeout_ms >= CULEX_STORE_TIMEOUT_MS_MIN && timeout_ms <= CULEX_STORE_TIMEOUT_MS_MAX))
        return CULEX_OK;
    return culex__fail(error, refusal, "%s is %lld: milliseconds, from %d to %d, or 0", member,
                       (long long)timeout_ms, CULEX_STORE_TIMEOUT_MS_MIN,
                       CULEX_STORE_TIMEOUT_MS_MAX);
}

const char *const culex__synchronous_words[] = {"full", "normal", "off"};

static culex_status told_take(struct culex_store_settings *settings,
                              const culex_client_options *told, culex_error *error)
{
    const char *synchronous = NULL;
    for (size_t i = 0; i < CULEX_SYNCHRONOUS_WORDS && told->synchronous != NULL; i++) {
        const char *word = culex__synchronous_words[i];
        synchronous = strcmp(told->synchronous, word) == 0 ? word : synchronous;
    }
    if (told->synchronous != NULL && synchronous == NULL)
        return culex__fail(error, CULEX_EINVAL, "synchronous is \"%s\": full, normal or off",
                           culex__text_shown(told->synchronous));
    if (told->prefix != NULL && culex__store_prefix_check(told->prefix, error) != CULEX_OK)
        return CULEX_EINVAL;
    if (culex__store_timeout_check("timeout_ms", told->timeout_ms, CULEX_EINVAL, error) != CULEX_OK)
        return CULEX_EINVAL;
    found_take(settings, &(culex_worker_options){.prefix = told->prefix,
                                                 .store_timeout_ms = told->timeout_ms,
                                                 .synchronous = synchronous});
    return CULEX_OK;
}

/* The last resort, where a store of this kind has any use for what is not given. */
static culex_status default_check(const char *url, const char *name, const char *variable,
                                  culex_error *error)
{
    char without[64];
    if (!culex__store_url_takes(url, name))
        return CULEX_OK;
    snprintf(without, sizeof without, "%s is not given", name);
    return culex__misspelt_check(environ, variable, without, CULEX_EUSAGE, error);
}

static culex_status defaults_take(const char *url, struct culex_store_settings *settings,
                                  culex_error *error)
{
    culex_status status = CULEX_OK;
    if (settings->prefix[0] == '\0') {
        strcpy(settings->prefix, "culex");
        status = default_check(url, "prefix", "CULEX_PREFIX", error);
    }
    if (status == CULEX_OK && settings->timeout_ms == 0) {
        settings->timeout_ms = CULEX_STORE_TIMEOUT_MS;
        status = default_check(url, "store-timeout", "CULEX_STORE_TIMEOUT", error);
    }
    if (status == CULEX_OK && settings->synchronous == NULL) {
        settings->synchronous = "full";
        status = default_check(url, "synchronous", "CULEX_SYNCHRONOUS", error);
    }
    return status;
}

culex_status culex__store_settings_read(const char *url, const culex_client_options *told,
                                        struct culex_store_settings *ret_settings,
                                        culex_error *error)
{
    struct culex_store_settings settings = {.timeout_ms = 0};
    culex_status status = variables_take(&settings, error);
    if (status == CULEX_OK)
        status = culex__store_params_read(url, parameter_take, &settings, error);
    if (status == CULEX_OK)
        status = told_take(&settings, told, error);
    if (status == CULEX_OK)
        status = defaults_take(url, &settings, error);
    if (status == CULEX_OK)
        *ret_settings = settings;
    return status;
}
