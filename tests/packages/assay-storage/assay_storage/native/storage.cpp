// A file that one process writes, makes durable, closes, and reads back, in a folder of its own.
#include "declared/storage.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "harness/clock.hpp"
#include "harness/failure.hpp"
#include "harness/folder.hpp"
#include "harness/program.hpp"

namespace {

using assay::Exit;
using assay::Failure;

/// Of several answers where bytes are: the common one, else that it is not proven.
std::string together(const std::string& before, const std::string& now) {
    return before.empty() || before == now ? now : "unproven";
}

class Storage : public assay::Benchmark {
  public:
    explicit Storage(const assay::Setting& setting)
        : bytes_(static_cast<std::size_t>(setting.params.number("bytes"))),
          block_(std::min(bytes_, static_cast<std::size_t>(setting.params.number("block")))),
          file_(setting.folder + "/file"),
          folder_(setting.folder),
          file_system_(assay::file_system(setting.folder)),
          given_(setting.memory->allocate(bytes_)),
          found_(setting.memory->allocate(bytes_)) {
        fill();
        std::fill_n(found_, bytes_, std::byte{0});  // first touch, before anything is timed
    }

    [[nodiscard]] assay::Work work() const override {
        return {{"stored", {{"bytes", 1}}},  // of a rate: the amount of one unit
                {"read", {{"bytes", static_cast<double>(bytes_)}}}};
    }

    /// Other bytes each time, so that verify() finds those of this file only.
    void prepare(std::size_t /*kernel*/) override {
        ++number_;
        fill();
        std::fill_n(found_, bytes_, std::byte{0});
    }

    void iterate(std::size_t /*kernel*/, std::uint64_t /*iterations*/, int /*thread*/) override {
        failed_ = 0;
        const auto size = static_cast<double>(bytes_);
        const assay::StorageCounters before = assay::storage_counters(folder_);
        store();
        const assay::StorageCounters stored = assay::storage_counters(folder_);
        written_to_ = together(written_to_, assay::destination(file_system_, size, before, stored));
        const auto cached = forget();
        const assay::StorageCounters forgotten = assay::storage_counters(folder_);
        fetch();
        const assay::StorageCounters read = assay::storage_counters(folder_);
        read_from_ = together(read_from_, assay::origin(file_system_, size, cached, forgotten, read));
    }

    [[nodiscard]] assay::Solution solution(double /*seconds*/) override {
        const double stored_s = seconds_.at("write") + seconds_.at("fsync") + seconds_.at("close");
        return {"stored", "B/s", static_cast<double>(bytes_) / stored_s, stored_s, seconds_};
    }

    void require_undisturbed() const override {
        if (failed_ != 0) {
            throw Failure(Exit::environment, "the file cannot be written and read back", std::strerror(failed_),
                          "--folder /tmp");
        }
    }

    /// Number of wrong bytes.
    double verify(std::size_t /*kernel*/) override {
        double wrong = 0;
        for (std::size_t at = 0; at < bytes_; ++at) {
            wrong += given_[at] != found_[at];
        }
        return wrong;
    }

    [[nodiscard]] double tolerance() const override { return 0; }

    [[nodiscard]] std::map<std::string, std::string> facts() const override {
        return {{"bytes were written to", written_to_}, {"bytes were read from", read_from_}};
    }

  private:
    void fill() {
        for (std::size_t at = 0; at < bytes_; ++at) {
            given_[at] = static_cast<std::byte>((at * 131 + at / 4093 + number_ * 17) & 0xFFU);
        }
    }

    /// Runs an action and notes its seconds as those of a phase.
    template <class Action>
    void timed(const char* phase, const Action& action) {
        const double begin = assay::now();
        action();
        seconds_[phase] = assay::now() - begin;
    }

    void fails_if(bool failed) {
        if (failed && failed_ == 0) {
            failed_ = errno;
        }
    }

    /// Calls `pass` (write or read) until all bytes have passed, or it fails.
    template <class Pass>
    void all(const Pass& pass, int file, std::byte* bytes) {
        for (std::size_t at = 0; at < bytes_ && failed_ == 0;) {
            const ssize_t passed = pass(file, bytes + at, std::min(block_, bytes_ - at));
            if (passed == 0) {
                failed_ = EIO;
            }
            fails_if(passed < 0 && errno != EINTR);
            at += passed > 0 ? static_cast<std::size_t>(passed) : 0;
        }
    }

    void store() {
        int file = -1;
        timed("write", [&] {
            file = open(file_.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
            fails_if(file < 0);
            all(::write, file, given_);
        });
        timed("fsync", [&] { fails_if(fsync(file) != 0); });
        timed("close", [&] { fails_if(close(file) != 0); });
    }

    /// Asks the kernel to drop the file from the cache; share of it that stays there, where it can be told.
    [[nodiscard]] std::optional<double> forget() const {
        const int file = open(file_.c_str(), O_RDONLY | O_CLOEXEC);
        if (file >= 0) {
            posix_fadvise(file, 0, 0, POSIX_FADV_DONTNEED);
            close(file);
        }
        return assay::cached_share(file_);
    }

    void fetch() {
        const int file = open(file_.c_str(), O_RDONLY | O_CLOEXEC);
        fails_if(file < 0);
        timed("read", [&] { all(::read, file, found_); });
        close(file);
        unlink(file_.c_str());
    }

    std::size_t bytes_;
    std::size_t block_;
    std::string file_;
    std::string folder_;
    std::string file_system_;
    std::byte* given_;
    std::byte* found_;
    std::size_t number_ = 0;
    int failed_ = 0;
    std::map<std::string, double> seconds_;
    std::string written_to_;
    std::string read_from_;
};

}  // namespace

int main(int argc, char** argv) { return assay::run_program<Storage>(assay::declared::storage, argc, argv); }
