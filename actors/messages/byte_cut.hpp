#pragma once

#include <caf/detail/serialized_size.hpp>
#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "actors/messages/inspect.hpp"
#include "model/job.hpp"

// A list that crosses a link is cut by its bytes in the message, never by a count alone: the relay
// ends a connection at the first message above link.max_message_bytes, and its sender would send it
// again.

namespace muster {

/// The smallest value that the key link.max_message_bytes may have.
inline constexpr std::size_t kLeastMessageBytes = std::size_t{1} << 20;
/// Bytes of a list in one message at most, unless a single element is longer.
inline constexpr std::size_t kListBytes = kLeastMessageBytes / 2;
/// No element of a list is longer. The rest of the smallest message is room for its envelope.
inline constexpr std::size_t kElementBytes = kLeastMessageBytes / 8 * 7;

/// Bytes of the value in a message. Costs as much as sending it, but for the memory.
template <class T>
std::size_t encoded_bytes(const T& value) {
  caf::detail::serialized_size_inspector counted;
  // The inspector only reads, but takes what one that loads would take.
  counted(const_cast<T&>(value));
  return counted.result();
}

/// Counts how much of a list goes into one message.
class ByteCut {
 public:
  explicit ByteCut(std::size_t most = kListBytes) : most_(most) {}

  /// Whether one more element of that size goes into the message; the first one always does. After
  /// the first that does not, no further element does.
  bool takes_bytes(std::size_t bytes) {
    if (is_full_ || (any_ && taken_ + bytes > most_)) return !(is_full_ = true);
    any_ = true;
    taken_ += bytes;
    return true;
  }
  template <class T>
  bool takes(const T& element) {
    return takes_bytes(encoded_bytes(element));
  }
  bool is_full() const { return is_full_; }

 private:
  std::size_t most_;
  std::size_t taken_ = 0;
  bool any_ = false;
  bool is_full_ = false;
};

/// Leaves the first elements that go into one message; how many had to go.
template <class T>
std::size_t cut_to_message(std::vector<T>& list, std::size_t most = kListBytes) {
  ByteCut cut(most);
  std::size_t size = 0;
  while (size < list.size() && cut.takes(list[size])) ++size;
  const std::size_t gone = list.size() - size;
  list.erase(list.begin() + static_cast<std::ptrdiff_t>(size), list.end());
  return gone;
}

/// The list in pieces, each of which goes into one message; no pieces for an empty list.
template <class T>
std::vector<std::vector<T>> in_messages(std::vector<T> list, std::size_t most = kListBytes) {
  std::vector<std::vector<T>> pieces;
  ByteCut cut(most);
  for (T& element : list) {
    if (pieces.empty() || !cut.takes(element)) {
      cut = ByteCut(most);
      cut.takes(element);
      pieces.emplace_back();
    }
    pieces.back().push_back(std::move(element));
  }
  return pieces;
}

/// Why no message could carry the job, with its size and the bound; nothing when one can.
std::optional<std::string> why_too_large(const Job& job);
/// The reason for the first such job of several that come together, with its place among them.
std::optional<std::string> why_too_large(const std::vector<Job>& jobs);

}  // namespace muster
