/* fuzz_cron - any bytes as the five fields of a cron line or as a schema's duration: refused
 * with a reason, or accepted, always within bounds. */
#include <stdlib.h>
#include <string.h>

#include "core/cron.h"
#include "fuzz.h"
#include "duration.h"

enum { TEXT_MAX = 512 };

unsigned fuzz_taken;

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char text[TEXT_MAX + 1];
    struct culex__cron cron;
    int64_t below, ns = -1;
    if (size > TEXT_MAX)
        return 0;
    memcpy(text, data, size);
    text[size] = '\0';
    const char *fault = culex__cron_read(text, &cron);
    fuzz_taken += fault == NULL;
    if (fault != NULL && fault[0] == '\0')
        abort();
    if (fault == NULL && culex__cron_minute_between(&cron, -60, 3000) < 0)
        abort(); /* A text that is accepted has a minute. */
    fault = duration_read(text, size, false, &ns);
    fuzz_taken += fault == NULL;
    if (fault == NULL &&
        (ns < 0 || duration_read(text, size, true, &below) != NULL || below != -ns))
        abort();
    return 0;
}
