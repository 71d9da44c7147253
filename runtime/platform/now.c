/* platform/now.c - the machine's clock, as programs ask for it. */
#include <culex/types.h>

#include "platform/env.h"

culex_time culex_time_now(void)
{
    return culex__env_clock_ms(culex__env_system()) * CULEX_MILLISECOND;
}
