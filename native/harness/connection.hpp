// TCP between two processes of one launch: a listener on one address alone, which takes nobody but the peer that
// shows the token it was told of.
#pragma once

#include <array>
#include <cstddef>
#include <string>

#include "harness/sockets.hpp"

namespace assay {

enum class Family { ipv4, ipv6 };

/// Numeric address of a network interface (for IPv6 one that is not of the link alone, where there is one).
/// Failure (usage) where there is no such interface, or it has no address of this family.
std::string interface_address(const std::string& interface, Family family);

/// Numeric address that this host's name resolves to. Failure (environment) where it resolves to none that another
/// host could reach.
std::string host_address(Family family);

std::string loopback_address(Family family);

/// What a listener tells its peer, by another way than the network.
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
    /// Bound to this address and no other, at a port that the system chooses; draws the token. Failure
    /// (environment) where the system refuses.
    Listener(const std::string& address, const SocketOptions& options);

    [[nodiscard]] const Offer& offer() const { return offer_; }

    /// The connection whose peer shows the token; others are closed, and those that say nothing keep nobody from
    /// coming. Failure (environment) where none comes within so many seconds, or the way takes no such segments.
    [[nodiscard]] Socket accept(double seconds) const;

  private:
    SocketOptions options_;
    Socket socket_;
    Offer offer_;
};

/// Connects from this address to a listener, shows the first half of its token and awaits the second. Failure
/// (environment) where that fails, or takes more than so many seconds.
Socket connect_to(const Offer& offer, const std::string& source, const SocketOptions& options, double seconds);

}  // namespace assay
