// A BLAS library loaded at launch: its functions, the placement of its threads, and what it reports of itself.
#pragma once

#include <cstdint>
#include <cstring>
#include <map>
#include <string>
#include <vector>

namespace assay {

/// Largest order of a matrix (32 PiB): the bytes of a few such matrices still fit into 64 bits.

/// A bfloat16 number: the upper half of a float, rounded to even. Finite numbers only.
class Bfloat16 {
  public:
    Bfloat16() = default;
    template <class Number>
    explicit Bfloat16(Number value) {
        const auto narrow = static_cast<float>(value);
        std::uint32_t bits = 0;
        std::memcpy(&bits, &narrow, sizeof bits);
        bits_ = static_cast<std::uint16_t>((bits + 0x7FFFU + (bits >> 16U & 1U)) >> 16U);
    }
    explicit operator double() const {
        const std::uint32_t bits = std::uint32_t{bits_} << 16U;
        float wide = 0;
        std::memcpy(&wide, &bits, sizeof wide);
        return wide;
    }

  private:
    std::uint16_t bits_ = 0;
};

/// CBLAS matrix product of Given numbers, C = alpha A B + beta C.
template <class Int, class Given, class Number>
using Gemm = void (*)(int order, int turn_a, int turn_b, Int rows, Int columns, Int inner, Number alpha,
                      const Given* a, Int stride_a, const Given* b, Int stride_b, Number beta, Number* c,
                      Int stride_c);

/// One library; it stays loaded until the process ends.
class Blas {
  public:
    /// Loads the library with one thread for each cpu; an empty path means the system's (`libopenblas.so.0`,
    /// `libblas.so.3`). Failure (environment) if it cannot be loaded, or lacks a function that is called here.
    Blas(const std::string& path, const std::vector<int>& cpus);

    /// C = A B for square, row-major matrices of order n.
    void multiply(std::int64_t n, const double* a, const double* b, double* c) const;
    void multiply(std::int64_t n, const float* a, const float* b, float* c) const;
    void multiply(std::int64_t n, const Bfloat16* a, const Bfloat16* b, float* c) const;

    /// The product of bfloat16 matrices that adds in single precision, under either of its names. Failure
    /// (environment) if the library has none; few have one.
    [[nodiscard]] void* bfloat16_product() const;

    /// Finds a function by its standard name (`cblas_dtrsm`, LAPACK's `dgetrf_`), adding the library's prefix
    /// and suffix; null if absent.
    [[nodiscard]] void* find(const std::string& name) const;

    /// Whether its integers have 64 bits.
    [[nodiscard]] bool wide() const { return wide_; }

    /// Pins each thread of the library to a cpu, and the calling thread to the first. Call it after the first
    /// product: some libraries start their threads then, others start and end them in each call.
    void pin_threads();

    /// From now on a call runs on its calling thread, and several threads may call at once. Pins the calling
    /// thread to the first cpu.
    void use_calling_threads();

    /// Whether each thread is pinned to its own cpu; otherwise all threads share the cpus.
    [[nodiscard]] bool threads_pinned() const { return pinned_; }

    /// Cpus read back now: of each thread except the calling one; where threads share cpus, the calling thread's
    /// mask.
    [[nodiscard]] std::vector<int> cpus() const;

    /// What the library reports of itself: `file`, `library`, `version`, `kernel`, `threads`, `interface`, the
    /// `processor` it found, and the `number of` each kernel that can be selected by number. What it does not
    /// report is absent. Call it after the first product: some libraries choose their kernel then.
    [[nodiscard]] std::map<std::string, std::string> identity() const;

  private:
    template <class Given, class Number>
    void call(void* function, std::int64_t n, const Given* a, const Given* b, Number* c) const;
    void set_threads(int count) const;
    [[nodiscard]] int threads() const;

    std::vector<int> cpus_;
    std::vector<int> workers_;  ///< threads of the library
    bool pinned_ = false;
    bool wide_ = false;  ///< 64-bit integers
    std::string prefix_;
    std::string suffix_;
    void* library_ = nullptr;
    void* dgemm_ = nullptr;
    void* sgemm_ = nullptr;
    void* sbgemm_ = nullptr;
};

}  // namespace assay
