/* A plain STREAM for comparison: the public definition (copy, scale, add, triad over static arrays of doubles, the
 * time of each loop read around it, the kernels in rotation), rewritten without optimisation by hand.
 * Compile with -DN=<elements> -O3 -march=native -fopenmp. Prints one line a sample: "<kernel> <seconds>". */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#ifndef N
#define N 10000000
#endif

static double a[N], b[N], c[N];

static double seconds(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

int main(int argc, char **argv) {
    const int times = argc > 1 ? atoi(argv[1]) : 10;
    const double scalar = 3.0;
    double right_a = 1.0, right_b = 2.0, right_c = 0.0;

#pragma omp parallel for
    for (long j = 0; j < N; j++) {
        a[j] = 1.0;
        b[j] = 2.0;
        c[j] = 0.0;
    }
    for (int k = 0; k < times; k++) {
        double start = seconds();
#pragma omp parallel for
        for (long j = 0; j < N; j++) c[j] = a[j];
        printf("copy %.9e\n", seconds() - start);

        start = seconds();
#pragma omp parallel for
        for (long j = 0; j < N; j++) b[j] = scalar * c[j];
        printf("scale %.9e\n", seconds() - start);

        start = seconds();
#pragma omp parallel for
        for (long j = 0; j < N; j++) c[j] = a[j] + b[j];
        printf("add %.9e\n", seconds() - start);

        start = seconds();
#pragma omp parallel for
        for (long j = 0; j < N; j++) a[j] = b[j] + scalar * c[j];
        printf("triad %.9e\n", seconds() - start);

        right_c = right_a;
        right_b = scalar * right_c;
        right_c = right_a + right_b;
        right_a = right_b + scalar * right_c;
    }
    for (long j = 0; j < N; j++) {
        if (fabs(a[j] / right_a - 1) > 1e-13 || fabs(b[j] / right_b - 1) > 1e-13 || fabs(c[j] / right_c - 1) > 1e-13) {
            fprintf(stderr, "stream_reference: element %ld is wrong\n", j);
            return 1;
        }
    }
    return 0;
}
