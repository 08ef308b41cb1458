// The windows of two ranks: transfers between them, and how each rank learns that they are complete.
#pragma once

#include <mpi.h>
#include <sched.h>

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "benchmarks/messages/onesided_options.hpp"
#include "harness/failure.hpp"

namespace assay::onesided {

/// One rank's window: its slots, then a flag.
class Window {
  public:
    /// `memory`: the program's, for a window that is created on it; otherwise none. Collective.
    Window(const Options& options, std::byte* memory, int partner)
        : options_(options), partner_(partner), first_(memory) {
        const auto bytes = static_cast<MPI_Aint>(size(options));
        if (options.allocate) {
            MPI_Win_allocate(bytes, 1, MPI_INFO_NULL, MPI_COMM_WORLD, static_cast<void*>(&first_), &window_);
        } else {
            MPI_Win_create(memory, bytes, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &window_);
        }
        flag_ = reinterpret_cast<std::uint64_t*>(first_ + place_of_flag(options));
        *flag_ = 0;
        MPI_Group world = MPI_GROUP_NULL;
        MPI_Comm_group(MPI_COMM_WORLD, &world);
        MPI_Group_incl(world, 1, &partner_, &group_);
        MPI_Group_free(&world);
        if (options.synchronisation == Synchronisation::flush) {
            MPI_Win_lock_all(0, window_);
        }
    }
    Window(const Window&) = delete;
    Window& operator=(const Window&) = delete;
    Window(Window&&) = delete;
    Window& operator=(Window&&) = delete;

    ~Window() {
        if (options_.synchronisation == Synchronisation::flush) {
            MPI_Win_unlock_all(window_);
        }
        MPI_Group_free(&group_);
        MPI_Win_free(&window_);
    }

    /// Bytes of a window.
    static std::size_t size(const Options& options) { return place_of_flag(options) + flag_bytes; }

    [[nodiscard]] std::byte* slots() const { return first_; }

    /// Whether own stores and remote puts use one memory (unified model): only then a flag may be polled.
    [[nodiscard]] bool unified() const {
        int* model = nullptr;
        int found = 0;
        MPI_Win_get_attr(window_, MPI_WIN_MODEL, static_cast<void*>(&model), &found);
        return found != 0 && *model == MPI_WIN_UNIFIED;
    }

    /// Before the transfers of a sample, on both ranks.
    void open() const {
        if (options_.synchronisation == Synchronisation::fence) {
            MPI_Win_fence(0, window_);
        }
    }

    /// Makes own stores visible to others, and theirs to this rank.
    void settle() const {
        if (options_.synchronisation == Synchronisation::flush) {
            MPI_Win_sync(window_);
        }
        std::atomic_thread_fence(std::memory_order_seq_cst);
    }

    /// Transfers all slots from (get: to) `buffer`. They are complete on both ranks when this call or the
    /// partner's `accept` returns.
    void transfer(std::byte* buffer) const {
        begin();
        for (int slot = 0; slot < options_.slots; ++slot) {
            move(buffer, static_cast<std::size_t>(slot) * options_.stride());
        }
        end();
    }

    /// The target's part of a transfer, if it has one.
    void accept() const {
        if (options_.synchronisation == Synchronisation::fence) {
            MPI_Win_fence(0, window_);
        } else if (options_.synchronisation == Synchronisation::pscw) {
            MPI_Win_post(group_, 0, window_);
            MPI_Win_wait(window_);
        }
    }

    /// After a complete transfer: increments the partner's flag.
    void notify() {
        ++raised_;
        begin();
        MPI_Put(&raised_, flag_value_bytes, MPI_BYTE, partner_, static_cast<MPI_Aint>(place_of_flag(options_)),
                flag_value_bytes, MPI_BYTE, window_);
        end();
    }

    /// Waits until the partner has incremented this rank's flag.
    void await() {
        constexpr std::uint64_t between_probes = 64;        // some MPIs make no progress unless they are called
        constexpr std::uint64_t between_yields = 1 << 16U;  // the partner may need this very core
        ++awaited_;
        const std::atomic_ref<std::uint64_t> flag(*flag_);
        for (std::uint64_t poll = 1; flag.load(std::memory_order_acquire) != awaited_; ++poll) {
            if (poll % between_probes == 0) {
                int found = 0;
                MPI_Iprobe(partner_, MPI_ANY_TAG, MPI_COMM_WORLD, &found, MPI_STATUS_IGNORE);
            }
            if (poll % between_yields == 0) {
                sched_yield();
            }
        }
        if (options_.synchronisation == Synchronisation::flush) {
            MPI_Win_sync(window_);
        }
    }

  private:
    static constexpr std::size_t flag_bytes = 128;
    static constexpr int flag_value_bytes = sizeof(std::uint64_t);

    static std::size_t place_of_flag(const Options& options) {
        return static_cast<std::size_t>(options.slots) * options.stride();
    }

    void begin() const {
        if (options_.synchronisation == Synchronisation::lock) {
            MPI_Win_lock(MPI_LOCK_SHARED, partner_, 0, window_);
        } else if (options_.synchronisation == Synchronisation::pscw) {
            MPI_Win_start(group_, 0, window_);
        }
    }

    void move(std::byte* buffer, std::size_t place) const {
        const auto bytes = static_cast<int>(options_.bytes);
        const auto doubles = static_cast<int>(options_.bytes / sizeof(double));
        const auto target_offset = static_cast<MPI_Aint>(place);
        std::byte* here = buffer + place;
        switch (options_.operation) {
            case Operation::put:
                MPI_Put(here, bytes, MPI_BYTE, partner_, target_offset, bytes, MPI_BYTE, window_);
                break;
            case Operation::get:
                MPI_Get(here, bytes, MPI_BYTE, partner_, target_offset, bytes, MPI_BYTE, window_);
                break;
            case Operation::accumulate:
                MPI_Accumulate(here, doubles, MPI_DOUBLE, partner_, target_offset, doubles, MPI_DOUBLE, MPI_SUM,
                               window_);
                break;
        }
    }

    void end() const {
        switch (options_.synchronisation) {
            case Synchronisation::flush:
                MPI_Win_flush(partner_, window_);
                break;
            case Synchronisation::lock:
                MPI_Win_unlock(partner_, window_);
                break;
            case Synchronisation::fence:
                MPI_Win_fence(0, window_);
                break;
            case Synchronisation::pscw:
                MPI_Win_complete(window_);
                break;
        }
    }

    Options options_;
    int partner_;
    std::byte* first_;
    MPI_Win window_ = MPI_WIN_NULL;
    MPI_Group group_ = MPI_GROUP_NULL;
    std::uint64_t* flag_ = nullptr;
    std::uint64_t raised_ = 0;
    std::uint64_t awaited_ = 0;
};

}  // namespace assay::onesided
