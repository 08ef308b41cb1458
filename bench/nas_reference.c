/* A plain version of the NAS kernels from their definition (RNR-94-007), for one core: the peer of
 * nas_ratio.py. The sizes of a problem are macros: see nas_ratio.py.
 *
 *   nas_reference ep|is|cg|mg|ft SOLUTIONS    prints seconds and a value to verify of each solution
 */
#include <complex.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static const uint64_t mask = (UINT64_C(1) << 46) - 1, factor = 1220703125;
static uint64_t state;

static double next_random(void) {
    state = state * factor & mask;
    return (double)state * 0x1p-46;
}

static double seconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static void* room(size_t bytes) {
    void* found = aligned_alloc(1 << 21, (bytes + (1 << 21) - 1) >> 21 << 21);
    memset(found, 0, bytes);
    return found;
}

/* EP: sum of the deviates X. */
static double ep(double* taken) {
    double begin = seconds(), sum_x = 0, sum_y = 0, counts[10] = {0};
    state = 271828183;
    for (long pair = 0; pair < 1L << EP_M; ++pair) {
        double x = 2 * next_random() - 1, y = 2 * next_random() - 1, t = x * x + y * y;
        if (t <= 1) {
            double scale = sqrt(-2 * log(t) / t);
            x *= scale;
            y *= scale;
            counts[(int)fmax(fabs(x), fabs(y))] += 1;
            sum_x += x;
            sum_y += y;
        }
    }
    *taken = seconds() - begin;
    return counts[0] > 0 ? sum_x + 0 * sum_y : 0;
}

/* IS: keys that are in order at the end. */
enum { keys = 1 << IS_KEYS, values = 1 << IS_VALUES };
static double is(double* taken) {
    static int32_t *key, *below, *sorted;
    if (!key) {
        key = room(keys * sizeof *key);
        below = room(values * sizeof *below);
        sorted = room(keys * sizeof *sorted);
    }
    state = 314159265;
    for (long k = 0; k < keys; ++k) {
        double sum = next_random();
        sum += next_random();
        sum += next_random();
        sum += next_random();
        key[k] = (int32_t)(values / 4 * sum);
    }
    double begin = seconds();
    for (int iteration = 1; iteration <= 10; ++iteration) {
        key[iteration] = iteration;
        key[iteration + 10] = values - iteration;
        memset(below, 0, values * sizeof *below);
        for (long k = 0; k < keys; ++k) {
            ++below[key[k]];
        }
        int32_t sum = 0;
        for (long value = 0; value < values; ++value) {
            int32_t equal = below[value];
            below[value] = sum;
            sum += equal;
        }
    }
    *taken = seconds() - begin;
    for (long k = 0; k < keys; ++k) {
        sorted[below[key[k]]++] = key[k];
    }
    long right = 1;
    for (long k = 1; k < keys; ++k) {
        right += sorted[k - 1] <= sorted[k];
    }
    return (double)right;
}

/* CG: the last zeta. */
static int *columns, *starts;
static double* elements;

static int by_column(const void* one, const void* other) { return **(int* const*)one - **(int* const*)other; }

