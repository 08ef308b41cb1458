/* A plain version of the weather benchmark's definition in C, for one core: fluxes of a whole stage, then tendencies,
 * then the new state. Prints the seconds of each solution, and the relative changes of mass and of total energy.
 *
 *     weather_reference NX STEPS SOLUTIONS
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { DENSITY, MOMENTUM_X, MOMENTUM_Z, HEAT, VARIABLES, HALO = 2 };

static const double pi = 3.14159265358979323846;
static const double gravity = 9.8, cp = 1004, cv = 717, rd = 287, p0 = 1e5, theta0 = 300;
static const double length = 2e4, height = 1e4, fastest = 450, courant = 1.5, beta = 0.25;

static int nx, nz;
static double dx, dz, dt, gas, c0;
static double *state, *stage, *flux, *tendency;
static double *density, *heat;                     /* of the background, cell averages */
static double *density_at, *heat_at, *pressure_at; /* the same between the cells */

static size_t at(int variable, int k, int i) {
    return ((size_t)variable * (nz + 2 * HALO) + k + HALO) * (nx + 2 * HALO) + i + HALO;
}

/* Between the cells: number i is before cell i. */
static size_t between(int variable, int k, int i) { return ((size_t)variable * (nz + 1) + k) * (nx + 1) + i; }

static void background(double z, double* density, double* heat) {
    double exner = 1 - gravity * z / (cp * theta0);
    double pressure = p0 * pow(exner, cp / rd);
    *heat = pow(pressure / c0, 1 / gas);
    *density = *heat / theta0;
}

static const double nodes[3] = {-0.3872983346207417, 0, 0.3872983346207417};
static const double weights[3] = {5. / 18, 8. / 18, 5. / 18};

/* A neutral atmosphere with a bubble that is up to 3 K too warm, 2 km in radius, 2 km above the ground. */
static void start(void) {
    for (int k = 0; k < nz; ++k)
        for (int i = 0; i < nx; ++i) {
            double found[VARIABLES] = {0};
            for (int m = 0; m < 3; ++m)
                for (int n = 0; n < 3; ++n) {
                    double x = (i + 0.5 + nodes[m]) * dx, z = (k + 0.5 + nodes[n]) * dz, air, warmth;
                    double far = sqrt(pow((x - length / 2) / 2000, 2) + pow((z - 2000) / 2000, 2));
                    double warmer = far < 1 ? 3 * pow(cos(pi / 2 * far), 2) : 0;
                    background(z, &air, &warmth);
                    found[HEAT] += weights[m] * weights[n] * air * warmer;
                }
            for (int v = 0; v < VARIABLES; ++v) state[at(v, k, i)] = found[v];
        }
}

static void make_background(void) {
    for (int k = 0; k < nz; ++k) {
        density[k] = heat[k] = 0;
        for (int n = 0; n < 3; ++n) {
            double air, warmth;
            background((k + 0.5 + nodes[n]) * dz, &air, &warmth);
            density[k] += weights[n] * air;
            heat[k] += weights[n] * warmth;
        }
    }
    for (int k = 0; k <= nz; ++k) {
        background(k * dz, &density_at[k], &heat_at[k]);
        pressure_at[k] = c0 * pow(heat_at[k], gas);
    }
}

/* Values between two cells, and the third differences there. */
static void interpolate(const double* q, size_t first, size_t apart, double* value, double* third) {
    double a = q[first], b = q[first + apart], c = q[first + 2 * apart], d = q[first + 3 * apart];
    *value = -a / 12 + 7 * b / 12 + 7 * c / 12 - d / 12;
    *third = -a + 3 * b - 3 * c + d;
}

static void fluxes(const double* q, int k, int i, int along_x, double spread, double air, double warmth,
                   double pressure) {
    double value[VARIABLES], third[VARIABLES];
    for (int v = 0; v < VARIABLES; ++v)
        if (along_x)
            interpolate(q, at(v, k, i - 2), 1, &value[v], &third[v]);
        else
            interpolate(q, at(v, k - 2, i), nx + 2 * HALO, &value[v], &third[v]);
    double r = value[DENSITY] + air, u = value[MOMENTUM_X] / r, w = value[MOMENTUM_Z] / r;
    double theta = (value[HEAT] + warmth) / r, p = c0 * pow(r * theta, gas) - pressure;
    double speed = along_x ? u : w;
    flux[between(DENSITY, k, i)] = r * speed + spread * third[DENSITY];
    flux[between(MOMENTUM_X, k, i)] = r * speed * u + (along_x ? p : 0) + spread * third[MOMENTUM_X];
    flux[between(MOMENTUM_Z, k, i)] = r * speed * w + (along_x ? 0 : p) + spread * third[MOMENTUM_Z];
    flux[between(HEAT, k, i)] = r * speed * theta + spread * third[HEAT];
}

