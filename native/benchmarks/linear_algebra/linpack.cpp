// The LINPACK benchmark of order 100 and 1000 on one core: a dense system of equations, solved by plain loops or
// by a library.
#include "declared/linpack.hpp"

#include <optional>

#include "benchmarks/linear_algebra/linpack_solution.hpp"
#include "harness/program.hpp"

namespace {

using assay::Exit;
using assay::Failure;
using assay::Setting;
using assay::linear_algebra::Index;
using assay::linear_algebra::Level3;
using assay::linear_algebra::View;

class Linpack : public assay::linpack::Solution {
  public:
    explicit Linpack(const Setting& setting) : Solution(assay::declared::linpack, setting) {
        if (setting.params.word("method") == "lapack") {
            blas_.emplace(setting.library("blas"), setting.cpus);
            level3_.emplace(*blas_);
            if (!level3_->has_lapack()) {
                throw Failure(Exit::environment, "this BLAS has no LAPACK", "it lacks dgetrf_", "--method plain");
            }
        }
    }

    [[nodiscard]] std::map<std::string, std::map<std::string, std::string>> libraries() const override {
        return blas_ ? std::map<std::string, std::map<std::string, std::string>>{{"blas", blas_->identity()}}
                     : std::map<std::string, std::map<std::string, std::string>>{};
    }

  protected:
    void solve(const View& a, Index* pivots, double* b) override {
        if (level3_) {
            level3_->factor(a, pivots);
            assay::linpack::solve_lapack(a, pivots, b);
        } else {
            assay::linpack::dgefa(a, pivots);
            assay::linpack::dgesl(a, pivots, b);
        }
    }

  private:
    std::optional<assay::Blas> blas_;
    std::optional<Level3> level3_;
};

}  // namespace

int main(int argc, char** argv) { return assay::run_program<Linpack>(assay::declared::linpack, argc, argv); }
