#include "harness/mpi/world.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <csignal>

#include "harness/environment.hpp"
#include "harness/mpi/program.hpp"
#include "harness/records.hpp"

namespace assay {
namespace {

constexpr int dissemination_tag = 1;
constexpr int gather_tag = 2;

/// Time limit of MPI_Finalize. Debian's MPICH 4.0 over UCX and TCP hangs there in 3 to 10 % of short programs
/// between nodes: one rank waits for a peer that has stopped listening. All records are written by then.
constexpr unsigned finalize_timeout_s = 10;

/// For the signal handler: the exit code of the process.
volatile std::sig_atomic_t exit_code = 0;

int level_of(Threads threads) {
    switch (threads) {
        case Threads::single:
            return MPI_THREAD_SINGLE;
        case Threads::funneled:
            return MPI_THREAD_FUNNELED;
        case Threads::multiple:
            break;
    }
    return MPI_THREAD_MULTIPLE;
}

/// Name of a thread level; the standard defines their order.
std::string word_of(int level) {
    if (level < MPI_THREAD_FUNNELED) {
        return "single";
    }
    return level < MPI_THREAD_MULTIPLE ? "funneled" : "multiple";
}

/// Facts of MPI for the header.
std::map<std::string, std::string> describe_library(int granted) {
    std::array<char, MPI_MAX_LIBRARY_VERSION_STRING> text{};
    int length = 0;
    MPI_Get_library_version(text.data(), &length);
    int version = 0;
    int subversion = 0;
    MPI_Get_version(&version, &subversion);
    const std::string_view whole(text.data());
    std::map<std::string, std::string> library = library_environment(environ);
    library["library"] = whole.substr(0, whole.find('\n'));
    std::replace(library["library"].begin(), library["library"].end(), '\t', ' ');
    library["standard"] = std::to_string(version) + "." + std::to_string(subversion);
    library["threads"] = word_of(granted);
    return library;
}

}  // namespace

World::World(Threads threads) {
    reserve_stdout();  // MPI libraries print messages to stdout
    int granted = 0;
    MPI_Init_thread(nullptr, nullptr, level_of(threads), &granted);
    MPI_Comm_dup(MPI_COMM_WORLD, &comm_);
    MPI_Comm_rank(comm_, &rank_);
    MPI_Comm_size(comm_, &size_);
    library_ = describe_library(granted);
}

/// Dissemination (Hensgen, Finkel and Manber, 1988): in round k each rank sends what it knows to the rank 2^k
/// after it. After ceil(log2 n) rounds every rank has heard of all; a maximum may arrive twice.
void World::allreduce_max(std::span<double> values) {
    others_.resize(values.size());
    const auto count = static_cast<int>(values.size());
    for (int distance = 1; distance < size_; distance *= 2) {
        MPI_Sendrecv(values.data(), count, MPI_DOUBLE, (rank_ + distance) % size_, dissemination_tag,
                     others_.data(), count, MPI_DOUBLE, (rank_ + size_ - distance) % size_, dissemination_tag,
                     comm_, MPI_STATUS_IGNORE);
        std::transform(values.begin(), values.end(), others_.begin(), values.begin(),
                       [](double one, double other) { return std::max(one, other); });
    }
}

std::vector<std::string> World::gather(const std::string& text) {
    if (rank_ != 0) {
        MPI_Send(text.data(), static_cast<int>(text.size()), MPI_CHAR, 0, gather_tag, comm_);
        return {};
    }
    std::vector<std::string> texts{text};
    for (int other = 1; other < size_; ++other) {
        MPI_Status status;
        int length = 0;
        MPI_Probe(other, gather_tag, comm_, &status);
        MPI_Get_count(&status, MPI_CHAR, &length);
        std::string received(static_cast<std::size_t>(length), ' ');
        MPI_Recv(received.data(), length, MPI_CHAR, other, gather_tag, comm_, MPI_STATUS_IGNORE);
        texts.push_back(std::move(received));
    }
    return texts;
}

std::string World::broadcast(const std::string& text) {
    auto length = static_cast<int>(text.size());
    MPI_Bcast(&length, 1, MPI_INT, 0, comm_);
    std::string received = rank_ == 0 ? text : std::string(static_cast<std::size_t>(length), ' ');
    MPI_Bcast(received.data(), length, MPI_CHAR, 0, comm_);
    return received;
}

void World::abandon(Exit exit) { MPI_Abort(comm_, static_cast<int>(exit)); }

void World::leave(Exit exit) {
    MPI_Comm_free(&comm_);
    exit_code = static_cast<int>(exit);
    std::signal(SIGALRM, [](int /*signal*/) { _exit(exit_code); });
    alarm(finalize_timeout_s);
    MPI_Finalize();
    alarm(0);
}

int run_mpi_program(const Declaration& declaration, Factory factory, int argc, char** argv) {
    const Join world = [](Threads threads) -> std::unique_ptr<Ranks> { return std::make_unique<World>(threads); };
    return run_ranks(declaration, factory, world, argc, argv);
}

}  // namespace assay
