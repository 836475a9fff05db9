#include "schedulers/muster/room_index.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <set>
#include <vector>

#include "tests/schedulers/cluster.hpp"

namespace muster::own {
namespace {

using test::JobBuilder;
using testing::Cluster;

/// A layout of a cluster some of whose tasks have no place yet, each of its own demand.
class Crowd {
 public:
  Crowd() : cluster_(testing::table_3(), "no-packing") {
    for (int i = *rc::gen::inRange(0, 12); i > 0; --i) submit();
    cluster_.round();
    for (std::uint64_t id = 1; id < next_; id += 3) cluster_.finish(id);
    for (int i = *rc::gen::inRange(1, 12); i > 0; --i) submit();
    prices_.learn(cluster_.state());
    input_.gather({view_, prices_.types().markets()}, prices_, kinds_);
  }

  RoundParts parts() {
    return {params_, view_, input_, prices_, rates_, memory_, work_, kinds_, {params_, times_}};
  }
  std::vector<std::uint32_t> waiting() const {
    std::vector<std::uint32_t> found;
    for (std::uint32_t i = 0; i < input_.tasks().size(); ++i) {
      if (input_.tasks()[i].home == kUnassigned) found.push_back(i);
    }
    return found;
  }

 private:
  void submit() {
    const auto tenths = [](int most) { return *rc::gen::inRange(1, 10 * most) / 10.0; };
    const double gpus = *rc::gen::inRange(0, 3);
    cluster_.submit(JobBuilder(next_++).demand(Resources::of(gpus, tenths(8), tenths(30))).build());
  }

  std::uint64_t next_ = 1;
  Catalog catalog_ = testing::table_3();
  Cluster cluster_;
  MusterParams params_;
  ClusterView view_{cluster_.state(), catalog_, Instant{std::chrono::hours{1}}};
  ReservationPrices prices_{catalog_, MarketChoice::on_demand};
  TaskKinds kinds_{false};
  RoundInput input_;
  PairRates rates_;
  Memory memory_;
  WorkPrices work_;
  ClassTimes times_;
};

RC_GTEST_PROP(RoomIndexProperty, finds_the_hosts_with_room_whatever_was_added_and_taken_off, ()) {
  Crowd crowd;
  RoundLayout layout(crowd.parts());
  RoomIndex rooms(layout);
  for (const std::uint32_t task : crowd.waiting()) {
    std::set<std::uint32_t> with_room;
    for (std::uint32_t host = 0; host < layout.hosts().size(); ++host) {
      if (layout.has_room(task, host)) with_room.insert(host);
    }
    const std::vector<std::uint32_t> found = rooms.with_room_for(task);
    RC_ASSERT(std::set<std::uint32_t>(found.begin(), found.end()) == with_room);
    RC_ASSERT(found.size() == with_room.size());
    const std::vector<std::uint32_t> some = rooms.some_with_room_for(task, 3);
    RC_ASSERT(some.size() <= 3u);
    RC_ASSERT(
        std::ranges::all_of(some, [&](std::uint32_t host) { return with_room.contains(host); }));
    RC_ASSERT(some.empty() == with_room.empty());
    const bool fresh = found.empty() || *rc::gen::arbitrary<bool>();
    const Piece* alone[] = {&layout.piece(task)};
    const auto offer = best_new(layout.model(), alone);
    if (!offer) continue;
    layout.add(task, fresh ? layout.add_new(offer->offer) : *rc::gen::elementOf(found));
    if (*rc::gen::inRange(0, 3) == 0) layout.take_off(task);
  }
}

}  // namespace
}  // namespace muster::own
