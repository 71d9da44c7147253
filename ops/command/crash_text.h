/* ops/command/crash_text.h - what crashes of one kind have in common. */
#ifndef OPS_COMMAND_CRASH_TEXT_H
#define OPS_COMMAND_CRASH_TEXT_H

#include <stddef.h>

/* The text of a handler's death without what each death has of its own: how often it came, the
 * process that sent the signal, addresses, and who called the function that it struck. "crashed:
 * killed by SIGSEGV (address not mapped) in crash (nap)". Any other text as it is. Returns owned.
 */
char *ops_crash_reduce(const char *text, size_t len);

#endif
