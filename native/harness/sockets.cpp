#include "harness/sockets.hpp"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

namespace assay {
namespace {

constexpr int max_option_bytes = 40;  ///< TCP options of a segment may take so much (RFC 9293, 3.1)

}  // namespace

Socket& Socket::operator=(Socket&& other) noexcept {
    std::swap(descriptor_, other.descriptor_);
    return *this;
}

Socket::~Socket() {
    if (descriptor_ >= 0) {
        close(descriptor_);
    }
}

int Socket::release() noexcept { return std::exchange(descriptor_, -1); }

Failure network_failure(const std::string& what, const std::string& why) {
    return {Exit::environment, what, why, "name an interface that both hosts have: --network eth0"};
}

std::string last_error() { return std::strerror(errno); }

void prepare(const Socket& socket, const SocketOptions& options) {
    const auto set = [&](int name, int bytes, const std::string& limit) {
        int granted = 0;
        socklen_t length = sizeof granted;
        if (bytes == 0) {
            return;
        }
        setsockopt(socket.get(), SOL_SOCKET, name, &bytes, sizeof bytes);
        getsockopt(socket.get(), SOL_SOCKET, name, &granted, &length);
        if (granted / 2 < bytes) {  // the kernel grants twice as much, for its own use
            throw Failure(Exit::environment,
                          "a buffer of " + std::to_string(bytes) + " B is not granted to a socket",
                          "net.core." + limit + " allows " + std::to_string(granted / 2) + " B",
                          "ask for less, or as root: sysctl -w net.core." + limit + "=" + std::to_string(bytes));
        }
    };
    set(SO_SNDBUF, options.send_bytes, "wmem_max");
    set(SO_RCVBUF, options.receive_bytes, "rmem_max");
    const int segment = options.segment_bytes;
    if (segment != 0 && setsockopt(socket.get(), IPPROTO_TCP, TCP_MAXSEG, &segment, sizeof segment) != 0) {
        throw Failure(Exit::usage, "segments of " + std::to_string(segment) + " B cannot be asked of a socket",
                      "TCP_MAXSEG: " + last_error() + "; Linux takes 88 to 32767", "name a length within these");
    }
    const int nodelay = options.nodelay ? 1 : 0;
    if (setsockopt(socket.get(), IPPROTO_TCP, TCP_NODELAY, &nodelay, sizeof nodelay) != 0) {
        throw network_failure("TCP_NODELAY cannot be set", last_error());
    }
}

int segment_bytes(const Socket& socket) {
    tcp_info info{};
    socklen_t length = sizeof info;
    if (getsockopt(socket.get(), IPPROTO_TCP, TCP_INFO, &info, &length) != 0) {
        throw network_failure("the segments of a connection are not told", last_error());
    }
    return static_cast<int>(info.tcpi_snd_mss);
}

void require_segment(const Socket& socket, const SocketOptions& options) {
    const int agreed = segment_bytes(socket);
    const int requested = options.segment_bytes;
    if (requested != 0 && (agreed > requested || agreed < requested - max_option_bytes)) {
        throw Failure(Exit::environment,
                      "segments of " + std::to_string(requested) + " B are not granted to a connection",
                      "its ends agreed on " + std::to_string(agreed) +
                          " B of a message in each: an MTU on the way, or a small buffer, takes no more",
                      "ask for less, or raise the MTU on all nodes: as root, ip link set DEVICE mtu 9000");
    }
}

}  // namespace assay
