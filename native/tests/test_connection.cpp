// TCP connections: only a peer with the token is accepted, and no wait is endless.
#include <arpa/inet.h>
#include <netinet/in.h>
#include <unistd.h>

#include <future>
#include <optional>
#include <vector>

#include "check.hpp"
#include "harness/clock.hpp"
#include "harness/connection.hpp"

using assay::connect_to;
using assay::Family;
using assay::Listener;
using assay::Offer;
using assay::Socket;
using assay::SocketOptions;
using assay::test::contains;
using assay::test::failure_of;

namespace {

constexpr double timeout = 5;
constexpr double short_timeout = 0.1;

bool has_ipv6() {
    return failure_of([] { const Listener listener("::1", {}); }).empty();
}

/// A connection without a token.
Socket unauthenticated(const Listener& listener) {
    sockaddr_in place{};
    place.sin_family = AF_INET;
    place.sin_port = htons(static_cast<std::uint16_t>(std::stoi(listener.offer().port)));
    inet_pton(AF_INET, listener.offer().address.c_str(), &place.sin_addr);
    Socket socket(::socket(AF_INET, SOCK_STREAM, 0));
    CHECK(connect(socket.get(), reinterpret_cast<sockaddr*>(&place), sizeof place) == 0);
    return socket;
}

bool closed(const Socket& socket) {
    char byte = 0;
    return recv(socket.get(), &byte, 1, 0) <= 0;
}

std::future<Socket> connect_async(const Listener& listener, const SocketOptions& options = {}) {
    return std::async(std::launch::async, [&listener, options] {
        return connect_to(Offer::parse(listener.offer().text()), listener.offer().address, options, timeout);
    });
}

void check_transfer(const Socket& from, const Socket& to) {
    const char sent = 'x';
    char received = 0;
    CHECK(send(from.get(), &sent, 1, 0) == 1);
    CHECK(recv(to.get(), &received, 1, MSG_WAITALL) == 1 && received == sent);
}

void a_peer_with_the_token_is_accepted_by_both_families() {
    for (const Family family : {Family::ipv4, Family::ipv6}) {
        if (family == Family::ipv6 && !has_ipv6()) {
            continue;
        }
        const Listener listener(assay::loopback_address(family), {});
        std::future<Socket> peer = connect_async(listener);
        const Socket accepted = listener.accept(timeout);
        const Socket connected = peer.get();
        check_transfer(connected, accepted);
        check_transfer(accepted, connected);
    }
}

void connections_without_the_token_are_closed_and_the_peer_is_awaited() {
    const Listener listener("127.0.0.1", {});
    const Socket silent = unauthenticated(listener);
    const Socket wrong = unauthenticated(listener);
    const std::vector<char> lie(16, 'y');
    CHECK(send(wrong.get(), lie.data(), lie.size(), 0) == 16);
    { const Socket gone = unauthenticated(listener); }
    const Socket brief = unauthenticated(listener);
    CHECK(send(brief.get(), lie.data(), 3, 0) == 3);
    std::future<Socket> peer = connect_async(listener);
    const Socket accepted = listener.accept(timeout);
    const Socket connected = peer.get();
    check_transfer(connected, accepted);
    CHECK(closed(wrong) && closed(silent) && closed(brief));
}

void too_many_connections_without_the_token_do_not_block_the_peer() {
    const Listener listener("127.0.0.1", {});
    std::future<Socket> accepted = std::async(std::launch::async, [&] { return listener.accept(timeout); });
    std::vector<Socket> connections;
    for (int count = 0; count < 100; ++count) {
        connections.push_back(unauthenticated(listener));
    }
    const Socket connected = connect_async(listener).get();
    check_transfer(connected, accepted.get());
}

void waiting_for_a_missing_peer_ends_with_a_message() {
    const Listener listener("127.0.0.1", {});
    const Socket silent = unauthenticated(listener);
    const double begin = assay::now();
    const std::string message = failure_of([&] { static_cast<void>(listener.accept(short_timeout)); });
    CHECK(assay::now() - begin >= short_timeout && assay::now() - begin < timeout);
    CHECK(contains(message, "no peer has come to 127.0.0.1 port " + listener.offer().port + " within 0.1 s"));
    CHECK(contains(message, "connections without the token came instead: 1"));
}

void a_listener_that_never_answers_times_out() {
    const Listener listener("127.0.0.1", {});  // the kernel makes the connection, but nothing accepts it
    const std::string message = failure_of([&] { connect_to(listener.offer(), "127.0.0.1", {}, short_timeout); });
    CHECK(contains(message, "did not show the token"));
}

void a_listener_that_is_gone_refuses() {
    Offer offer;
    {
        const Listener listener("127.0.0.1", {});
        offer = listener.offer();
    }
    const std::string message = failure_of([&] { connect_to(offer, "127.0.0.1", {}, timeout); });
    CHECK(contains(message,
                   "no connection from 127.0.0.1 to 127.0.0.1 port " + offer.port + ": Connection refused"));
}

void a_listener_accepts_on_its_address_only() {
    const Listener listener("127.0.0.2", {});
    Offer other = listener.offer();
    other.address = "127.0.0.1";
    CHECK(contains(failure_of([&] { connect_to(other, "127.0.0.1", {}, timeout); }), "Connection refused"));
}

void each_listener_has_its_own_token_and_port() {
    const Listener one("127.0.0.1", {});
    const Listener other("127.0.0.1", {});
    CHECK(one.offer().token.size() == 64 && one.offer().token != other.offer().token);
    CHECK(one.offer().port != other.offer().port);
}

void interfaces_are_known_by_name() {
    CHECK(assay::interface_address("lo", Family::ipv4) == "127.0.0.1");
    const std::string message = failure_of([] { assay::interface_address("none0", Family::ipv4); });
    CHECK(contains(message, "there is no network interface 'none0': those with one: ") && contains(message, "lo"));
}

void an_address_of_another_host_is_refused() {
    CHECK(contains(failure_of([] { const Listener listener("192.0.2.1", {}); }), "192.0.2.1 cannot be used"));
}

void buffers_are_granted_or_refused_with_the_limit() {
    const Listener listener("127.0.0.1", {true, 16384, 16384});
    std::future<Socket> peer = connect_async(listener, {false, 8192, 8192});
    const Socket accepted = listener.accept(timeout);
    const Socket connected = peer.get();
    for (const auto& [socket, bytes] : {std::pair{&accepted, 16384}, std::pair{&connected, 8192}}) {
        int granted = 0;
        socklen_t length = sizeof granted;
        CHECK(getsockopt(socket->get(), SOL_SOCKET, SO_SNDBUF, &granted, &length) == 0);
        CHECK(granted == 2 * bytes);
    }
    constexpr int vast = 1 << 30;
    CHECK(contains(failure_of([] { const Listener greedy("127.0.0.1", {true, vast, 0}); }), "net.core.wmem_max"));
}

void segments_are_as_long_as_either_end_lets_them_be_or_refused() {
    SocketOptions shorter;
    shorter.segment_bytes = 1000;
    for (const auto& [listening, connecting] : {std::pair{SocketOptions{}, SocketOptions{}},
                                                {shorter, SocketOptions{}},
                                                {SocketOptions{}, shorter},
                                                {shorter, shorter}}) {
        const Listener listener("127.0.0.1", listening);
        std::future<Socket> peer = connect_async(listener, connecting);
        const Socket accepted = listener.accept(timeout);
        const Socket connected = peer.get();
        const bool bounded = listening.segment_bytes + connecting.segment_bytes > 0;
        for (const Socket* each : {&accepted, &connected}) {
            const int found = assay::segment_bytes(*each);
            CHECK(bounded ? found > 1000 - 40 && found <= 1000
                          : found > 1000);  // less options, 12 B of time stamps
        }
    }
    SocketOptions tiny;
    tiny.segment_bytes = 10;
    CHECK(contains(failure_of([&] { const Listener refused("127.0.0.1", tiny); }), "Linux takes 88 to 32767"));
    SocketOptions longer;
    longer.segment_bytes = 32767;
    const Listener listener("127.0.0.1", shorter);
    std::future<Socket> accepted = std::async(std::launch::async, [&] { return listener.accept(timeout); });
    const std::string message =
        failure_of([&] { connect_to(Offer::parse(listener.offer().text()), "127.0.0.1", longer, timeout); });
    CHECK(contains(message, "segments of 32767 B are not granted to a connection: its ends agreed on "));
    CHECK(accepted.get().get() >= 0);
}

}  // namespace

int main() {
    a_peer_with_the_token_is_accepted_by_both_families();
    connections_without_the_token_are_closed_and_the_peer_is_awaited();
    too_many_connections_without_the_token_do_not_block_the_peer();
    waiting_for_a_missing_peer_ends_with_a_message();
    a_listener_that_never_answers_times_out();
    a_listener_that_is_gone_refuses();
    a_listener_accepts_on_its_address_only();
    each_listener_has_its_own_token_and_port();
    interfaces_are_known_by_name();
    an_address_of_another_host_is_refused();
    buffers_are_granted_or_refused_with_the_limit();
    segments_are_as_long_as_either_end_lets_them_be_or_refused();
    return assay::test::failures == 0 ? 0 : 1;
}
