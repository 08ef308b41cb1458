// The collective operations of MPI, blocking or non-blocking.
#pragma once

#include <mpi.h>

#include <set>
#include <string>

#include "benchmarks/collectives/collective_blocks.hpp"
#include "harness/ranks.hpp"

namespace assay::collective {

/// One operation among all ranks, repeated on the same buffers.
class Calls {
  public:
    Calls(Memory& memory, const Options& options, Ranks& ranks)
        : options_(options),
          ranks_(ranks),
          blocks_(memory, options, ranks.rank(), ranks.size()),
          bytes_(static_cast<int>(options.bytes)),
          doubles_(static_cast<int>(options.bytes / sizeof(double))) {}

    /// Ranks exchange the names of their hosts.
    void connect() {
        const std::vector<std::string> keys = ranks_.gather(host_key());
        const std::set<std::string> hosts(keys.begin(), keys.end());
        if (!hosts.empty()) {  // rank 0 counts what all send
            const auto groups = static_cast<double>(hosts.size() > 1 ? hosts.size() : keys.size());
            min_sent_bytes_ = min_sent_bytes(options_, static_cast<double>(keys.size()), groups);
        }
    }

    [[nodiscard]] Blocks& blocks() { return blocks_; }

    /// On rank 0: the least that all ranks together had to send so far.
    [[nodiscard]] double sent_bytes() const { return min_sent_bytes_ * static_cast<double>(done_); }

    /// The requested operation, from start to end.
    void perform() {
        if (options_.nonblocking) {
            begin();
            finish();
        } else {
            make<false>();
        }
    }

    void begin() { make<true>(); }

    /// Lets MPI make progress on what was begun.
    void test() {
        int ended = 0;
        MPI_Test(&request_, &ended, MPI_STATUS_IGNORE);
    }

    void finish() { MPI_Wait(&request_, MPI_STATUS_IGNORE); }

    /// Call it after each operation, outside the timed region.
    void count() {
        blocks_.done(root_);
        ++done_;
        root_ = options_.rotating ? (root_ + 1) % ranks_.size() : 0;
    }

  private:
    /// Calls the blocking function of the operation, or begins the non-blocking one.
    template <bool begun>
    void make() {
        void* const sent = blocks_.sent();
        void* const received = blocks_.received();
        switch (options_.operation) {
            case Operation::barrier:
                either<begun>(MPI_Barrier, MPI_Ibarrier, comm_);
                break;
            case Operation::dissemination:  // it exists in this form only
                ranks_.barrier();
                break;
            case Operation::bcast:
                either<begun>(MPI_Bcast, MPI_Ibcast, root_ == ranks_.rank() ? sent : received, bytes_, MPI_BYTE,
                              root_, comm_);
                break;
            case Operation::reduce:
                either<begun>(MPI_Reduce, MPI_Ireduce, sent, received, doubles_, MPI_DOUBLE, MPI_SUM, root_,
                              comm_);
                break;
            case Operation::allreduce:
                either<begun>(MPI_Allreduce, MPI_Iallreduce, sent, received, doubles_, MPI_DOUBLE, MPI_SUM, comm_);
                break;
            case Operation::gather:
                either<begun>(MPI_Gather, MPI_Igather, sent, bytes_, MPI_BYTE, received, bytes_, MPI_BYTE, root_,
                              comm_);
                break;
            case Operation::scatter:
                either<begun>(MPI_Scatter, MPI_Iscatter, sent, bytes_, MPI_BYTE, received, bytes_, MPI_BYTE, root_,
                              comm_);
                break;
            case Operation::allgather:
                either<begun>(MPI_Allgather, MPI_Iallgather, sent, bytes_, MPI_BYTE, received, bytes_, MPI_BYTE,
                              comm_);
                break;
            case Operation::alltoall:
                either<begun>(MPI_Alltoall, MPI_Ialltoall, sent, bytes_, MPI_BYTE, received, bytes_, MPI_BYTE,
                              comm_);
                break;
            case Operation::reduce_scatter:
                either<begun>(MPI_Reduce_scatter, MPI_Ireduce_scatter, sent, received, blocks_.portions().data(),
                              MPI_DOUBLE, MPI_SUM, comm_);
                break;
        }
    }

    /// MPI's two functions of an operation have the same arguments; the non-blocking one also has a request.
    template <bool begun, class Call, class Begin, class... Arguments>
    void either(Call call, Begin begin, Arguments... arguments) {
        if constexpr (begun) {
            begin(arguments..., &request_);
        } else {
            call(arguments...);
        }
    }

    Options options_;
    Ranks& ranks_;
    Blocks blocks_;
    int bytes_;
    int doubles_;
    int root_ = 0;
    std::uint64_t done_ = 0;
    double min_sent_bytes_ = 0;
    MPI_Request request_ = MPI_REQUEST_NULL;
    MPI_Comm comm_ = MPI_COMM_WORLD;
};

}  // namespace assay::collective
