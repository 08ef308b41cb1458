#include "harness/connection.hpp"

#include <fcntl.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netdb.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/random.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <memory>
#include <sstream>
#include <utility>
#include <vector>

#include "harness/clock.hpp"
#include "harness/failure.hpp"
#include "harness/host.hpp"

namespace assay {
namespace {

constexpr std::size_t half_bytes = 16;  ///< of a token: each side shows one half
constexpr std::size_t token_bytes = 2 * half_bytes;
constexpr std::size_t max_pending = 64;  ///< that are kept open at the same time

using Half = std::array<unsigned char, half_bytes>;

int number_of(Family family) { return family == Family::ipv4 ? AF_INET : AF_INET6; }

const char* name_of(Family family) { return family == Family::ipv4 ? "IPv4" : "IPv6"; }

/// An address for the kernel.
struct Endpoint {
    sockaddr_storage address{};
    socklen_t bytes = 0;

    [[nodiscard]] const sockaddr* get() const { return reinterpret_cast<const sockaddr*>(&address); }
};

std::string numeric(const sockaddr* address, Family family) {
    std::array<char, NI_MAXHOST> text{};
    const auto bytes = static_cast<socklen_t>(family == Family::ipv4 ? sizeof(sockaddr_in) : sizeof(sockaddr_in6));
    getnameinfo(address, bytes, text.data(), text.size(), nullptr, 0, NI_NUMERICHOST);
    return text.data();
}

/// Failure (environment) if a name or an address cannot be resolved here.
Endpoint resolve(const std::string& name, const std::string& port, int family, int flags) {
    addrinfo hints{};
    hints.ai_family = family;
    hints.ai_socktype = SOCK_STREAM;
    hints.ai_flags = flags;
    addrinfo* found = nullptr;
    const int error = getaddrinfo(name.c_str(), port.c_str(), &hints, &found);
    if (error != 0) {
        throw network_failure("'" + name + "' is no address here", gai_strerror(error));
    }
    Endpoint endpoint;
    endpoint.bytes = found->ai_addrlen;
    std::memcpy(&endpoint.address, found->ai_addr, found->ai_addrlen);
    freeaddrinfo(found);
    return endpoint;
}

Endpoint endpoint_of(const std::string& address, const std::string& port) {
    return resolve(address, port, AF_UNSPEC, AI_NUMERICHOST | AI_NUMERICSERV);
}

bool is_link_local(const sockaddr* address) {
    return address->sa_family == AF_INET6 &&
           IN6_IS_ADDR_LINKLOCAL(&reinterpret_cast<const sockaddr_in6*>(address)->sin6_addr);
}

bool is_loopback(const sockaddr* address) {
    if (address->sa_family == AF_INET6) {
        return IN6_IS_ADDR_LOOPBACK(&reinterpret_cast<const sockaddr_in6*>(address)->sin6_addr);
    }
    return ntohl(reinterpret_cast<const sockaddr_in*>(address)->sin_addr.s_addr) >> 24U == IN_LOOPBACKNET;
}

[[noreturn]] void throw_no_address(const std::string& interface, Family family, const std::string& known) {
    const bool exists = if_nametoindex(interface.c_str()) != 0;
    const std::string device = interface.substr(0, interface.find(':'));
    const bool port = !exists && std::filesystem::exists("/sys/class/infiniband/" + device);
    const std::string what = exists ? interface + " has no address of " + name_of(family)
                                    : "there is no network interface '" + interface + "'";
    std::string why = "those with one: " + (known.empty() ? "none" : known);
    if (port) {
        why =
            "it is an InfiniBand device, and TCP goes over interfaces: that of IP over InfiniBand, such as ib0; " +
            why;
    }
    throw Failure(Exit::usage, what, why, "name another one with --network");
}

Socket open_socket(const Endpoint& endpoint) {
    Socket socket(::socket(endpoint.address.ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, IPPROTO_TCP));
    if (socket.get() < 0) {
        throw network_failure("no socket can be had", last_error());
    }
    return socket;
}

/// Failure if the address is not one of this host.
void bind_to(const Socket& socket, const Endpoint& endpoint, const std::string& address) {
    if (bind(socket.get(), endpoint.get(), endpoint.bytes) != 0) {
        throw network_failure(address + " cannot be used", last_error());
    }
}

void set_blocking(const Socket& socket) {
    fcntl(socket.get(), F_SETFL, fcntl(socket.get(), F_GETFL) & ~O_NONBLOCK);
}

/// Waits for an event; false if none comes before `until`.
bool wait_for(std::vector<pollfd>& descriptors, double until) {
    while (true) {
        const double left = until - now();
        if (left <= 0) {
            return false;
        }
        constexpr double ms_per_s = 1e3;
        const int ready_count =
            poll(descriptors.data(), descriptors.size(), static_cast<int>(std::ceil(left * ms_per_s)));
        if (ready_count > 0) {
            return true;
        }
        if (ready_count < 0 && errno != EINTR) {
            return false;
        }
    }
}

bool ready(const Socket& socket, short events, double until) {
    std::vector<pollfd> descriptors{{socket.get(), events, 0}};
    return wait_for(descriptors, until);
}

/// Compares all bytes in constant time: the duration does not reveal how many were right.
bool equal_in_constant_time(const Half& one, const Half& other) {
    unsigned int different = 0;
    for (std::size_t index = 0; index < half_bytes; ++index) {
        different |= static_cast<unsigned int>(one[index] ^ other[index]);
    }
    return different == 0;
}

std::string draw_token() {
    std::array<unsigned char, token_bytes> drawn{};
    if (getrandom(drawn.data(), drawn.size(), 0) != static_cast<ssize_t>(drawn.size())) {
        throw network_failure("no random number can be had", last_error());
    }
    constexpr std::string_view digits = "0123456789abcdef";
    std::string text;
    for (const unsigned char byte : drawn) {
        text += digits[byte >> 4U];
        text += digits[byte & 15U];
    }
    return text;
}

/// The half that the connecting side shows, or the half of the answer.
Half half_of(const std::string& token, bool answer) {
    Half half{};
    constexpr int hexadecimal = 16;
    for (std::size_t index = 0; index < half_bytes; ++index) {
        const std::size_t offset = 2 * (index + (answer ? half_bytes : 0));
        half[index] = static_cast<unsigned char>(std::stoul(token.substr(offset, 2), nullptr, hexadecimal));
    }
    return half;
}

bool show(const Socket& socket, const Half& half) {
    return send(socket.get(), half.data(), half.size(), MSG_NOSIGNAL) == static_cast<ssize_t>(half.size());
}

/// A connection whose peer has not shown the token yet.
struct Incoming {
    Socket socket;
    Half shown{};
    std::size_t bytes = 0;
};

enum class Identity { unknown, peer, unauthorized };

Identity identify(Incoming& connection, const Half& expected) {
    const ssize_t got = recv(connection.socket.get(), connection.shown.data() + connection.bytes,
                             half_bytes - connection.bytes, 0);
    if (got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR)) {
        return Identity::unknown;
    }
    if (got <= 0) {
        return Identity::unauthorized;
    }
    connection.bytes += static_cast<std::size_t>(got);
    if (connection.bytes < half_bytes) {
        return Identity::unknown;
    }
    return equal_in_constant_time(connection.shown, expected) ? Identity::peer : Identity::unauthorized;
}

}  // namespace

