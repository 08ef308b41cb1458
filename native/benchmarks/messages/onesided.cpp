// Transfers into and from the memory of another rank, timed until they are visible there.
#include "declared/onesided.hpp"

#include <mpi.h>

#include <optional>

#include "benchmarks/messages/onesided_slots.hpp"
#include "benchmarks/messages/onesided_window.hpp"
#include "harness/clock.hpp"
#include "harness/mpi/program.hpp"

namespace {

using assay::Setting;
using assay::onesided::Operation;
using assay::onesided::Options;
using assay::onesided::Window;

class Onesided : public assay::Benchmark {
  public:
    explicit Onesided(const Setting& setting)
        : options_(assay::onesided::options_of(setting.params, setting.ranks.size())),
          rank_(setting.ranks.rank()),
          partner_(1 - rank_),
          team_(setting.team),
          buffer_(setting.memory->allocate(Window::size(options_))),
          memory_(options_.allocate ? nullptr : setting.memory->allocate(Window::size(options_))) {}

    void connect() override {
        window_.emplace(options_, memory_, partner_);
        if (!window_->unified()) {
            throw assay::Failure(assay::Exit::environment, "this MPI keeps two copies of a window",
                                 "its memory model is MPI_WIN_SEPARATE: no rank sees what came but by a call",
                                 "another MPI: assay list mpis");
        }
        assay::onesided::give(options_, source(), rank_);
    }

    [[nodiscard]] assay::Work work() const override {
        const double transfers = options_.ping_pong() ? 2 : options_.slots;
        std::map<std::string, double> work{{"bytes", transfers * static_cast<double>(options_.bytes)}};
        if (!options_.bandwidth) {
            work["one-way"] = transfers;
        }
        return {{"transfer", work}};
    }

    void prepare(std::size_t /*kernel*/) override {
        assay::onesided::overwrite(options_, destination());
        transfers_ = 0;
        window_->settle();
    }

    void iterate(std::size_t /*kernel*/, std::uint64_t iterations, int thread) override {
        if (thread == 0) {
            window_->open();
            meet();
            const std::int64_t begin = assay::nanoseconds();
            if (options_.ping_pong()) {
                rank_ == 0 ? ping(iterations) : pong(iterations);
            } else {
                rank_ == 0 ? transfer_alone(iterations) : wait_for_partner(iterations);
            }
            seconds_ = assay::to_seconds(assay::nanoseconds() - begin);
            meet();
            count(iterations);
        }
        team_.barrier();
    }

    double verify(std::size_t /*kernel*/) override {
        window_->settle();
        return receives() ? assay::onesided::wrong(options_, destination(), partner_, transfers_) : 0;
    }

    [[nodiscard]] double tolerance() const override { return 0; }

    [[nodiscard]] bool times() const override { return rank_ == 0; }

    [[nodiscard]] std::optional<double> self_timed_seconds() const override { return seconds_; }

    [[nodiscard]] double sent_bytes() const override { return sent_bytes_; }

  private:
    [[nodiscard]] bool gets() const { return options_.operation == Operation::get; }

    /// What the partner shall receive; for a get it is in the window.
    [[nodiscard]] std::byte* source() const { return gets() ? window_->slots() : buffer_; }
    [[nodiscard]] std::byte* destination() const { return gets() ? buffer_ : window_->slots(); }

    [[nodiscard]] bool receives() const { return options_.ping_pong() || gets() == (rank_ == 0); }
    [[nodiscard]] bool sends() const { return options_.ping_pong() || gets() != (rank_ == 0); }

    /// An untimed round trip; it also ends the wait of a passive target.
    void meet() const {
        constexpr int tag = 1;
        if (rank_ == 0) {
            MPI_Send(nullptr, 0, MPI_BYTE, partner_, tag, MPI_COMM_WORLD);
            MPI_Recv(nullptr, 0, MPI_BYTE, partner_, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        } else {
            MPI_Recv(nullptr, 0, MPI_BYTE, partner_, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            MPI_Send(nullptr, 0, MPI_BYTE, partner_, tag, MPI_COMM_WORLD);
        }
    }

    void send_transfer() {
        window_->transfer(buffer_);
        if (options_.passive()) {
            window_->notify();
        }
    }

    void receive_transfer() {
        if (options_.passive()) {
            window_->await();
        } else {
            window_->accept();
        }
    }

    void ping(std::uint64_t iterations) {
        for (std::uint64_t iteration = 0; iteration < iterations; ++iteration) {
            send_transfer();
            receive_transfer();
        }
    }

    void pong(std::uint64_t iterations) {
        for (std::uint64_t iteration = 0; iteration < iterations; ++iteration) {
            receive_transfer();
            send_transfer();
        }
    }

    void transfer_alone(std::uint64_t iterations) {
        for (std::uint64_t iteration = 0; iteration < iterations; ++iteration) {
            window_->transfer(buffer_);
        }
    }

    void wait_for_partner(std::uint64_t iterations) {
        for (std::uint64_t iteration = 0; iteration < iterations && !options_.passive(); ++iteration) {
            window_->accept();
        }
    }

    void count(std::uint64_t iterations) {
        transfers_ += iterations;
        if (sends()) {
            sent_bytes_ += static_cast<double>(iterations) * options_.slots * static_cast<double>(options_.bytes);
        }
    }

    Options options_;
    int rank_;
    int partner_;
    const assay::Team& team_;
    std::byte* buffer_;
    std::byte* memory_;
    std::optional<Window> window_;
    std::uint64_t transfers_ = 0;  ///< into each slot, since `prepare`
    double seconds_ = 0;
    double sent_bytes_ = 0;
};

}  // namespace

int main(int argc, char** argv) { return assay::run_mpi_program<Onesided>(assay::declared::onesided, argc, argv); }
