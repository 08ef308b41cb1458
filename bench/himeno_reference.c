/* A plain Himeno benchmark for comparison: the public definition in C (static arrays of floats with one spare point
 * along each axis, gosa summed in single precision, the sweep and then the copy-back) rewritten with OpenMP pragmas
 * and without optimisation by hand. Compile with -DI=<points> -DJ=<points> -DK=<points> -O3 -march=native [-fopenmp].
 * Prints one line a sample, "jacobi <seconds of one sweep>", of argv[1] samples of argv[2] sweeps, then
 * "gosa <of the last sweep>". */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static float a[4][I + 1][J + 1][K + 1], b[3][I + 1][J + 1][K + 1], c[3][I + 1][J + 1][K + 1];
static float p[I + 1][J + 1][K + 1], bnd[I + 1][J + 1][K + 1], wrk1[I + 1][J + 1][K + 1], wrk2[I + 1][J + 1][K + 1];

static const float omega = 0.8F;

static double seconds(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static void start(void) {
#pragma omp parallel for
    for (int i = 0; i < I; i++)
        for (int j = 0; j < J; j++)
            for (int k = 0; k < K; k++) {
                for (int n = 0; n < 3; n++) {
                    a[n][i][j][k] = 1.0F;
                    b[n][i][j][k] = 0.0F;
                    c[n][i][j][k] = 1.0F;
                }
                a[3][i][j][k] = 1.0F / 6.0F;
                p[i][j][k] = (float)(i * i) / (float)((I - 1) * (I - 1));
                bnd[i][j][k] = 1.0F;
                wrk1[i][j][k] = 0.0F;
                wrk2[i][j][k] = 0.0F;
            }
}

static float jacobi(int sweeps) {
    float gosa = 0.0F;
    for (int n = 0; n < sweeps; n++) {
        gosa = 0.0F;
#pragma omp parallel for reduction(+ : gosa)
        for (int i = 1; i < I - 1; i++)
            for (int j = 1; j < J - 1; j++)
                for (int k = 1; k < K - 1; k++) {
                    const float sum =
                        a[0][i][j][k] * p[i + 1][j][k] + a[1][i][j][k] * p[i][j + 1][k] +
                        a[2][i][j][k] * p[i][j][k + 1] +
                        b[0][i][j][k] * (p[i + 1][j + 1][k] - p[i + 1][j - 1][k] - p[i - 1][j + 1][k] + p[i - 1][j - 1][k]) +
                        b[1][i][j][k] * (p[i][j + 1][k + 1] - p[i][j - 1][k + 1] - p[i][j + 1][k - 1] + p[i][j - 1][k - 1]) +
                        b[2][i][j][k] * (p[i + 1][j][k + 1] - p[i - 1][j][k + 1] - p[i + 1][j][k - 1] + p[i - 1][j][k - 1]) +
                        c[0][i][j][k] * p[i - 1][j][k] + c[1][i][j][k] * p[i][j - 1][k] +
                        c[2][i][j][k] * p[i][j][k - 1] + wrk1[i][j][k];
                    const float change = (sum * a[3][i][j][k] - p[i][j][k]) * bnd[i][j][k];
                    gosa += change * change;
                    wrk2[i][j][k] = p[i][j][k] + omega * change;
                }
#pragma omp parallel for
        for (int i = 1; i < I - 1; i++)
            for (int j = 1; j < J - 1; j++)
                for (int k = 1; k < K - 1; k++) p[i][j][k] = wrk2[i][j][k];
    }
    return gosa;
}

int main(int argc, char **argv) {
    const int samples = argc > 1 ? atoi(argv[1]) : 10;
    const int sweeps = argc > 2 ? atoi(argv[2]) : 1;
    float gosa = 0.0F;
    start();
    for (int sample = 0; sample < samples; sample++) {
        const double begin = seconds();
        gosa = jacobi(sweeps);
        printf("jacobi %.9e\n", (seconds() - begin) / sweeps);
    }
    printf("gosa %.6e\n", gosa);
    return 0;
}
