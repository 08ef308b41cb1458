// Messages of known size over one TCP connection.
#pragma once

#include <poll.h>
#include <sys/socket.h>

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "harness/clock.hpp"
#include "harness/connection.hpp"
#include "harness/walk.hpp"

namespace assay::tcp {

/// Transfers bytes in timed regions, so it throws nothing: after an error, or `timeout_s` without progress, a
/// connection is `broken` and transfers nothing more.
class Stream {
  public:
    static constexpr double timeout_s = 20;

    Stream() = default;

    /// `polling`: calls the kernel repeatedly; otherwise the kernel wakes this thread.
    Stream(Socket socket, bool polling) : socket_(std::move(socket)), polling_(polling), broken_(false) {
        if (!polling) {
            const timeval timeout{static_cast<time_t>(timeout_s), 0};
            setsockopt(socket_.get(), SOL_SOCKET, SO_RCVTIMEO, &timeout, sizeof timeout);
            setsockopt(socket_.get(), SOL_SOCKET, SO_SNDTIMEO, &timeout, sizeof timeout);
        }
    }

    [[nodiscard]] bool broken() const { return broken_; }

    void send(const std::byte* message, std::size_t bytes) {
        pass(bytes, [&](std::size_t done) {
            return ::send(socket_.get(), message + done, bytes - done, MSG_NOSIGNAL | flags());
        });
    }

    void receive(std::byte* message, std::size_t bytes) {
        pass(bytes, [&](std::size_t done) {
            return ::recv(socket_.get(), message + done, bytes - done, MSG_WAITALL | flags());
        });
    }

    /// Sends and receives so many messages at the same time, as far as the connection allows.
    template <class NextToSend, class NextToReceive>
    void exchange(std::uint64_t messages, std::size_t bytes, const NextToSend& to_send,
                  const NextToReceive& to_receive) {
        Half out{messages, nullptr, 0};
        Half in{messages, nullptr, 0};
        double until = 0;
        for (std::uint64_t spins = 0; !broken_ && (out.messages > 0 || in.messages > 0);) {
            const bool sent = step(out, bytes, to_send, [&](std::byte* from, std::size_t left) {
                return ::send(socket_.get(), from, left, MSG_NOSIGNAL | MSG_DONTWAIT);
            });
            const bool received = step(in, bytes, to_receive, [&](std::byte* to, std::size_t left) {
                return ::recv(socket_.get(), to, left, MSG_DONTWAIT);
            });
            if (sent || received) {
                spins = 0;
            } else if (polling_) {
                check_timeout(spins++, until);
            } else {
                wait(out.messages > 0);
            }
        }
    }

  private:
    /// One direction of an exchange: messages that are left, and the state of the current one.
    struct Half {
        std::uint64_t messages;
        std::byte* current;
        std::size_t done;
    };

    [[nodiscard]] int flags() const { return polling_ ? MSG_DONTWAIT : 0; }

    template <class Call>
    void pass(std::size_t bytes, const Call& call) {
        double until = 0;
        std::uint64_t spins = 0;
        for (std::size_t done = 0; done < bytes && !broken_;) {
            const ssize_t moved = call(done);
            if (moved > 0) {
                done += static_cast<std::size_t>(moved);
                spins = 0;
            } else if (moved < 0 && polling_ && errno == EAGAIN) {
                check_timeout(spins++, until);
            } else if (moved == 0 || errno != EINTR) {
                give_up();
            }
        }
    }

    template <class Next, class Call>
    bool step(Half& half, std::size_t bytes, const Next& next, const Call& call) {
        if (half.messages == 0 || broken_) {
            return false;
        }
        if (half.current == nullptr) {
            half.current = next();
        }
        const ssize_t moved = call(half.current + half.done, bytes - half.done);
        if (moved <= 0) {
            if (moved == 0 || (errno != EAGAIN && errno != EINTR)) {
                give_up();
            }
            return false;
        }
        half.done += static_cast<std::size_t>(moved);
        if (half.done == bytes) {
            half = {half.messages - 1, nullptr, 0};
        }
        return true;
    }

    void wait(bool to_send) {
        constexpr int timeout_ms = static_cast<int>(1000 * timeout_s);
        pollfd descriptor{socket_.get(), static_cast<short>(to_send ? POLLIN | POLLOUT : POLLIN), 0};
        const int ready_count = poll(&descriptor, 1, timeout_ms);
        if (ready_count == 0 || (ready_count < 0 && errno != EINTR)) {
            give_up();
        }
    }

    /// Only now and then: reading the clock takes longer than calling the kernel.
    void check_timeout(std::uint64_t spins, double& until) {
        constexpr std::uint64_t between = 1024;
        if (spins == 0) {
            until = now() + timeout_s;
        } else if (spins % between == 0 && now() > until) {
            give_up();
        }
    }

    /// The peer notices it at once.
    void give_up() {
        broken_ = true;
        shutdown(socket_.get(), SHUT_RDWR);
    }

    Socket socket_;
    bool polling_ = false;
    bool broken_ = true;
};

}  // namespace assay::tcp
