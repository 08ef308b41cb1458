#include "harness/arguments.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <functional>
#include <map>

#include "harness/cpus.hpp"
#include "harness/failure.hpp"

namespace assay {
namespace {

constexpr const char* ask_help = "--help";

Failure bad_value(const std::string& option, const std::string& text, const std::string& why) {
    return {Exit::usage, "'" + text + "' is no value of " + option, why, ask_help};
}

double parse_double(const std::string& text, const std::string& option) {
    double value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc{} || end != text.data() + text.size() || !std::isfinite(value) || value <= 0) {
        throw bad_value(option, text, "a number above 0 is wanted");
    }
    return value;
}

std::int64_t parse_count(const std::string& text, const std::string& option) {
    const std::int64_t value = parse_size(text, option);
    if (value < 1 || value > 100'000'000) {
        throw bad_value(option, text, "a whole number from 1 to 100000000 is wanted");
    }
    return value;
}

Value parse_value(const Axis& axis, const std::string& text) {
    const std::string option = "--" + axis.name;
    if (axis.words.empty()) {
        const std::int64_t value = parse_size(text, option);
        if (value < axis.min) {
            throw bad_value(option, text, "the least is " + std::to_string(axis.min));
        }
        if (value > axis.max) {
            throw bad_value(option, text, "the most is " + std::to_string(axis.max));
        }
        return value;
    }
    if (std::find(axis.words.begin(), axis.words.end(), text) == axis.words.end()) {
        std::string known;
        for (const std::string& word : axis.words) {
            known += (known.empty() ? "known: " : ", ") + word;
        }
        throw bad_value(option, text, known);
    }
    return text;
}

std::vector<std::string> split(const std::string& text, char separator) {
    std::vector<std::string> parts;
    std::size_t first = 0;
    for (std::size_t last = 0; last != std::string::npos; first = last + 1) {
        last = text.find(separator, first);
        parts.push_back(text.substr(first, last == std::string::npos ? last : last - first));
        if (parts.back().empty()) {
            throw bad_value("--devices", text, "a device of each rank is wanted: 0000:01:00.0/0000:81:00.0");
        }
    }
    return parts;
}

/// Parses the options in order; `--case` changes the case that later options apply to.
class Parser {
  public:
    explicit Parser(const Declaration& declaration) : declaration_(declaration) {
        defaults_.id = declaration.name;
        for (const Axis& axis : declaration.axes) {
            defaults_.params.values[axis.name] = axis.default_value;
        }
    }

    Request parse(const std::vector<std::string>& arguments) {
        for (std::size_t index = 0; index < arguments.size();) {
            const std::string& argument = arguments[index++];
            if (argument == "--help" || argument == "--describe") {
                request_.action = argument == "--help" ? Request::Action::help : Request::Action::describe;
                return request_;
            }
            const std::size_t equals = argument.find('=');
            const std::string option = argument.substr(0, equals);
            if (!known(option)) {
                throw Failure(Exit::usage, "'" + option + "' is not known",
                              "it is no option and no axis of this program", ask_help);
            }
            if (equals != std::string::npos) {
                apply(option, argument.substr(equals + 1));
            } else if (index < arguments.size()) {
                apply(option, arguments[index++]);
            } else {
                throw Failure(Exit::usage, option + " stands without its value", "it is the last word", ask_help);
            }
        }
        if (request_.cases.empty()) {
            request_.cases.push_back(defaults_);
        }
        return request_;
    }

  private:
    using Setter = std::function<void(const std::string&)>;

    CaseRequest& current() { return request_.cases.empty() ? defaults_ : request_.cases.back(); }

    [[nodiscard]] const Axis* axis_of(const std::string& option) const {
        const auto found = std::find_if(declaration_.axes.begin(), declaration_.axes.end(),
                                        [&](const Axis& axis) { return "--" + axis.name == option; });
        return found == declaration_.axes.end() ? nullptr : &*found;
    }

