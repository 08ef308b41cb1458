// Sockets of TCP: how they are set up, and what their two ends agreed on.
#pragma once

#include <string>

#include "harness/failure.hpp"

namespace assay {

/// How sockets are set up; 0 B leaves a buffer, or the length of segments, to the system.
struct SocketOptions {
    bool nodelay = true;
    int send_bytes = 0;
    int receive_bytes = 0;
    int segment_bytes = 0;  ///< that a segment has at most, options of TCP included: what the handshake announces
};

/// A file descriptor of a socket, closed with this object.
class Socket {
  public:
    Socket() = default;
    explicit Socket(int descriptor) : descriptor_(descriptor) {}
    Socket(const Socket&) = delete;
    Socket& operator=(const Socket&) = delete;
    Socket(Socket&& other) noexcept : descriptor_(other.release()) {}
    Socket& operator=(Socket&& other) noexcept;
    ~Socket();

    [[nodiscard]] int get() const { return descriptor_; }

  private:
    int release() noexcept;

    int descriptor_ = -1;
};

/// (environment) What a network does not give.
Failure unfit(const std::string& what, const std::string& why);

/// What the system says of its last error.
std::string reason();

/// Sets what has to be set before a connection is made, and sees that it is granted. Failure (environment, or
/// usage for a segment that no way takes) where it is not.
void prepare(const Socket& socket, const SocketOptions& options);

/// Bytes of a message that a segment of a connection carries at most, as its two ends agreed.
int segment_bytes(const Socket& socket);

/// Failure (environment) where segments are not as long as was asked for: what the way does not take makes them
/// shorter.
void require_segment(const Socket& socket, const SocketOptions& options);

}  // namespace assay
