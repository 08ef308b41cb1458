// How a program describes itself, to people and to programs.
#include "harness/arguments.hpp"
#include "harness/json.hpp"

namespace assay {
namespace {

std::string text_of(const Value& value) {
    const auto* word = std::get_if<std::string>(&value);
    return word != nullptr ? *word : std::to_string(std::get<std::int64_t>(value));
}

std::string choices(const Axis& axis) {
    std::string text;
    for (const std::string& word : axis.words) {
        text += (text.empty() ? "" : "|") + word;
    }
    return axis.words.empty() ? "N" : text;
}

}  // namespace

std::string help(const Declaration& declaration) {
    std::string text = declaration.name + ": " + declaration.measures + "\n\n" + "usage: " + declaration.name +
                       " [options] [--AXIS VALUE]... [--case ID [--AXIS VALUE]... [--seconds S]]...\n"
                       "       " +
                       declaration.name +
                       " --help | --describe\n\n"
                       "Records (JSON Lines) go to stdout, messages to stderr. Options before the first --case "
                       "apply to all cases.\n\n"
                       "options:\n"
                       "  --cpus LIST[/LIST]...\n"
                       "                    cpus in the order of the threads, e.g. 0-3,8; for each rank of a "
                       "host: 0/1; default: all allowed ones";
    if (declaration.max_cpus > 0) {
        text += " (the first " + std::to_string(declaration.max_cpus) + ")";
    }
    if (declaration.devices) {
        text +=
            "\n"
            "  --devices NAME[,NAME][/NAME...]\n"
            "                    devices of each rank, by PCI address, UUID or name; opened and read back";
    }
    if (declaration.folder) {
        text +=
            "\n"
            "  --folder PATH     each rank writes into a folder of its own there, which is removed at the end;\n"
            "                    several: the next one for each rank";
    }
    text +=
        "\n"
        "  --expect-ranks N  continue only with so many processes: a launcher of another MPI starts each alone\n"
        "  --network DEVICE  interface or port requested for messages; recorded\n"
        "  --library ROLE=FILE\n"
        "                    library to load at launch, e.g. blas=/usr/lib/libopenblas.so.0\n"
        "  --memory POLICY   first-touch (default), bind:N[,N] or interleave:N[,N]\n"
        "  --precision P     stop when the half-width of the median's interval is below this share; default 0.01\n"
        "  --min-samples N   of a kernel, before the first check of the precision; default 10\n"
        "  --max-samples N   of a kernel; default 200\n"
        "  --seconds S       longest sampling of a case, without its set-up; default 2\n\n"
        "axes:\n";
    for (const Axis& axis : declaration.axes) {
        text += "  --" + axis.name + " " + choices(axis) + "\n      " + axis.meaning +
                (axis.unit.empty() ? "" : " [" + axis.unit + "]") + "; default " + text_of(axis.default_value) +
                "\n";
    }
    if (declaration.axes.empty()) {
        text += "  none\n";
    }
    return text +
           "\nSizes take a suffix: 64K, 64M, 1G (powers of 1024).\n"
           "exit: 0 all cases complete; 1 a case failed or is invalid; 2 usage; 4 the environment cannot do it\n";
}

std::string describe(const Declaration& declaration) {
    if (!declaration.text.empty()) {
        return declaration.text + "\n";
    }
    return json::object({{"schema", json::number(std::int64_t{1})},
                         {"name", json::string(declaration.name)},
                         {"measures", json::string(declaration.measures)}})
               .text +
           "\n";
}

}  // namespace assay