/* The tendencies of q along x, where both ends of a row are neighbours. */
static void along_x(double* q) {
    for (int v = 0; v < VARIABLES; ++v)
        for (int k = 0; k < nz; ++k)
            for (int h = 1; h <= HALO; ++h) {
                q[at(v, k, -h)] = q[at(v, k, nx - h)];
                q[at(v, k, nx - 1 + h)] = q[at(v, k, h - 1)];
            }
    double spread = beta * dx / (16 * dt);
    for (int k = 0; k < nz; ++k) {
        double pressure = c0 * pow(heat[k], gas);
        for (int i = 0; i <= nx; ++i) fluxes(q, k, i, 1, spread, density[k], heat[k], pressure);
    }
    for (int v = 0; v < VARIABLES; ++v)
        for (int k = 0; k < nz; ++k)
            for (int i = 0; i < nx; ++i)
                tendency[at(v, k, i)] = -(flux[between(v, k, i + 1)] - flux[between(v, k, i)]) / dx;
}

/* The same along z, between walls that mirror the flow. */
static void along_z(double* q) {
    for (int v = 0; v < VARIABLES; ++v) {
        double sign = v == MOMENTUM_Z ? -1 : 1;
        for (int h = 1; h <= HALO; ++h)
            for (int i = 0; i < nx; ++i) {
                q[at(v, -h, i)] = sign * q[at(v, h - 1, i)];
                q[at(v, nz - 1 + h, i)] = sign * q[at(v, nz - h, i)];
            }
    }
    double spread = beta * dz / (16 * dt);
    for (int k = 0; k <= nz; ++k)
        for (int i = 0; i < nx; ++i) fluxes(q, k, i, 0, spread, density_at[k], heat_at[k], pressure_at[k]);
    for (int v = 0; v < VARIABLES; ++v)
        for (int k = 0; k < nz; ++k)
            for (int i = 0; i < nx; ++i) {
                tendency[at(v, k, i)] = -(flux[between(v, k + 1, i)] - flux[between(v, k, i)]) / dz;
                if (v == MOMENTUM_Z) tendency[at(v, k, i)] -= gravity * q[at(DENSITY, k, i)];
            }
}

static void advance(double* q, double* result, double share, void (*tendencies)(double*)) {
    tendencies(q);
    for (int v = 0; v < VARIABLES; ++v)
        for (int k = 0; k < nz; ++k)
            for (int i = 0; i < nx; ++i)
                result[at(v, k, i)] = state[at(v, k, i)] + dt * share * tendency[at(v, k, i)];
}

static void sweep(void (*tendencies)(double*)) {
    advance(state, stage, 1. / 3, tendencies);
    advance(stage, stage, 1. / 2, tendencies);
    advance(stage, state, 1, tendencies);
}

/* Sums over all cells: mass, and the sum of internal, kinetic and potential energy. */
static void sums(double* mass, double* energy) {
    *mass = *energy = 0;
    for (int k = 0; k < nz; ++k)
        for (int i = 0; i < nx; ++i) {
            double r = state[at(DENSITY, k, i)] + density[k], u = state[at(MOMENTUM_X, k, i)] / r;
            double w = state[at(MOMENTUM_Z, k, i)] / r, p = c0 * pow(state[at(HEAT, k, i)] + heat[k], gas);
            *mass += r;
            *energy += cv / rd * p + r * (u * u + w * w) / 2 + r * gravity * (k + 0.5) * dz;
        }
}

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec + 1e-9 * time.tv_nsec;
}

int main(int argc, char** argv) {
    if (argc != 4) return 2;
    nx = atoi(argv[1]), nz = nx / 2;
    int steps = atoi(argv[2]), solutions = atoi(argv[3]);
    dx = length / nx, dz = height / nz, dt = courant * fmin(dx, dz) / fastest;
    gas = cp / cv, c0 = pow(rd, gas) * pow(p0, -rd / cv);
    size_t cells = sizeof(double) * VARIABLES * (nz + 2 * HALO) * (nx + 2 * HALO);
    size_t borders = sizeof(double) * VARIABLES * (nz + 1) * (nx + 1), column = sizeof(double) * (nz + 1);
    state = calloc(1, cells), stage = calloc(1, cells), tendency = calloc(1, cells), flux = calloc(1, borders);
    density = malloc(column), heat = malloc(column);
    density_at = malloc(column), heat_at = malloc(column), pressure_at = malloc(column);
    make_background();
    for (int solution = 0; solution < solutions; ++solution) {
        double mass0, energy0, mass, energy;
        start();
        sums(&mass0, &energy0);
        double begin = now();
        for (int step = 0; step < steps; ++step) {
            sweep(step % 2 ? along_z : along_x);
            sweep(step % 2 ? along_x : along_z);
        }
        double seconds = now() - begin;
        sums(&mass, &energy);
        printf("%.9f %.3e %.3e\n", seconds, mass / mass0 - 1, energy / energy0 - 1);
    }
    return 0;
}
