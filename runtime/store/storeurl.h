/* store/storeurl.h - where the store is, and how its password stays out of sight.
 *
 * A URL comes from the code, the environment or a file of its own; a password may come apart
 * from it. What is chosen is a copy that is wiped when it is freed. Nothing here goes into an
 * error text but names of files and variables. */
#ifndef CULEX_STORE_STOREURL_H
#define CULEX_STORE_STOREURL_H

#include <stdbool.h>
#include <stddef.h>

#include <culex/error.h>

/* `url`, else the content of `url_file`, else $CULEX_URL or that of $CULEX_URL_FILE, else
 * "sqlite:culex.db"; both arguments may be NULL, none of what is looked at may be empty. A Redis
 * URL without a password gets $CULEX_PASSWORD, unless that is empty. A file must be regular, of
 * this user, readable by nobody else, and hold one line. CULEX_EURL says what is wrong with it, or
 * that the default would count though a variable is one typing error from $CULEX_URL, or no
 * password though one is that far from $CULEX_PASSWORD, or that the password which is needed was
 * forgotten (below); CULEX_EUSAGE when both ways are used at
 * once. *ret_url is returned owned: free with culex__store_url_free. */
culex_status culex__store_url_choose(const char *url, const char *url_file, char **ret_url,
                                     culex_error *error);

/* Wipes and frees. Accepts NULL. */
void culex__store_url_free(char *url);

/* `url`, which need not be one, for a log line, cut to fit: "***" stands for what it must not show.
 * That is what stands before '@', without the user when there is one beside a password, and the
 * value of a parameter "password". */
void culex__store_url_mask(const char *url, char *ret_text, size_t size);

/* A store at `url`, which need not be one, takes a parameter of this name. */
bool culex__store_url_takes(const char *url, const char *name);

/* Something is surely meant as a password; a user alone is not. */
bool culex__store_url_has_password(const char *url);

/* Overwrites the passwords in this process's environment, in place, where others may read it:
 * $CULEX_PASSWORD becomes three stars, and a $CULEX_URL that may hold one its scheme and three
 * stars, by which it is known here, and in programs that handlers start, what is missing. For a
 * process that has just been forked: scrubs the free part of its stack too. */
void culex__environment_forget(void);

#endif
