/* base/sanitizer.h - whether AddressSanitizer is compiled in.
 *
 * It reserves terabytes of addresses for itself, so that no limit can be set on a process's memory.
 */
#ifndef CULEX_BASE_SANITIZER_H
#define CULEX_BASE_SANITIZER_H

#if defined(__SANITIZE_ADDRESS__)
#define CULEX_HAS_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define CULEX_HAS_ASAN 1
#endif
#endif
#ifndef CULEX_HAS_ASAN
#define CULEX_HAS_ASAN 0
#endif

#endif
