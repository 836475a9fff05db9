#include "storage/stores/journal.hpp"

#include <gtest/gtest.h>

namespace muster {
namespace {

Event gone(double at_s, std::uint64_t instance) {
  return {Instant{from_seconds(at_s)}, InstanceGone{InstanceId{instance}}};
}

TEST(MemoryJournal, keeps_the_events_of_all_batches_in_their_order) {
  MemoryJournal journal;
  int durable = 0;
  const auto count = [&] { ++durable; };
  journal.append({gone(1, 10), gone(1, 11)}, count);
  journal.append({}, count);
  journal.append({gone(2, 12)}, count);

  ASSERT_EQ(journal.events().size(), 3u);
  for (std::uint64_t i = 0; i < 3; ++i) {
    EXPECT_EQ(std::get<InstanceGone>(journal.events()[i].body).instance.value, 10 + i);
  }
  EXPECT_EQ(journal.events()[2].at, Instant{from_seconds(2)});
  EXPECT_EQ(durable, 3);
  EXPECT_EQ(journal.trouble(), "");
}

TEST(MemoryJournal, leaves_nothing_in_the_batch_that_could_be_appended_twice) {
  MemoryJournal journal;
  std::vector<Event> batch{gone(1, 10)};
  journal.append(std::move(batch), [] {});
  journal.append(std::move(batch), [] {});  // NOLINT(bugprone-use-after-move)

  EXPECT_EQ(journal.events().size(), 1u);
}

}  // namespace
}  // namespace muster
