#include "schedulers/muster/first_places.hpp"

#include <algorithm>
#include <map>
#include <queue>
#include <set>
#include <tuple>
#include <utility>

#include "schedulers/muster/room_index.hpp"

// First places. Equal tasks are placed one after the other, so that a heap of what each instance
// would gain serves all of them: only what has changed is reckoned with again. A gang is tried in
// three ways, since what is best for its first task alone rarely is for all.

namespace muster::own {
namespace {

/// Gain of placing a task on a host, when the host was that old.
struct Candidate {
  double gain_usd_h = 0;
  std::uint32_t host = 0;
  std::uint32_t version = 0;

  /// The greatest gain on top, and of equals the first host.
  bool operator<(const Candidate& other) const {
    if (gain_usd_h != other.gain_usd_h) return gain_usd_h < other.gain_usd_h;
    return host > other.host;
  }
};

/// Looks at one task beside another. Once there were many, each further kind of tasks is tried with
/// few hosts only: where every task is of its own kind all would be the square of the tasks.
struct Looks {
  std::uint64_t done = 0;
  std::uint64_t most = 0;

  bool are_many() const { return done >= most; }
};

/// Hosts that a kind is tried with then.
constexpr std::size_t kFewHosts = 64;

/// Places equal tasks one after the other. Each host is looked at once, and again only after it
/// has changed; others may place tasks meanwhile.
class Placer {
 public:
  /// `may_wait`: it is placed only where that gains something.
  Placer(RoundLayout& layout, RoomIndex& rooms, Looks& looks, std::uint32_t task, bool may_wait)
      : layout_(layout), looks_(looks), first_(task), may_wait_(may_wait) {
    const std::vector<std::uint32_t>& hosts =
        looks.are_many() ? rooms.some_with_room_for(task, kFewHosts) : rooms.with_room_for(task);
    for (const std::uint32_t host : hosts) look_at(host);
    seen_changes_ = layout.changes().size();
    const Piece* alone[] = {&layout.piece(task)};
    fresh_ = best_new(layout.model(), alone);
  }

  /// Puts the task where it gains most. False: it is worth nothing anywhere, or there is no place.
  bool place(std::uint32_t task) {
    look_at_changes();
    while (!best_.empty() && is_stale(best_.top())) best_.pop();
    const bool joins = !best_.empty() && (!may_wait_ || best_.top().gain_usd_h > 0) &&
                       (!fresh_ || best_.top().gain_usd_h >= fresh_->value_usd_h);
    if (joins) {
      const std::uint32_t host = best_.top().host;
      layout_.add(task, host);
      return true;
    }
    if (!fresh_ || (may_wait_ && fresh_->value_usd_h <= 0)) return false;
    const std::uint32_t host = layout_.add_new(fresh_->offer);
    layout_.add(task, host);
    return true;
  }

 private:
  void look_at_changes() {
    const std::span<const std::uint32_t> changes = layout_.changes();
    for (; seen_changes_ < changes.size(); ++seen_changes_) {
      const std::uint32_t host = changes[seen_changes_];
      if (host >= looked_at_.size()) looked_at_.resize(host + std::size_t{1}, kNotYet);
      const std::uint32_t version = layout_.host(host).version;
      if (std::exchange(looked_at_[host], version) != version) look_at(host);
    }
  }
  void look_at(std::uint32_t host) {
    const RoundLayout::Working& working = layout_.host(host);
    if (working.gone) return;
    const std::size_t others = working.tasks.size() + working.fixed_tasks.size();
    looks_.done += working.present == kUnassigned ? (others + 1) * (others + 1) : others + 1;
    const std::optional<double> gain = layout_.gain_by(first_, host);
    if (gain) best_.push({*gain, host, working.version});
  }
  bool is_stale(const Candidate& candidate) const {
    const RoundLayout::Working& working = layout_.host(candidate.host);
    return working.gone || working.version != candidate.version;
  }

  RoundLayout& layout_;
  Looks& looks_;
  std::uint32_t first_;
  bool may_wait_;
  std::priority_queue<Candidate> best_;
  std::optional<NewHost> fresh_;
  std::size_t seen_changes_ = 0;          ///< of the layout
  std::vector<std::uint32_t> looked_at_;  ///< of each host that has changed: at which version
  static constexpr std::uint32_t kNotYet = UINT32_MAX;
};

/// An empty instance, there or to be rented, with as many equal tasks as make each worth most.
struct Filling {
  double usd_h_each = kNever;
  std::size_t tasks = 0;
};

/// Fills empty instances with the tasks of a gang, one kind after the other. Tasks that are placed
/// one by one never take an empty instance that pays only when it is full.
class Filler {
 public:
  explicit Filler(RoundLayout& layout) : layout_(layout) {
    for (std::uint32_t i = 0; i < layout.hosts().size(); ++i) {
      const RoundLayout::Working& host = layout.host(i);
      const bool empty = host.tasks.empty() && host.fixed_tasks.empty();
      if (empty && layout.is_open(i) && host.present != kUnassigned) empty_.push_back(i);
    }
  }

