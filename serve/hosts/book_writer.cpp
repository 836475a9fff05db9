#include "serve/hosts/book_writer.hpp"

#include <algorithm>

#include "serve/api/private_file.hpp"
#include "serve/hosts/host_refusal.hpp"

namespace muster::hosts {

std::optional<Failure<int>> BookWriter::save(std::unique_lock<std::mutex>& lock, Duration now,
                                             const std::function<std::string()>& content) {
  if (saved_ == changes_) return std::nullopt;
  lock.unlock();
  const std::lock_guard one_writer(writing_);
  lock.lock();
  if (saved_ == changes_) return std::nullopt;
  const std::uint64_t until = changes_;
  const std::string text = content();
  late_.reset();
  lock.unlock();
  const auto fault = api::replace_private(file_, text);
  lock.lock();
  if (fault && fault_.empty() && note_) note_("the list of machines cannot be written: " + *fault);
  fault_ = fault.value_or("");
  if (fault) {
    if (!late_) late_ = now + kLateWrite;
    return Failure<int>{kHostStorage, *fault};
  }
  saved_ = std::max(saved_, until);
  return std::nullopt;
}

}  // namespace muster::hosts
