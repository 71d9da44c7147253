/* base/version.c - the version that the library was built as. */
#include <culex/culex.h>

const char *culex_version(void)
{
    return CULEX_VERSION;
}

int culex_version_number(void)
{
    return CULEX_VERSION_NUMBER;
}
