#include "schemas.h"

#include <stdlib.h>

#include "say.h"

static bool is_new(struct cli *cli, struct map *by_path, const char *path)
{
    const char *real = path_resolve(&cli->arena, path);
    return map_add(by_path, real != NULL ? real : path, cli) == NULL;
}

static int schema_load(const struct cli *cli, const char *path, struct schemas *schemas)
{
    struct compilation *compilation = &schemas->compilations[schemas->count++];
    compilation_init(compilation);
    struct module *module = cli_load(cli, compilation, path);
    if (module == NULL)
        return EXIT_BROKEN;
    int status = cli_report(cli, compilation);
    if (status == EXIT_CLEAN)
        schemas->clean[schemas->clean_count++] =
            (struct gen_schema){.compilation = compilation, .module = module};
    return status;
}

static int beside_load(const struct cli *cli, const char *path, struct schemas *schemas)
{
    const char *fault;
    struct compilation *compilation = &schemas->compilations[schemas->count++];
    compilation_init(compilation);
    struct module *module = cli_load_silently(cli, compilation, path, &fault);
    if (module == NULL)
        return say_unread(path, fault), EXIT_BROKEN;
    if (!compilation->sink.has_faults)
        schemas->clean[schemas->clean_count++] =
            (struct gen_schema){.compilation = compilation, .module = module, .is_beside = true};
    return EXIT_CLEAN;
}

int schemas_load(struct cli *cli, const struct texts *beside, struct schemas *schemas)
{
    struct map by_path;
    int status = EXIT_CLEAN;
    size_t count = cli->files.count, beside_count = beside != NULL ? beside->count : 0;
    size_t room = count + beside_count;
    *schemas = (struct schemas){.clean = memory_resize(NULL, room * sizeof(*schemas->clean)),
                                .compilations =
                                    memory_resize(NULL, room * sizeof(*schemas->compilations))};
    map_init(&by_path, &cli->arena);
    for (size_t i = 0; i < count; i++) {
        if (is_new(cli, &by_path, cli->files.items[i]))
            status = cli_worse(status, schema_load(cli, cli->files.items[i], schemas));
    }
    for (size_t i = 0; i < beside_count; i++) {
        if (is_new(cli, &by_path, beside->items[i]))
            status = cli_worse(status, beside_load(cli, beside->items[i], schemas));
    }
    return status;
}

void schemas_release(struct schemas *schemas)
{
    for (size_t i = 0; i < schemas->count; i++)
        compilation_release(&schemas->compilations[i]);
    free(schemas->compilations);
    free(schemas->clean);
}

void schemas_hush(struct schemas *schemas)
{
    for (size_t i = 0; i < schemas->clean_count; i++) {
        struct compilation *compilation = schemas->clean[i].compilation;
        const struct diag_policy *policy = compilation->sink.policy;
        diag_sink_init(&compilation->sink, &compilation->arena);
        compilation->sink.policy = policy;
    }
}

int schemas_report(const struct cli *cli, struct schemas *schemas)
{
    int status = EXIT_CLEAN;
    for (size_t i = 0; i < schemas->clean_count; i++)
        status = cli_worse(status, cli_report(cli, schemas->clean[i].compilation));
    return status;
}
