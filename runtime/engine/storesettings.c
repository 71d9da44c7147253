/* engine/storesettings.c - the sources one over the other. */
#include "engine/storesettings.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "engine/options.h"

static culex_status prefix_set(struct culex_store_settings *settings, const char *from,
                               const char *prefix, culex_status code, culex_error *error)
{
    if (prefix == NULL)
        return CULEX_OK;
    if (culex__backend_prefix_check(prefix, error) == CULEX_OK) {
        strcpy(settings->prefix, prefix);
        return CULEX_OK;
    }
    culex__error_context(error, "%s", from);
    if (error != NULL)
        error->code = code;
    return code;
}

static void rest_set(struct culex_store_settings *settings, int64_t timeout_ms,
                     const char *synchronous)
{
    if (timeout_ms > 0)
        settings->timeout_ms = timeout_ms;
    if (synchronous != NULL)
        settings->synchronous = synchronous;
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
        status = prefix_set(settings, "CULEX_PREFIX", found.options.prefix, CULEX_EUSAGE, error);
    rest_set(settings, found.options.store_timeout_ms, found.options.synchronous);
    return status;
}

static culex_status parameter_take(void *user, const char *name, const char *value,
                                   culex_error *error)
{
    struct culex_settings found = {0};
    culex_status status = culex__store_parameter_read(name, value, &found, error);
    if (status == CULEX_OK)
        status = prefix_set(user, "store URL", found.options.prefix, CULEX_EURL, error);
    rest_set(user, found.options.store_timeout_ms, found.options.synchronous);
    return status;
}

static culex_status told_take(struct culex_store_settings *settings,
                              const culex_client_options *told, culex_error *error)
{
    static const char *const words[] = {"full", "normal", "off"};
    const char *synchronous = NULL;
    for (size_t i = 0; i < 3 && told->synchronous != NULL; i++)
        synchronous = strcmp(told->synchronous, words[i]) == 0 ? words[i] : synchronous;
    if (told->synchronous != NULL && synchronous == NULL)
        return culex__fail(error, CULEX_EINVAL, "synchronous is \"%s\": full, normal or off",
                           told->synchronous);
    rest_set(settings, told->timeout_ms, synchronous);
    return prefix_set(settings, "the program's options", told->prefix, CULEX_EINVAL, error);
}

culex_status culex__store_settings_read(const char *url, const culex_client_options *told,
                                        struct culex_store_settings *ret_settings,
                                        culex_error *error)
{
    struct culex_store_settings settings = {"culex", CULEX_STORE_TIMEOUT_MS, "full"};
    culex_status status = variables_take(&settings, error);
    if (status == CULEX_OK)
        status = culex__backend_params_read(url, parameter_take, &settings, error);
    if (status == CULEX_OK)
        status = told_take(&settings, told, error);
    if (status == CULEX_OK)
        *ret_settings = settings;
    return status;
}
