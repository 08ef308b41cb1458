#include "harness/devices.hpp"

#include <cctype>

namespace assay {
namespace {

/// The most exact part of an identity that is known.
std::string shown(const OpenedDevice& device) {
    return !device.uuid.empty() ? device.uuid : !device.address.empty() ? device.address : device.name;
}

bool is_called(const OpenedDevice& device, const std::string& word) {
    return !word.empty() && (word == device.uuid || word == device.address || word == device.name);
}

std::string joined_words(const std::vector<std::string>& words) {
    std::string text;
    for (const std::string& word : words) {
        text += (text.empty() ? "" : ", ") + word;
    }
    return text;
}

}  // namespace

std::string device_word(const std::string& name) {
    std::string word;
    for (const char letter : name) {
        const auto code = static_cast<unsigned char>(letter);
        const bool kept =
            code < 128 && (std::isalnum(code) != 0 || std::string("._:+-").find(letter) != std::string::npos);
        word += kept ? letter : '_';
    }
    return word;
}

std::string misopened(const std::vector<std::string>& asked, const std::vector<OpenedDevice>& opened) {
    if (asked.empty()) {
        return "";
    }
    if (opened.empty()) {
        return "it was asked for " + joined_words(asked) + " and reports no device that it opened";
    }
    bool as_asked = opened.size() == asked.size();
    std::vector<std::string> names;
    for (std::size_t index = 0; index < opened.size(); ++index) {
        as_asked = as_asked && is_called(opened[index], asked[index]);
        names.push_back(shown(opened[index]));
    }
    return as_asked ? "" : "it was asked for " + joined_words(asked) + " and opened " + joined_words(names);
}

}  // namespace assay
