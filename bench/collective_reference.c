/* A plain version of allreduce and bcast as defined by the OSU Micro-Benchmarks (osu_allreduce, osu_bcast). Peer of
 * bench/collective_ratio.py; written for comparison only.
 *
 *     mpiexec -n N collective_reference allreduce|bcast SIZE [CPU CPU ...]
 *
 * prints the size, the seconds of one operation (mean over all ranks), and the cost of two readings of the clock,
 * which these seconds include. 1000 iterations after 200 of warm-up, 100 after 10 above 8 KiB; a barrier after each;
 * the clock is read before and after each operation. */
#define _GNU_SOURCE
#include <mpi.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LARGE = 8192, PAGE = 4096, LOOKS = 10000 };

static void pin(int cpu) {
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET((size_t)cpu, &set);
    sched_setaffinity(0, sizeof set, &set);
}

static double clock_cost(void) {
    double sum = 0;
    for (int i = 0; i < LOOKS; ++i) {
        const double begin = MPI_Wtime();
        sum += MPI_Wtime() - begin;
    }
    return sum / LOOKS;
}

int main(int argc, char** argv) {
    int rank;
    int ranks;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (argc < 3) {
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    if (argc > 3 + rank) {
        pin(atoi(argv[3 + rank]));
    }
    const int sums = strcmp(argv[1], "allreduce") == 0;
    const int size = atoi(argv[2]);
    double* out = aligned_alloc(PAGE, ((size_t)size + PAGE) / PAGE * PAGE + PAGE);
    double* in = aligned_alloc(PAGE, ((size_t)size + PAGE) / PAGE * PAGE + PAGE);
    for (int i = 0; i < size / (int)sizeof(double) + 1; ++i) {
        out[i] = 1;
        in[i] = 0;
    }
    const int warm = size > LARGE ? 10 : 200;
    const int iterations = size > LARGE ? 100 : 1000;
    double timed = 0;
    MPI_Barrier(MPI_COMM_WORLD);
    for (int i = 0; i < warm + iterations; ++i) {
        const double begin = MPI_Wtime();
        if (sums) {
            MPI_Allreduce(out, in, size / (int)sizeof(double), MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
        } else {
            MPI_Bcast(out, size, MPI_CHAR, 0, MPI_COMM_WORLD);
        }
        const double end = MPI_Wtime();
        if (i >= warm) {
            timed += end - begin;
        }
        MPI_Barrier(MPI_COMM_WORLD);
    }
    double own[2] = {timed / iterations, clock_cost()};
    double mean[2];
    MPI_Reduce(own, mean, 2, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0) {
        printf("%d %.9e %.9e\n", size, mean[0] / ranks, mean[1] / ranks);
    }
    MPI_Finalize();
    return 0;
}
