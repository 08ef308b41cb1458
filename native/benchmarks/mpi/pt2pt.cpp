// Messages between pairs of MPI ranks: to and fro, in windows one way, and both ways at once.
#include <mpi.h>

#include <array>
#include <vector>

#include "benchmarks/mpi/pt2pt_options.hpp"
#include "harness/clock.hpp"
#include "harness/mpi/content.hpp"
#include "harness/mpi/program.hpp"

namespace {

using assay::Content;
using assay::Pair;
using assay::Setting;
using assay::Slots;
using assay::pt2pt::Calls;
using assay::pt2pt::Options;
using assay::pt2pt::Pattern;

constexpr int message_tag = 1;
constexpr int answer_tag = 2;
constexpr int answer_bytes = 4;  ///< of an acknowledgement, as OSU has it

/// The messages of one thread with its partner.
class Flow {
  public:
    Flow(const Options& options, assay::Memory& memory, int rank, const Pair& pair)
        : options_(options),
          rank_(rank),
          pair_(pair),
          source_(options.any_source ? MPI_ANY_SOURCE : pair.partner),
          sent_(memory, options.layout, options.spacing),
          received_(memory, options.layout, options.spacing),
          walk_(options.spacing.count),
          visited_(walk_),
          sends_(static_cast<std::size_t>(options.window), MPI_REQUEST_NULL),
          receives_(sends_) {
        sent_.fill(static_cast<std::uint64_t>(rank_));
        for (std::size_t slot = 0; slot < received_.count(); ++slot) {
            received_.spoil(slot);
        }
    }
    Flow(const Flow&) = delete;
    Flow& operator=(const Flow&) = delete;
    Flow(Flow&&) = delete;
    Flow& operator=(Flow&&) = delete;

    ~Flow() {
        if (!content_) {
            return;
        }
        if (options_.calls == Calls::persistent) {
            for (std::size_t request = 0; request < sends_.size(); ++request) {
                MPI_Request_free(&sends_[request]);
                MPI_Request_free(&receives_[request]);
            }
        }
        MPI_Comm_free(&comm_);
    }

    void connect() {
        MPI_Comm_dup(MPI_COMM_WORLD, &comm_);
        content_ = std::make_unique<Content>(options_.layout);
        count_ = content_->count();
        type_ = content_->type();
        if (options_.calls != Calls::persistent) {
            return;
        }
        for (std::size_t request = 0; request < sends_.size(); ++request) {
            const std::size_t slot = request % sent_.count();
            MPI_Send_init(sent_.at(slot), count_, type_, pair_.partner, message_tag, comm_, &sends_[request]);
            MPI_Recv_init(received_.at(slot), count_, type_, source_, message_tag, comm_, &receives_[request]);
        }
    }

    /// Spoils what was received since the last time.
    void prepare() {
        for_visited([&](std::size_t slot) { received_.spoil(slot); });
        visited_ = walk_;
        visits_ = 0;
    }

    /// Seconds of so many iterations, from when both partners were found to be here.
    double run(std::uint64_t iterations) {
        meet();
        const std::int64_t begin = assay::nanoseconds();
        switch (options_.pattern) {
            case Pattern::latency:
                pair_.first ? ping(iterations) : pong(iterations);
                break;
            case Pattern::bandwidth:
                pair_.first ? send_windows(iterations) : receive_windows(iterations);
                break;
            case Pattern::bidirectional:
                options_.combined ? exchange(iterations) : exchange_windows(iterations);
                break;
        }
        return assay::to_seconds(assay::nanoseconds() - begin);
    }

    /// Share of the buffers that hold something else than the last message that they should have received.
    [[nodiscard]] double wrong() const {
        if (!receives()) {
            return 0;
        }
        std::uint64_t wrong = 0;
        std::uint64_t buffers = 0;
        for_visited([&](std::size_t slot) {
            wrong += received_.right(slot, static_cast<std::uint64_t>(pair_.partner)) ? 0 : 1;
            ++buffers;
        });
        return buffers == 0 ? 1 : static_cast<double>(wrong) / static_cast<double>(buffers);
    }

    [[nodiscard]] double sent_bytes() const { return sent_bytes_; }

  private:
    /// Where the next message lies, and which request is its own.
    struct Spot {
        std::size_t slot;
        std::size_t request;
    };

    [[nodiscard]] bool receives() const { return options_.pattern != Pattern::bandwidth || !pair_.first; }

    /// `position`: of the message in its window.
    Spot next(std::size_t position) {
        ++visits_;
        const std::size_t slot = walk_.next();
        const bool own_request = options_.calls == Calls::persistent && sent_.count() > 1;
        return {slot, own_request ? slot : position};
    }