  /// From now on for another gang.
  void begin() { known_.clear(); }

  /// Tasks of one kind; false when there is no place for all.
  bool place(std::span<const std::uint32_t> tasks) {
    while (!tasks.empty()) {
      const Piece& piece = layout_.piece(tasks.front());
      Filling best;
      std::uint32_t host = kUnassigned, offer = 0;
      for (const std::uint32_t at : empty_) {
        if (!layout_.host(at).tasks.empty()) continue;  // it was till now
        const std::size_t may_come = layout_.newcomers(piece.apart, at);
        const Filling found = fill(layout_.host(at).host, piece, std::min(tasks.size(), may_come));
        if (found.usd_h_each > best.usd_h_each) best = found, host = at;
      }
      const std::span<const Host> offers = layout_.model().offers;
      for (std::uint32_t i = 0; i < offers.size(); ++i) {
        const std::size_t together = piece.apart ? piece.apart.most : tasks.size();
        const Filling found = fill(offers[i], piece, std::min(tasks.size(), together));
        if (found.usd_h_each > best.usd_h_each) best = found, host = kUnassigned, offer = i;
      }
      if (best.tasks == 0) return false;
      if (host == kUnassigned) host = layout_.add_new(offer);
      for (const std::uint32_t task : tasks.first(best.tasks)) layout_.add(task, host);
      tasks = tasks.subspan(best.tasks);
    }
    return true;
  }

 private:
  /// Equal hosts are filled alike: each kind is looked at once for as many tasks.
  Filling fill(const Host& host, const Piece& piece, std::size_t most) {
    const auto kind = std::tuple(host.type.value, host.market, host.price_usd_h, host.left_h,
                                 piece.shape.value, piece.cls.value);
    const auto known = known_.find(kind);
    // The best subset of more tasks is the best of fewer that still contain it.
    if (known != known_.end() && known->second.tasks <= most) return known->second;
    Filling best;
    std::vector<const Piece*> pieces;
    while (pieces.size() < most) {
      pieces.push_back(&piece);
      const auto value = value_on(layout_.model(), host, pieces, kNewHost);
      if (!value) break;
      const double each = *value / static_cast<double>(pieces.size());
      if (each > best.usd_h_each) best = {each, pieces.size()};
    }
    known_[kind] = best;
    return best;
  }

  RoundLayout& layout_;
  std::vector<std::uint32_t> empty_;  ///< those that were at first
  std::map<std::tuple<std::uint32_t, Market, double, double, std::uint32_t, std::uint32_t>, Filling>
      known_;
};

/// Places gangs, one after the other.
class GangPlacer {
 public:
  GangPlacer(RoundLayout& layout, RoomIndex& rooms, Looks& looks)
      : layout_(layout), rooms_(rooms), looks_(looks), filler_(layout) {
    const auto disturbs = [](const auto& host) { return host.interruptions_h > 0; };
    const std::span<const Host> offers = layout.model().offers;
    alike_ = std::none_of(offers.begin(), offers.end(), disturbs) &&
             std::none_of(layout.hosts().begin(), layout.hosts().end(),
                          [&](const auto& working) { return disturbs(working.host); });
  }

  /// Places all tasks of a gang, or none: then, or when the whole is worth less with it and it may
  /// wait, it waits. Where the tasks are told apart by what all of the gang loses they keep to
  /// themselves, where by what each of them loses they join others, and a large gang fills
  /// instances: the best way counts.
  void place(std::span<const std::uint32_t> tasks) {
    if (!alike_ || placers_.size() > kMostKinds) placers_.clear();
    filler_.begin();
    const double before = layout_.running_value_usd_h();
    std::optional<Way> best;
    double most = kNever;
    const auto compare = [&](Way way) {
      const std::optional<double> value = place_by(way, tasks);
      if (value && *value >= most) most = *value, best = way;
    };
    compare(Way::joining);
    compare(Way::apart);
    // Of equal ways one that takes what is there. Tasks of which each is alone fill no instance.
    if (layout_.piece(tasks.front()).apart.most != 1) compare(Way::filling);
    if (best && best != Way::filling) place_by(*best, tasks);
    layout_.reckon(GangLoss::job_wide);
    const bool may_wait = layout_.may_wait(tasks.front());
    if (!best || (may_wait && most <= before)) take_off(tasks);
  }

