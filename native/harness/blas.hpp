// A BLAS that is loaded at launch: its functions under the names that it has, its threads on their cpus, and what
// it says of itself.
#pragma once

#include <cstdint>
#include <cstring>
#include <map>
#include <string>
#include <vector>

namespace assay {

/// Of a square matrix, 32 PiB: the bytes of a few such matrices can still be counted in 64 bits.
inline constexpr std::int64_t largest_order = std::int64_t{1} << 26U;

/// A number of 16 bits: the first half of a float, rounded to even. Finite numbers only.
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

/// CBLAS's product of matrices of Given numbers, C = alpha A B + beta C.
template <class Int, class Given, class Number>
using Gemm = void (*)(int order, int turn_a, int turn_b, Int rows, Int columns, Int inner, Number alpha,
                      const Given* a, Int stride_a, const Given* b, Int stride_b, Number beta, Number* c,
                      Int stride_c);

/// One library, loaded for the rest of the process.
class Blas {
  public:
    /// Loads the library, empty for the system's (`libopenblas.so.0`, `libblas.so.3`), and gives it one thread for
    /// each cpu. Failure (environment) where it cannot be loaded, or lacks what is called here.
    Blas(const std::string& path, const std::vector<int>& cpus);

    /// C = A B for square matrices of order n, row by row.
    void multiply(std::int64_t n, const double* a, const double* b, double* c) const;
    void multiply(std::int64_t n, const float* a, const float* b, float* c) const;
    void multiply(std::int64_t n, const Bfloat16* a, const Bfloat16* b, float* c) const;

    /// The product of 16-bit numbers that is added in single precision, under either of its names. Failure
    /// (environment) where the library has none: few have.
    [[nodiscard]] void* bfloat16_product() const;

    /// A function under the name that this library gives it, `cblas_dtrsm` or LAPACK's `dgetrf_`; null where it
    /// has none.
    [[nodiscard]] void* find(const std::string& name) const;

    /// Whether its integers have 64 bits.
    [[nodiscard]] bool wide() const { return wide_; }

    /// Puts the threads that the library keeps on a cpu each, the calling thread on the first. To be called after
    /// the first product: some libraries start their threads with it, others start and end them in each call.
    void pin_threads();

    /// From now on a call runs on the thread that makes it, and several threads may call at once. The calling one
    /// stands on the first cpu.
    void use_calling_threads();

    /// Whether each thread stands on a cpu of its own; otherwise all of them run on the cpus together.
    [[nodiscard]] bool threads_pinned() const { return pinned_; }

    /// Cpus read back now: of each thread but the calling one, or of the calling one, ascending, where they run
    /// together.
    [[nodiscard]] std::vector<int> cpus() const;

    /// `file`, `library`, `version`, `kernel`, `threads`, `interface`, the `processor` that it sees, and the
    /// `number of` each kernel that is asked for by number: as the library itself says. What it does not say is
    /// absent. After the first product: some libraries choose their kernel with it.
    [[nodiscard]] std::map<std::string, std::string> identity() const;

  private:
    template <class Given, class Number>
    void call(void* function, std::int64_t n, const Given* a, const Given* b, Number* c) const;
    void set_threads(int count) const;
    [[nodiscard]] int threads() const;

    std::vector<int> cpus_;
    std::vector<int> workers_;  ///< threads that the library keeps
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
