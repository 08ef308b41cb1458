// The MPI messages between one thread and its partner.
#pragma once

#include <mpi.h>

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "benchmarks/messages/pt2pt_options.hpp"
#include "harness/buffers.hpp"
#include "harness/mpi/content.hpp"
#include "harness/ranks.hpp"

namespace assay::pt2pt {

constexpr int message_tag = 1;
constexpr int answer_tag = 2;
constexpr int answer_bytes = 4;  ///< of an acknowledgement, as in OSU

/// The messages between one thread and its partner.
class Flow {
  public:
    Flow(const Options& options, Memory& memory, int rank, const Pair& pair)
        : options_(options),
          pair_(pair),
          source_(options.any_source ? MPI_ANY_SOURCE : pair.partner),
          buffers_(memory, options.layout, options.spacing, rank),
          sends_(static_cast<std::size_t>(options.window), MPI_REQUEST_NULL),
          receives_(sends_) {}
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
            const std::size_t slot = request % buffers_.count();
            MPI_Send_init(buffers_.to_send(slot), count_, type_, pair_.partner, message_tag, comm_,
                          &sends_[request]);
            MPI_Recv_init(buffers_.to_receive(slot), count_, type_, source_, message_tag, comm_,
                          &receives_[request]);
        }
    }

    /// Overwrites what was received since the last call.
    void prepare() { buffers_.prepare(); }

    /// An untimed round trip, because ranks leave a barrier at different times.
    void meet() {
        if (pair_.first) {
            send_answer();
            receive_answer();
        } else {
            receive_answer();
            send_answer();
        }
    }

    /// Seconds of so many iterations.
    double run(std::uint64_t iterations) {
        return options_.gap.seconds_of(iterations, pair_.first, [&](std::uint64_t count) { pass(count); });
    }

    /// Share of the buffers that do not hold the last message that they should have received.
    [[nodiscard]] double wrong() const { return receives() ? buffers_.wrong(pair_.partner) : 0; }

    [[nodiscard]] double sent_bytes() const { return sent_bytes_; }

  private:
    /// Slot of the next message, and its request.
    struct Spot {
        std::size_t slot;
        std::size_t request;
    };

    [[nodiscard]] bool receives() const { return options_.pattern != Pattern::bandwidth || !pair_.first; }

    /// `position`: of the message in its window.
    Spot next(std::size_t position) { return spot(buffers_.next(), position); }

    [[nodiscard]] Spot spot(std::size_t slot, std::size_t position) const {
        const bool own_request = options_.calls == Calls::persistent && buffers_.count() > 1;
        return {slot, own_request ? slot : position};
    }

    void pass(std::uint64_t iterations) {
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
        call(buffers_.to_send(spot.slot), count_, type_, pair_.partner, message_tag, comm_);
    }

    void receive(Spot spot) {
        MPI_Recv(buffers_.to_receive(spot.slot), count_, type_, source_, message_tag, comm_, MPI_STATUS_IGNORE);
    }

    void begin_send(Spot spot) {
        MPI_Request* request = &sends_[spot.request];
        if (options_.calls == Calls::persistent) {
            MPI_Start(request);
            return;
        }
        const auto call = options_.calls == Calls::synchronous ? MPI_Issend : MPI_Isend;
        call(buffers_.to_send(spot.slot), count_, type_, pair_.partner, message_tag, comm_, request);
    }

    void begin_receive(Spot spot) {
        MPI_Request* request = &receives_[spot.request];
        if (options_.calls == Calls::persistent) {
            MPI_Start(request);
        } else {
            MPI_Irecv(buffers_.to_receive(spot.slot), count_, type_, source_, message_tag, comm_, request);
        }
    }

    static void finish(std::vector<MPI_Request>& requests) {
        MPI_Waitall(static_cast<int>(requests.size()), requests.data(), MPI_STATUSES_IGNORE);
    }

    /// Whether a round trip uses blocking calls.
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
            Walk sending = buffers_.walk();  // send slots have the same numbers
            for (std::size_t position = 0; position < receives_.size(); ++position) {
                begin_receive(next(position));
            }
            for (std::size_t position = 0; position < sends_.size(); ++position) {
                begin_send(spot(sending.next(), position));
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
            MPI_Sendrecv(buffers_.to_send(spot.slot), count_, type_, pair_.partner, message_tag,
                         buffers_.to_receive(spot.slot), count_, type_, source_, message_tag, comm_,
                         MPI_STATUS_IGNORE);
        }
        count_sent(messages);
    }

    void count_sent(std::uint64_t messages) {
        sent_bytes_ += static_cast<double>(messages) * static_cast<double>(options_.layout.bytes);
    }

    const Options& options_;
    Pair pair_;
    int source_;
    Buffers buffers_;
    std::vector<MPI_Request> sends_;
    std::vector<MPI_Request> receives_;
    MPI_Comm comm_ = MPI_COMM_NULL;
    std::unique_ptr<Content> content_;
    int count_ = 0;
    MPI_Datatype type_ = MPI_BYTE;
    double sent_bytes_ = 0;
    std::array<std::byte, answer_bytes> answer_{};
};

}  // namespace assay::pt2pt
