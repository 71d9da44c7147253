/* host.c - loads the shared objects it is given, side by side, and has each enqueue a run. */
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

enum { PLUGIN_MAX = 8 };

int main(int argc, char **argv)
{
    void *plugins[PLUGIN_MAX];
    if (argc < 2 || argc > PLUGIN_MAX)
        return 2;
    for (int i = 1; i < argc; i++) {
        plugins[i] = dlopen(argv[i], RTLD_NOW | RTLD_GLOBAL);
        if (plugins[i] == NULL) {
            fprintf(stderr, "host: %s\n", dlerror());
            return 1;
        }
    }
    for (int i = 1; i < argc; i++) {
        int (*enqueue)(const char *);
        void *symbol = dlsym(plugins[i], "plugin_enqueue");
        memcpy(&enqueue, &symbol, sizeof(enqueue));
        if (symbol == NULL || enqueue("plugin") != 0)
            return 1;
    }
    return 0;
}
