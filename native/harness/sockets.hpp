// TCP sockets: their options, and what the two ends agreed on.
#pragma once

#include <string>

#include "harness/failure.hpp"

namespace assay {

/// Options of sockets; 0 leaves a buffer, or the segment length, to the system.
struct SocketOptions {
    bool nodelay = true;
    int send_bytes = 0;
    int receive_bytes = 0;
    int segment_bytes = 0;  ///< largest segment, TCP options included: what the handshake announces
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

/// (environment) The network cannot do what is needed.
Failure network_failure(const std::string& what, const std::string& why);

/// The system's text of its last error.
std::string last_error();

/// Sets the options that a connection needs from its start, and checks that they are granted. Failure
/// (environment, or usage for an impossible segment length) if not.
void prepare(const Socket& socket, const SocketOptions& options);

/// Message bytes in a full segment of a connection, as its two ends agreed.
int segment_bytes(const Socket& socket);

/// Failure (environment) if segments are shorter than requested: the path does not allow more.
void require_segment(const Socket& socket, const SocketOptions& options);

}  // namespace assay
