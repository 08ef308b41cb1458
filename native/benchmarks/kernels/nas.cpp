// The kernels EP, IS, CG, MG and FT of the NAS Parallel Benchmarks, each solved completely and compared with its
// published values.
#include "declared/nas.hpp"

#include "benchmarks/kernels/nas_cg.hpp"
#include "benchmarks/kernels/nas_ep.hpp"
#include "benchmarks/kernels/nas_ft.hpp"
#include "benchmarks/kernels/nas_is.hpp"
#include "benchmarks/kernels/nas_mg.hpp"
#include "harness/failure.hpp"
#include "harness/mpi/program.hpp"

namespace {

using assay::Setting;
using namespace assay::nas;

/// Failure (usage) if some ranks would have no work.
void require_work(const std::string& problem, Class size, int ranks) {
    const auto count = static_cast<std::size_t>(ranks);
    const bool enough = problem == "mg"   ? Mg::has_room(size, ranks)
                        : problem == "is" ? count <= Is::max_ranks(size)
                        : problem == "cg" ? count <= Cg::max_ranks(size)
                        : problem == "ft" ? count <= Ft::max_ranks(size)
                                          : true;
    if (!enough) {
        throw assay::Failure(assay::Exit::usage,
                             problem + ", class " + std::string(of_class(class_names, size)) +
                                 ", has no work for " + std::to_string(ranks) + " ranks",
                             "each rank has a part of the problem", "--npb-class C");
    }
}

std::unique_ptr<Problem> problem_of(const Setting& setting, Messages& messages) {
    const std::string& name = setting.params.word("npb");
    const Class size = class_named(setting.params.word("npb-class"));
    require_work(name, size, messages.ranks());
    if (name == "ep") {
        return std::make_unique<Ep>(size, messages);
    }
    if (name == "is") {
        return std::make_unique<Is>(size, messages, *setting.memory);
    }
    if (name == "cg") {
        return std::make_unique<Cg>(size, messages, *setting.memory);
    }
    if (name == "mg") {
        return std::make_unique<Mg>(size, messages, *setting.memory);
    }
    return std::make_unique<Ft>(size, messages, *setting.memory);
}

class Nas : public assay::Benchmark {
  public:
    explicit Nas(const Setting& setting)
        : ranks_(setting.ranks.size()),
          problems_(setting.params.word("coupling") == "sharing" ? 1 : ranks_),
          messages_(problems_ == 1 ? MPI_COMM_WORLD : MPI_COMM_SELF),
          problem_(problem_of(setting, messages_)) {}

    /// For one operation, because the figure is a rate of operations.
    [[nodiscard]] assay::Work work() const override {
        const double operations = problem_->operations();
        return {{"rate",
                 {{"operations", 1.},
                  {"flops", problem_->flops() / operations},
                  {"traffic_bytes", problem_->traffic_bytes() / operations}}}};
    }

    void prepare(std::size_t /*kernel*/) override {
        problem_->prepare();
        messages_.restart();
    }

    void iterate(std::size_t /*kernel*/, std::uint64_t /*iterations*/, int /*thread*/) override {
        const std::int64_t begin = assay::nanoseconds();
        problem_->solve();
        own_seconds_ = assay::to_seconds(assay::nanoseconds() - begin);
    }

    double verify(std::size_t /*kernel*/) override { return problem_->error(); }

    [[nodiscard]] double tolerance() const override { return problem_->tolerance(); }

    /// All time without computation is messages, including the wait for messages of others.
    [[nodiscard]] assay::Solution solution(double seconds) override {
        assay::Solution solution;
        solution.name = "rate";
        solution.unit = "op/s";
        solution.value = problems_ * problem_->operations() / seconds;
        solution.seconds = seconds;
        if (messages_.ranks() == 1) {
            solution.phases["computation"] = seconds;
            return solution;
        }
        double computing = own_seconds_ - messages_.seconds();
        MPI_Allreduce(MPI_IN_PLACE, &computing, 1, MPI_DOUBLE, MPI_SUM, messages_.comm());
        computing = std::min(computing / messages_.ranks(), seconds);
        solution.phases["computation"] = computing;
        solution.phases["messages"] = seconds - computing;
        return solution;
    }

    [[nodiscard]] double sent_bytes() const override { return messages_.sent_bytes(); }

  private:
    int ranks_;
    int problems_;  ///< solved at the same time
    Messages messages_;
    std::unique_ptr<Problem> problem_;
    double own_seconds_ = 0;
};

}  // namespace

int main(int argc, char** argv) { return assay::run_mpi_program<Nas>(assay::declared::nas, argc, argv); }
