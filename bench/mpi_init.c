/* The time of an MPI to start and end two idle ranks: see engine_overhead.py. */
#include <mpi.h>

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    MPI_Finalize();
    return 0;
}
