#include "storage/stores/apart_reader.hpp"

#include <utility>

namespace muster {

ApartReader::~ApartReader() {
  {
    const std::lock_guard lock(mutex_);
    ends_ = true;
    queue_.clear();
  }
  wake_.notify_one();
  thread_.join();
}

bool ApartReader::read(std::function<void()> read) {
  {
    const std::lock_guard lock(mutex_);
    // Reads hold what their askers gave them: a queue without a bound would let slow disks and
    // fast askers fill the memory.
    if (queue_.size() >= most_) return false;
    queue_.push_back(std::move(read));
  }
  wake_.notify_one();
  return true;
}

void ApartReader::run() {
  std::unique_lock lock(mutex_);
  while (true) {
    wake_.wait(lock, [this] { return ends_ || !queue_.empty(); });
    if (ends_) return;
    const auto read = std::move(queue_.front());
    queue_.pop_front();
    lock.unlock();
    // Unlocked, so that others can queue their reads while this one waits for the disk.
    read();
    lock.lock();
  }
}

}  // namespace muster
