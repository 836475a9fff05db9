#pragma once

#include <cstddef>
#include <functional>

namespace muster::cli {

/// Does `work` for 0 to `count` - 1, each once, on that number of threads, of which the caller's is
/// one; 0 threads: one a core. Pieces of work differ widely in length: the next free thread takes
/// the next one.
void side_by_side(std::size_t count, std::size_t threads,
                  const std::function<void(std::size_t)>& work);

}  // namespace muster::cli
