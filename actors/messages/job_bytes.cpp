#include "actors/messages/job_bytes.hpp"

#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "actors/messages/byte_cut.hpp"
#include "model/fields.hpp"

namespace muster {
namespace {

/// Jobs of more tasks are encoded: of alike tasks a message has one.
constexpr std::size_t kFewTasks = 4;
/// Most bytes of the length of a list or text.
constexpr std::size_t kLengthBytes = 5;
/// A run of tasks beside its first one: their count, two lists' lengths and a step each.
constexpr std::size_t kRunBytes = 4 + kLengthBytes + 4 + 4;

/// Adds up members: numbers take what they take in memory, which is no less than in a message.
class ByteBound {
 public:
  std::size_t bytes() const { return bytes_; }

  template <class T>
  void operator()(Key, T& value) {
    add(value);
  }
  template <class T>
  void unless_default(Key, T& value, const std::type_identity_t<T>&) {
    add(value);
  }
  void optional_id(Key, const auto& id) { add(id); }
  /// Of jobs that have no such member.
  template <class T>
  void alternative(Key, auto&) {
    ++bytes_;
  }

 private:
  void add(const std::string& text) { bytes_ += kLengthBytes + text.size(); }
  void add(const Resources&) { bytes_ += kLengthBytes + sizeof(Resources); }
  void add(const Demands& demands) { add(demands.entries()); }
  template <class T>
  void add(const std::vector<T>& list) {
    bytes_ += kLengthBytes;
    for (const T& each : list) add(each);
    if constexpr (std::is_same_v<T, TaskSpec>) bytes_ += kRunBytes * list.size();
  }
  template <class A, class B>
  void add(const std::pair<A, B>& both) {
    add(both.first);
    add(both.second);
  }
  template <class T>
  void add(const std::optional<T>& value) {
    ++bytes_;
    if (value) add(*value);
  }
  template <class T>
  void add(const T& value) {
    if constexpr (std::is_trivially_copyable_v<T>) {
      bytes_ += sizeof(T);
    } else {
      fields(*this, value);
    }
  }

  std::size_t bytes_ = 0;
};

}  // namespace

std::size_t job_bytes(const Job& job) {
  if (job.tasks.size() > kFewTasks || !std::holds_alternative<BatchSpec>(job.kind)) {
    return encoded_bytes(job);
  }
  ByteBound bound;
  fields(bound, job);
  return bound.bytes() < kListBytes / 64 ? bound.bytes() : encoded_bytes(job);
}

}  // namespace muster
