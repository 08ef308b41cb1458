#include "harness/child.hpp"

#include <fcntl.h>
#include <glob.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <set>

#include "harness/clock.hpp"
#include "harness/cpus.hpp"
#include "harness/failure.hpp"
#include "harness/observed.hpp"

namespace assay {
namespace {

namespace fs = std::filesystem;

/// The first check comes soon, later ones are rare: each check displaces some of the child's caches.
constexpr int first_check_ms = 5;
constexpr int longest_check_interval_ms = 500;
constexpr const char* interposed_library = ".interposed.so";
constexpr const char* interposed_record = ".interposed.json";
constexpr int exec_failed = 127;
volatile std::sig_atomic_t termination_requested = 0;

/// A temporary folder, removed with its content.
class Scratch {
  public:
    Scratch() {
        std::string pattern = (fs::temp_directory_path() / "assay-XXXXXX").string();
        if (mkdtemp(pattern.data()) == nullptr) {
            throw Failure(Exit::environment, "no folder can be made for the command", std::strerror(errno),
                          "export TMPDIR=/a/folder/with/space");
        }
        path_ = pattern;
    }
    Scratch(const Scratch&) = delete;
    Scratch& operator=(const Scratch&) = delete;
    Scratch(Scratch&&) = delete;
    Scratch& operator=(Scratch&&) = delete;
    ~Scratch() {
        std::error_code ignored;
        fs::remove_all(path_, ignored);
    }

    [[nodiscard]] const fs::path& path() const { return path_; }

