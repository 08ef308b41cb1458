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
constexpr std::size_t most_strangers = 64;  ///< that are kept open at the same time

using Half = std::array<unsigned char, half_bytes>;

int number_of(Family family) { return family == Family::ipv4 ? AF_INET : AF_INET6; }

const char* name_of(Family family) { return family == Family::ipv4 ? "IPv4" : "IPv6"; }

/// An address for the kernel.
struct Place {
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
Place resolve(const std::string& name, const std::string& port, int family, int flags) {
    addrinfo hints{};
    hints.ai_family = family;
    hints.ai_socktype = SOCK_STREAM;
    hints.ai_flags = flags;
    addrinfo* found = nullptr;
    const int error = getaddrinfo(name.c_str(), port.c_str(), &hints, &found);
    if (error != 0) {
        throw unfit("'" + name + "' is no address here", gai_strerror(error));
    }
    Place place;
    place.bytes = found->ai_addrlen;
    std::memcpy(&place.address, found->ai_addr, found->ai_addrlen);
    freeaddrinfo(found);
    return place;
}

Place place_of(const std::string& address, const std::string& port) {
    return resolve(address, port, AF_UNSPEC, AI_NUMERICHOST | AI_NUMERICSERV);
}

bool of_link_alone(const sockaddr* address) {
    return address->sa_family == AF_INET6 &&
           IN6_IS_ADDR_LINKLOCAL(&reinterpret_cast<const sockaddr_in6*>(address)->sin6_addr);
}

bool is_loopback(const sockaddr* address) {
    if (address->sa_family == AF_INET6) {
        return IN6_IS_ADDR_LOOPBACK(&reinterpret_cast<const sockaddr_in6*>(address)->sin6_addr);
    }
    return ntohl(reinterpret_cast<const sockaddr_in*>(address)->sin_addr.s_addr) >> 24U == IN_LOOPBACKNET;
}

[[noreturn]] void refuse(const std::string& interface, Family family, const std::string& known) {
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

Socket open_socket(const Place& place) {
    Socket socket(::socket(place.address.ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, IPPROTO_TCP));
    if (socket.get() < 0) {
        throw unfit("no socket can be had", reason());
    }
    return socket;
}

/// Failure if the address is not one of this host.
void bind_to(const Socket& socket, const Place& place, const std::string& address) {
    if (bind(socket.get(), place.get(), place.bytes) != 0) {
        throw unfit(address + " cannot be used", reason());
    }
}

void let_block(const Socket& socket) { fcntl(socket.get(), F_SETFL, fcntl(socket.get(), F_GETFL) & ~O_NONBLOCK); }

/// Waits for an event; false if none comes before `until`.
bool wait_for(std::vector<pollfd>& watched, double until) {
    while (true) {
        const double left = until - now();
        if (left <= 0) {
            return false;
        }
        constexpr double in_ms = 1e3;
        const int happened = poll(watched.data(), watched.size(), static_cast<int>(std::ceil(left * in_ms)));
        if (happened > 0) {
            return true;
        }
        if (happened < 0 && errno != EINTR) {
            return false;
        }
    }
}

bool ready(const Socket& socket, short events, double until) {
    std::vector<pollfd> watched{{socket.get(), events, 0}};
    return wait_for(watched, until);
}

/// Compares all bytes in constant time: the duration does not reveal how many were right.
bool same(const Half& one, const Half& other) {
    unsigned int different = 0;
    for (std::size_t index = 0; index < half_bytes; ++index) {
        different |= static_cast<unsigned int>(one[index] ^ other[index]);
    }
    return different == 0;
}

std::string draw_token() {
    std::array<unsigned char, token_bytes> drawn{};
    if (getrandom(drawn.data(), drawn.size(), 0) != static_cast<ssize_t>(drawn.size())) {
        throw unfit("no random number can be had", reason());
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
        const std::size_t place = 2 * (index + (answer ? half_bytes : 0));
        half[index] = static_cast<unsigned char>(std::stoul(token.substr(place, 2), nullptr, hexadecimal));
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

enum class Identity { unknown, peer, stranger };

Identity identify(Incoming& comer, const Half& expected) {
    const ssize_t got = recv(comer.socket.get(), comer.shown.data() + comer.bytes, half_bytes - comer.bytes, 0);
    if (got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR)) {
        return Identity::unknown;
    }
    if (got <= 0) {
        return Identity::stranger;
    }
    comer.bytes += static_cast<std::size_t>(got);
    if (comer.bytes < half_bytes) {
        return Identity::unknown;
    }
    return same(comer.shown, expected) ? Identity::peer : Identity::stranger;
}

std::string format_seconds(double seconds) {
    std::ostringstream text;
    text << seconds << " s";
    return text.str();
}

}  // namespace

std::string interface_address(const std::string& interface, Family family) {
    ifaddrs* all = nullptr;
    if (getifaddrs(&all) != 0) {
        throw unfit("the addresses of this host cannot be read", reason());
    }
    const std::unique_ptr<ifaddrs, decltype(&freeifaddrs)> owner(all, freeifaddrs);
    std::string wide;
    std::string of_link;
    std::vector<std::string> known;
    for (const ifaddrs* each = all; each != nullptr; each = each->ifa_next) {
        if (each->ifa_addr == nullptr || each->ifa_addr->sa_family != number_of(family)) {
            continue;
        }
        if (std::find(known.begin(), known.end(), each->ifa_name) == known.end()) {
            known.emplace_back(each->ifa_name);
        }
        std::string& found = of_link_alone(each->ifa_addr) ? of_link : wide;
        if (interface == each->ifa_name && found.empty()) {
            found = numeric(each->ifa_addr, family);
        }
    }
    if (wide.empty() && of_link.empty()) {
        std::string names;
        for (const std::string& name : known) {
            names += (names.empty() ? "" : ", ") + name;
        }
        refuse(interface, family, names);
    }
    return wide.empty() ? of_link : wide;
}

std::string host_address(Family family) {
    const Place place = resolve(host(), "", number_of(family), 0);
    std::string address = numeric(place.get(), family);
    if (is_loopback(place.get())) {
        throw unfit("the name of this host, " + host() + ", leads no other host here",
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
    Place place = place_of(address, "0");
    socket_ = open_socket(place);
    prepare(socket_, options);
    bind_to(socket_, place, address);
    if (listen(socket_.get(), static_cast<int>(most_strangers)) != 0) {
        throw unfit("nobody can be awaited at " + address, reason());
    }
    getsockname(socket_.get(), reinterpret_cast<sockaddr*>(&place.address), &place.bytes);
    std::array<char, NI_MAXSERV> port{};
    getnameinfo(place.get(), place.bytes, nullptr, 0, port.data(), port.size(), NI_NUMERICSERV);
    offer_ = {address, port.data(), draw_token()};
}

Socket Listener::accept(double seconds) const {
    const double until = now() + seconds;
    const Half expected = half_of(offer_.token, false);
    std::vector<Incoming> comers;
    std::size_t strangers = 0;
    while (true) {
        std::vector<pollfd> watched{{socket_.get(), POLLIN, 0}};
        for (const Incoming& comer : comers) {
            watched.push_back({comer.socket.get(), POLLIN, 0});
        }
        if (!wait_for(watched, until)) {
            const std::size_t others = strangers + comers.size();
            throw unfit("no peer has come to " + offer_.address + " port " + offer_.port + " within " +
                            format_seconds(seconds),
                        others == 0 ? "nobody came: a firewall may keep it away"
                                    : "connections without the token came instead: " + std::to_string(others));
        }
        for (std::size_t index = comers.size(); index-- > 0;) {
            const Identity standing =
                watched[index + 1].revents == 0 ? Identity::unknown : identify(comers[index], expected);
            if (standing == Identity::peer && show(comers[index].socket, half_of(offer_.token, true))) {
                prepare(comers[index].socket, {options_.nodelay});
                require_segment(comers[index].socket, options_);
                let_block(comers[index].socket);
                return std::move(comers[index].socket);
            }
            if (standing != Identity::unknown) {
                comers.erase(comers.begin() + static_cast<std::ptrdiff_t>(index));
                ++strangers;
            }
        }
        Socket came(accept4(socket_.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
        if (came.get() >= 0) {
            if (comers.size() == most_strangers) {
                comers.erase(comers.begin());
                ++strangers;
            }
            comers.push_back({std::move(came)});
        }
    }
}

Socket connect_to(const Offer& offer, const std::string& source, const SocketOptions& options, double seconds) {
    const double until = now() + seconds;
    const std::string route = "from " + source + " to " + offer.address + " port " + offer.port;
    const Place place = place_of(offer.address, offer.port);
    Socket socket = open_socket(place);
    prepare(socket, options);
    bind_to(socket, place_of(source, "0"), source);
    int error = connect(socket.get(), place.get(), place.bytes) == 0 ? 0 : errno;
    if (error == EINPROGRESS) {
        if (!ready(socket, POLLOUT, until)) {
            throw unfit("no connection " + route, "nothing was answered within " + format_seconds(seconds));
        }
        socklen_t length = sizeof error;
        getsockopt(socket.get(), SOL_SOCKET, SO_ERROR, &error, &length);
    }
    if (error != 0) {
        throw unfit("no connection " + route, std::strerror(error));
    }
    Incoming listener{std::move(socket)};
    Identity standing =
        show(listener.socket, half_of(offer.token, false)) ? Identity::unknown : Identity::stranger;
    while (standing == Identity::unknown && ready(listener.socket, POLLIN, until)) {
        standing = identify(listener, half_of(offer.token, true));
    }
    if (standing != Identity::peer) {
        throw unfit("no connection " + route, "who listens there did not show the token that was agreed on");
    }
    require_segment(listener.socket, options);
    let_block(listener.socket);
    return std::move(listener.socket);
}

}  // namespace assay
