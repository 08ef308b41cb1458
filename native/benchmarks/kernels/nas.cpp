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

/// The problem of a case by its declaration.
class Declared {
  public:
    explicit Declared(const assay::Params& params)
        : name_(params.word("npb")), numbers_(declaration.numbers(params, "npb-class")) {
        numbers_["log-points"] = std::log(numbers_.at("x") * numbers_.at("y") * numbers_.at("z"));
    }

    [[nodiscard]] const std::string& name() const { return name_; }
    [[nodiscard]] const assay::Numbers& numbers() const { return numbers_; }

    /// Of a solution; 0 if it is not declared.
    [[nodiscard]] double amount(const std::string& quantity) const {
        return declaration.parts.at(name_).contains(quantity) ? declaration.amount(name_, quantity, numbers_) : 0;
    }

    [[nodiscard]] bool has_work(int ranks) const {
        const bool room = name_ != "mg" || Boxes::has_room(ranks, static_cast<Index>(numbers_.at("side")));
        return room && ranks <= amount("most-ranks");
    }

  private:
    static inline const assay::Declaration& declaration = assay::declared::nas;

    std::string name_;
    assay::Numbers numbers_;
};

std::unique_ptr<Problem> problem_of(const Setting& setting, const Declared& declared, Messages& messages) {
    const std::string& name = declared.name();
    const std::string& size = setting.params.word("npb-class");
    if (!declared.has_work(messages.ranks())) {
        throw assay::Failure(
            assay::Exit::usage,
            name + ", class " + size + ", has no work for " + std::to_string(messages.ranks()) + " ranks",
            "each rank has a part of the problem", "--npb-class C");
    }
    const Class named = class_named(size);
    const assay::Numbers& numbers = declared.numbers();
    if (name == "ep") {
        return std::make_unique<Ep>(named, numbers, messages);
    }
    if (name == "is") {
        return std::make_unique<Is>(named, numbers, messages, *setting.memory);
    }
    if (name == "cg") {
        return std::make_unique<Cg>(named, numbers, messages, *setting.memory);
    }
    if (name == "mg") {
        return std::make_unique<Mg>(named, numbers, messages, *setting.memory);
    }
    return std::make_unique<Ft>(named, numbers, messages, *setting.memory);
}

class Nas : public assay::Benchmark {
  public:
    explicit Nas(const Setting& setting)
        : ranks_(setting.ranks.size()),
          problems_(setting.params.word("coupling") == "sharing" ? 1 : ranks_),
          messages_(problems_ == 1 ? MPI_COMM_WORLD : MPI_COMM_SELF),
          declared_(setting.params),
          problem_(problem_of(setting, declared_, messages_)) {}

    /// For one operation, because the figure is a rate of operations.
    [[nodiscard]] assay::Work work() const override {
        return {{"rate",
                 {{"operations", 1.},
                  {"flops", declared_.amount("flops-per-operation")},
                  {"traffic_bytes", declared_.amount("traffic-bytes") / declared_.amount("operations")}}}};
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
        solution.value = problems_ * declared_.amount("operations") / seconds;
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
    Declared declared_;
    std::unique_ptr<Problem> problem_;
    double own_seconds_ = 0;
};

}  // namespace

int main(int argc, char** argv) { return assay::run_mpi_program<Nas>(assay::declared::nas, argc, argv); }
