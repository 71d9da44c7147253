/* checksum/worker.c - computes SHA-256 sums with OpenSSL's libcrypto. */
#include <errno.h>
#include <openssl/evp.h>
#include <stdio.h>
#include <string.h>

#include "checksum_job.h"

enum { CHUNK = 64 * 1024, SHA256_SIZE = 32 };

/* Feeds the whole file to `digest`; false when it cannot be read or we should stop. */
static bool file_digest(culex_run *run, FILE *file, EVP_MD_CTX *digest, uint64_t *ret_size)
{
    char *chunk = culex_run_alloc(run, CHUNK);
    size_t len;
    *ret_size = 0;
    if (chunk == NULL)
        return false;
    while ((len = fread(chunk, 1, CHUNK, file)) > 0 && !culex_run_cancelled(run)) {
        if (EVP_DigestUpdate(digest, chunk, len) != 1)
            return false;
        *ret_size += len;
    }
    return !ferror(file) && !culex_run_cancelled(run);
}

static bool file_sum(culex_run *run, FILE *file, char *ret_hex, uint64_t *ret_size)
{
    unsigned char sum[EVP_MAX_MD_SIZE];
    EVP_MD_CTX *digest = EVP_MD_CTX_new();
    bool is_ok = digest != NULL && EVP_DigestInit_ex(digest, EVP_sha256(), NULL) == 1 &&
                 file_digest(run, file, digest, ret_size) &&
                 EVP_DigestFinal_ex(digest, sum, NULL) == 1;
    EVP_MD_CTX_free(digest);
    for (int i = 0; is_ok && i < SHA256_SIZE; i++)
        snprintf(ret_hex + 2 * i, 3, "%02x", sum[i]);
    return is_ok;
}

static culex_outcome checksum(culex_run *run, const checksum_job *job, void *user)
{
    (void)user;
    FILE *file = fopen(job->path, "rb");
    if (file == NULL)
        return culex_run_discard(run, "%s: %s", job->path, strerror(errno));
    char hex[2 * SHA256_SIZE + 1];
    uint64_t size = 0;
    bool is_ok = file_sum(run, file, hex, &size);
    fclose(file);
    if (!is_ok)
        return culex_run_fail(run, "%s cannot be read to its end", job->path);

    checksum_result result = checksum_result_make(job->path, hex, size);
    culex_error error;
    if (checksum_job_set_result(run, &result, &error) != CULEX_OK)
        return culex_run_fail(run, "%s", error.text);
    return CULEX_DONE;
}

static int setup(culex_worker *worker, void *user)
{
    return checksum_job_register(worker, checksum, user);
}

int main(int argc, char **argv)
{
    return culex_worker_main(argc, argv, setup, NULL);
}