static void make_matrix(void) {
    static int places[CG_N][CG_Z + 1];
    static double numbers[CG_N][CG_Z + 1];
    static int lengths[CG_N];
    int* ends = room((CG_N + 1) * sizeof *ends);
    starts = room((CG_N + 1) * sizeof *starts);
    int range = 1;
    while (range < CG_N) {
        range *= 2;
    }
    state = 314159265;
    next_random();
    for (int vector = 0; vector < CG_N; ++vector) {
        int length = 0, own = -1;
        while (length < CG_Z) {
            double number = next_random();
            int place = (int)(range * next_random()), known = place >= CG_N;
            for (int each = 0; each < length && !known; ++each) {
                known = places[vector][each] == place;
            }
            if (!known) {
                own = place == vector ? length : own;
                places[vector][length] = place;
                numbers[vector][length++] = number;
            }
        }
        if (own < 0) {
            own = length++;
        }
        places[vector][own] = vector;
        numbers[vector][own] = .5;
        lengths[vector] = length;
        for (int each = 0; each < length; ++each) {
            starts[places[vector][each] + 1] += length;
        }
    }
    for (int row = 0; row < CG_N; ++row) {
        starts[row + 1] += starts[row] + 1;
        ends[row] = starts[row];
    }
    columns = room((size_t)starts[CG_N] * sizeof *columns);
    elements = room((size_t)starts[CG_N] * sizeof *elements);
    double scale = 1, ratio = pow(.1, 1. / CG_N);
    for (int vector = 0; vector < CG_N; ++vector, scale *= ratio) {
        for (int one = 0; one < lengths[vector]; ++one) {
            int row = places[vector][one];
            for (int other = 0; other < lengths[vector]; ++other) {
                columns[ends[row]] = places[vector][other];
                elements[ends[row]++] = scale * numbers[vector][one] * numbers[vector][other];
            }
        }
    }
    int to = 0;
    for (int row = 0; row < CG_N; ++row) {
        columns[ends[row]] = row;
        elements[ends[row]++] = .1 - CG_SHIFT;
        int count = ends[row] - starts[row], *sorted_columns = malloc((size_t)count * sizeof(int));
        int** order = malloc((size_t)count * sizeof *order);
        double* sorted_elements = malloc((size_t)count * sizeof(double));
        for (int each = 0; each < count; ++each) {
            order[each] = columns + starts[row] + each;
        }
        qsort(order, (size_t)count, sizeof *order, by_column);
        for (int each = 0; each < count; ++each) {
            sorted_columns[each] = *order[each];
            sorted_elements[each] = elements[order[each] - columns];
        }
        starts[row] = to;
        for (int each = 0; each < count; ++each) {
            if (to > starts[row] && columns[to - 1] == sorted_columns[each]) {
                elements[to - 1] += sorted_elements[each];
            } else {
                columns[to] = sorted_columns[each];
                elements[to++] = sorted_elements[each];
            }
        }
        free(order);
        free(sorted_columns);
        free(sorted_elements);
    }
    starts[CG_N] = to;
    free(ends);
}

static void product(const double* restrict x, double* restrict y) {
    for (int row = 0; row < CG_N; ++row) {
        double sum = 0;
        for (int each = starts[row]; each < starts[row + 1]; ++each) {
            sum += elements[each] * x[columns[each]];
        }
        y[row] = sum;
    }
}

static double dot(const double* x, const double* y) {
    double sum = 0;
    for (int row = 0; row < CG_N; ++row) {
        sum += x[row] * y[row];
    }
    return sum;
}

static double cg(double* taken) {
    static double x[CG_N], z[CG_N], r[CG_N], p[CG_N], q[CG_N];
    if (!elements) {
        make_matrix();
    }
    for (int row = 0; row < CG_N; ++row) {
        x[row] = 1;
    }
    double begin = seconds(), zeta = 0, rest = 0;
    for (int iteration = 0; iteration < CG_I; ++iteration) {
        memset(z, 0, sizeof z);
        memcpy(r, x, sizeof r);
        memcpy(p, x, sizeof p);
        double square = dot(r, r);
        for (int step = 0; step < 25; ++step) {
            product(p, q);
            double alpha = square / dot(p, q), before = square;
            for (int row = 0; row < CG_N; ++row) {
                z[row] += alpha * p[row];
                r[row] -= alpha * q[row];
            }
            square = dot(r, r);
            for (int row = 0; row < CG_N; ++row) {
                p[row] = r[row] + square / before * p[row];
            }
        }
        product(z, q);
        for (int row = 0; row < CG_N; ++row) {
            rest += (x[row] - q[row]) * (x[row] - q[row]);
        }
        zeta = CG_SHIFT + 1 / dot(x, z);
        double scale = 1 / sqrt(dot(z, z));
        for (int row = 0; row < CG_N; ++row) {
            x[row] = scale * z[row];
        }
    }
    *taken = seconds() - begin;
    return zeta + 0 * rest;
}

#include "nas_reference_cubes.h"

int main(int argc, char** argv) {
    double (*problem)(double*) = NULL;
    const char* names[] = {"ep", "is", "cg", "mg", "ft"};
    double (*problems[])(double*) = {ep, is, cg, mg, ft};
    for (int each = 0; each < 5; ++each) {
        problem = argc == 3 && !strcmp(argv[1], names[each]) ? problems[each] : problem;
    }
    if (!problem) {
        return 2;
    }
    for (int solution = 0; solution < atoi(argv[2]); ++solution) {
        double taken = 0, value = problem(&taken);
        printf("%.9f %.16g\n", taken, value);
    }
    return 0;
}
