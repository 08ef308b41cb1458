#include "harness/parent.hpp"

#include <sys/prctl.h>
#include <unistd.h>

#include <charconv>
#include <csignal>
#include <cstdlib>
#include <string>

#include "harness/failure.hpp"

namespace assay {

void end_with_parent() {
    const char* variable = std::getenv("ASSAY_PARENT");
    const std::string text = variable == nullptr ? "" : variable;
    if (text.empty()) {
        return;
    }
    pid_t parent = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), parent);
    if (error != std::errc{} || end != text.data() + text.size() || parent < 1) {
        throw Failure(Exit::usage, "ASSAY_PARENT='" + text + "' is no process",
                      "whoever starts the program says its own process id in it", "unset ASSAY_PARENT");
    }
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    // A parent that ended before that call sends no signal; another process is then the parent.
    if (getppid() != parent) {
        std::raise(SIGKILL);
    }
}

}  // namespace assay
