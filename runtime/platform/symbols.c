#include "platform/symbols.h"

#include <assert.h>
#include <dlfcn.h>
#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MODULES_MAX = 256, NAME_MAX_BYTES = 64, MANGLED_MAX = 1024 };

/* __cxa_demangle of the C++ runtime: returns malloc'ed text, NULL for what is no mangled name. */
typedef char *(*demangle)(const char *mangled, char *buffer, size_t *size, int *status);

struct module {
    uint64_t base;
    uint64_t begin; /* of what is mapped */
    uint64_t end;
    char name[NAME_MAX_BYTES];
};

/* The program's file, mapped; `symbols` and `names` point into it. */
struct table {
    bool is_tried;
    void *file;
    size_t size;
    const ElfW(Sym) * symbols;
    size_t count;
    const char *names;
    size_t names_size;
};

struct culex_symbols {
    demangle demangle; /* NULL in programs without C++ */
    size_t count;
    struct table program; /* of modules[0] */
    struct module modules[MODULES_MAX];
};

/* --- modules --------------------------------------------------------------------------- */

static void module_name(struct module *module, const char *path)
{
    char self[512];
    if (path == NULL || path[0] == '\0') {
        ssize_t len = readlink("/proc/self/exe", self, sizeof self - 1);
        self[len > 0 ? len : 0] = '\0';
        path = self;
    }
    const char *slash = strrchr(path, '/');
    snprintf(module->name, sizeof module->name, "%.60s", slash != NULL ? slash + 1 : path);
}

static int module_add(struct dl_phdr_info *info, size_t size, void *context)
{
    (void)size;
    struct culex_symbols *symbols = context;
    if (symbols->count == MODULES_MAX)
        return 1;
    struct module *module = &symbols->modules[symbols->count++];
    module->base = info->dlpi_addr;
    module->begin = UINT64_MAX;
    for (size_t i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *part = &info->dlpi_phdr[i];
        if (part->p_type != PT_LOAD)
            continue;
        uint64_t begin = module->base + part->p_vaddr;
        if (begin < module->begin)
            module->begin = begin;
        if (begin + part->p_memsz > module->end)
            module->end = begin + part->p_memsz;
    }
    module_name(module, info->dlpi_name);
    return 0;
}

/* Asked for by name: a program in C++ has it, and nobody else is to load a runtime for it. */
static demangle demangle_find(void)
{
    demangle found = NULL;
    void *address = dlsym(RTLD_DEFAULT, "__cxa_demangle");
    memcpy(&found, &address, sizeof found);
    return found;
}

struct culex_symbols *culex__symbols_create(void)
{
    struct culex_symbols *symbols = calloc(1, sizeof *symbols);
    if (symbols == NULL)
        return NULL;
    symbols->demangle = demangle_find();
    dl_iterate_phdr(module_add, symbols);
    return symbols;
}

void culex__symbols_free(struct culex_symbols *symbols)
{
    if (symbols == NULL)
        return;
    if (symbols->program.file != NULL)
        munmap(symbols->program.file, symbols->program.size);
    free(symbols);
}

/* --- the program's own table ----------------------------------------------------------- */

/* `count` things of `size` bytes at `offset` lie inside the file. */
static bool is_inside(const struct table *table, uint64_t offset, uint64_t count, uint64_t size)
{
    return size != 0 && offset <= table->size && count <= (table->size - offset) / size;
}

static void table_find(struct table *table)
{
    const char *file = table->file;
    const ElfW(Ehdr) *head = table->file;
    if (!is_inside(table, 0, 1, sizeof *head) || memcmp(head->e_ident, ELFMAG, SELFMAG) != 0 ||
        head->e_shentsize != sizeof(ElfW(Shdr)) ||
        !is_inside(table, head->e_shoff, head->e_shnum, sizeof(ElfW(Shdr))))
        return;
    const ElfW(Shdr) *sections = (const void *)(file + head->e_shoff);
    for (size_t i = 0; i < head->e_shnum; i++) {
        const ElfW(Shdr) *section = &sections[i];
        if (section->sh_type != SHT_SYMTAB || section->sh_link >= head->e_shnum)
            continue;
        const ElfW(Shdr) *names = &sections[section->sh_link];
        size_t count = section->sh_size / sizeof(ElfW(Sym));
        if (!is_inside(table, section->sh_offset, count, sizeof(ElfW(Sym))) ||
            !is_inside(table, names->sh_offset, names->sh_size, 1))
            return;
        table->symbols = (const void *)(file + section->sh_offset);
        table->count = count;
        table->names = file + names->sh_offset;
        table->names_size = names->sh_size;
        return;
    }
}

