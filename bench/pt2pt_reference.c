/* A plain version of ping-pong, window bandwidth and message rate as defined by the OSU Micro-Benchmarks. Peer of
 * bench/pt2pt_ratio.py; written for comparison only.
 *
 *     mpiexec -n 2 pt2pt_reference latency|bandwidth FIRST LAST [CPU CPU [EARLIER]]
 *
 * prints, for sizes FIRST, twice FIRST ... LAST, the size and the seconds of one message one way (of one message of a
 * window). 1000 iterations after 100 of warm-up, 100 after 10 above 8 KiB; the clock is read twice for each size.
 * EARLIER messages arrive before their receiver is ready, ahead of the first size: the library's buffers are then as
 * in a program that has already worked. */
#define _GNU_SOURCE
#include <mpi.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { WINDOW = 64, LARGE = 8192, PAGE = 4096, UNEXPECTED = 1600, LATE_US = 2000 };

static void pin(int cpu) {
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET((size_t)cpu, &set);
    sched_setaffinity(0, sizeof set, &set);
}

static double latency(int rank, char *out, char *in, int size, int warm, int iterations) {
    double begin = 0;
    MPI_Barrier(MPI_COMM_WORLD);
    for (int i = 0; i < warm + iterations; ++i) {
        if (i == warm) {
            begin = MPI_Wtime();
        }
        if (rank == 0) {
            MPI_Send(out, size, MPI_CHAR, 1, 1, MPI_COMM_WORLD);
            MPI_Recv(in, size, MPI_CHAR, 1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        } else {
            MPI_Recv(in, size, MPI_CHAR, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            MPI_Send(out, size, MPI_CHAR, 0, 1, MPI_COMM_WORLD);
        }
    }
    return (MPI_Wtime() - begin) / iterations / 2;
}

static double bandwidth(int rank, char *out, char *in, int size, int warm, int iterations) {
    MPI_Request requests[WINDOW];
    double begin = 0;
    MPI_Barrier(MPI_COMM_WORLD);
    for (int i = 0; i < warm + iterations; ++i) {
        if (i == warm) {
            begin = MPI_Wtime();
        }
        for (int j = 0; j < WINDOW; ++j) {
            if (rank == 0) {
                MPI_Isend(out, size, MPI_CHAR, 1, 1, MPI_COMM_WORLD, &requests[j]);
            } else {
                MPI_Irecv(in, size, MPI_CHAR, 0, 1, MPI_COMM_WORLD, &requests[j]);
            }
        }
        MPI_Waitall(WINDOW, requests, MPI_STATUSES_IGNORE);
        if (rank == 0) {
            MPI_Recv(in, 4, MPI_CHAR, 1, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        } else {
            MPI_Send(out, 4, MPI_CHAR, 0, 2, MPI_COMM_WORLD);
        }
    }
    return (MPI_Wtime() - begin) / iterations / WINDOW;
}

int main(int argc, char **argv) {
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (argc < 4) {
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    if (argc > 5) {
        pin(atoi(argv[4 + rank]));
    }
    MPI_Barrier(MPI_COMM_WORLD);
    for (int i = argc > 6 ? atoi(argv[6]) : 0; i > 0; --i) {
        static char message[UNEXPECTED];
        if (rank == 0) {
            MPI_Send(message, UNEXPECTED, MPI_CHAR, 1, 3, MPI_COMM_WORLD);
        } else {
            usleep(i == atoi(argv[6]) ? LATE_US : 0);
            MPI_Recv(message, UNEXPECTED, MPI_CHAR, 0, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        }
    }
    const int last = atoi(argv[3]);
    char *out = aligned_alloc(PAGE, ((size_t)last + PAGE) / PAGE * PAGE + PAGE);
    char *in = aligned_alloc(PAGE, ((size_t)last + PAGE) / PAGE * PAGE + PAGE);
    memset(out, 'a', (size_t)last + PAGE);
    memset(in, 'b', (size_t)last + PAGE);
    for (int size = atoi(argv[2]); size <= last; size *= 2) {
        const int large = size > LARGE;
        const int warm = large ? 10 : 100;
        const int iterations = large ? 100 : 1000;
        const double seconds = strcmp(argv[1], "latency") == 0 ? latency(rank, out, in, size, warm, iterations)
                                                               : bandwidth(rank, out, in, size, warm, iterations);
        if (rank == 0) {
            printf("%d %.9e\n", size, seconds);
        }
    }
    MPI_Finalize();
    return 0;
}
