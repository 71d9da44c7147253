#include "gen.h"
bool gen_write(struct compilation *compilation, const struct module *module, const char *out,
               const char *depfile, const char *export_macro)
{
    (void)compilation, (void)module, (void)out, (void)depfile, (void)export_macro;
    return false;
}
