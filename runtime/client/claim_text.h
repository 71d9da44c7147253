/* client/claim_text.h - what is said of a claimed run, without its secrets. */
#ifndef CULEX_CLIENT_CLAIM_TEXT_H
#define CULEX_CLIENT_CLAIM_TEXT_H

#include "client/claim_schema.h"

enum { CULEX_CLAIM_TEXT_MAX = CULEX_ERROR_TEXT_MAX };

/* Copies `text` without the values of the run's [[secret]] params to `ret_text`: valid UTF-8, cut
 * to `size`, at most CULEX_CLAIM_TEXT_MAX + 1. They are read from the store where the client does
 * not know them yet, and `subject` is not the run; NULL: nobody has read it. Where the queue does
 * not keep the run's schema nobody knows them. */
culex_status culex__claim_text_hide(culex_client *client, const struct culex_claim_token *token,
                                    const struct culex_claim_subject *subject, const char *text,
                                    char *ret_text, size_t size, culex_error *error);

/* The run has ended, as far as this client is concerned: its secrets are not kept any longer. */
void culex__claim_text_end(culex_client *client, culex_uuid id);

#endif
