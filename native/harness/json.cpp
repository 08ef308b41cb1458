#include "harness/json.hpp"

#include <array>
#include <charconv>
#include <cmath>
#include <stdexcept>

namespace assay::json {
namespace {

template <class Number>
Text shortest(Number value) {
    std::array<char, 32> digits{};
    const auto [end, error] = std::to_chars(digits.data(), digits.data() + digits.size(), value);
    if (error != std::errc{}) {
        throw std::logic_error("a number does not fit its text");
    }
    return {std::string(digits.data(), end)};
}

Text join(char open, const std::vector<std::string>& parts, char close) {
    std::string text(1, open);
    for (const std::string& part : parts) {
        if (text.size() > 1) {
            text += ',';
        }
        text += part;
    }
    text += close;
    return {text};
}

}  // namespace

Text number(double value) {
    if (!std::isfinite(value)) {
        throw std::domain_error("a number of a record is not finite");
    }
    return shortest(value);
}

Text number(std::int64_t value) { return shortest(value); }

Text boolean(bool value) { return {value ? "true" : "false"}; }

Text string(std::string_view value) {
    constexpr std::string_view hex = "0123456789abcdef";
    std::string text = "\"";
    for (const char character : value) {
        const auto code = static_cast<unsigned char>(character);
        if (character == '"' || character == '\\') {
            text += '\\';
            text += character;
        } else if (code < 0x20) {
            text += "\\u00";
            text += hex[code >> 4U];
            text += hex[code & 0xFU];
        } else {
            text += character;
        }
    }
    return {text + '"'};
}

Text object(const std::vector<Member>& members) {
    std::vector<std::string> parts;
    parts.reserve(members.size());
    for (const Member& member : members) {
        parts.push_back(string(member.key).text + ':' + member.value.text);
    }
    return join('{', parts, '}');
}

Text array(const std::vector<Text>& elements) {
    std::vector<std::string> parts;
    parts.reserve(elements.size());
    for (const Text& element : elements) {
        parts.push_back(element.text);
    }
    return join('[', parts, ']');
}

Text strings(const std::vector<std::string>& values) {
    std::vector<Text> elements;
    elements.reserve(values.size());
    for (const std::string& value : values) {
        elements.push_back(string(value));
    }
    return array(elements);
}

Text strings(const std::map<std::string, std::string>& values) {
    std::vector<Member> members;
    members.reserve(values.size());
    for (const auto& [key, value] : values) {
        members.push_back({key, string(value)});
    }
    return object(members);
}

}  // namespace assay::json
