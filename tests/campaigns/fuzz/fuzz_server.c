/* fuzz_server - any bytes as what an editor sends: answers or an end, never a crash. A file that
 * says goodbye as the protocol wants it is a good one. */
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "fuzz.h"
#include "limits.h"
#include "server.h"

unsigned fuzz_taken;

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static int in = -1, out = -1;
    if (in < 0) {
        in = memfd_create("input", MFD_CLOEXEC);
        out = open("/dev/null", O_WRONLY | O_CLOEXEC);
    }
    if (in < 0 || out < 0 || size > LIMIT_MESSAGE_BYTES)
        return 0;
    if (ftruncate(in, 0) != 0 || pwrite(in, data, size, 0) != (ssize_t)size ||
        lseek(in, 0, SEEK_SET) != 0)
        return 0;
    fuzz_taken += server_run(&(struct server_options){.in = in, .out = out}) == 0;
    return 0;
}