    template <class Visit>
    void for_visited(const Visit& visit) const {
        assay::Walk walk = visited_;
        for (std::uint64_t visits = std::min<std::uint64_t>(visits_, received_.count()); visits > 0; --visits) {
            visit(walk.next());
        }
    }

    /// A round trip that is not timed: a barrier lets ranks go at different times.
    void meet() {
        if (pair_.first) {
            send_answer();
            receive_answer();
        } else {
            receive_answer();
            send_answer();
        }
    }

    void send_answer() {
        MPI_Send(answer_.data(), answer_bytes, MPI_BYTE, pair_.partner, answer_tag, comm_);
        sent_bytes_ += answer_bytes;
    }

    void receive_answer() {
        MPI_Recv(answer_.data(), answer_bytes, MPI_BYTE, pair_.partner, answer_tag, comm_, MPI_STATUS_IGNORE);
    }

    void send(Spot spot) {
        const auto call = options_.calls == Calls::synchronous ? MPI_Ssend : MPI_Send;
        call(sent_.at(spot.slot), count_, type_, pair_.partner, message_tag, comm_);
    }

    void receive(Spot spot) {
        MPI_Recv(received_.at(spot.slot), count_, type_, source_, message_tag, comm_, MPI_STATUS_IGNORE);
    }

    void begin_send(Spot spot) {
        MPI_Request* request = &sends_[spot.request];
        if (options_.calls == Calls::persistent) {
            MPI_Start(request);
            return;
        }
        const auto call = options_.calls == Calls::synchronous ? MPI_Issend : MPI_Isend;
        call(sent_.at(spot.slot), count_, type_, pair_.partner, message_tag, comm_, request);
    }

    void begin_receive(Spot spot) {
        MPI_Request* request = &receives_[spot.request];
        if (options_.calls == Calls::persistent) {
            MPI_Start(request);
        } else {
            MPI_Irecv(received_.at(spot.slot), count_, type_, source_, message_tag, comm_, request);
        }
    }

    static void finish(std::vector<MPI_Request>& requests) {
        MPI_Waitall(static_cast<int>(requests.size()), requests.data(), MPI_STATUSES_IGNORE);
    }

    /// Whether a message to and fro is passed by calls that return when it is.
    [[nodiscard]] bool at_once() const {
        return options_.calls == Calls::blocking || options_.calls == Calls::synchronous;
    }

    void ping(std::uint64_t iterations) {
        for (std::uint64_t iteration = 0; iteration < iterations; ++iteration) {
            const Spot spot = next(0);
            if (at_once()) {
                send(spot);
                receive(spot);
            } else {
                begin_receive(spot);
                begin_send(spot);
                MPI_Wait(&sends_[spot.request], MPI_STATUS_IGNORE);
                MPI_Wait(&receives_[spot.request], MPI_STATUS_IGNORE);
            }
        }
        count_sent(iterations);
    }

    void pong(std::uint64_t iterations) {
        for (std::uint64_t iteration = 0; iteration < iterations; ++iteration) {
            const Spot spot = next(0);
            if (at_once()) {
                receive(spot);
                send(spot);
            } else {
                begin_receive(spot);
                MPI_Wait(&receives_[spot.request], MPI_STATUS_IGNORE);
                begin_send(spot);
                MPI_Wait(&sends_[spot.request], MPI_STATUS_IGNORE);
            }
        }
        count_sent(iterations);
    }

    void send_windows(std::uint64_t iterations) {
        for (std::uint64_t iteration = 0; iteration < iterations; ++iteration) {
            for (std::size_t position = 0; position < sends_.size(); ++position) {
                const Spot spot = next(position);
                if (options_.calls == Calls::blocking) {
                    send(spot);
                } else {
                    begin_send(spot);
                }
            }
            if (options_.calls != Calls::blocking) {
                finish(sends_);
            }
            receive_answer();
        }
        count_sent(iterations * sends_.size());
    }

    void receive_windows(std::uint64_t iterations) {
        for (std::uint64_t iteration = 0; iteration < iterations; ++iteration) {
            for (std::size_t position = 0; position < receives_.size(); ++position) {
                const Spot spot = next(position);
                if (options_.calls == Calls::blocking) {
                    receive(spot);
                } else {
                    begin_receive(spot);
                }
            }
            if (options_.calls != Calls::blocking) {
                finish(receives_);
            }
            send_answer();
        }
    }

