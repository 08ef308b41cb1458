// The LINPACK benchmark of order 100 and 1000 on one core, with the loops of a Fortran compiler
// (linpack_fortran.f90).
#include "declared/linpack_fortran.hpp"

#include "benchmarks/linear_algebra/linpack_solution.hpp"
#include "harness/program.hpp"

extern "C" {
void linpack_dgefa(double* a, std::int64_t leading, std::int64_t n, std::int64_t* pivots);
void linpack_dgesl(const double* a, std::int64_t leading, std::int64_t n, const std::int64_t* pivots, double* b);
void linpack_compiler(char* text, std::int64_t length);
}

namespace {

using assay::Setting;
using assay::linear_algebra::Index;
using assay::linear_algebra::View;

class Linpack : public assay::linpack::Solution {
  public:
    explicit Linpack(const Setting& setting) : Solution(assay::declared::linpack_fortran, setting) {}

    [[nodiscard]] std::map<std::string, std::string> facts() const override {
        std::string name(longest, ' ');
        linpack_compiler(name.data(), longest);
        return {{"Fortran compiler", name.substr(0, name.find_last_not_of(' ') + 1)}};
    }

  protected:
    void solve(const View& a, Index* pivots, double* b) override {
        linpack_dgefa(a.first, a.stride, a.columns, pivots);
        linpack_dgesl(a.first, a.stride, a.columns, pivots, b);
    }

  private:
    static constexpr std::int64_t longest = 120;
};

}  // namespace

int main(int argc, char** argv) {
    return assay::run_program<Linpack>(assay::declared::linpack_fortran, argc, argv);
}