  private:
    fs::path path_;
};

void apply(const MemoryPolicy& policy) {
    if (policy.kind == MemoryPolicy::Kind::first_touch) {
        return;
    }
    constexpr int bind = 2;
    constexpr int interleave = 3;
    constexpr std::size_t bits = 8 * sizeof(unsigned long);
    std::vector<unsigned long> mask(
        static_cast<std::size_t>(*std::max_element(policy.nodes.begin(), policy.nodes.end())) / bits + 1);
    for (const int node : policy.nodes) {
        mask[static_cast<std::size_t>(node) / bits] |= 1UL << (static_cast<std::size_t>(node) % bits);
    }
    const int mode = policy.kind == MemoryPolicy::Kind::bind ? bind : interleave;
    syscall(SYS_set_mempolicy, mode, mask.data(), mask.size() * bits + 1);
}

/// OpenMP places of one cpu each: `{0},{2}`.
std::string places(const std::vector<int>& cpus) {
    std::string text;
    for (const int cpu : cpus) {
        text += (text.empty() ? "{" : ",{") + std::to_string(cpu) + "}";
    }
    return text;
}

/// Folders under `prefix` with shared libraries, as a list for the loader.
std::string library_folders(const fs::path& prefix) {
    std::set<std::string> found;
    for (const char* under : {"lib", "usr/lib"}) {
        std::error_code absent;
        for (fs::recursive_directory_iterator file(prefix / under, absent), end; file != end;
             file.increment(absent)) {
            if (file->path().filename().string().find(".so") != std::string::npos) {
                found.insert(file->path().parent_path().string());
            }
            if (file.depth() > 1) {
                file.disable_recursion_pending();  // plugins are deeper
            }
        }
    }
    std::string list;
    for (const std::string& folder : found) {
        list += (list.empty() ? "" : ":") + folder;
    }
    return list;
}

/// Puts `first` in front of the variable's value.
void prepend(const char* variable, const std::string& first) {
    const char* others = std::getenv(variable);
    if (!first.empty()) {
        setenv(variable, (first + (others == nullptr ? "" : std::string(":") + others)).c_str(), 1);
    }
}

/// Sets up and executes the command, in the child. Returns only if that fails.
void execute(const Command& command, const std::vector<std::string>& arguments, const fs::path& folder, int out) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    std::signal(SIGPIPE, SIG_DFL);
    pin(command.cpus);
    apply(command.memory);
    setenv("OMP_NUM_THREADS", std::to_string(command.cpus.size()).c_str(), 1);
    setenv("OMP_PLACES", places(command.cpus).c_str(), 1);
    setenv("OMP_PROC_BIND", "true", 1);
    if (!command.prefix.empty()) {
        prepend("PATH", command.prefix + ":" + command.prefix + "/bin:" + command.prefix +
                            "/usr/bin:" + command.prefix + "/usr/sbin");
        prepend("LD_LIBRARY_PATH", library_folders(command.prefix));
    }
    if (!command.interposed.empty()) {
        prepend("LD_PRELOAD", folder / interposed_library);
        setenv("ASSAY_MPI_TIMES", (folder / interposed_record).c_str(), 1);
    }
    if (dup2(out, STDOUT_FILENO) < 0 || chdir(folder.c_str()) != 0) {
        return;
    }
    std::vector<char*> words;
    for (const std::string& word : arguments) {
        words.push_back(const_cast<char*>(word.c_str()));
    }
    words.push_back(nullptr);
    execvp(words.front(), words.data());
}

/// Replaces each byte that is not part of valid UTF-8.
std::string readable(const std::string& bytes) {
    std::string text;
    for (std::size_t at = 0; at < bytes.size();) {
        const auto first = static_cast<unsigned char>(bytes[at]);
        const std::size_t length = first < 0x80        ? 1
                                   : first >> 5U == 6  ? 2
                                   : first >> 4U == 14 ? 3
                                   : first >> 3U == 30 ? 4
                                                       : 0;
        bool whole = length > 0 && at + length <= bytes.size();
        for (std::size_t next = 1; whole && next < length; ++next) {
            whole = (static_cast<unsigned char>(bytes[at + next]) & 0xC0U) == 0x80U;
        }
        text += whole ? bytes.substr(at, length) : "\uFFFD";
        at += whole ? length : 1;
    }
    return text;
}

std::string describe(int status) {
    if (WIFSIGNALED(status)) {
        return "the command was ended by signal " + std::to_string(WTERMSIG(status));
    }
    const int code = WEXITSTATUS(status);
    return code == 0 ? "" : "the command ended with exit code " + std::to_string(code);
}

/// Kills a process and all its descendants.
void kill_family(int process) {
    for (const int each : family(process)) {
        kill(each, SIGKILL);
    }
}

/// Why a command that runs since `begin` must end now; empty if it may continue.
std::string reason_to_end(const Command& command, double begin) {
    if (termination_requested != 0) {
        return "the launcher ended the command";
    }
    const bool late = command.limit_s > 0 && now() - begin > command.limit_s;
    return late ? "the command was ended at its time limit of " + format_seconds(command.limit_s) : "";
}

/// Runs the words in the folder with the placement of the command, and waits for their end.
Outcome run_words(const Command& command, const std::vector<std::string>& words, const fs::path& folder) {
    std::array<int, 2> out{};
    std::array<int, 2> started{};  // closed by a successful exec
    if (pipe2(out.data(), O_CLOEXEC) != 0 || pipe2(started.data(), O_CLOEXEC) != 0) {
        throw Failure(Exit::environment, "no pipe can be made", std::strerror(errno), "");
    }
    const double begin = now();
    const pid_t child = fork();
    if (child == 0) {
        execute(command, words, folder, out[1]);
        const int error = errno;
        [[maybe_unused]] const ssize_t written = write(started[1], &error, sizeof error);
        _exit(exec_failed);
    }
    close(out[1]);
    close(started[1]);
    int error = 0;
    const bool failed = child < 0 || read(started[0], &error, sizeof error) > 0;
    close(started[0]);
    if (failed) {
        close(out[0]);
        waitpid(child, nullptr, 0);
        throw Failure(Exit::environment, "'" + words.front() + "' cannot be started",
                      std::strerror(child < 0 ? errno : error), "install it, or name it with its path");
    }
    Observed observed(command.cpus);
    observed.observe(child);
    std::string end_reason;  // why it was ended early
    const auto end_if_due = [&] {
        if (end_reason.empty() && !(end_reason = reason_to_end(command, begin)).empty()) {
            kill_family(child);
        }
    };
    Outcome outcome;
    int wait_ms = first_check_ms;
    for (bool open = true; open;) {
        pollfd readable_end{out[0], POLLIN, 0};
        const int ready = poll(&readable_end, 1, wait_ms);
        end_if_due();
        if (ready <= 0) {
            observed.observe(child);
            wait_ms = std::min(wait_ms + 1 + wait_ms / 4, longest_check_interval_ms);
            continue;
        }
        std::array<char, 1 << 16> buffer{};
        const ssize_t count = read(out[0], buffer.data(), buffer.size());
        open = count > 0 || (count < 0 && errno == EINTR);
        outcome.output.append(buffer.data(), static_cast<std::size_t>(std::max<ssize_t>(count, 0)));
    }
    close(out[0]);
    siginfo_t exited{};
    // An ended process stays visible until wait4. The command may close its stdout and continue.
    while (waitid(P_PID, static_cast<id_t>(child), &exited, WEXITED | WNOHANG | WNOWAIT) == 0 &&
           exited.si_pid == 0) {
        end_if_due();
        observed.observe(child);
        usleep(1000U * static_cast<unsigned>(wait_ms));
        wait_ms = std::min(wait_ms + 1 + wait_ms / 4, longest_check_interval_ms);
    }
    outcome.seconds = now() - begin;
    observed.observe_end(child);
    int status = 0;
    rusage used{};
    wait4(child, &status, 0, &used);
    outcome.reason = end_reason.empty() ? describe(status) : end_reason;
    outcome.threads_pinned = observed.pinned(command.cpus);
    outcome.cpus = outcome.threads_pinned ? command.cpus : observed.cpus();
    outcome.page_nodes = observed.page_nodes();
    outcome.huge_page_share = observed.huge_page_share();
    outcome.loaded = observed.loaded();
    outcome.usage = {1024 * used.ru_maxrss, used.ru_nvcsw, used.ru_nivcsw, observed.strayed_s()};
    return outcome;
}

/// Writes the files of the command into its folder.
void write_files(const Command& command, const fs::path& folder) {
    for (const auto& [name, content] : command.inputs) {
        std::ofstream(folder / name) << content;
    }
    if (!command.interposed.empty()) {
        std::ofstream(folder / interposed_library, std::ios::binary) << command.interposed;
    }
    for (const auto& [name, path] : command.files) {
        std::error_code error;
        fs::copy_file(path, folder / name, error);
        if (error) {
            throw Failure(Exit::environment, "'" + path + "' cannot be copied for the command", error.message(),
                          "");
        }
    }
}

/// The whole content of a file; empty if the file is missing.
std::string content(const fs::path& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
}

/// The content of the files whose names match, in the order of their names: a program may put the time
/// into the name of its file. `*` stands for any part of a name.
std::string contents(const fs::path& pattern) {
    glob_t found{};
    std::string text;
    if (glob(pattern.c_str(), GLOB_NOCHECK, nullptr, &found) == 0) {
        for (std::size_t at = 0; at < found.gl_pathc; ++at) {
            text += content(found.gl_pathv[at]);
        }
    }
    globfree(&found);
    return text;
}

}  // namespace

void end_command_on_sigterm() {
    struct sigaction action {};
    action.sa_handler = [](int) { termination_requested = 1; };
    sigaction(SIGTERM, &action, nullptr);
}

Outcome run_child(const Command& command) {
    const Scratch scratch;
    write_files(command, scratch.path());
    if (!command.prologue.empty()) {
        Command plain = command;
        plain.interposed = {};
        Outcome prepared = run_words(plain, {"/bin/sh", "-ec", "exec 2>&1\n" + command.prologue}, scratch.path());
        if (!prepared.reason.empty()) {
            prepared.reason = "its prologue: " + prepared.reason;
            prepared.output = readable(prepared.output);
            return prepared;
        }
    }
    Outcome outcome = run_words(command, command.words, scratch.path());
    if (!command.output.empty()) {
        outcome.output = contents(scratch.path() / command.output);
    }
    outcome.interposed = content(scratch.path() / interposed_record);
    outcome.output = readable(outcome.output);
    return outcome;
}

}  // namespace assay
