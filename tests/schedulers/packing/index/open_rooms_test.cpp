#include "schedulers/packing/index/open_rooms.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <optional>
#include <vector>

namespace muster {
namespace {

using RoomKey = OrderedRooms::Key;

constexpr Slot kOneJob = 7;
constexpr Slot kAnotherJob = 8;
const Resources kSmallTask = Resources::of(0, 1, 1);

/// Rooms for 16 tasks each, of which those with the least left come first.
class TestRooms {
 public:
  explicit TestRooms(std::uint32_t count) {
    for (std::uint32_t i = 0; i < count; ++i) {
      free_.push_back(Resources::of(0, 16, 16));
      rooms_.insert(0, key_of(i), free_.back());
    }
  }
  const OrderedRooms& all() const { return rooms_; }
  /// Rooms without a task of the job; counts the questions.
  RoomRule rule_for(Slot job) {
    return {{job}, [this, job](std::uint64_t room) {
              ++asked_;
              return !peers_.is_full(room, Apart{job, 1});
            }};
  }
  void put(const RoomKey& room, Slot job) {
    rooms_.erase(0, room);
    free_[room.room] -= kSmallTask;
    rooms_.insert(0, key_of(room.room), free_[room.room]);
    peers_.add(room.room, Apart{job, 1});
  }
  std::size_t asked() const { return asked_; }

 private:
  RoomKey key_of(std::uint32_t room) const { return {free_[room][Resource::cpu], room}; }

  OrderedRooms rooms_{1};
  PeerRooms peers_;
  std::vector<Resources> free_;
  std::size_t asked_ = 0;
};

using RoomSearch = std::function<std::optional<RoomKey>(const TestRooms&, const RoomRule&)>;

std::optional<RoomKey> first_room(const TestRooms& rooms, const RoomRule& rule) {
  return rooms.all().first({kSmallTask}, {}, rule);
}
std::optional<RoomKey> aligned_room(const TestRooms& rooms, const RoomRule& rule) {
  return rooms.all().most_aligned({kSmallTask}, Resources::of(0, 1, 1), rule);
}

/// How often the rule is asked for the tasks of one job, and for one more than there are rooms.
std::size_t questions_of(std::uint32_t tasks, const RoomSearch& search) {
  TestRooms rooms(tasks);
  for (std::uint32_t i = 0; i < tasks; ++i) {
    const auto found = search(rooms, rooms.rule_for(kOneJob));
    EXPECT_TRUE(found) << "task " << i;
    if (!found) break;
    rooms.put(*found, kOneJob);
  }
  EXPECT_FALSE(search(rooms, rooms.rule_for(kOneJob))) << "all rooms have a peer";
  EXPECT_TRUE(search(rooms, {})) << "others may join them";
  return rooms.asked();
}

TEST(OrderedRooms, pass_by_the_peers_of_a_job_once_and_not_once_a_task) {
  for (const RoomSearch& search : {RoomSearch(first_room), RoomSearch(aligned_room)}) {
    const std::size_t few = questions_of(500, search);
    const std::size_t many = questions_of(1'000, search);
    EXPECT_LT(many, 3 * few) << few << " and " << many;
    EXPECT_LE(many, 5'000U);
  }
}

TEST(OrderedRooms, are_open_to_the_tasks_of_every_other_job) {
  for (const RoomSearch& search : {RoomSearch(first_room), RoomSearch(aligned_room)}) {
    TestRooms rooms(2);
    rooms.put({16, 0}, kOneJob);
    EXPECT_EQ(search(rooms, rooms.rule_for(kOneJob))->room, 1U);
    rooms.put({16, 1}, kOneJob);
    EXPECT_FALSE(search(rooms, rooms.rule_for(kOneJob)));
    EXPECT_EQ(search(rooms, rooms.rule_for(kAnotherJob))->room, 0U);
    rooms.put({15, 0}, kAnotherJob);
    EXPECT_EQ(search(rooms, rooms.rule_for(kAnotherJob))->room, 1U);
    EXPECT_FALSE(search(rooms, rooms.rule_for(kOneJob)));
  }
}

TEST(OrderedRooms, know_the_most_that_is_free_also_of_rooms_with_a_peer) {
  TestRooms rooms(1);
  rooms.put({16, 0}, kOneJob);
  EXPECT_FALSE(first_room(rooms, rooms.rule_for(kOneJob)));
  EXPECT_EQ(rooms.all().most(0), Resources::of(0, 15, 15));
  EXPECT_EQ(rooms.all().last({kSmallTask}, 16)->room, 0U);
}

}  // namespace
}  // namespace muster
