/* A plain version of MG and FT: the second part of nas_reference.c, which includes it. */
#pragma once

/* MG: norm of the last residual. A cube of n points a side has a layer around it. */
#define AT(g, n, z, y, x) (g)[((size_t)(z) * ((n) + 2) + (size_t)(y)) * ((n) + 2) + (size_t)(x)]
#define EACH(n) for (int z = 1; z <= (n); ++z) for (int y = 1; y <= (n); ++y) for (int x = 1; x <= (n); ++x)

static void wrap(double* g, int n) {
    for (int z = 1; z <= n; ++z) {
        for (int y = 1; y <= n; ++y) {
            AT(g, n, z, y, 0) = AT(g, n, z, y, n);
            AT(g, n, z, y, n + 1) = AT(g, n, z, y, 1);
        }
        memcpy(&AT(g, n, z, 0, 0), &AT(g, n, z, n, 0), (size_t)(n + 2) * sizeof *g);
        memcpy(&AT(g, n, z, n + 1, 0), &AT(g, n, z, 1, 0), (size_t)(n + 2) * sizeof *g);
    }
    size_t plane = (size_t)(n + 2) * (size_t)(n + 2) * sizeof *g;
    memcpy(&AT(g, n, 0, 0, 0), &AT(g, n, n, 0, 0), plane);
    memcpy(&AT(g, n, n + 1, 0, 0), &AT(g, n, 1, 0, 0), plane);
}

#define PLUS(g, n, z, y, x) \
    (AT(g, n, (z) - 1, y, x) + AT(g, n, (z) + 1, y, x) + AT(g, n, z, (y) - 1, x) + AT(g, n, z, (y) + 1, x))
#define CROSS(g, n, z, y, x)                                                  \
    (AT(g, n, (z) - 1, (y) - 1, x) + AT(g, n, (z) - 1, (y) + 1, x) +          \
     AT(g, n, (z) + 1, (y) - 1, x) + AT(g, n, (z) + 1, (y) + 1, x))
#define FACES(g, n, z, y, x) (AT(g, n, z, y, (x) - 1) + AT(g, n, z, y, (x) + 1) + PLUS(g, n, z, y, x))
#define EDGES(g, n, z, y, x) (CROSS(g, n, z, y, x) + PLUS(g, n, z, y, (x) - 1) + PLUS(g, n, z, y, (x) + 1))
#define TIPS(g, n, z, y, x) (CROSS(g, n, z, y, (x) - 1) + CROSS(g, n, z, y, (x) + 1))

static void residual(const double* restrict u, const double* v, double* r, int n) {
    EACH(n) {
        AT(r, n, z, y, x) = AT(v, n, z, y, x) + 8. / 3 * AT(u, n, z, y, x) - EDGES(u, n, z, y, x) / 6 -
                            TIPS(u, n, z, y, x) / 12;
    }
    wrap(r, n);
}

static void smooth(const double* restrict r, double* restrict u, int n) {
    EACH(n) {
        AT(u, n, z, y, x) += MG_C0 * AT(r, n, z, y, x) + MG_C1 * FACES(r, n, z, y, x) + MG_C2 * EDGES(r, n, z, y, x);
    }
    wrap(u, n);
}

static void restrict_to(const double* restrict fine, double* restrict coarse, int n) {
    int m = 2 * n;
    EACH(n) {
        int k = 2 * z, j = 2 * y, i = 2 * x;
        AT(coarse, n, z, y, x) = .5 * AT(fine, m, k, j, i) + .25 * FACES(fine, m, k, j, i) +
                                 .125 * EDGES(fine, m, k, j, i) + .0625 * TIPS(fine, m, k, j, i);
    }
    wrap(coarse, n);
}

static void interpolate(const double* restrict coarse, double* restrict fine, int m) {
    int n = m / 2;
    EACH(m) {
        int k = z / 2, j = y / 2, i = x / 2, dk = z % 2, dj = y % 2, di = x % 2;
        double sum = 0;
        for (int c = 0; c <= dk; ++c) {
            for (int b = 0; b <= dj; ++b) {
                for (int a = 0; a <= di; ++a) {
                    sum += AT(coarse, n, k + c, j + b, i + a);
                }
            }
        }
        AT(fine, m, z, y, x) += sum / ((1 + dk) * (1 + dj) * (1 + di));
    }
    wrap(fine, m);
}