    void exchange_windows(std::uint64_t iterations) {
        for (std::uint64_t iteration = 0; iteration < iterations; ++iteration) {
            const assay::Walk window = walk_;
            for (std::size_t position = 0; position < receives_.size(); ++position) {
                begin_receive(next(position));
            }
            walk_ = window;  // what is sent lies in the same slots
            visits_ -= sends_.size();
            for (std::size_t position = 0; position < sends_.size(); ++position) {
                begin_send(next(position));
            }
            finish(receives_);
            finish(sends_);
        }
        count_sent(iterations * sends_.size());
    }

    void exchange(std::uint64_t iterations) {
        const std::uint64_t messages = iterations * sends_.size();
        for (std::uint64_t message = 0; message < messages; ++message) {
            const Spot spot = next(0);
            MPI_Sendrecv(sent_.at(spot.slot), count_, type_, pair_.partner, message_tag, received_.at(spot.slot),
                         count_, type_, source_, message_tag, comm_, MPI_STATUS_IGNORE);
        }
        count_sent(messages);
    }

    void count_sent(std::uint64_t messages) {
        sent_bytes_ += static_cast<double>(messages) * static_cast<double>(options_.layout.bytes);
    }

    const Options& options_;
    int rank_;
    Pair pair_;
    int source_;
    Slots sent_;
    Slots received_;
    assay::Walk walk_;
    assay::Walk visited_;  ///< where the walk stood at `prepare`
    std::uint64_t visits_ = 0;
    std::vector<MPI_Request> sends_;
    std::vector<MPI_Request> receives_;
    MPI_Comm comm_ = MPI_COMM_NULL;
    std::unique_ptr<Content> content_;
    int count_ = 0;
    MPI_Datatype type_ = MPI_BYTE;
    double sent_bytes_ = 0;
    std::array<std::byte, answer_bytes> answer_{};
};

class Pt2pt : public assay::Benchmark {
  public:
    explicit Pt2pt(const Setting& setting)
        : options_(assay::pt2pt::options_of(setting.params)),
          pair_(assay::pair_of(setting.ranks)),
          team_(setting.team) {
        assay::pt2pt::require_fitting(options_, setting.params, setting.ranks.size(), team_.size());
        for (int thread = 0; thread < options_.threads; ++thread) {
            flows_.push_back(std::make_unique<Flow>(options_, *setting.memory, setting.ranks.rank(), pair_));
        }
        seconds_.resize(flows_.size());
    }

    void connect() override {
        for (const auto& flow : flows_) {
            flow->connect();
        }
    }

    [[nodiscard]] assay::Work work() const override {
        const double flows = static_cast<double>(pair_.pairs) * options_.threads;
        const double messages = flows * static_cast<double>(assay::pt2pt::messages(options_));
        std::map<std::string, double> work{{"messages", messages},
                                           {"bytes", messages * static_cast<double>(options_.layout.bytes)}};
        if (options_.pattern == Pattern::latency) {
            work["one-way"] = 2;
        }
        return {{"message", work}};
    }

    void prepare(std::size_t /*kernel*/) override {
        for (const auto& flow : flows_) {
            flow->prepare();
        }
    }

    void iterate(std::size_t /*kernel*/, std::uint64_t iterations, int thread) override {
        if (const auto flow = static_cast<std::size_t>(thread); flow < flows_.size()) {
            seconds_[flow] = flows_[flow]->run(iterations);
        }
        team_.barrier();
    }

    double verify(std::size_t /*kernel*/) override {
        double wrong = 0;
        for (const auto& flow : flows_) {
            wrong = std::max(wrong, flow->wrong());
        }
        return wrong;
    }

    [[nodiscard]] double tolerance() const override { return 0; }

    /// Who starts, and in both directions everybody.
    [[nodiscard]] bool times() const override { return pair_.first || options_.pattern == Pattern::bidirectional; }

    /// Of the thread that took longest.
    [[nodiscard]] std::optional<double> own_seconds() const override {
        return *std::max_element(seconds_.begin(), seconds_.end());
    }

    [[nodiscard]] double sent_bytes() const override {
        double bytes = 0;
        for (const auto& flow : flows_) {
            bytes += flow->sent_bytes();
        }
        return bytes;
    }

  private:
    Options options_;
    Pair pair_;
    const assay::Team& team_;
    std::vector<std::unique_ptr<Flow>> flows_;
    std::vector<double> seconds_;
};

}  // namespace

int main(int argc, char** argv) {
    return assay::run_mpi_program(
        assay::pt2pt::declaration,
        [](const Setting& setting) -> std::unique_ptr<assay::Benchmark> {
            return std::make_unique<Pt2pt>(setting);
        },
        argc, argv);
}
