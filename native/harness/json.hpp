// A minimal JSON writer for records: members keep their order, doubles have the shortest round-trip form.
#pragma once

#include <concepts>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace assay::json {

/// A complete piece of JSON text.
struct Text {
    std::string text;
};

Text number(double value);  ///< std::domain_error if not finite
Text number(std::int64_t value);
Text boolean(bool value);
Text string(std::string_view value);

struct Member {
    std::string key;
    Text value;
};

Text object(const std::vector<Member>& members);
Text array(const std::vector<Text>& elements);

template <class Range>
Text numbers(const Range& values) {
    std::vector<Text> elements;
    elements.reserve(values.size());
    for (const auto& value : values) {
        if constexpr (std::integral<std::remove_cvref_t<decltype(value)>>) {
            elements.push_back(number(static_cast<std::int64_t>(value)));
        } else {
            elements.push_back(number(value));
        }
    }
    return array(elements);
}

Text strings(const std::vector<std::string>& values);

/// An object of strings.
Text strings(const std::map<std::string, std::string>& values);

}  // namespace assay::json
