// A task's order travels as a message between actors, as a frame of the worker link and as a text
// in the attempt's folder. All three go over the same `fields`: nothing here names a member.

#include "model/task_order.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cstring>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "actors/link/worker_link_codec.hpp"
#include "tests/support/arbitrary_events.hpp"
#include "tests/support/described.hpp"
#include "tests/support/virtual_system.hpp"
#include "workers/process/files/attempt_fields.hpp"

namespace muster {
namespace {

/// Puts drawn values into the range that a worker takes from its master, or durations alone into
/// the narrower one of all that is read.
class InRange {
 public:
  enum class Values { all, durations };
  explicit InRange(Values values = Values::all) : all_(values == Values::all) {}

  template <class T>
  void operator()(Key, T& value) {
    put(value);
  }
  template <class T>
  void operator()(Key, std::optional<T>& value) {
    if (value) put(*value);
  }
  template <class T>
  void unless_default(Key, T& value, const std::type_identity_t<T>&) {
    put(value);
  }

 private:
  template <class T>
  void put(T& value) {
    if constexpr (Described<T>) fields(*this, value);
  }
  void put(double& value) {
    if (all_ && !(value > 0 && value <= kMaxAmount)) value = 0.1;
  }
  void put(Duration& value) { value = Duration{value.count() & 0xff'ffff'ffff'ffff}; }
  void put(std::int32_t& value) {
    if (all_) value &= 63;
  }
  void put(std::uint32_t& value) {
    if (all_ && value == 0) value = 1;
  }
  void put(Demands& value) {
    std::vector<FamilyDemand> entries = value.entries();
    for (FamilyDemand& entry : entries) fields(*this, entry);
    value = Demands(std::move(entries));
  }

  bool all_;
};

TaskOrder drawn_order() {
  TaskOrder order;
  test::arbitrary::Draw draw;
  fields(draw, order);
  InRange in_range;
  fields(in_range, order);
  return order;
}

RC_GTEST_PROP(TaskOrderProperty, an_order_arrives_in_a_message_as_it_was_given, ()) {
  const TaskOrder order = drawn_order();
  test::VirtualSystem system;
  std::vector<char> bytes;
  caf::binary_serializer out{system.actors(), bytes};
  RC_ASSERT(!out(order));
  caf::binary_deserializer in{system.actors(), bytes};
  TaskOrder again;
  RC_ASSERT(!in(again));
  RC_ASSERT(again == order);
}

RC_GTEST_PROP(TaskOrderProperty, an_order_arrives_in_a_frame_as_it_was_given, ()) {
  const TaskOrder order = drawn_order();
  const FrameBytes bytes = start_frame(order, std::size_t{1} << 20);
  RC_ASSERT(!bytes.empty());
  std::vector<std::uint64_t> words((bytes.size() - kFrameHeaderBytes) / sizeof(std::uint64_t));
  std::memcpy(words.data(), bytes.data() + kFrameHeaderBytes, words.size() * sizeof words[0]);
  const auto problem =
      read_frame(words, [&](link_wire::Frame::Reader frame) -> std::optional<std::string> {
        const auto read = read_start(frame.getStart());
        if (!read) return read.error().message;
        return read.value() == order ? std::optional<std::string>() : "another order";
      });
  RC_ASSERT(problem == std::nullopt);
}

RC_GTEST_PROP(TaskOrderProperty, an_order_is_read_from_an_attempts_folder_as_it_was_given, ()) {
  process::Order order{drawn_order()};
  test::arbitrary::Draw draw;
  fields(draw, order.worker);
  InRange in_range(InRange::Values::durations);
  fields(in_range, order.worker);
  // The one that has a least value.
  order.worker.memory_interval += process::kLeastMemoryInterval;
  const std::optional<process::Order> again = process::order_from(process::to_text(order));
  RC_ASSERT(again == order);
}

RC_GTEST_PROP(TaskOrderProperty, a_result_is_read_as_it_was_written, ()) {
  process::AttemptResult result;
  test::arbitrary::Draw draw;
  fields(draw, result);
  InRange in_range(InRange::Values::durations);
  fields(in_range, result);
  const std::optional<process::AttemptResult> again =
      process::result_from(process::to_text(result));
  RC_ASSERT(again == result);
}

/// Collects what members are called in an attempt's folder.
struct TextNames {
  std::vector<std::string> names;

  template <class T>
  void operator()(Key key, const T& value) {
    // A service is a list of its own, whose members have no names.
    if constexpr (Described<T> && !std::is_same_v<T, ServiceSpec>) {
      fields(*this, value);
    } else {
      names.push_back(process::text_name<T>(key));
    }
  }
  template <class T>
  void operator()(Key key, const std::optional<T>&) {
    (*this)(key, T{});
  }
  template <class T>
  void unless_default(Key key, const T& value, const std::type_identity_t<T>&) {
    (*this)(key, value);
  }
};

template <class T>
class AttemptTexts : public ::testing::Test {};
using Texts = ::testing::Types<process::Order, process::AttemptResult>;
TYPED_TEST_SUITE(AttemptTexts, Texts);

/// The members of all structs of an order stand in one object: of two that are called the same, one
/// would take the other's value.
TYPED_TEST(AttemptTexts, NoTwoMembersAreCalledTheSame) {
  TextNames texts;
  const TypeParam example{};
  fields(texts, example);
  std::set<std::string> seen;
  for (const std::string& name : texts.names) {
    EXPECT_TRUE(seen.insert(name).second) << name << ": docs/add-a-field.md";
  }
  EXPECT_GE(seen.size(), std::size_t{14}) << "the members of what it is made of are looked at too";
}

template <class T>
class OrderParts : public ::testing::Test {};
using Parts = ::testing::Types<TaskOrder, TaskSpec, Delays, FamilyDemand, Program,
                               process::WorkerTerms, process::HiddenPlace, process::AttemptResult>;
TYPED_TEST_SUITE(OrderParts, Parts);

TYPED_TEST(OrderParts, NoMemberIsLeftOutOfItsDescription) {
  EXPECT_EQ(test::named_of<TypeParam>(), test::members_of<TypeParam>());
}

}  // namespace
}  // namespace muster