std::string interface_address(const std::string& interface, Family family) {
    ifaddrs* all = nullptr;
    if (getifaddrs(&all) != 0) {
        throw network_failure("the addresses of this host cannot be read", last_error());
    }
    const std::unique_ptr<ifaddrs, decltype(&freeifaddrs)> owner(all, freeifaddrs);
    std::string routable;
    std::string link_local;
    std::vector<std::string> known;
    for (const ifaddrs* each = all; each != nullptr; each = each->ifa_next) {
        if (each->ifa_addr == nullptr || each->ifa_addr->sa_family != number_of(family)) {
            continue;
        }
        if (std::find(known.begin(), known.end(), each->ifa_name) == known.end()) {
            known.emplace_back(each->ifa_name);
        }
        std::string& found = is_link_local(each->ifa_addr) ? link_local : routable;
        if (interface == each->ifa_name && found.empty()) {
            found = numeric(each->ifa_addr, family);
        }
    }
    if (routable.empty() && link_local.empty()) {
        std::string names;
        for (const std::string& name : known) {
            names += (names.empty() ? "" : ", ") + name;
        }
        throw_no_address(interface, family, names);
    }
    return routable.empty() ? link_local : routable;
}

std::string host_address(Family family) {
    const Endpoint endpoint = resolve(host(), "", number_of(family), 0);
    std::string address = numeric(endpoint.get(), family);
    if (is_loopback(endpoint.get())) {
        throw network_failure("the name of this host, " + host() + ", leads no other host here",
                              "it resolves to " + address + ", which is a host's own");
    }
    return address;
}

