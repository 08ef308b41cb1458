/* LAPACK's LU of a random matrix, by a BLAS library loaded at launch: what a program gets without its own blocking.
 *
 *     dgetrf_reference LIBRARY N [CPU...]
 *
 * One thread for each cpu. Prints seconds of factorisation and substitution, which HPL times too.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>

typedef void (*factor_t)(const int *, const int *, double *, const int *, int *, int *);
typedef void (*solve_t)(const char *, const int *, const int *, const double *, const int *, const int *, double *,
                        const int *, int *, size_t);

static void *symbol(void *library, const char *name) {
    char prefixed[64];
    void *found = dlsym(library, name);
    snprintf(prefixed, sizeof prefixed, "scipy_%s", name);
    return found ? found : dlsym(library, prefixed);
}

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec + 1e-9 * t.tv_nsec;
}

int main(int argc, char **argv) {
    const int n = argc > 2 ? atoi(argv[2]) : 0;
    cpu_set_t cpus;
    CPU_ZERO(&cpus);
    for (int each = 3; each < argc; ++each) {
        CPU_SET(atoi(argv[each]), &cpus);
    }
    if (argc < 4 || n < 1 || sched_setaffinity(0, sizeof cpus, &cpus) != 0) {
        return 2;
    }
    void *library = dlopen(argv[1], RTLD_NOW);
    factor_t factor = library ? (factor_t)symbol(library, "dgetrf_") : NULL;
    solve_t solve = library ? (solve_t)symbol(library, "dgetrs_") : NULL;
    void (*threads)(int) = library ? (void (*)(int))symbol(library, "openblas_set_num_threads") : NULL;
    if (library != NULL && threads == NULL) {
        threads = (void (*)(int))dlsym(library, "MKL_Set_Num_Threads");
    }
    if (factor == NULL || solve == NULL || threads == NULL) {
        fprintf(stderr, "no OpenBLAS or MKL with LAPACK: %s\n", argv[1]);
        return 4;
    }
    threads(argc - 3);
    const int stride = (n + 7) / 8 * 8 + 8;
    const size_t numbers = (size_t)stride * (n + 1);
    const size_t page = (size_t)1 << 21;
    double *a = aligned_alloc(page, (numbers * sizeof *a / page + 1) * page);
    int *pivots = malloc(n * sizeof *pivots);
    madvise(a, numbers * sizeof *a, MADV_HUGEPAGE);
    unsigned long long state = 101;
    for (int again = 0; again < 2; ++again) { /* the first one starts threads, and is not printed */
        const int order = again ? n : (n < 500 ? n : 500);
        for (size_t each = 0; each < numbers; ++each) {
            a[each] = .5 - (double)state * 0x1p-64;
            state = 6364136223846793005ULL * state + 1;
        }
        int info = 0;
        const int one = 1;
        const double begin = now();
        factor(&order, &order, a, &stride, pivots, &info);
        solve("N", &order, &one, a, &stride, pivots, a + (size_t)stride * order, &stride, &info, 1);
        if (again) {
            printf("%.9f\n", now() - begin);
        }
    }
    return 0;
}
