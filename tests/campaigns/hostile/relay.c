/* relay.c - stands in for the Python that culexc starts: hands the model to a renderer that is
 * already running, behind the socket that HOSTILE_SOCKET names, and its answer back. Starting
 * Python for each of ten thousand schemas would take half an hour. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

static int copy(int from, int to)
{
    static char chunk[65536];
    ssize_t got;
    while ((got = read(from, chunk, sizeof(chunk))) > 0) {
        for (ssize_t at = 0; at < got;) {
            ssize_t put = write(to, chunk + at, (size_t)(got - at));
            if (put <= 0)
                return 1;
            at += put;
        }
    }
    return got != 0;
}

int main(void)
{
    struct sockaddr_un place = {.sun_family = AF_UNIX};
    const char *path = getenv("HOSTILE_SOCKET");
    char failed;
    if (path == NULL || strlen(path) >= sizeof(place.sun_path))
        return 1;
    strcpy(place.sun_path, path);
    int renderer = socket(AF_UNIX, SOCK_STREAM, 0);
    if (connect(renderer, (struct sockaddr *)&place, sizeof(place)) != 0) {
        perror("relay");
        return 1;
    }
    if (copy(STDIN_FILENO, renderer) != 0 || shutdown(renderer, SHUT_WR) != 0 ||
        read(renderer, &failed, 1) != 1)
        return 1;
    return copy(renderer, failed ? STDERR_FILENO : STDOUT_FILENO) != 0 || failed;
}