std::string loopback_address(Family family) { return family == Family::ipv4 ? "127.0.0.1" : "::1"; }

Offer Offer::parse(const std::string& text) {
    std::istringstream words(text);
    Offer offer;
    words >> offer.address >> offer.port >> offer.token;
    return offer;
}

Listener::Listener(const std::string& address, const SocketOptions& options) : options_(options) {
    Endpoint endpoint = endpoint_of(address, "0");
    socket_ = open_socket(endpoint);
    prepare(socket_, options);
    bind_to(socket_, endpoint, address);
    if (listen(socket_.get(), static_cast<int>(max_pending)) != 0) {
        throw network_failure("nobody can be awaited at " + address, last_error());
    }
    getsockname(socket_.get(), reinterpret_cast<sockaddr*>(&endpoint.address), &endpoint.bytes);
    std::array<char, NI_MAXSERV> port{};
    getnameinfo(endpoint.get(), endpoint.bytes, nullptr, 0, port.data(), port.size(), NI_NUMERICSERV);
    offer_ = {address, port.data(), draw_token()};
}

Socket Listener::accept(double seconds) const {
    const double until = now() + seconds;
    const Half expected = half_of(offer_.token, false);
    std::vector<Incoming> pending;
    std::size_t rejected = 0;
    while (true) {
        std::vector<pollfd> descriptors{{socket_.get(), POLLIN, 0}};
        for (const Incoming& connection : pending) {
            descriptors.push_back({connection.socket.get(), POLLIN, 0});
        }
        if (!wait_for(descriptors, until)) {
            const std::size_t others = rejected + pending.size();
            throw network_failure("no peer has come to " + offer_.address + " port " + offer_.port + " within " +
                                      format_seconds(seconds),
                                  others == 0
                                      ? "nobody came: a firewall may keep it away"
                                      : "connections without the token came instead: " + std::to_string(others));
        }
        for (std::size_t index = pending.size(); index-- > 0;) {
            const Identity identity =
                descriptors[index + 1].revents == 0 ? Identity::unknown : identify(pending[index], expected);
            if (identity == Identity::peer && show(pending[index].socket, half_of(offer_.token, true))) {
                prepare(pending[index].socket, {options_.nodelay});
                require_segment(pending[index].socket, options_);
                set_blocking(pending[index].socket);
                return std::move(pending[index].socket);
            }
            if (identity != Identity::unknown) {
                pending.erase(pending.begin() + static_cast<std::ptrdiff_t>(index));
                ++rejected;
            }
        }
        Socket accepted(accept4(socket_.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
        if (accepted.get() >= 0) {
            if (pending.size() == max_pending) {
                pending.erase(pending.begin());
                ++rejected;
            }
            pending.push_back({std::move(accepted)});
        }
    }
}

Socket connect_to(const Offer& offer, const std::string& source, const SocketOptions& options, double seconds) {
    const double until = now() + seconds;
    const std::string route = "from " + source + " to " + offer.address + " port " + offer.port;
    const Endpoint endpoint = endpoint_of(offer.address, offer.port);
    Socket socket = open_socket(endpoint);
    prepare(socket, options);
    bind_to(socket, endpoint_of(source, "0"), source);
    int error = connect(socket.get(), endpoint.get(), endpoint.bytes) == 0 ? 0 : errno;
    if (error == EINPROGRESS) {
        if (!ready(socket, POLLOUT, until)) {
            throw network_failure("no connection " + route,
                                  "nothing was answered within " + format_seconds(seconds));
        }
        socklen_t length = sizeof error;
        getsockopt(socket.get(), SOL_SOCKET, SO_ERROR, &error, &length);
    }
    if (error != 0) {
        throw network_failure("no connection " + route, std::strerror(error));
    }
    Incoming listener{std::move(socket)};
    Identity identity =
        show(listener.socket, half_of(offer.token, false)) ? Identity::unknown : Identity::unauthorized;
    while (identity == Identity::unknown && ready(listener.socket, POLLIN, until)) {
        identity = identify(listener, half_of(offer.token, true));
    }
    if (identity != Identity::peer) {
        throw network_failure("no connection " + route,
                              "who listens there did not show the token that was agreed on");
    }
    require_segment(listener.socket, options);
    set_blocking(listener.socket);
    return std::move(listener.socket);
}

}  // namespace assay
