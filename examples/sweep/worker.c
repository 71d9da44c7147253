/* sweep/worker.c - removes files older than a minute from the folder $SWEEP_DIR, once a
 * second across all workers: worker [--url URL] ... */
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "sweep_job.h"

enum { CART_AGE_S = 60 };

static bool cart_is_old(int folder, const char *name)
{
    struct stat cart;
    return fstatat(folder, name, &cart, AT_SYMLINK_NOFOLLOW) == 0 && S_ISREG(cart.st_mode) &&
           time(NULL) - cart.st_mtime > CART_AGE_S;
}

static culex_outcome sweep_carts(culex_run *run, const shop_sweep_carts_job *job, void *user)
{
    const char *path = user;
    (void)job;
    DIR *folder = opendir(path);
    if (folder == NULL)
        return culex_run_fail(run, "cannot open %s", path);

    unsigned swept = 0;
    const struct dirent *entry;
    while ((entry = readdir(folder)) != NULL && !culex_run_cancelled(run)) {
        if (cart_is_old(dirfd(folder), entry->d_name) &&
            unlinkat(dirfd(folder), entry->d_name, 0) == 0)
            swept++;
    }
    closedir(folder);
    culex_log(run, "swept %u carts", swept);
    return CULEX_DONE;
}

static int setup(culex_worker *worker, void *user)
{
    return shop_sweep_carts_job_register(worker, sweep_carts, user);
}

int main(int argc, char **argv)
{
    char *path = getenv("SWEEP_DIR");
    if (path == NULL) {
        fputs("worker: set SWEEP_DIR to the folder to sweep\n", stderr);
        return 2;
    }
    return culex_worker_main(argc, argv, setup, path);
}
