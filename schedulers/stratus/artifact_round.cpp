#include "schedulers/stratus/artifact_round.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <utility>

#include "schedulers/packing/awaits_room.hpp"
#include "schedulers/packing/expected_run.hpp"

namespace muster::stratus {
namespace {

/// The resources that the simulator knows of.
constexpr std::array<Resource, 3> kCounted = {Resource::gpu, Resource::cpu, Resource::memory};

std::int64_t bin_of(double run_s) {
  return static_cast<std::int64_t>(std::floor(std::log2(std::max(1.0, run_s))));
}

/// GPUs, cores and GiB, as numbers.
double plain_sum(const Resources& free) {
  double sum = 0;
  for (Resource kind : kCounted) sum += free[kind];
  return sum;
}

}  // namespace

ArtifactRound::ArtifactRound(const Parts& parts)
    : p_(parts), offers_(parts.prices.types(), parts.view), peers_(parts.input.peer_rooms()) {
  run_s_.reserve(p_.input.tasks().size());
  for (std::uint32_t i = 0; i < p_.input.tasks().size(); ++i) {
    const Job& job = p_.view.state.job(row_of(i).job).job;
    const auto run = expected_run(job, p_.view.state.spec(row_of(i)), p_.params.run_times);
    run_s_.push_back(to_seconds(run));
  }
}

Plan ArtifactRound::run() {
  add_rooms();
  pack_waiting();
  if (p_.view.rents()) {
    rent(std::exchange(left_, {}));
    if (p_.params.clearing.on) dissolve();
  }
  return plan();
}

void ArtifactRound::add_rooms() {
  for (std::uint32_t i = 0; i < p_.input.instances().size(); ++i) {
    const RoundInput::Instance& instance = p_.input.instances()[i];
    const InstanceRow& row = p_.view.state.instance(instance.slot);
    Room room{row.type, row.market, i, p_.view.catalog[row.type].capacity - row.committed};
    for (std::uint32_t task : p_.input.residents(instance)) {
      room.tasks.push_back(task);
      room.run_s = std::max(room.run_s, run_s(task));
    }
    room.open = !instance.closed && (p_.view.rents() || instance.ready);
    // The input leaves some tasks out, as those of a job that is to end.
    const bool expects = instance.residents == 0 && !row.planned.empty();
    room.stays = !p_.view.rents() || instance.owned || instance.closed || instance.pinned ||
                 instance.held || instance.unsaved_usd > 0 || expects;
    rooms_.push_back(std::move(room));
  }
}

void ArtifactRound::pack_waiting() {
  std::vector<std::uint32_t> waiting;
  for (std::uint32_t i = 0; i < p_.input.tasks().size(); ++i) {
    if (p_.input.tasks()[i].home != kUnassigned) continue;
    if (row_of(i).phase == TaskPhase::pending) waiting.push_back(i);
  }
  for (std::size_t at = 0; at < waiting.size();) {
    const std::uint32_t job = p_.input.tasks()[waiting[at]].job;
    std::size_t end = at + 1;
    // Where nothing is rented the tasks of a gang find room together or not at all.
    const bool gang = !p_.view.rents() && p_.input.jobs()[job].gang;
    while (gang && end < waiting.size() && p_.input.tasks()[waiting[end]].job == job) ++end;
    if (gang) {
      pack_gang(std::span(waiting).subspan(at, end - at));
    } else if (place(waiting[at])) {
      ++packed_;
    } else {
      left_.push_back(waiting[at]);
    }
    at = end;
  }
}

void ArtifactRound::pack_gang(std::span<const std::uint32_t> gang) {
  std::vector<std::pair<std::size_t, Room>> before;
  for (std::uint32_t task : gang) {
    const auto room = find(task);
    if (!room) {
      for (; !before.empty(); before.pop_back()) {
        rooms_[before.back().first] = std::move(before.back().second);
      }
      for (std::uint32_t one : gang) refusals_.push_back({p_.input.tasks()[one].id, awaits_room()});
      return;
    }
    before.emplace_back(*room, rooms_[*room]);
    put(task, *room);
  }
  packed_ += static_cast<std::uint32_t>(gang.size());
}

bool ArtifactRound::holds(const Room& room, std::uint32_t task) const {
  const ShapeId shape = row_of(task).shape;
  const bool may_be = p_.prices.mask().allows({shape, markets_of(task)}, {room.type, room.market});
  if (!room.open || !may_be || is_full_of_peers(room, task)) return false;
  return p_.prices.on(shape, room.type).amount.fits_in(room.free);
}

/// As many tasks of its job as may be together are there, come, or have still to leave.
bool ArtifactRound::is_full_of_peers(const Room& room, std::uint32_t task) const {
  const Apart apart = p_.input.tasks()[task].apart;
  if (!apart) return false;
  const bool is_present = room.present != kUnassigned;
  const auto comes = [&](std::uint32_t other) {
    // Those that are at home there are among the peers of the present.
    const RoundInput::Task& row = p_.input.tasks()[other];
    return row.apart == apart && !(is_present && row.home == room.present);
  };
  const std::uint32_t left = is_present ? peers_.left(room.present, apart) : apart.most;
  return std::ranges::count_if(room.tasks, comes) >= std::ptrdiff_t{left};
}

/// Of its own bin the room whose longest task runs most like it; else of all greater bins the one
/// with most to spare, and else of all lesser ones.
std::optional<std::size_t> ArtifactRound::find(std::uint32_t task) const {
  const std::int64_t bin = bin_of(run_s(task));
  std::optional<std::size_t> native, up, down;
  const auto freer = [&](std::size_t room, const std::optional<std::size_t>& than) {
    return !than || plain_sum(rooms_[room].free) > plain_sum(rooms_[*than].free);
  };
  const auto distance = [&](std::size_t room) {
    return std::abs(rooms_[room].run_s - run_s(task));
  };
  for (std::size_t i = 0; i < rooms_.size(); ++i) {
    if (!holds(rooms_[i], task)) continue;
    const std::int64_t of_room = bin_of(rooms_[i].run_s);
    if (of_room == bin) {
      if (!native || distance(i) < distance(*native)) native = i;
    } else if (of_room > bin) {
      if (freer(i, up)) up = i;
    } else if (freer(i, down)) {
      down = i;
    }
  }
  if (native) return native;
  return up ? up : down;
}

void ArtifactRound::put(std::uint32_t task, std::size_t number) {
  Room& room = rooms_[number];
  room.tasks.push_back(task);
  room.run_s = std::max(room.run_s, run_s(task));
  room.free -= p_.prices.on(row_of(task).shape, room.type).amount;
}

bool ArtifactRound::place(std::uint32_t task) {
  const auto room = find(task);
  if (room) put(task, *room);
  return room.has_value();
}

/// The longest first, in groups of at most one, two, three and so on; a group ends, too, where no
/// type holds one more, or one more would be beside all peers that it may be.
void ArtifactRound::rent(std::vector<std::uint32_t> tasks) {
  std::stable_sort(tasks.begin(), tasks.end(),
                   [&](std::uint32_t a, std::uint32_t b) { return run_s(a) > run_s(b); });
  std::size_t most = 1;
  for (std::size_t at = 0; at < tasks.size(); ++most) {
    const auto first = std::span(tasks).subspan(at);
    std::size_t size = 1;
    auto as = best_type(first.first(1), false);
    // The cloud is asked again for what it did not have: it says what the task waits for.
    if (!as) as = best_type(first.first(1), true);
    const auto may_add = [&](std::uint32_t task) {
      const Apart apart = p_.input.tasks()[task].apart;
      const auto is_peer = [&](std::uint32_t other) {
        return p_.input.tasks()[other].apart == apart;
      };
      return markets_of(task) == markets_of(first[0]) &&
             (!apart || std::ranges::count_if(first.first(size), is_peer) < apart.most);
    };
    while (as && size < most && size < first.size() && may_add(first[size])) {
      const auto more = best_type(first.first(size + 1), false);
      if (!more) break;
      as = more;
      ++size;
    }
    at += size;
    if (!as) continue;
    rooms_.push_back({as->type, as->market, kUnassigned, p_.view.catalog[as->type].capacity});
    for (std::uint32_t task : first.first(size)) put(task, rooms_.size() - 1);
  }
}

std::optional<RentedAs> ArtifactRound::best_type(std::span<const std::uint32_t> group,
                                                 bool resting) const {
  std::optional<RentedAs> best;
  double most = 0;
  for (std::uint32_t i = 0; i < p_.prices.types().size(); ++i) {
    const auto as = offers_.of(TypeId{i}, markets_of(group.front()), resting);
    if (!as) continue;
    Resources used;
    const bool fit = std::all_of(group.begin(), group.end(), [&](std::uint32_t task) {
      const ShapeOnType& on = p_.prices.on(row_of(task).shape, TypeId{i});
      used += on.amount;
      return on.fits;
    });
    if (!fit || !used.fits_in(p_.view.catalog[TypeId{i}].capacity)) continue;
    const double one = score(used, *as);
    // Of equal scores, of which there are many without end, the catalog's first.
    if (!best || one > most) best = as, most = one;
  }
  return best;
}

/// The use of the constraining resource, in units of the cheapest type of all, for a dollar. A
/// resource that the cheapest type does not have is worth more than anything.
double ArtifactRound::score(const Resources& used, const RentedAs& as) const {
  const PricedTypes& types = p_.prices.types();
  const Resource constraining = used.dominant(types[as.type].capacity);
  if (used[constraining] <= 0) return 0;
  TypeId cheapest = types.by_descending_price().back();
  for (TypeId type : types.by_descending_price()) {
    if (types.price(type) == types.price(cheapest) && type < cheapest) cheapest = type;
  }
  const double unit = types[cheapest].capacity[constraining];
  if (unit <= 0 || as.price.usd_h() <= 0) return std::numeric_limits<double>::infinity();
  return used[constraining] / unit / as.price.usd_h();
}

/// Less than half of each of the three is used: never where there are no GPUs, since nothing is not
/// less than half of nothing.
bool ArtifactRound::is_low(const Room& room) const {
  const Resources& capacity = p_.view.catalog[room.type].capacity;
  if (room.tasks.size() == 1) {
    const std::uint32_t task = room.tasks.front();
    if (p_.prices.of(row_of(task).shape, markets_of(task)).type == room.type) return false;
  }
  Resources used;
  for (std::uint32_t task : room.tasks) {
    used += p_.prices.on(row_of(task).shape, room.type).amount;
  }
  return std::all_of(kCounted.begin(), kCounted.end(),
                     [&](Resource kind) { return used[kind] < capacity[kind] / 2; });
}

void ArtifactRound::dissolve() {
  // Instances that are rented for the tasks of others are not looked at again.
  const std::size_t rooms = rooms_.size();
  for (std::size_t i = 0; i < rooms; ++i) {
    if (rooms_[i].stays || rooms_[i].tasks.empty() || !is_low(rooms_[i])) continue;
    const std::vector<std::uint32_t> tasks = std::exchange(rooms_[i].tasks, {});
    rooms_[i].open = false;
    std::vector<std::uint32_t> left;
    for (std::uint32_t task : tasks) {
      if (!place(task)) left.push_back(task);
    }
    rent(std::move(left));
    ++cleared_;
  }
}

Plan ArtifactRound::plan() {
  Layout layout;
  layout.reset(p_.input.tasks().size());
  for (const Room& room : rooms_) {
    if (room.tasks.empty() && !room.stays) continue;
    const std::uint32_t host = room.present == kUnassigned
                                   ? layout.add_new(p_.prices.types(), room.type, room.market)
                                   : layout.add_present(p_.input, room.present);
    for (std::uint32_t task : room.tasks) {
      layout.assign(task, host);
      layout.hosts[host].worth_usd_h += p_.prices.of(row_of(task).shape, markets_of(task)).usd_h;
      moved_ += p_.input.tasks()[task].home != kUnassigned && layout.moves(p_.input, task);
    }
  }
  const WorthModel model{.prices = p_.prices};
  Plan plan = plan_of(layout, p_.input, model, p_.kinds, CauseCode::partial_reconfiguration);
  plan.refusals.insert(plan.refusals.end(), refusals_.begin(), refusals_.end());
  const auto tell = [&](const char* name, double value) {
    if (value > 0) plan.note.figures.emplace_back(name, value);
  };
  tell("packed", packed_);
  tell("cleared", cleared_);
  tell("moved", moved_);
  return plan;
}

}  // namespace muster::stratus
