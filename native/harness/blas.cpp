#include "harness/blas.hpp"

#include <dlfcn.h>
#include <link.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <string_view>

#include "harness/cpus.hpp"
#include "harness/failure.hpp"

namespace assay {
namespace {

/// Names of the same functions: Python wheels add a prefix, builds with 64-bit integers a suffix.
struct Naming {
    const char* prefix;
    const char* suffix;
    bool wide;
};
constexpr std::array<Naming, 6> namings{{{"", "", false},
                                         {"scipy_", "", false},
                                         {"", "64_", true},
                                         {"scipy_", "64_", true},
                                         {"", "_64", true},
                                         {"", "_64_", true}}};
constexpr std::array<const char*, 3> default_files{"libopenblas.so.0", "libblis.so.4", "libblas.so.3"};

/// CBLAS: row-major, not transposed.
constexpr int row_major = 101;
constexpr int not_transposed = 111;

std::vector<int> threads_of_process() {
    std::vector<int> ids;
    for (const auto& entry : std::filesystem::directory_iterator("/proc/self/task")) {
        ids.push_back(std::stoi(entry.path().filename().string()));
    }
    std::sort(ids.begin(), ids.end());
    return ids;
}

template <class Function>
Function as(void* symbol) {
    return reinterpret_cast<Function>(symbol);
}

/// `OpenBLAS 0.3.21 NO_LAPACKE DYNAMIC_ARCH ...` -> the first two words.
std::string first_words(const std::string& text) {
    const std::size_t first = text.find(' ');
    return text.substr(0, first == std::string::npos ? first : text.find(' ', first + 1));
}

/// What MKL_Get_Version fills in, from MKL's manual.
struct MklVersion {
    int major;
    int minor;
    int update;
    const char* status;
    const char* build;
    const char* processor;
    const char* platform;
};

/// MKL keeps each of its kernels in its own library (`libmkl_avx2.so.2`), and loads the chosen one at the first
/// call. Returns the kernel's name as in MKL_ENABLE_INSTRUCTIONS: `def` for the generic kernel, which processors
/// of other vendors also get; empty if none is loaded.
std::string mkl_kernel() {
    std::string found;
    const auto visit = [](dl_phdr_info* info, std::size_t, void* to) {
        constexpr std::array<std::array<std::string_view, 2>, 7> kernels{{{"libmkl_def.so", "def"},
                                                                          {"libmkl_mc3.so", "SSE4_2"},
                                                                          {"libmkl_avx.so", "AVX"},
                                                                          {"libmkl_avx2.so", "AVX2"},
                                                                          {"libmkl_avx512.so", "AVX512"},
                                                                          {"libmkl_avx512_mic.so", "AVX512_MIC"},
                                                                          {"libmkl_avx10.so", "AVX10"}}};
        const std::string file = std::filesystem::path(info->dlpi_name).filename().string();
        for (const auto& [begin, name] : kernels) {
            if (file.rfind(begin, 0) == 0) {
                *static_cast<std::string*>(to) = name;
            }
        }
        return 0;
    };
    dl_iterate_phdr(visit, &found);
    return found;
}

/// Threads of the process before the first library was loaded.
const std::vector<int>& threads_before() {
    static const std::vector<int> before = threads_of_process();
    return before;
}

}  // namespace

Blas::Blas(const std::string& path, const std::vector<int>& cpus) : cpus_(cpus) {
    threads_before();
    // Libraries count the cpus of the calling thread when they are loaded, and start no more threads than that.
    if (!pin(cpus)) {
        throw Failure(Exit::environment, "the kernel refuses cpus " + format_list(cpus), "sched_setaffinity",
                      "choose cpus that are allowed");
    }
    std::string why;
    const auto load = [&](const char* file) {
        library_ = dlopen(file, RTLD_NOW | RTLD_LOCAL);
        why = library_ == nullptr ? dlerror() : "";
    };
    if (!path.empty()) {
        load(path.c_str());
    }
    for (std::size_t each = 0; path.empty() && library_ == nullptr && each < default_files.size(); ++each) {
        load(default_files.at(each));
    }
    if (library_ == nullptr) {
        throw Failure(Exit::environment, "no BLAS can be loaded", why, "--library blas=/path/to/libopenblas.so");
    }
    for (const Naming& naming : namings) {
        prefix_ = naming.prefix;
        suffix_ = naming.suffix;
        wide_ = naming.wide;
        dgemm_ = find("cblas_dgemm");
        sgemm_ = find("cblas_sgemm");
        if (dgemm_ != nullptr && sgemm_ != nullptr) {
            sbgemm_ = find("cblas_sbgemm");  // OpenBLAS
            if (sbgemm_ == nullptr) {
                sbgemm_ = find("cblas_gemm_bf16bf16f32");  // MKL
            }
            set_threads(static_cast<int>(cpus.size()));
            return;
        }
    }
    throw Failure(Exit::environment, path + " lacks cblas_dgemm or cblas_sgemm",
                  "none of the names that BLAS libraries give them is there",
                  "name a library with the C interface: --library blas=/path/to/libopenblas.so");
}

void* Blas::find(const std::string& name) const { return dlsym(library_, (prefix_ + name + suffix_).c_str()); }

template <class Given, class Number>
void Blas::call(void* function, std::int64_t n, const Given* a, const Given* b, Number* c) const {
    const auto by = [&](auto order) {
        as<Gemm<decltype(order), Given, Number>>(function)(row_major, not_transposed, not_transposed, order, order,
                                                           order, Number{1}, a, order, b, order, Number{0}, c,
                                                           order);
    };
    wide_ ? by(n) : by(static_cast<int>(n));
}

void Blas::multiply(std::int64_t n, const double* a, const double* b, double* c) const {
    call(dgemm_, n, a, b, c);
}
void Blas::multiply(std::int64_t n, const float* a, const float* b, float* c) const { call(sgemm_, n, a, b, c); }
void Blas::multiply(std::int64_t n, const Bfloat16* a, const Bfloat16* b, float* c) const {
    call(sbgemm_, n, a, b, c);
}

void* Blas::bfloat16_product() const {
    if (sbgemm_ == nullptr) {
        throw Failure(Exit::environment, "this BLAS has no product of bf16",
                      "it has neither cblas_sbgemm nor cblas_gemm_bf16bf16f32", "--format fp32");
    }
    return sbgemm_;
}

void Blas::set_threads(int count) const {
    if (void* set = find("openblas_set_num_threads")) {
        as<void (*)(int)>(set)(count);
    } else if (void* of_blis = dlsym(library_, "bli_thread_set_num_threads")) {
        as<void (*)(std::int64_t)>(of_blis)(count);
    } else if (void* of_mkl = dlsym(library_, "MKL_Set_Num_Threads")) {
        as<void (*)(int)>(of_mkl)(count);
        if (void* dynamic = dlsym(library_, "MKL_Set_Dynamic")) {
            as<void (*)(int)>(dynamic)(0);  // else MKL may use fewer threads
        }
    }
}

int Blas::threads() const {
    if (void* get = find("openblas_get_num_threads")) {
        return as<int (*)()>(get)();
    }
    if (void* of_blis = dlsym(library_, "bli_thread_get_num_threads")) {
        // -1: no number was set, which means one thread.
        return static_cast<int>(std::max<std::int64_t>(1, as<std::int64_t (*)()>(of_blis)()));
    }
    if (void* of_mkl = dlsym(library_, "MKL_Get_Max_Threads")) {
        return as<int (*)()>(of_mkl)();
    }
    return 0;
}

void Blas::pin_threads() {
    workers_.clear();
    for (const int thread : threads_of_process()) {
        if (!std::binary_search(threads_before().begin(), threads_before().end(), thread)) {
            workers_.push_back(thread);
        }
    }
    pinned_ = workers_.size() + 1 == cpus_.size() && pin({cpus_.front()});
    for (std::size_t each = 0; pinned_ && each < workers_.size(); ++each) {
        pinned_ = pin({cpus_[each + 1]}, workers_[each]);
    }
}

void Blas::use_calling_threads() {
    set_threads(1);
    cpus_ = {cpus_.front()};
    workers_.clear();
    pinned_ = pin(cpus_);
}

std::vector<int> Blas::cpus() const {
    if (!pinned_) {
        return affinity();
    }
    std::vector<int> found;
    std::transform(workers_.begin(), workers_.end(), std::back_inserter(found), pinned_cpu);
    return found;
}

std::map<std::string, std::string> Blas::identity() const {
    std::map<std::string, std::string> found{{"interface", wide_ ? "64-bit integers" : "32-bit integers"}};
    Dl_info where{};
    if (dladdr(dgemm_, &where) != 0 && where.dli_fname != nullptr) {
        std::error_code error;
        const std::filesystem::path file = std::filesystem::canonical(where.dli_fname, error);
        found["file"] = error ? where.dli_fname : file.string();
    }
    if (const int count = threads()) {
        found["threads"] = std::to_string(count);
    }
    using Words = const char* (*)();
    if (void* config = find("openblas_get_config")) {
        found["library"] = "OpenBLAS";
        found["version"] = first_words(as<Words>(config)());
    }
    if (void* core = find("openblas_get_corename")) {
        found["kernel"] = as<Words>(core)();
    }
    if (void* version = dlsym(library_, "bli_info_get_version_str")) {
        found["library"] = "BLIS";
        found["version"] = std::string("BLIS ") + as<Words>(version)();
    }
    void* query = dlsym(library_, "bli_arch_query_id");
    void* name = dlsym(library_, "bli_arch_string");
    if (query != nullptr && name != nullptr) {
        const auto name_of = as<const char* (*)(int)>(name);
        found["kernel"] = name_of(as<int (*)()>(query)());
        // BLIS_ARCH_TYPE selects a kernel by this number; the last one is the generic kernel.
        std::string each;
        for (int number = 0; each != "generic"; ++number) {
            each = name_of(number);
            found["number of " + each] = std::to_string(number);
        }
    }
    if (void* of_mkl = dlsym(library_, "MKL_Get_Version")) {
        MklVersion version{};
        as<void (*)(MklVersion*)>(of_mkl)(&version);
        found["library"] = "MKL";
        found["version"] = "MKL " + std::to_string(version.major) + '.' + std::to_string(version.minor) + '.' +
                           std::to_string(version.update);
        found["processor"] = version.processor == nullptr ? "" : version.processor;
        found["kernel"] = mkl_kernel();
    }
    return found;
}

}  // namespace assay
