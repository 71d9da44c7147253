#include "base/misspelt.h"

#include <stdbool.h>
#include <string.h>

#include "base/distance.h"
#include "base/error.h"

enum { NAME_MAX_LEN = 31 };

/* Fills in the name of an entry of the environment. */
static bool is_near(const char *entry, const char *meant, char ret_name[NAME_MAX_LEN + 1])
{
    size_t len = strcspn(entry, "=");
    if (strncmp(entry, "CULEX_", strlen("CULEX_")) != 0 || len > NAME_MAX_LEN)
        return false;
    memcpy(ret_name, entry, len);
    ret_name[len] = '\0';
    return culex__edit_distance(ret_name, meant) == 1;
}

culex_status culex__misspelt_check(char *const *environment, const char *meant, const char *without,
                                   culex_status refusal, culex_error *error)
{
    char name[NAME_MAX_LEN + 1];
    for (; environment != NULL && *environment != NULL; environment++) {
        if (is_near(*environment, meant, name))
            return culex__fail(error, refusal,
                               "%s, but the variable %s is set, which means nothing; did you mean "
                               "%s?",
                               without, name, meant);
    }
    return CULEX_OK;
}
