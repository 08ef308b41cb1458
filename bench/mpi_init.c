/* What an MPI takes to start and end two ranks that do nothing: see engine_overhead.py. */
#include <mpi.h>

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    MPI_Finalize();
    return 0;
}