 private:
  enum class Way : std::uint8_t { joining, apart, filling };
  /// Key of tasks of gangs that are equal to all hosts.
  using Kind = std::tuple<Way, std::uint32_t, std::uint32_t, MarketChoice, double, double, double,
                          double, Apart>;

  /// Worth of the whole with all tasks placed, each where it gains most; nothing when there is not
  /// a place for all.
  std::optional<double> place_by(Way way, std::span<const std::uint32_t> tasks) {
    take_off(tasks);
    layout_.reckon(way == Way::apart ? GangLoss::job_wide : GangLoss::own);
    bool all = true;
    for (std::size_t i = 0; i < tasks.size() && all;) {
      std::size_t end = i + 1;
      while (end < tasks.size() && kind_of(way, tasks[end]) == kind_of(way, tasks[i])) ++end;
      const std::span<const std::uint32_t> alike = tasks.subspan(i, end - i);
      all = way == Way::filling ? filler_.place(alike) : place_each(way, alike);
      i = end;
    }
    return all ? std::optional(layout_.running_value_usd_h()) : std::nullopt;
  }

  bool place_each(Way way, std::span<const std::uint32_t> tasks) {
    auto known = placers_.find(kind_of(way, tasks.front()));
    if (known == placers_.end()) {
      known =
          placers_
              .emplace(std::piecewise_construct, std::forward_as_tuple(kind_of(way, tasks.front())),
                       std::forward_as_tuple(layout_, rooms_, looks_, tasks.front(), false))
              .first;
    }
    return std::all_of(tasks.begin(), tasks.end(),
                       [&](std::uint32_t task) { return known->second.place(task); });
  }

  Kind kind_of(Way way, std::uint32_t task) const {
    const Piece& piece = layout_.piece(task);
    return {way,           piece.shape.value, piece.cls.value,
            piece.markets, piece.value_usd_h, piece.gang_usd_h,
            piece.start_h, piece.horizon_h,   piece.apart};
  }

  void take_off(std::span<const std::uint32_t> tasks) {
    for (const std::uint32_t task : tasks) {
      if (layout_.host_of(task) != kUnassigned) layout_.take_off(task);
    }
  }

  /// Kinds beyond which the known ones are dropped: each keeps its gains for all hosts.
  static constexpr std::size_t kMostKinds = 64;

  RoundLayout& layout_;
  RoomIndex& rooms_;
  Looks& looks_;
  Filler filler_;
  bool alike_ =
      true;  ///< equal tasks of different gangs gain equally: an instance is not taken back
  std::map<Kind, Placer> placers_;
};

}  // namespace

std::uint64_t place_waiting(const RoundParts& parts, RoundLayout& layout, std::uint64_t most) {
  const std::span<const RoundInput::Task> tasks = parts.input.tasks();
  // Key of tasks that are equal to all hosts: they have equal places in the order, but for ties.
  const auto kind = [&](std::uint32_t task) {
    Piece piece = layout.piece(task);
    if (piece.gang != kNoGang) {
      // All of a gang stands together.
      const double tasks_of_it = static_cast<double>(layout.together(task).size());
      piece.value_usd_h = piece.gang_usd_h / tasks_of_it;
      piece.shape = {};
      piece.cls = {};
    }
    return std::tuple(-parts.input.jobs()[tasks[task].job].priority, -piece.value_usd_h, piece.gang,
                      piece.shape.value, piece.cls.value, piece.start_h, piece.may_wait,
                      tasks[task].apart);
  };
  std::vector<std::uint32_t> order;
  for (std::uint32_t i = 0; i < tasks.size(); ++i) {
    if (tasks[i].home == kUnassigned && tasks[i].movable) order.push_back(i);
  }
  std::stable_sort(order.begin(), order.end(),
                   [&](std::uint32_t a, std::uint32_t b) { return kind(a) < kind(b); });
  Looks looks{.done = 0, .most = most};
  RoomIndex rooms(layout);
  GangPlacer gangs(layout, rooms, looks);
  for (std::size_t i = 0; i < order.size();) {
    const std::uint32_t first = order[i];
    if (layout.piece(first).gang != kNoGang) {
      const std::span<const std::uint32_t> all = layout.together(first);
      gangs.place(all);
      i += all.size();
      continue;
    }
    Placer placer(layout, rooms, looks, first, layout.may_wait(first));
    for (; i < order.size() && kind(order[i]) == kind(first); ++i) placer.place(order[i]);
  }
  return looks.done;
}

}  // namespace muster::own
