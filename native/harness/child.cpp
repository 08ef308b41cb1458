#include "harness/child.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
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
#include <numeric>
#include <set>
#include <sstream>

#include "harness/clock.hpp"
#include "harness/cpus.hpp"
#include "harness/failure.hpp"

namespace assay {
namespace {

namespace fs = std::filesystem;

/// The first look comes soon, later ones seldom: each costs the child some of its caches.
constexpr int first_look_ms = 5;
constexpr int rarest_look_ms = 500;
constexpr int exec_failed = 127;
constexpr double settled_s = 0.1;

volatile std::sig_atomic_t asked_to_end = 0;

/// A folder that is removed with all that is in it.
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

/// A process and all that it started.
std::set<int> family(int process) {
    std::set<int> found{process};
    std::error_code gone;
    for (const auto& task : fs::directory_iterator("/proc/" + std::to_string(process) + "/task", gone)) {
        std::ifstream children(task.path() / "children");
        for (int child = 0; children >> child;) {
            found.merge(family(child));
        }
    }
    return found;
}

/// What a running command was seen to do so far. A library that reads the topology (hwloc, in MPI_Init) moves its
/// thread over all cpus for some milliseconds, more on a busy machine: a command is on a cpu that was not asked
/// for where it was seen there for a tenth of a second.
class Observed {
  public:
    explicit Observed(const std::vector<int>& wanted) : wanted_(wanted.begin(), wanted.end()) {}

    void look(int process) {
        std::vector<std::vector<int>> masks;
        PageNodes pages;
        for (const int each : family(process)) {
            add_masks(each, masks);
            add_pages(each, pages);
        }
        std::set<int> seen;
        for (const std::vector<int>& mask : masks) {
            seen.insert(mask.begin(), mask.end());
        }
        std::map<int, double> since;
        for (const int cpu : seen) {
            const auto before = since_.find(cpu);
            since[cpu] = before == since_.end() ? now() : before->second;
            if (wanted_.count(cpu) > 0 || now() - since[cpu] >= settled_s) {
                cpus_.insert(cpu);
            }
        }
        since_ = since;
        const bool settled = std::includes(cpus_.begin(), cpus_.end(), seen.begin(), seen.end());
        if (settled && masks.size() >= masks_.size() && !masks.empty()) {
            masks_ = masks;
        }
        if (sum(pages) >= sum(page_nodes_)) {
            page_nodes_ = pages;
        }
    }

    /// Whether the threads, when there were most of them, stood on one cpu each, and all cpus were taken. On a
    /// single cpu any number of them does.
    [[nodiscard]] bool pinned(const std::vector<int>& wanted) const {
        if (wanted.size() == 1) {
            return cpus_ == std::set<int>{wanted.front()};
        }
        std::multiset<int> found;
        for (const std::vector<int>& mask : masks_) {
            if (mask.size() != 1) {
                return false;
            }
            found.insert(mask.front());
        }
        return found == std::multiset<int>(wanted.begin(), wanted.end());
    }

    [[nodiscard]] std::vector<int> cpus() const { return {cpus_.begin(), cpus_.end()}; }
    [[nodiscard]] const PageNodes& page_nodes() const { return page_nodes_; }

  private:
    static std::int64_t sum(const PageNodes& pages) {
        return std::accumulate(pages.begin(), pages.end(), std::int64_t{0},
                               [](std::int64_t all, const auto& node) { return all + node.second; });
    }

    static void add_masks(int process, std::vector<std::vector<int>>& masks) {
        std::error_code gone;
        for (const auto& task : fs::directory_iterator("/proc/" + std::to_string(process) + "/task", gone)) {
            try {
                masks.push_back(affinity(std::stoi(task.path().filename().string())));
            } catch (const Failure&) {
                continue;  // it ended meanwhile
            }
        }
    }

    /// `N0=12` in each line of numa_maps that is no file's: pages of its own on node 0.
    static void add_pages(int process, PageNodes& pages) {
        std::ifstream maps("/proc/" + std::to_string(process) + "/numa_maps");
        for (std::string line; std::getline(maps, line);) {
            if (line.find(" file=") != std::string::npos) {
                continue;
            }
            std::istringstream words(line);
            for (std::string word; words >> word;) {
                const std::size_t equals = word.find('=');
                if (word.front() == 'N' && equals > 1 && equals != std::string::npos &&
                    word.find_first_not_of("0123456789", 1) == equals) {
                    pages[std::stoi(word.substr(1))] += std::stoll(word.substr(equals + 1));
                }
            }
        }
    }

    std::vector<std::vector<int>> masks_;
    std::set<int> cpus_;
    std::set<int> wanted_;
    std::map<int, double> since_;  ///< cpu -> the first of the looks in succession that saw it
    PageNodes page_nodes_;
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

/// `{0},{2}`: a place for each thread of OpenMP.
std::string places(const std::vector<int>& cpus) {
    std::string text;
    for (const int cpu : cpus) {
        text += (text.empty() ? "{" : ",{") + std::to_string(cpu) + "}";
    }
    return text;
}

/// The folders under `prefix` that hold shared libraries, as a list for the loader.
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
                file.disable_recursion_pending();  // plugins lie deeper
            }
        }
    }
    std::string list;
    for (const std::string& folder : found) {
        list += (list.empty() ? "" : ":") + folder;
    }
    return list;
}

