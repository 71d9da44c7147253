/* platform/packet.h - packets over a SOCK_SEQPACKET socket, some with a descriptor. */
#ifndef CULEX_PLATFORM_PACKET_H
#define CULEX_PLATFORM_PACKET_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* As send(2) without waiting or signal, with descriptor `fd` unless that is negative. */
ssize_t culex__packet_send(int socket_fd, const void *bytes, size_t len, int fd);

/* As recv(2) without waiting. *ret_fd is the descriptor that came with the packet, close-on-exec
 * and the library's, or -1. */
ssize_t culex__packet_receive(int socket_fd, void *ret_bytes, size_t len, int *ret_fd);

struct culex_packet {
    char *bytes; /* the caller's, `room` of them */
    size_t room;
    size_t len;  /* what came; 0 when the other end is closed */
    bool is_cut; /* there was more than room */
};

enum { CULEX_PACKETS_MAX = 8 };

/* Receives up to `count` packets, at most CULEX_PACKETS_MAX, in one call of the kernel where it has
 * one for that. Returns how many came, or -1 with errno; does not wait. */
int culex__packets_receive(int socket_fd, struct culex_packet *packets, size_t count);

#endif
