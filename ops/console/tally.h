/* ops/console/tally.h - how many requests were answered how, since the server's start. */
#ifndef OPS_CONSOLE_TALLY_H
#define OPS_CONSOLE_TALLY_H

#include <stdint.h>

struct route;
struct tally;

struct tally *tally_make(void);
/* `route` is NULL for a path that there is not. From any thread. */
void tally_note(struct tally *tally, const struct route *route, unsigned status);
/* Shows each that there was; `route` is the name of its operation, or "none". */
void tally_each(struct tally *tally,
                void (*see)(const char *route, unsigned status, uint64_t count, void *user),
                void *user);
void tally_free(struct tally *tally);

#endif
