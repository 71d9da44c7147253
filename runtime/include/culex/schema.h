/* culex/schema.h - the schema of a job as a text, for programs that were not compiled with it.
 *
 * The text says what a descriptor says (schemas/schema-text.md). What is read from it is a
 * descriptor again, with a layout of its own: culex_decode, culex_encode, culex_client_enqueue and
 * all else that takes a descriptor work with it. Values are reached by the offsets in it. A type of
 * the user's own is read as a string, whose field has the type's name in `user_type`; the text of a
 * value is as the functions of that type write it.
 */
#ifndef CULEX_SCHEMA_H
#define CULEX_SCHEMA_H

#include <culex/error.h>
#include <culex/job.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A text that was read, and the descriptor in it. May be used by several threads at a time. */
typedef struct culex_schema culex_schema;

/* The text of a job's schema, NUL-ended: the caller frees `*ret_text`. Defaults of secret and of
 * encrypted fields are left out; so are all docs where it would pass 64 KiB with them. CULEX_ELIMIT
 * when it does without. */
CULEX_API CULEX_MUST_USE culex_status culex_schema_write(const culex_job_type *type,
                                                         char **ret_text, size_t *ret_len,
                                                         culex_error *error);

/* Reads `len` bytes of text, at most 64 KiB, and copies what it needs. Any bytes may be given.
 * CULEX_EDECODE says what is wrong and where; CULEX_EUNDERSTAND: it was written by a later program.
 * `*ret_schema` is to be freed by culex_schema_free. */
CULEX_API CULEX_MUST_USE culex_status culex_schema_read(const char *text, size_t len,
                                                        culex_schema **ret_schema,
                                                        culex_error *error);

/* The descriptor, which lives as long as `schema`. NULL for NULL. */
CULEX_API const culex_job_type *culex_schema_type(const culex_schema *schema);

/* Who told the text knows that the job is [[retired]]: its runs end dead. False for NULL. */
CULEX_API bool culex_schema_is_retired(const culex_schema *schema);

/* Marks as secret in `schema` the fields that are so in `other`, another text of the job: params
 * that programs of several versions take are shown as the most careful of them wants. Fields are
 * the same by their names in payloads. Not while another thread uses `schema`. CULEX_ENOMEM: some
 * of them may be marked. */
CULEX_API CULEX_MUST_USE culex_status culex_schema_hide(culex_schema *schema,
                                                        const culex_schema *other,
                                                        culex_error *error);

/* The field has a default that the text does not have, as it is secret. Such a field is optional in
 * the descriptor: where a run does not have it, its worker takes the default. */
CULEX_API bool culex_schema_default_is_withheld(const culex_field *field);

/* Bytes of one value of the field in memory: of an element, where it has many. 0 for NULL. */
CULEX_API size_t culex_schema_value_size(const culex_field *field);

/* Frees it with its descriptor. Accepts NULL. */
CULEX_API void culex_schema_free(culex_schema *schema);

#ifdef __cplusplus
}
#endif
#endif