/// `first` before what the variable holds already.
void prepend(const char* variable, const std::string& first) {
    const char* others = std::getenv(variable);
    if (!first.empty()) {
        setenv(variable, (first + (others == nullptr ? "" : std::string(":") + others)).c_str(), 1);
    }
}

/// In the child, up to its exec. It returns only where that fails.
void become(const Command& command, const std::vector<std::string>& spoken, const fs::path& folder, int out) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    std::signal(SIGPIPE, SIG_DFL);
    pin(command.cpus);
    apply(command.memory);
    setenv("OMP_NUM_THREADS", std::to_string(command.cpus.size()).c_str(), 1);
    setenv("OMP_PLACES", places(command.cpus).c_str(), 1);
    setenv("OMP_PROC_BIND", "true", 1);
    if (!command.prefix.empty()) {
        prepend("PATH", command.prefix + "/bin:" + command.prefix + "/usr/bin");
        prepend("LD_LIBRARY_PATH", library_folders(command.prefix));
    }
    if (dup2(out, STDOUT_FILENO) < 0 || chdir(folder.c_str()) != 0) {
        return;
    }
    std::vector<char*> words;
    for (const std::string& word : spoken) {
        words.push_back(const_cast<char*>(word.c_str()));
    }
    words.push_back(nullptr);
    execvp(words.front(), words.data());
}

/// Text with each byte that is no part of UTF-8 replaced.
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

/// Ends a process and all that it started.
void end_family(int process) {
    for (const int each : family(process)) {
        kill(each, SIGKILL);
    }
}

std::string seconds_text(double seconds) {
    std::ostringstream text;
    text << seconds << " s";
    return text.str();
}

/// Why a command that runs since `begin` must end now; empty where it may go on.
std::string must_end(const Command& command, double begin) {
    if (asked_to_end != 0) {
        return "the launcher ended the command";
    }
    const bool late = command.limit_s > 0 && now() - begin > command.limit_s;
    return late ? "the command was ended at its time limit of " + seconds_text(command.limit_s) : "";
}

/// Runs these words in the folder, placed as the command is, and waits for their end.
Ended run_words(const Command& command, const std::vector<std::string>& words, const fs::path& folder) {
    std::array<int, 2> out{};
    std::array<int, 2> started{};  // closed by a successful exec
    if (pipe2(out.data(), O_CLOEXEC) != 0 || pipe2(started.data(), O_CLOEXEC) != 0) {
        throw Failure(Exit::environment, "no pipe can be made", std::strerror(errno), "");
    }
    const double begin = now();
    const pid_t child = fork();
    if (child == 0) {
        become(command, words, folder, out[1]);
        const int error = errno;
        [[maybe_unused]] const ssize_t told = write(started[1], &error, sizeof error);
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
    observed.look(child);
    std::string forced;  // why it was ended before it was through
    const auto end_where_due = [&] {
        if (forced.empty() && !(forced = must_end(command, begin)).empty()) {
            end_family(child);
        }
    };
    Ended ended;
    int wait_ms = first_look_ms;
    for (bool open = true; open;) {
        pollfd readable_end{out[0], POLLIN, 0};
        const int ready = poll(&readable_end, 1, wait_ms);
        end_where_due();
        if (ready <= 0) {
            observed.look(child);
            wait_ms = std::min(2 * wait_ms, rarest_look_ms);
            continue;
        }
        std::array<char, 1 << 16> buffer{};
        const ssize_t count = read(out[0], buffer.data(), buffer.size());
        open = count > 0 || (count < 0 && errno == EINTR);
        ended.output.append(buffer.data(), static_cast<std::size_t>(std::max<ssize_t>(count, 0)));
    }
    close(out[0]);
    int status = 0;
    while (waitpid(child, &status, WNOHANG) == 0) {  // it closed its stdout and goes on
        end_where_due();
        observed.look(child);
        usleep(1000U * static_cast<unsigned>(wait_ms));
    }
    ended.seconds = now() - begin;
    ended.reason = forced.empty() ? describe(status) : forced;
    ended.threads_pinned = observed.pinned(command.cpus);
    ended.cpus = ended.threads_pinned ? command.cpus : observed.cpus();
    ended.page_nodes = observed.page_nodes();
    return ended;
}

/// The files of the command in its folder.
void lay_out(const Command& command, const fs::path& folder) {
    for (const auto& [name, content] : command.inputs) {
        std::ofstream(folder / name) << content;
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

}  // namespace

void end_command_on_sigterm() {
    struct sigaction action {};
    action.sa_handler = [](int) { asked_to_end = 1; };
    sigaction(SIGTERM, &action, nullptr);
}

Ended run_child(const Command& command) {
    const Scratch scratch;
    lay_out(command, scratch.path());
    if (!command.prologue.empty()) {
        Ended prepared = run_words(command, {"/bin/sh", "-ec", "exec 2>&1\n" + command.prologue}, scratch.path());
        if (!prepared.reason.empty()) {
            prepared.reason = "its prologue: " + prepared.reason;
            prepared.output = readable(prepared.output);
            return prepared;
        }
    }
    Ended ended = run_words(command, command.words, scratch.path());
    if (!command.output.empty()) {
        std::ifstream file(scratch.path() / command.output, std::ios::binary);
        ended.output.assign(std::istreambuf_iterator<char>(file), {});
    }
    ended.output = readable(ended.output);
    return ended;
}

}  // namespace assay
