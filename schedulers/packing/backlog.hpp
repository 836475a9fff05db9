#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <tuple>

#include "schedulers/market_view.hpp"
#include "schedulers/packing/types/placement_mask.hpp"

namespace muster {

/// Which of the tasks that wait a round looks at, where something bounds what can be rented: of
/// equal ones the first in the order of the queue, as many as could have a place now and some
/// more. So a round costs what it can change, however many wait. Where nothing bounds it,
/// and where the instances are given, a round looks at all. Tasks of gangs are none of its matter.
class Backlog {
 public:
  /// Equal tasks that are looked at besides those for which there is room.
  static constexpr double kSpare = 64;
  /// Likewise, of tasks that ask for equal room and are of different classes.
  static constexpr double kSpareOfShape = 1'024;

  /// Of one round; the arguments have to outlast it. The mask knows the state.
  Backlog(const MarketView& market, const PlacementMask& mask);

  /// Some task may be left out.
  bool is_bounded() const { return bounded_; }
  /// Asked of each waiting task in the order of the queue: whether it is looked at.
  bool takes(const TaskRow& task, const JobRow& job);
  /// Of a task that is not: why the first of its equals waits, where that is for want of room; null
  /// when that is not known.
  const Refusal* why_waits(const TaskRow& task, const JobRow& job);

 private:
  /// Key of tasks that ask for equal room; of a job that bounds its tasks on one instance
  /// only its own tasks share one.
  using Kind = std::tuple<PlaceAsks, int, Slot>;
  struct Group {
    double taken = 0;
    std::optional<double> room;  ///< number for which there may be a place; once it is asked for
    const TaskRow* first = nullptr;
    std::map<std::uint32_t, double> of_class{};  ///< how many are taken
  };

  Group& group_of(const TaskRow& task, const JobRow& job);
  double room_for(const TaskRow& task, const JobRow& job);
  double room_on_present(const TaskRow& task, const JobRow& job);
  double room_to_rent(const TaskRow& task, const JobRow& job) const;
  int lowest_placed_priority();

  const MarketView& market_;
  const ClusterState& state_;
  const PlacementMask& mask_;
  bool bounded_ = false;
  std::map<Kind, Group> groups_;
  std::optional<Kind> last_;  ///< that was asked for: tasks of a job come together
  Group* last_group_ = nullptr;
  std::optional<int> lowest_priority_;  ///< of the jobs that have something placed
};

}  // namespace muster
