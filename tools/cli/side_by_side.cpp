#include "tools/cli/side_by_side.hpp"

#include <algorithm>
#include <atomic>
#include <thread>
#include <vector>

namespace muster::cli {

void side_by_side(std::size_t count, std::size_t threads,
                  const std::function<void(std::size_t)>& work) {
  // hardware_concurrency() may be 0 when it is not known.
  const std::size_t cores = std::max(1u, std::thread::hardware_concurrency());
  const std::size_t wanted = threads > 0 ? threads : cores;
  std::atomic<std::size_t> next{0};
  const auto take = [&] {
    for (std::size_t i = next++; i < count; i = next++) work(i);
  };
  std::vector<std::thread> others;
  for (std::size_t i = 1; i < std::min(wanted, count); ++i) others.emplace_back(take);
  // This thread takes part: n pieces at a time are n threads in all.
  take();
  for (std::thread& thread : others) thread.join();
}

}  // namespace muster::cli