static void table_open(struct table *table)
{
    struct stat facts;
    table->is_tried = true;
    int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return;
    if (fstat(fd, &facts) == 0 && facts.st_size > 0) {
        table->size = (size_t)facts.st_size;
        table->file = mmap(NULL, table->size, PROT_READ, MAP_PRIVATE, fd, 0);
        if (table->file == MAP_FAILED)
            table->file = NULL;
    }
    close(fd);
    if (table->file != NULL)
        table_find(table);
}

/* The function that contains `offset`, or NULL. */
static const char *table_look(struct table *table, uint64_t offset, uint64_t *ret_begin)
{
    if (!table->is_tried)
        table_open(table);
    for (size_t i = 0; i < table->count; i++) {
        const ElfW(Sym) *symbol = &table->symbols[i];
        if ((symbol->st_info & 0xf) != STT_FUNC || offset < symbol->st_value ||
            offset - symbol->st_value >= symbol->st_size || symbol->st_name >= table->names_size)
            continue;
        const char *name = table->names + symbol->st_name;
        if (memchr(name, '\0', table->names_size - symbol->st_name) == NULL)
            continue;
        *ret_begin = symbol->st_value;
        return name;
    }
    return NULL;
}

/* --- addresses ------------------------------------------------------------------------- */

static const struct module *module_find(const struct culex_symbols *symbols, uint64_t address)
{
    for (size_t i = 0; symbols != NULL && i < symbols->count; i++) {
        if (address >= symbols->modules[i].begin && address < symbols->modules[i].end)
            return &symbols->modules[i];
    }
    return NULL;
}

static const char *name_find(struct culex_symbols *symbols, const struct module *module,
                             uint64_t address, uint64_t *ret_begin)
{
    Dl_info info;
    if (module == &symbols->modules[0])
        return table_look(&symbols->program, address - module->base, ret_begin);
    if (dladdr((const void *)(uintptr_t)address, &info) == 0 || info.dli_sname == NULL)
        return NULL;
    *ret_begin = (uint64_t)(uintptr_t)info.dli_saddr - module->base;
    return info.dli_sname;
}

/* Writes the name as the source has it. One of C++ that is too long or cannot be read stays as it
 * is: the demangler's effort grows with what the name stands for. */
static void name_write(const struct culex_symbols *symbols, const char *name, char *ret_text,
                       size_t size)
{
    char *plain = NULL;
    bool is_mangled = strncmp(name, "_Z", 2) == 0 && strlen(name) <= MANGLED_MAX;
    if (is_mangled && symbols->demangle != NULL)
        plain = symbols->demangle(name, NULL, NULL, NULL);
    snprintf(ret_text, size, "%.120s", plain != NULL ? plain : name);
    free(plain);
}

bool culex__symbols_describe(struct culex_symbols *symbols, uint64_t address, char *ret_text,
                             size_t size)
{
    assert(size > 0);
    const struct module *module = module_find(symbols, address);
    if (module == NULL) {
        snprintf(ret_text, size, "0x%llx", (unsigned long long)address);
        return false;
    }
    uint64_t begin = 0;
    uint64_t offset = address - module->base;
    const char *name = name_find(symbols, module, address, &begin);
    char shown[128] = "";
    if (name != NULL)
        name_write(symbols, name, shown, sizeof shown);
    if (name == NULL)
        snprintf(ret_text, size, "%s+0x%llx", module->name, (unsigned long long)offset);
    else
        snprintf(ret_text, size, "%s+0x%llx (%s)", shown, (unsigned long long)(offset - begin),
                 module->name);
    return name != NULL || module == &symbols->modules[0];
}
