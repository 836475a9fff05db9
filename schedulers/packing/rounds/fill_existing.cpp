#include "schedulers/packing/rounds/fill_existing.hpp"

#include <algorithm>
#include <numeric>

#include "schedulers/packing/rounds/least_amounts.hpp"

// Tasks of one kind are interchangeable, so that a look at a host costs O(kinds that wait), not
// O(tasks). Groups keep the order of their first tasks: on ties the task that came first wins.
// Tasks that are kept apart are groups by job. Of the groups of a kind a host looks only at those
// that have all the tasks there that they may have, and at the next one.

namespace muster {

void FillExisting::make_groups(const RoundInput& input, const TaskKinds& kinds,
                               std::span<const std::uint32_t> waiting) {
  members_.assign(waiting.begin(), waiting.end());
  // Stable: tasks of one kind keep their order, and the first of them gets the dearest host.
  std::stable_sort(members_.begin(), members_.end(), [&](std::uint32_t a, std::uint32_t b) {
    const RoundInput::Task& one = input.tasks()[a];
    const RoundInput::Task& other = input.tasks()[b];
    return one.kind != other.kind ? one.kind < other.kind : one.apart < other.apart;
  });
  groups_.clear();
  for (std::uint32_t i = 0; i < members_.size(); ++i) {
    const RoundInput::Task& task = input.tasks()[members_[i]];
    const bool is_new =
        groups_.empty() || groups_.back().kind != task.kind || groups_.back().apart != task.apart;
    if (is_new) groups_.push_back({task.kind, task.apart, i, i});
    ++groups_.back().end;
  }
  std::sort(groups_.begin(), groups_.end(),
            [&](const Group& a, const Group& b) { return members_[a.next] < members_[b.next]; });
  link_groups();
  shapes_.clear();
  for (const Group& group : groups_) shapes_.push_back(kinds.all()[group.kind].shape);
  std::sort(shapes_.begin(), shapes_.end());
  shapes_.erase(std::unique(shapes_.begin(), shapes_.end()), shapes_.end());
}

void FillExisting::link_groups() {
  by_kind_.resize(groups_.size());
  std::iota(by_kind_.begin(), by_kind_.end(), 0U);
  std::stable_sort(by_kind_.begin(), by_kind_.end(), [&](std::uint32_t a, std::uint32_t b) {
    return groups_[a].kind < groups_[b].kind;
  });
  kinds_.clear();
  for (std::size_t i = 0; i < by_kind_.size(); ++i) {
    Group& group = groups_[by_kind_[i]];
    if (kinds_.empty() || kinds_.back().kind != group.kind) {
      kinds_.push_back({group.kind, by_kind_[i]});
    } else {
      groups_[by_kind_[i - 1]].after = by_kind_[i];
    }
  }
}

/// The first group of the kind with a task that may join those on the host. Groups without waiting
/// tasks are unlinked on the way.
std::uint32_t FillExisting::first_for(std::uint32_t host, OfKind& kind) {
  for (std::uint32_t* at = &kind.first; *at != kUnassigned;) {
    Group& group = groups_[*at];
    if (group.next == group.end) {
      *at = group.after;
      continue;
    }
    ++looks_;
    if (!peers_.is_full(host, group.apart)) return *at;
    at = &group.after;
  }
  return kUnassigned;
}

void FillExisting::list_hosts(std::span<const char> open, const Layout& layout) {
  hosts_.clear();
  for (std::uint32_t host = 0; host < layout.hosts.size(); ++host) {
    if (open[host]) hosts_.push_back(host);
  }
  std::stable_sort(hosts_.begin(), hosts_.end(), [&](std::uint32_t a, std::uint32_t b) {
    return layout.hosts[a].price_usd_h > layout.hosts[b].price_usd_h;
  });
}

bool FillExisting::has_room(const WorthModel& model, const Layout& layout, std::uint32_t host,
                            ShapeId waiting) const {
  const TypeId type = layout.hosts[host].type;
  const ShapeOnType& shape = model.prices.on(waiting, type);
  return shape.fits && (used_[host] + shape.amount).fits_in(model.prices.types()[type].capacity);
}

/// The company that the class finds on the host being filled. Kinds of one class share it; it holds
/// for one look, since each task that enters changes it.
const InstanceWorth::Company& FillExisting::company_of(ClassId cls, const InstanceWorth& worth) {
  if (cls.value >= companies_.size()) companies_.resize(cls.value + std::size_t{1});
  Known& known = companies_[cls.value];
  if (known.look != look_) known = {look_, worth.company_of(cls)};
  return known.company;
}

void FillExisting::fill(const WorthModel& model, const TaskKinds& kinds, std::uint32_t host,
                        Layout& layout) {
  const TypeId type = layout.hosts[host].type;
  InstanceWorth& worth = worth_[host];
  while (true) {
    // A new number makes all of `companies_` stale without clearing them.
    ++look_;
    std::uint32_t best = kUnassigned;
    double best_usd_h = worth.usd_h();
    for (OfKind& of : kinds_) {
      const TaskKind& kind = kinds.all()[of.kind];
      if (of.first == kUnassigned || !has_room(model, layout, host, kind.shape)) continue;
      const std::uint32_t group = first_for(host, of);
      if (group == kUnassigned) continue;
      const double usd_h = worth.with(entrant_of(model, kind, type), company_of(kind.cls, worth));
      // A task that leaves the worth as it is enters too: the room is paid for.
      if (usd_h < best_usd_h || (usd_h == best_usd_h && group > best)) continue;
      best = group;
      best_usd_h = usd_h;
    }
    if (best == kUnassigned) break;
    Group& group = groups_[best];
    const TaskKind& kind = kinds.all()[group.kind];
    worth.add(entrant_of(model, kind, type));
    used_[host] += model.prices.on(kind.shape, type).amount;
    peers_.add(host, group.apart);
    layout.assign(members_[group.next++], host);
  }
  layout.hosts[host].worth_usd_h = worth.usd_h();
}

/// How many tasks each host has, or is still to be left by, of each job whose tasks are kept apart.
void FillExisting::list_peers(const RoundInput& input, const Layout& layout) {
  peers_.clear();
  if (!input.any_apart()) return;
  std::vector<std::uint32_t> host_of_instance(input.instances().size(), kUnassigned);
  for (std::uint32_t host = 0; host < layout.hosts.size(); ++host) {
    const std::uint32_t present = layout.hosts[host].present;
    if (present != kUnassigned) host_of_instance[present] = host;
  }
  for (const RoundInput::Peer& peer : input.peers()) {
    const std::uint32_t host = host_of_instance[peer.instance];
    if (host != kUnassigned) peers_.add(host, peer.apart);
  }
  // Those that stay at home are peers of the input.
  for (std::uint32_t task = 0; task < layout.host_of.size(); ++task) {
    const RoundInput::Task& row = input.tasks()[task];
    const std::uint32_t host = layout.host_of[task];
    const bool stays = row.home != kUnassigned && host_of_instance[row.home] == host;
    if (host != kUnassigned && !stays) peers_.add(host, row.apart);
  }
}

/// Leaves in `hosts_` those that have room for something that waits. Most hosts of a full cluster
/// have no candidate: the worth of their tasks is not asked for then, and stays as it is.
void FillExisting::add_up_hosts(const RoundInput& input, const WorthModel& model,
                                const TaskKinds& kinds, const Layout& layout) {
  used_.assign(layout.hosts.size(), {});
  const auto kind_of = [&](std::uint32_t task) -> const TaskKind& {
    return kinds.all()[input.tasks()[task].kind];
  };
  for (std::uint32_t task = 0; task < layout.host_of.size(); ++task) {
    const std::uint32_t host = layout.host_of[task];
    if (host == kUnassigned) continue;
    used_[host] += model.prices.on(kind_of(task).shape, layout.hosts[host].type).amount;
  }
  LeastAmounts least(model.prices, shapes_);
  std::erase_if(hosts_, [&](std::uint32_t host) {
    if (!least.may_fit(layout.hosts[host].type, used_[host])) return true;
    return std::none_of(shapes_.begin(), shapes_.end(),
                        [&](ShapeId shape) { return has_room(model, layout, host, shape); });
  });
  if (worth_.size() < layout.hosts.size()) worth_.resize(layout.hosts.size());
  filled_.assign(layout.hosts.size(), 0);
  for (std::uint32_t host : hosts_) {
    filled_[host] = 1;
    worth_[host].clear(model);
  }
  // One pass over all tasks instead of a list a host.
  for (std::uint32_t task = 0; task < layout.host_of.size(); ++task) {
    const std::uint32_t host = layout.host_of[task];
    if (host == kUnassigned || !filled_[host]) continue;
    worth_[host].add(entrant_of(model, kind_of(task), layout.hosts[host].type));
  }
}

void FillExisting::run(const RoundInput& input, const WorthModel& model, const TaskKinds& kinds,
                       std::span<const char> open, std::vector<std::uint32_t>& waiting,
                       Layout& layout) {
  if (waiting.empty()) return;
  make_groups(input, kinds, waiting);
  list_hosts(open, layout);
  add_up_hosts(input, model, kinds, layout);
  list_peers(input, layout);
  for (std::uint32_t host : hosts_) fill(model, kinds, host, layout);
  // Keeps the order of those left, which the caller's next step packs in.
  std::erase_if(waiting, [&](std::uint32_t task) { return layout.host_of[task] != kUnassigned; });
}

}  // namespace muster
