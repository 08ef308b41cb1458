// TCP between two processes of one launch: a listener on a single address, which accepts only the peer that
// shows the token.
#pragma once

#include <array>
#include <cstddef>
#include <string>

#include "harness/sockets.hpp"

namespace assay {

enum class Family { ipv4, ipv6 };

/// Numeric address of a network interface (IPv6: not link-local, if there is another one). Failure (usage) if
/// the interface does not exist, or has no address of this family.
std::string interface_address(const std::string& interface, Family family);

/// Numeric address of this host's name. Failure (environment) if no other host could reach it.
std::string host_address(Family family);

std::string loopback_address(Family family);

/// What a listener passes to its peer by other means than the network.
struct Offer {
    std::string address;
    std::string port;
    std::string token;  ///< hexadecimal

    /// One line, without a zero byte.
    [[nodiscard]] std::string text() const { return address + ' ' + port + ' ' + token; }
    static Offer parse(const std::string& text);
};

/// Waits for one peer.
class Listener {
  public:
    /// Listens on this address only, at a port chosen by the system; draws the token. Failure (environment) if
    /// the system refuses.
    Listener(const std::string& address, const SocketOptions& options);

    [[nodiscard]] const Offer& offer() const { return offer_; }

    /// The connection of the peer that shows the token. Others are closed, and silent ones do not block the
    /// peer. Failure (environment) if none comes within so many seconds, or the path does not allow such
    /// segments.
    [[nodiscard]] Socket accept(double seconds) const;

  private:
    SocketOptions options_;
    Socket socket_;
    Offer offer_;
};

/// Connects from this address to a listener, shows the first half of its token and waits for the second. Failure
/// (environment) if that fails, or takes more than so many seconds.
Socket connect_to(const Offer& offer, const std::string& source, const SocketOptions& options, double seconds);

}  // namespace assay
