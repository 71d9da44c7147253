/* storm/ledger.h - what the processes of a storm saw, line by line, written so that a SIGKILL of
 * the writer loses or tears at most the line it was writing.
 *
 * A record is a newline, words, and a closing " ." in one write at the end of the file: a torn
 * one lacks its dot and spoils no other. Readers ignore lines without the dot. */
#ifndef CULEX_STORM_LEDGER_H
#define CULEX_STORM_LEDGER_H

#include <stdbool.h>
#include <stdint.h>

enum { LEDGER_LINE_MAX = 512 };

/* Names of the ledgers within the storm's folder. */
#define LEDGER_PRODUCERS "producers.ledger"
#define LEDGER_WORKERS   "workers.ledger"
#define LEDGER_DRIVER    "driver.ledger"

/* Microseconds on a clock that all processes of this machine share and nobody sets. */
int64_t ledger_now_us(void);

/* Appends one record to FOLDER/NAME; opens and closes the file, for handlers run in processes
 * whose descriptors are not ours to keep. Ends the process when it cannot: a storm without its
 * ledger proves nothing. */
void ledger_write(const char *folder, const char *name, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

#endif
