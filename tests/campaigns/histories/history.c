/* history.c - the modules of the campaign: each is the generated C of one version of its schemas.
 */
#include "history.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const struct history_job *history_load(const char *path)
{
    void *module = dlopen(path, RTLD_LAZY | RTLD_LOCAL);
    const struct history_job *jobs = module == NULL ? NULL : dlsym(module, "history_jobs");
    if (jobs == NULL) {
        fprintf(stderr, "histories: %s\n", dlerror());
        exit(2);
    }
    return jobs;
}

const struct history_job *history_find(const struct history_job *jobs, const char *wire)
{
    while (jobs->type != NULL && strcmp(jobs->type->wire, wire) != 0)
        jobs++;
    return jobs->type != NULL ? jobs : NULL;
}
