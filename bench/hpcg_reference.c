/* A plain version of HPCG's definition in C with MPI, ranks in a row along z: rows of 27 entries with their columns,
 * conjugate gradients with a V-cycle of four grids. Prints the seconds of each set of iterations, and the norm of the
 * residual at its end over that at its begin.
 *
 *     mpiexec -n RANKS hpcg_reference N ITERATIONS SETS
 */
#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LEVELS = 4, WIDTH = 27 };

typedef struct {
    int n, rows, columns;
    int* count;    /* entries of a row */
    int* column;   /* WIDTH for each row */
    double* value; /* WIDTH for each row */
    double* diagonal;
    double *x, *r, *product;
} Grid;

static int rank, ranks;
static Grid grids[LEVELS];

static void* room(size_t bytes) {
    void* found = malloc(bytes);
    if (!found) MPI_Abort(MPI_COMM_WORLD, 1);
    return found;
}

/* Values of the rank below follow the rows, those of the rank above follow them. */
static int column_of(const Grid* g, int x, int y, int z) {
    int n = g->n, below = rank > 0 ? n * n : 0;
    if (x < 0 || x >= n || y < 0 || y >= n) return -1;
    if (z < 0) return rank > 0 ? g->rows + x + n * y : -1;
    if (z >= n) return rank + 1 < ranks ? g->rows + below + x + n * y : -1;
    return x + n * (y + n * z);
}

static void make(Grid* g, int n) {
    g->n = n;
    g->rows = n * n * n;
    g->columns = g->rows + ((rank > 0) + (rank + 1 < ranks)) * n * n;
    g->count = room(sizeof(int) * g->rows);
    g->column = room(sizeof(int) * WIDTH * g->rows);
    g->value = room(sizeof(double) * WIDTH * g->rows);
    g->diagonal = room(sizeof(double) * g->rows);
    g->x = calloc(g->columns, sizeof(double));
    g->r = calloc(g->rows, sizeof(double));
    g->product = calloc(g->rows, sizeof(double));
    for (int row = 0; row < g->rows; ++row) {
        int x = row % n, y = row / n % n, z = row / n / n, count = 0;
        for (int dz = -1; dz <= 1; ++dz)
            for (int dy = -1; dy <= 1; ++dy)
                for (int dx = -1; dx <= 1; ++dx) {
                    int column = column_of(g, x + dx, y + dy, z + dz);
                    if (column < 0) continue;
                    g->column[WIDTH * row + count] = column;
                    g->value[WIDTH * row + count++] = column == row ? 26 : -1;
                }
        g->count[row] = count;
        g->diagonal[row] = 26;
    }
}

static void exchange(const Grid* g, double* x) {
    int plane = g->n * g->n, requests = 0;
    MPI_Request request[4];
    double* from = x + g->rows;
    if (rank > 0) {
        MPI_Irecv(from, plane, MPI_DOUBLE, rank - 1, 0, MPI_COMM_WORLD, &request[requests++]);
        MPI_Isend(x, plane, MPI_DOUBLE, rank - 1, 0, MPI_COMM_WORLD, &request[requests++]);
        from += plane;
    }
    if (rank + 1 < ranks) {
        MPI_Irecv(from, plane, MPI_DOUBLE, rank + 1, 0, MPI_COMM_WORLD, &request[requests++]);
        MPI_Isend(x + g->rows - plane, plane, MPI_DOUBLE, rank + 1, 0, MPI_COMM_WORLD, &request[requests++]);
    }
    MPI_Waitall(requests, request, MPI_STATUSES_IGNORE);
}

static void multiply(const Grid* g, double* x, double* y) {
    exchange(g, x);
    for (int row = 0; row < g->rows; ++row) {
        const double* value = g->value + WIDTH * (size_t)row;
        const int* column = g->column + WIDTH * (size_t)row;
        double sum = 0;
        for (int entry = 0; entry < g->count[row]; ++entry) sum += value[entry] * x[column[entry]];
        y[row] = sum;
    }
}

static void relax(const Grid* g, int row) {
    const double* value = g->value + WIDTH * (size_t)row;
    const int* column = g->column + WIDTH * (size_t)row;
    double sum = g->r[row];
    for (int entry = 0; entry < g->count[row]; ++entry) sum -= value[entry] * g->x[column[entry]];
    sum += g->x[row] * g->diagonal[row];
    g->x[row] = sum / g->diagonal[row];
}

static void smooth(Grid* g) {
    exchange(g, g->x);
    for (int row = 0; row < g->rows; ++row) relax(g, row);
    for (int row = g->rows - 1; row >= 0; --row) relax(g, row);
}

static int fine(const Grid* g, int row) {
    int n = g->n;
    return 2 * (row % n) + 2 * n * (2 * (row / n % n) + 2 * n * 2 * (row / n / n));
}

static void cycle(int level) {
    Grid* g = &grids[level];
    memset(g->x, 0, sizeof(double) * g->columns);
    smooth(g);
    if (level + 1 == LEVELS) return;
    Grid* coarse = &grids[level + 1];
    multiply(g, g->x, g->product);
    for (int row = 0; row < coarse->rows; ++row) {
        int at = fine(coarse, row);
        coarse->r[row] = g->r[at] - g->product[at];
    }
    cycle(level + 1);
    for (int row = 0; row < coarse->rows; ++row) g->x[fine(coarse, row)] += coarse->x[row];
    smooth(g);
}

static double dot(const double* a, const double* b, int count) {
    double sum = 0;
    for (int i = 0; i < count; ++i) sum += a[i] * b[i];
    MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    return sum;
}

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    int n = atoi(argv[1]), iterations = atoi(argv[2]), sets = atoi(argv[3]);
    for (int level = 0; level < LEVELS; ++level) make(&grids[level], n >> level);
    Grid* g = &grids[0];
    int rows = g->rows;
    double* b = room(sizeof(double) * rows);
    double* x = room(sizeof(double) * rows);
    double* product = room(sizeof(double) * rows);
    double* p = calloc(g->columns, sizeof(double));
    for (int row = 0; row < rows; ++row) b[row] = 26. - (g->count[row] - 1);
    for (int set = 0; set < sets; ++set) {
        memset(x, 0, sizeof(double) * rows);
        MPI_Barrier(MPI_COMM_WORLD);
        double begin = MPI_Wtime(), before = 0;
        memcpy(p, x, sizeof(double) * rows);
        multiply(g, p, product);
        for (int i = 0; i < rows; ++i) g->r[i] = b[i] - product[i];
        double first = sqrt(dot(g->r, g->r, rows)), last = first;
        for (int iteration = 0; iteration < iterations; ++iteration) {
            cycle(0);
            double rho = dot(g->r, g->x, rows), beta = iteration ? rho / before : 0;
            for (int i = 0; i < rows; ++i) p[i] = g->x[i] + beta * p[i];
            before = rho;
            multiply(g, p, product);
            double alpha = rho / dot(p, product, rows);
            for (int i = 0; i < rows; ++i) x[i] += alpha * p[i];
            for (int i = 0; i < rows; ++i) g->r[i] -= alpha * product[i];
            last = sqrt(dot(g->r, g->r, rows));
        }
        double seconds = MPI_Wtime() - begin;
        MPI_Allreduce(MPI_IN_PLACE, &seconds, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
        if (rank == 0) printf("%.9f %.15g\n", seconds, last / first);
    }
    MPI_Finalize();
    return 0;
}
