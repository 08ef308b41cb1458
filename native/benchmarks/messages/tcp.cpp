// Messages over TCP sockets between the same pairs of processes as in pt2pt.
#include "declared/tcp.hpp"

#include <array>
#include <optional>
#include <utility>
#include <vector>

#include "benchmarks/messages/tcp_options.hpp"
#include "benchmarks/messages/tcp_stream.hpp"
#include "harness/buffers.hpp"
#include "harness/clock.hpp"
#include "harness/mpi/program.hpp"

namespace {

using assay::Failure;
using assay::Listener;
using assay::Offer;
using assay::Pair;
using assay::Setting;
using assay::messages::Pattern;
using assay::tcp::Options;
using assay::tcp::Stream;

constexpr double connect_s = 10;         ///< time limit of a connection
constexpr std::size_t answer_bytes = 4;  ///< of an acknowledgement, as in OSU

class Tcp : public assay::Benchmark {
  public:
    explicit Tcp(const Setting& setting)
        : options_(assay::tcp::options_of(setting.params)),
          pair_(assay::pair_of(setting.ranks)),
          ranks_(setting.ranks),
          network_(setting.network),
          buffers_(*setting.memory, options_.layout, options_.spacing, setting.ranks.rank()) {
        assay::messages::require_pairs(setting.params, setting.ranks.size());
        if (!network_.empty()) {
            address_ = assay::interface_address(network_, options_.family);
        }
    }

    /// The second half of the ranks listens, the first half connects. Ranks exchange all information before any
    /// of them gives up.
    void connect() override {
        const auto hosts = assay::allgather(ranks_, assay::host_key());
        const bool same_host = hosts[partner()] == hosts[static_cast<std::size_t>(ranks_.rank())];
        std::optional<Failure> failure;
        std::optional<Listener> listener;
        try {
            if (network_.empty()) {
                address_ =
                    same_host ? assay::loopback_address(options_.family) : assay::host_address(options_.family);
            }
            if (!pair_.first) {
                listener.emplace(address_, options_.socket);
            }
        } catch (const Failure& mine) {
            failure = mine;
        }
        const auto offers = assay::allgather(ranks_, listener ? listener->offer().text() : "");
        if (failure) {
            throw Failure(*failure);
        }
        const std::string& offer = offers[partner()];
        if (pair_.first && offer.empty()) {
            return;  // the partner reports the reason
        }
        if (pair_.first) {
            const Offer wanted = Offer::parse(offer);
            path_ = address_ + " -> " + wanted.address;
            use(assay::connect_to(wanted, address_, options_.socket, connect_s));
        } else {
            use(listener->accept(connect_s));
        }
    }

    [[nodiscard]] assay::Work work() const override {
        const double messages = static_cast<double>(pair_.pairs) * static_cast<double>(messages_());
        return assay::messages::work(options_.pattern, messages, options_.layout.bytes);
    }

    void prepare(std::size_t /*kernel*/) override { buffers_.prepare(); }

    void iterate(std::size_t /*kernel*/, std::uint64_t iterations, int /*thread*/) override {
        meet();
        seconds_ = options_.gap.seconds_of(iterations, pair_.first, [&](std::uint64_t count) {
            for (std::uint64_t iteration = 0; iteration < count && !stream_.broken(); ++iteration) {
                pass();
            }
        });
        const std::uint64_t sent =
            options_.pattern == Pattern::bandwidth ? (pair_.first ? options_.window : 0) : messages_() / 2;
        sent_bytes_ += static_cast<double>(iterations * sent) * static_cast<double>(options_.layout.bytes);
    }

    double verify(std::size_t /*kernel*/) override {
        const bool receives = options_.pattern != Pattern::bandwidth || !pair_.first;
        return receives ? buffers_.wrong(pair_.partner) : 0;
    }

    [[nodiscard]] double tolerance() const override { return 0; }

    [[nodiscard]] std::uint64_t max_iterations() const override { return options_.gap.max_iterations(); }

    /// The starting rank, or both ranks in bidirectional patterns.
    [[nodiscard]] bool times() const override { return pair_.first || options_.pattern == Pattern::bidirectional; }

    [[nodiscard]] std::optional<double> self_timed_seconds() const override { return seconds_; }

    [[nodiscard]] double sent_bytes() const override { return sent_bytes_; }

    [[nodiscard]] std::string path() const override { return path_; }

    [[nodiscard]] std::string segment() const override { return segment_; }

    void require_undisturbed() const override {
        if (stream_.broken()) {
            throw Failure(assay::Exit::failed, "a TCP connection broke",
                          "its peer closed it, or nothing moved over it for " +
                              std::to_string(static_cast<int>(Stream::timeout_s)) +
                              " s, as where the way loses long frames",
                          "look at the other rank's words, and whether shorter frames pass: "
                          "assay run network --vary tcp.segment=1220,0",
                          assay::connection_lost);
        }
    }

  private:
    [[nodiscard]] std::size_t partner() const { return static_cast<std::size_t>(pair_.partner); }
    [[nodiscard]] std::uint64_t messages_() const {
        return assay::messages::count(options_.pattern, options_.window);
    }

    void use(assay::Socket socket) {
        segment_ = std::to_string(assay::segment_bytes(socket));
        stream_ = Stream(std::move(socket), options_.polling);
    }

    void send() { stream_.send(buffers_.to_send(buffers_.next()), options_.layout.bytes); }
    void receive() { stream_.receive(buffers_.to_receive(buffers_.next()), options_.layout.bytes); }

    void send_answer() {
        stream_.send(answer_.data(), answer_bytes);
        sent_bytes_ += answer_bytes;
    }

    void receive_answer() { stream_.receive(answer_.data(), answer_bytes); }

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

    /// One iteration.
    void pass() {
        switch (options_.pattern) {
            case Pattern::latency:
                pair_.first ? ping() : pong();
                break;
            case Pattern::bandwidth:
                pair_.first ? send_window() : receive_window();
                break;
            case Pattern::bidirectional:
                exchange_windows();
                break;
        }
    }

    void ping() {
        const std::size_t slot = buffers_.next();
        stream_.send(buffers_.to_send(slot), options_.layout.bytes);
        stream_.receive(buffers_.to_receive(slot), options_.layout.bytes);
    }

    void pong() {
        const std::size_t slot = buffers_.next();
        stream_.receive(buffers_.to_receive(slot), options_.layout.bytes);
        stream_.send(buffers_.to_send(slot), options_.layout.bytes);
    }

    void send_window() {
        for (std::uint64_t message = 0; message < options_.window; ++message) {
            send();
        }
        receive_answer();
    }

    void receive_window() {
        for (std::uint64_t message = 0; message < options_.window; ++message) {
            receive();
        }
        send_answer();
    }

    void exchange_windows() {
        assay::Walk sending = buffers_.walk();
        stream_.exchange(
            options_.window, options_.layout.bytes, [&] { return buffers_.to_send(sending.next()); },
            [&] { return buffers_.to_receive(buffers_.next()); });
    }

    Options options_;
    Pair pair_;
    assay::Ranks& ranks_;
    std::string network_;
    assay::Buffers buffers_;
    std::string address_;
    std::string path_;
    std::string segment_;
    Stream stream_;
    double seconds_ = 0;
    double sent_bytes_ = 0;
    std::array<std::byte, answer_bytes> answer_{};
};

}  // namespace

int main(int argc, char** argv) { return assay::run_mpi_program<Tcp>(assay::declared::tcp, argc, argv); }
