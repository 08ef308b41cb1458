// Numbers survive the conversion to text and back; NaN and infinities are refused.
#include <charconv>
#include <cstdlib>
#include <limits>
#include <random>
#include <stdexcept>

#include "check.hpp"
#include "harness/json.hpp"

namespace json = assay::json;

namespace {

void doubles_survive_the_round_trip() {
    std::mt19937_64 bits(20200901);
    for (int trial = 0; trial < 100'000; ++trial) {
        const std::uint64_t pattern = bits();
        double value = 0;
        static_assert(sizeof(value) == sizeof(pattern));
        __builtin_memcpy(&value, &pattern, sizeof(value));
        if (std::isfinite(value)) {
            CHECK(std::strtod(json::number(value).text.c_str(), nullptr) == value);
        }
    }
    CHECK(json::number(0.1).text == "0.1");
    CHECK(json::number(1e-9).text == "1e-09");
    CHECK(json::number(std::int64_t{-3}).text == "-3");
}

void what_is_not_finite_is_refused() {
    for (const double value : {std::numeric_limits<double>::infinity(), -std::numeric_limits<double>::infinity(),
                               std::numeric_limits<double>::quiet_NaN()}) {
        bool refused = false;
        try {
            json::number(value);
        } catch (const std::domain_error&) {
            refused = true;
        }
        CHECK(refused);
    }
}

void text_is_escaped() {
    CHECK(json::string("a\"b\\c\n\x01").text == R"("a\"b\\c\u000a\u0001")");
    CHECK(json::string("µs").text == "\"µs\"");
}

void objects_and_arrays_keep_their_order() {
    const json::Text object = json::object({{"b", json::boolean(true)}, {"a", json::array({})}});
    CHECK(object.text == R"({"b":true,"a":[]})");
    CHECK(json::numbers(std::vector<int>{3, 1}).text == "[3,1]");
}

}  // namespace

int main() {
    doubles_survive_the_round_trip();
    what_is_not_finite_is_refused();
    text_is_escaped();
    objects_and_arrays_keep_their_order();
    return assay::test::failures == 0 ? 0 : 1;
}
