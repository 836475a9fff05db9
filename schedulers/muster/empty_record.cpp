#include "schedulers/muster/empty_record.hpp"

#include <algorithm>
#include <array>

namespace muster::own {
namespace {

/// Instances of a type that its record remembers.
constexpr std::size_t kMostGaps = 32;
/// With fewer of its own a type goes by those of all types, and with fewer of these it is kept for
/// as long as a start takes.
constexpr std::size_t kLeastGaps = 6;
/// Cost of a start that was not needed: the instance's price meanwhile, and the time of those that
/// wait for it.
constexpr double kStartWorth = 1.1;
/// Times that an instance may be kept for, as shares of a start's.
constexpr std::array kKeeps{0.0, 0.25, 0.5, 1.0};

/// Cost of keeping each empty one for that long, and of the starts that come too late.
double cost_of(double keep, const std::deque<double>& gaps) {
  double cost = 0;
  for (const double gap : gaps) {
    const bool is_used = gap < 1 && gap <= keep;
    cost += is_used ? gap : keep + (gap < 1 ? kStartWorth : 0);
  }
  return cost;
}

}  // namespace

Duration start_of(const InstanceType& type) {
  return type.acquire + type.setup + type.terminate;
}

/// Those that emptied too long ago.
void EmptyRecord::close(OfType& of, TypeId type, Instant at, const Catalog& catalog) {
  while (!of.open.empty() && at - of.open.front() >= start_of(catalog[type])) {
    of.open.pop_front();
    of.gaps.push_back(1);
  }
  while (of.gaps.size() > kMostGaps) of.gaps.pop_front();
}

void EmptyRecord::note_wanted(TypeId type, Instant at, const Catalog& catalog) {
  const auto found = types_.find(type.value);
  if (found == types_.end()) return;
  OfType& of = found->second;
  close(of, type, at, catalog);
  if (of.open.empty()) return;
  const double start_s = std::max(1e-9, to_seconds(start_of(catalog[type])));
  of.gaps.push_back(std::min(1.0, to_seconds(at - of.open.front()) / start_s));
  of.open.pop_front();
}

/// An instance is wanted when a task that has no place is the first on it: tasks that are moved
/// there could have stayed.
void EmptyRecord::observe(const Event& event, std::span<const InstanceId> changes,
                          const ClusterView& view) {
  if (const auto* assigned = std::get_if<TaskAssigned>(&event.body)) {
    const InstanceRow* to = view.state.find(assigned->to);
    const bool is_placed = view.state.find(assigned->task)->at != kNoSlot;
    const bool is_first = to != nullptr && to->planned.size() == 1 && to->occupants.empty();
    if (is_first && !is_placed) note_wanted(to->type, event.at, view.catalog);
  }
  for (const InstanceId id : changes) {
    const InstanceRow* row = view.state.find(id);
    if (row == nullptr || row->phase != InstancePhase::ready || row->released) continue;
    if (!row->planned.empty() || !row->occupants.empty()) continue;
    OfType& of = types_[row->type.value];
    close(of, row->type, event.at, view.catalog);
    of.open.push_back(event.at);
  }
}

double EmptyRecord::keep(TypeId type) const {
  std::deque<double> all;
  const auto found = types_.find(type.value);
  const std::deque<double>* gaps = &all;
  if (found != types_.end() && found->second.gaps.size() >= kLeastGaps) {
    gaps = &found->second.gaps;
  } else {
    for (const auto& [other, of] : types_) all.insert(all.end(), of.gaps.begin(), of.gaps.end());
    if (all.size() < kLeastGaps) return 1;
  }
  return *std::ranges::min_element(kKeeps, {}, [&](double keep) { return cost_of(keep, *gaps); });
}

}  // namespace muster::own
