// Adds numbers, and reports the devices that its ranks were given, or others, or none, as an axis says.
#include "declared/wrong_device.hpp"

#include "harness/mpi/program.hpp"

namespace {

class WrongDevice : public assay::Benchmark {
  public:
    explicit WrongDevice(const assay::Setting& setting) {
        const std::string& reports = setting.params.word("reports");
        const bool last = setting.ranks.rank() + 1 == setting.ranks.size();
        for (const std::string& word : setting.devices) {
            const bool other = reports == "other" || (reports == "one" && last);
            opened_.push_back({other ? "opencl:another_device" : word, "", ""});
        }
        if (reports == "none") {
            opened_.clear();
        }
    }

    [[nodiscard]] assay::Work work() const override { return {{"add", {{"flops", count}}}}; }

    void prepare(std::size_t /*kernel*/) override { sum_ = 0; }

    void iterate(std::size_t /*kernel*/, std::uint64_t iterations, int /*thread*/) override {
        for (std::uint64_t iteration = 0; iteration < iterations; ++iteration) {
            volatile double sum = 0;
            for (int number = 0; number < count; ++number) {
                sum = sum + 1;
            }
            sum_ = sum;
        }
    }

    double verify(std::size_t /*kernel*/) override { return sum_ - count; }
    [[nodiscard]] double tolerance() const override { return 0; }
    [[nodiscard]] std::vector<assay::OpenedDevice> opened_devices() const override { return opened_; }

  private:
    static constexpr int count = 10000;
    std::vector<assay::OpenedDevice> opened_;
    double sum_ = 0;
};

}  // namespace

int main(int argc, char** argv) {
    return assay::run_mpi_program<WrongDevice>(assay::declared::wrong_device, argc, argv);
}
