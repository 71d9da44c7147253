#include "program/variables.h"

#include <stdio.h>
#include <string.h>

#include "base/nearest.h"
#include "settings/settings.h"

static bool variable_is_known(struct culex__nearest *nearest)
{
    const char *known;
    for (size_t i = 0; (known = culex__settings_variable(i)) != NULL; i++) {
        if (strcmp(known, nearest->word) == 0)
            return true;
        culex__nearest_offer(nearest, known);
    }
    return false;
}

void culex__advise_variables(const struct culex_log *log, char *const *environment)
{
    for (; environment != NULL && *environment != NULL; environment++) {
        char name[128], meant[128];
        int len = (int)strcspn(*environment, "=");
        if (strncmp(*environment, "CULEX_", strlen("CULEX_")) != 0)
            continue;
        snprintf(name, sizeof name, "%.*s", len, *environment);
        struct culex__nearest nearest = {.word = name};
        if (!variable_is_known(&nearest))
            culex__log_write(log, CULEX_LOG_WARNING, NULL, "the variable %s means nothing%s", name,
                             culex__nearest_ask(&nearest, meant));
    }
}
