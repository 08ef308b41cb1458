/* A plain pointer chase: one random cycle through the lines of a buffer, one load after the other. Peer of
 * bench/latency_ratio.py; written for comparison only.
 *
 *     latency_reference BYTES SAMPLES LOADS
 *
 * prints the seconds of LOADS loads, SAMPLES times. */
#define _GNU_SOURCE
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>

enum { LINE = 64 };

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

int main(int argc, char **argv) {
    if (argc != 4) {
        return 2;
    }
    const size_t bytes = strtoull(argv[1], NULL, 10);
    const int samples = atoi(argv[2]);
    const long loads = atol(argv[3]);
    const size_t lines = bytes / LINE;
    char *buffer = aligned_alloc((size_t)1 << 21, (bytes + ((size_t)1 << 21) - 1) >> 21 << 21);
    if (buffer == NULL) {
        return 1;
    }
    madvise(buffer, bytes, MADV_NOHUGEPAGE);
    for (size_t i = 0; i < lines; ++i) {
        *(size_t *)(buffer + i * LINE) = i;
    }
    /* Sattolo's algorithm, in place. */
    srandom(1);
    for (size_t i = lines - 1; i > 0; --i) {
        const size_t j = (((size_t)random() << 31) | (size_t)random()) % i;
        const size_t swapped = *(size_t *)(buffer + i * LINE);
        *(size_t *)(buffer + i * LINE) = *(size_t *)(buffer + j * LINE);
        *(size_t *)(buffer + j * LINE) = swapped;
    }
    for (size_t i = 0; i < lines; ++i) {
        *(void **)(buffer + i * LINE) = buffer + *(size_t *)(buffer + i * LINE) * LINE;
    }
    void **volatile position = (void **)buffer;
    void **at = position;
    for (size_t i = 0; i < 2 * lines && i < ((size_t)1 << 21); ++i) {
        at = *at;
    }
    for (int sample = 0; sample < samples; ++sample) {
        const double begin = now();
        for (long load = 0; load < loads; ++load) {
            at = *at;
        }
        position = at;
        printf("%.9f\n", now() - begin);
    }
    return position == NULL;
}
