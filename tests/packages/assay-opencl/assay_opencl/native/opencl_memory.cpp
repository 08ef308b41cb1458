// The rate at which an OpenCL device reads and writes its own memory.
#include "declared/opencl_memory.hpp"

#include "harness/opencl.hpp"
#include "harness/program.hpp"

namespace {

using assay::Exit;
using assay::Failure;
using assay::opencl::require;

constexpr const char* source = R"(
kernel void copy(global float* a, global const float* b, global const float* c) {
    a[get_global_id(0)] = b[get_global_id(0)];
}
kernel void triad(global float* a, global const float* b, global const float* c) {
    a[get_global_id(0)] = b[get_global_id(0)] + 3 * c[get_global_id(0)];
}
)";
constexpr std::array kernels{"copy", "triad"};

/// Small whole numbers: their sums are exact.
float number_b(std::size_t place) { return static_cast<float>(place % 1021); }
float number_c(std::size_t place) { return static_cast<float>(place % 509); }

class Vectors : public assay::Benchmark {
  public:
    explicit Vectors(const assay::Setting& setting)
        : size_(static_cast<std::size_t>(setting.params.number("elements"))),
          device_(setting.devices.empty() ? "" : setting.devices.front(), setting.cpus),
          host_(size_) {
        if (setting.devices.size() > 1) {
            throw Failure(Exit::usage, "a rank works on one device", "several are given", "--devices NAME");
        }
        compile();
        for (cl_mem& vector : vectors_) {
            cl_int code = CL_SUCCESS;
            vector = clCreateBuffer(device_.context(), CL_MEM_READ_WRITE, bytes(), nullptr, &code);
            require(code, "clCreateBuffer");
        }
        write(1, number_b);
        write(2, number_c);
    }

    Vectors(const Vectors&) = delete;
    Vectors& operator=(const Vectors&) = delete;
    Vectors(Vectors&&) = delete;
    Vectors& operator=(Vectors&&) = delete;

    ~Vectors() override {
        for (cl_mem vector : vectors_) {
            clReleaseMemObject(vector);
        }
        for (cl_kernel kernel : kernels_) {
            clReleaseKernel(kernel);
        }
        clReleaseProgram(program_);
    }

    [[nodiscard]] assay::Work work() const override {
        return assay::declared::opencl_memory.work_of(static_cast<double>(size_));
    }

    void prepare(std::size_t /*kernel*/) override {
        write(0, [](std::size_t /*place*/) { return -1.F; });
    }

    void iterate(std::size_t kernel, std::uint64_t iterations, int /*thread*/) override {
        for (std::uint64_t iteration = 0; iteration < iterations && failed_ == CL_SUCCESS; ++iteration) {
            failed_ = clEnqueueNDRangeKernel(device_.queue(), kernels_[kernel], 1, nullptr, &size_, nullptr, 0,
                                             nullptr, nullptr);
        }
        const cl_int ended = clFinish(device_.queue());
        failed_ = failed_ == CL_SUCCESS ? ended : failed_;
    }

    void require_undisturbed() const override { require(failed_, "the kernel on the device"); }

    /// Number of wrong results.
    double verify(std::size_t kernel) override {
        require(clEnqueueReadBuffer(device_.queue(), vectors_[0], CL_TRUE, 0, bytes(), host_.data(), 0, nullptr,
                                    nullptr),
                "clEnqueueReadBuffer");
        double wrong = 0;
        for (std::size_t place = 0; place < size_; ++place) {
            const float added = kernel == 1 ? 3 * number_c(place) : 0;
            wrong += host_[place] != number_b(place) + added;
        }
        return wrong;
    }

    [[nodiscard]] double tolerance() const override { return 0; }

    [[nodiscard]] std::vector<assay::OpenedDevice> opened_devices() const override { return {device_.opened()}; }

    [[nodiscard]] std::vector<int> own_cpus() const override { return assay::opencl::Device::cpus(); }
    [[nodiscard]] bool threads_pinned() const override { return false; }

    [[nodiscard]] std::map<std::string, std::string> facts() const override {
        const cl_device_id device = device_.handle();
        const auto units = assay::opencl::number<cl_uint>(device, CL_DEVICE_MAX_COMPUTE_UNITS);
        const auto memory = assay::opencl::number<cl_ulong>(device, CL_DEVICE_GLOBAL_MEM_SIZE);
        return {{"device", assay::opencl::text(device, CL_DEVICE_NAME)},
                {"device driver", assay::opencl::text(device, CL_DRIVER_VERSION)},
                {"device compute units", std::to_string(units)},
                {"device memory", std::to_string(memory) + " B"}};
    }

  private:
    [[nodiscard]] std::size_t bytes() const { return size_ * sizeof(float); }

    void compile() {
        cl_int code = CL_SUCCESS;
        const char* text = source;
        program_ = clCreateProgramWithSource(device_.context(), 1, &text, nullptr, &code);
        require(code, "clCreateProgramWithSource");
        require(clBuildProgram(program_, 0, nullptr, "", nullptr, nullptr), "clBuildProgram");
        for (std::size_t kernel = 0; kernel < kernels.size(); ++kernel) {
            kernels_[kernel] = clCreateKernel(program_, kernels[kernel], &code);
            require(code, "clCreateKernel");
        }
    }

    /// Fills a vector; those that a kernel does not use are arguments all the same.
    template <class Number>
    void write(cl_uint vector, const Number& number) {
        for (std::size_t place = 0; place < size_; ++place) {
            host_[place] = number(place);
        }
        require(clEnqueueWriteBuffer(device_.queue(), vectors_[vector], CL_TRUE, 0, bytes(), host_.data(), 0,
                                     nullptr, nullptr),
                "clEnqueueWriteBuffer");
        for (cl_kernel kernel : kernels_) {
            require(clSetKernelArg(kernel, vector, sizeof(cl_mem), &vectors_[vector]), "clSetKernelArg");
        }
    }

    std::size_t size_;
    assay::opencl::Device device_;
    std::vector<float> host_;
    cl_program program_ = nullptr;
    std::array<cl_kernel, kernels.size()> kernels_{};
    std::array<cl_mem, 3> vectors_{};
    cl_int failed_ = CL_SUCCESS;
};

}  // namespace

int main(int argc, char** argv) { return assay::run_program<Vectors>(assay::declared::opencl_memory, argc, argv); }