static double mg(double* taken) {
    static double *v, *u[16], *r[16];
    int top = 0, n = MG_N;
    while (2 << top < n) {
        ++top;
    }
    size_t size = (size_t)(n + 2) * (size_t)(n + 2) * (size_t)(n + 2);
    if (!v) {
        v = room(size * sizeof *v);
        for (int level = 0; level <= top; ++level) {
            size_t side = (size_t)(2 << level) + 2;
            u[level] = room(side * side * side * sizeof(double));
            r[level] = room(side * side * side * sizeof(double));
        }
        double* number = room(size * sizeof *number);
        state = 314159265;
        EACH(n) { AT(number, n, z, y, x) = next_random(); }
        for (int charge = 0; charge < 20; ++charge) {
            size_t best = 0;
            double extreme = charge < 10 ? 0 : 1;
            EACH(n) {
                double one = AT(number, n, z, y, x);
                if (AT(v, n, z, y, x) == 0 && (charge < 10 ? one > extreme : one < extreme)) {
                    extreme = one;
                    best = (size_t)(&AT(v, n, z, y, x) - v);
                }
            }
            v[best] = charge < 10 ? 1 : -1;
        }
        free(number);
    }
    memset(u[top], 0, size * sizeof *v);
    double begin = seconds();
    residual(u[top], v, r[top], n);
    for (int iteration = 0; iteration < MG_I; ++iteration) {
        for (int level = top - 1; level >= 0; --level) {
            restrict_to(r[level + 1], r[level], 2 << level);
            size_t side = (size_t)(2 << level) + 2;
            memset(u[level], 0, side * side * side * sizeof(double));
        }
        smooth(r[0], u[0], 2);
        for (int level = 1; level <= top; ++level) {
            interpolate(u[level - 1], u[level], 2 << level);
            residual(u[level], level == top ? v : r[level], r[level], 2 << level);
            smooth(r[level], u[level], 2 << level);
        }
        residual(u[top], v, r[top], n);
    }
    double squares = 0;
    EACH(n) { squares += AT(r[top], n, z, y, x) * AT(r[top], n, z, y, x); }
    *taken = seconds() - begin;
    return sqrt(squares / ((double)n * n * n));
}

/* FT: real part of the last checksum. */
static double complex roots[1024];

/* By halves, out of place, autosorted (Stockham); `lines` lines at once, one after another in memory. */
static double complex* transform(double complex* from, double complex* to, int n, int lines, int inverse) {
    for (int k = 0; k < n / 2; ++k) {
        roots[k] = cexp((inverse ? 2 : -2) * I * 3.14159265358979323846 * k / n);
    }
    for (int half = n / 2, stride = lines; half >= 1; half /= 2, stride *= 2) {
        for (int p = 0; p < half; ++p) {
            double complex root = roots[p * (n / (2 * half))];
            double complex* restrict even = to + 2 * p * stride;
            const double complex *one = from + p * stride, *other = from + (p + half) * stride;
            for (int q = 0; q < stride; ++q) {
                even[q] = one[q] + other[q];
                double re = creal(one[q]) - creal(other[q]), im = cimag(one[q]) - cimag(other[q]);
                even[q + stride] = CMPLX(re * creal(root) - im * cimag(root), re * cimag(root) + im * creal(root));
            }
        }
        double complex* swap = from;
        from = to;
        to = swap;
    }
    return from;
}

enum { at_once = 16 };
static double complex one_room[1024 * at_once], other_room[1024 * at_once];

/* Along one direction of n points `step` apart, for `outer` times `inner` lines. */
static void transform_all(double complex* u, int n, size_t step, size_t outer, size_t outer_step, size_t inner,
                          size_t inner_step, int inverse) {
    for (size_t o = 0; o < outer; ++o) {
        for (size_t i = 0; i < inner; i += at_once) {
            double complex* first = u + o * outer_step + i * inner_step;
            for (int k = 0; k < n; ++k) {
                for (size_t line = 0; line < at_once; ++line) {
                    one_room[(size_t)k * at_once + line] = first[(size_t)k * step + line * inner_step];
                }
            }
            const double complex* result = transform(one_room, other_room, n, at_once, inverse);
            for (int k = 0; k < n; ++k) {
                for (size_t line = 0; line < at_once; ++line) {
                    first[(size_t)k * step + line * inner_step] = result[(size_t)k * at_once + line];
                }
            }
        }
    }
}

static void transform_cube(double complex* u, int inverse) {
    size_t row = FT_X, plane = (size_t)FT_X * FT_Y;
    transform_all(u, FT_X, 1, FT_Z, plane, FT_Y, row, inverse);
    transform_all(u, FT_Y, row, FT_Z, plane, FT_X, 1, inverse);
    transform_all(u, FT_Z, plane, FT_Y, row, FT_X, 1, inverse);
}

static double ft(double* taken) {
    static double complex *waves, *now;
    static double* decay;
    size_t points = (size_t)FT_X * FT_Y * FT_Z;
    if (!waves) {
        waves = room(points * sizeof *waves);
        now = room(points * sizeof *now);
        decay = room(points * sizeof *decay);
    }
    double begin = seconds();
    state = 314159265;
    for (size_t point = 0; point < points; ++point) {
        double re = next_random();
        waves[point] = CMPLX(re, next_random());
    }
    size_t point = 0;
    for (int z = 0; z < FT_Z; ++z) {
        for (int y = 0; y < FT_Y; ++y) {
            for (int x = 0; x < FT_X; ++x, ++point) {
                double a = (x + FT_X / 2) % FT_X - FT_X / 2, b = (y + FT_Y / 2) % FT_Y - FT_Y / 2,
                       c = (z + FT_Z / 2) % FT_Z - FT_Z / 2;
                decay[point] = exp(-4e-6 * 3.14159265358979323846 * 3.14159265358979323846 * (a * a + b * b + c * c));
            }
        }
    }
    transform_cube(waves, 0);
    double complex sum = 0;
    for (int iteration = 0; iteration < FT_I; ++iteration) {
        for (point = 0; point < points; ++point) {
            waves[point] *= decay[point];
            now[point] = waves[point];
        }
        transform_cube(now, 1);
        sum = 0;
        for (size_t j = 1; j <= 1024; ++j) {
            sum += now[(5 * j % FT_Z * FT_Y + 3 * j % FT_Y) * FT_X + j % FT_X];
        }
    }
    *taken = seconds() - begin;
    return creal(sum) / (double)points;
}