    [[nodiscard]] bool known(const std::string& option) const {
        const bool resource = option == "--devices" || option == "--folder";
        return axis_of(option) != nullptr || (!resource && launch_options_.contains(option)) ||
               option == "--case" || option == "--seconds" || (option == "--devices" && declaration_.devices) ||
               (option == "--folder" && declaration_.folder);
    }

    void apply(const std::string& option, const std::string& text) {
        if (const Axis* axis = axis_of(option)) {
            current().params.values[axis->name] = parse_value(*axis, text);
        } else if (option == "--case") {
            open_case(text);
        } else if (option == "--seconds") {
            current().stopping.seconds = parse_double(text, option);
        } else if (!request_.cases.empty()) {
            throw Failure(Exit::usage, option + " stands after --case", "it applies to the whole launch",
                          "write it before the first --case");
        } else {
            launch_options_.at(option)(text);
        }
    }

    void open_case(const std::string& id) {
        for (const CaseRequest& other : request_.cases) {
            if (other.id == id) {
                throw Failure(Exit::usage, "the case '" + id + "' stands twice",
                              "its records could not be told apart", "give each case an id of its own");
            }
        }
        request_.cases.push_back(defaults_);
        request_.cases.back().id = id;
    }

    const Declaration& declaration_;
    Request request_;
    CaseRequest defaults_;
    const std::map<std::string, Setter> launch_options_{
        {"--cpus", [this](const std::string& text) { request_.cpus = parse_lists(text, "cpu"); }},
        {"--expect-ranks",
         [this](const std::string& text) {
             request_.expected_ranks = static_cast<int>(parse_count(text, "--expect-ranks"));
         }},
        {"--devices",
         [this](const std::string& text) {
             for (const std::string& words : split(text, '/')) {
                 request_.devices.push_back(split(words, ','));
             }
         }},
        {"--folder", [this](const std::string& text) { request_.folders.push_back(text); }},
        {"--network", [this](const std::string& text) { request_.network = text; }},
        {"--library",
         [this](const std::string& text) {
             const std::size_t equals = text.find('=');
             if (equals == 0 || equals == std::string::npos || equals + 1 == text.size()) {
                 throw bad_value("--library", text, "a role and a file are wanted: blas=/path/to/libopenblas.so");
             }
             request_.libraries[text.substr(0, equals)] = text.substr(equals + 1);
         }},
        {"--memory", [this](const std::string& text) { request_.memory = MemoryPolicy::parse(text); }},
        {"--precision",
         [this](const std::string& text) { defaults_.stopping.precision = parse_double(text, "--precision"); }},
        {"--min-samples",
         [this](const std::string& text) { defaults_.stopping.min_samples = parse_count(text, "--min-samples"); }},
        {"--max-samples",
         [this](const std::string& text) { defaults_.stopping.max_samples = parse_count(text, "--max-samples"); }},
    };
};

}  // namespace

std::int64_t parse_size(const std::string& text, const std::string& option) {
    std::int64_t value = 0;
    const char* last = text.data() + text.size();
    const auto [end, error] = std::from_chars(text.data(), last, value);
    const std::string suffix(end, last);
    constexpr std::string_view letters = "KMGT";
    const std::size_t power = suffix.empty() ? 0 : letters.find(suffix.front()) + 1;  // not found: npos + 1 is 0
    const bool suffix_known = suffix.empty() || (power > 0 && (suffix.size() == 1 || suffix.substr(1) == "iB"));
    if (error != std::errc{} || !suffix_known) {
        throw bad_value(option, text, "a whole number is wanted; K, M, G and T stand for powers of 1024");
    }
    const std::int64_t factor = std::int64_t{1} << (10 * power);
    if (value > largest_number / factor || value < -largest_number / factor) {
        throw bad_value(option, text, "it is larger than any machine (2^48)");
    }
    return value * factor;
}

Request parse_arguments(const std::vector<std::string>& arguments, const Declaration& declaration) {
    return Parser(declaration).parse(arguments);
}

}  // namespace assay
