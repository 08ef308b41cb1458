/* A plain pointer chase by the definition of multichase (its `simple` chase, random over the whole working set):
 * one random cycle through the lines of a buffer, the caches flushed, then one load after the other in long samples,
 * of which the first is dropped. Peer of bench/latency_ratio.py; written for comparison only.
 *
 *     latency_reference BYTES small|huge SAMPLES SECONDS
 *
 * prints nanoseconds of a load for each counted sample. Samples are timed in this thread's CPU time, so that the
 * mean of a long one is right on a busy machine too. */
#define _GNU_SOURCE
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

enum { LINE = 64, LOADS = 20000 };

/* Between two looks at the clock: it is a system call, which takes lines of a small buffer from the first cache. With
 * a look each 20,000 loads a ring of 32 KiB in an L1 of 32 KiB took 1.07 times as long (0.99 to 1.17, eight pairs). */
static const double LOOK_S = 0.01;

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static uint64_t draw(void) { /* xorshift64* */
    static uint64_t state = 88172645463325252u;
    state ^= state >> 12;
    state ^= state << 25;
    state ^= state >> 27;
    return state * 2685821657736338717u >> 16;
}

static void flush(void) {
    enum { BYTES = 64 << 20 };
    volatile char *other = malloc(BYTES);
    for (size_t i = 0; other != NULL && i < BYTES; i += LINE) {
        other[i] = 1;
    }
    free((void *)other);
}

int main(int argc, char **argv) {
    if (argc != 5) {
        return 2;
    }
    const size_t bytes = strtoull(argv[1], NULL, 10);
    const int huge = strcmp(argv[2], "huge") == 0;
    const int samples = atoi(argv[3]);
    const double seconds = atof(argv[4]);
    const size_t lines = bytes / LINE;
    char *buffer = aligned_alloc((size_t)1 << 21, (bytes + ((size_t)1 << 21) - 1) >> 21 << 21);
    if (buffer == NULL) {
        return 1;
    }
    madvise(buffer, (bytes + ((size_t)1 << 21) - 1) >> 21 << 21, huge ? MADV_HUGEPAGE : MADV_NOHUGEPAGE);
    for (size_t i = 0; i < lines; ++i) {
        *(size_t *)(buffer + i * LINE) = i;
    }
    /* Sattolo's algorithm, in place. */
    for (size_t i = lines - 1; i > 0; --i) {
        const size_t j = draw() % i;
        const size_t swapped = *(size_t *)(buffer + i * LINE);
        *(size_t *)(buffer + i * LINE) = *(size_t *)(buffer + j * LINE);
        *(size_t *)(buffer + j * LINE) = swapped;
    }
    for (size_t i = 0; i < lines; ++i) {
        *(void **)(buffer + i * LINE) = buffer + *(size_t *)(buffer + i * LINE) * LINE;
    }
    flush();
    void **volatile position = (void **)buffer;
    void **at = position;
    long chunk = LOADS;
    for (int sample = -1; sample < samples; ++sample) {
        long loads = 0;
        double spent = 0;
        for (const double begin = now(); spent < seconds; spent = now() - begin) {
#pragma GCC unroll 100
            for (long load = 0; load < chunk; ++load) {
                at = *at;
            }
            loads += chunk;
            position = at;
        }
        if (sample >= 0) {
            printf("%.5f\n", 1e9 * spent / (double)loads);
        } else {
            chunk += (long)(LOOK_S * (double)loads / spent) / LOADS * LOADS;
        }
    }
    return position == NULL;
}
