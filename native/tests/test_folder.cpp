// The folder of a rank, and where its bytes went.
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <thread>

#include "check.hpp"
#include "harness/folder.hpp"

using assay::destination;
using assay::Folder;
using assay::origin;
using assay::StorageCounters;
using assay::test::contains;
using assay::test::failure_of;

namespace {

void two_folders_differ_and_are_removed_with_their_files() {
    std::string path;
    {
        const Folder one("/tmp");
        Folder other("/tmp");
        CHECK(one.path() != other.path());
        path = one.path();
        std::ofstream(path + "/file") << "content";
        CHECK(std::filesystem::exists(path + "/file"));
        CHECK(one.readback().asked == "/tmp" && !one.readback().file_system.empty());
        CHECK(one.readback().capacity_bytes >= one.readback().free_bytes && one.readback().free_bytes > 0);
        other.remove();
        CHECK(other.readback().removed && !std::filesystem::exists(other.path()));
        CHECK(!one.readback().removed);
    }
    CHECK(!std::filesystem::exists(path));
}

/// Path of a folder whose process was killed.
std::string orphan() {
    int ends[2];
    CHECK(pipe(ends) == 0);
    const pid_t child = fork();
    if (child == 0) {
        const Folder folder("/tmp");
        std::ofstream(folder.path() + "/file") << "content";
        const std::string told = folder.path() + '\n';
        _exit(write(ends[1], told.data(), told.size()) < 0 ? 1 : (std::raise(SIGKILL), 0));
    }
    close(ends[1]);
    std::string path;
    for (char letter = 0; read(ends[0], &letter, 1) == 1 && letter != '\n';) {
        path += letter;
    }
    close(ends[0]);
    waitpid(child, nullptr, 0);
    return path;
}

void it_is_removed_when_the_process_is_killed() {
    const std::string path = orphan();
    CHECK(path.rfind("/tmp/assay-", 0) == 0);
    for (int turn = 0; turn < 1000 && std::filesystem::exists(path); ++turn) {
        std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    CHECK(!std::filesystem::exists(path));
}

void where_nothing_can_be_made_the_reason_is_told() {
    CHECK(contains(failure_of([] { const Folder folder("/no/such"); }),
                   "no folder can be made in '/no/such': No such"));
}

void bytes_are_proven_to_be_on_a_device_by_its_own_counter_alone() {
    const StorageCounters before{0, 0, 1000, 1000};
    const auto after = [](double reads, double writes) {
        return StorageCounters{1e6, 1e6, 1000 + reads, 1000 + writes};
    };
    CHECK(destination("ext4", 1000, before, after(0, 900)) == "device");
    CHECK(destination("ext4", 1000, before, after(0, 899)) == "unproven");
    CHECK(destination("ext4", 1000, before, {900, 899, 1000, 2000}) == "unproven");  // others wrote
    CHECK(origin("ext4", 1000, 0.0, before, {899, 900, 2000, 1000}) == "unproven");
    CHECK(destination("nfs4", 1000, {0, 0, {}, {}}, {1e6, 1e6, {}, {}}) == "unproven");
    CHECK(destination("tmpfs", 1000, before, after(0, 1000)) == "cache");
    CHECK(origin("ext4", 1000, 0.0, before, after(900, 0)) == "device");
    CHECK(origin("ext4", 1000, 0.0, before, after(899, 0)) == "unproven");
    CHECK(origin("ext4", 1000, 0.51, before, after(900, 0)) == "cache");
    CHECK(origin("ext4", 1000, 0.5, before, after(900, 0)) == "device");
    CHECK(origin("ext4", 1000, {}, before, after(0, 0)) == "unproven");
}

void pages_of_a_new_file_are_in_the_cache() {
    const Folder folder("/dev/shm");
    const std::string file = folder.path() + "/file";
    std::ofstream(file) << std::string(100'000, 'x');
    CHECK(folder.readback().file_system == "tmpfs");
    CHECK(assay::cached_share(file) == 1.0);
    CHECK(!assay::cached_share(file + "s"));
}

}  // namespace

int main() {
    two_folders_differ_and_are_removed_with_their_files();
    it_is_removed_when_the_process_is_killed();
    where_nothing_can_be_made_the_reason_is_told();
    bytes_are_proven_to_be_on_a_device_by_its_own_counter_alone();
    pages_of_a_new_file_are_in_the_cache();
    return assay::test::failures == 0 ? 0 : 1;
}
