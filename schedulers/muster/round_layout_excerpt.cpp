// Some hosts of the layout under way, as a repartition sees them, and what it has made of them.

#include <algorithm>
#include <climits>
#include <utility>

#include "schedulers/muster/round_layout.hpp"

namespace muster::own {

RoundLayout::Excerpt RoundLayout::excerpt(std::span<const std::uint32_t> hosts,
                                          std::span<const std::uint32_t> moved) const {
  Excerpt excerpt;
  excerpt.tasks.assign(moved.begin(), moved.end());
  for (const std::uint32_t host : hosts) {
    const Working& working = hosts_[host];
    excerpt.before_usd_h += working.own_usd_h;
    if (working.present == kUnassigned) {
      // The repartition makes its own new instances.
      excerpt.fresh.push_back(host);
      continue;
    }
    excerpt.hosts.push_back(host);
    excerpt.given.push_back(working.host);
    for (const std::uint32_t task : moved) {
      const Apart& apart = pieces_[task].apart;
      if (!apart) continue;
      excerpt.given.back().newcomers.push_back({apart.job, newcomers(apart, host, moved)});
    }
    for (const std::uint32_t task : working.tasks) {
      if (std::find(moved.begin(), moved.end(), task) != moved.end()) continue;
      Piece piece = pieces_[task];
      // It is not at home there: it goes on costing its start, as before.
      if (piece.gang == kNoGang && is_displaced(task)) {
        piece.value_usd_h *= share_on(model_, piece, working.host, false);
      }
      excerpt.given.back().fixed.push_back(piece);
    }
  }
  int lowest = INT_MAX;
  for (const std::uint32_t task : moved) lowest = std::min(lowest, priority(task));
  for (const std::uint32_t task : moved) {
    const bool waits_freely = priority(task) == lowest && may_wait(task);
    if (host_of_[task] != kUnassigned || waits_freely) continue;
    excerpt.before_usd_h += not_waiting_usd_h(pieces_[task]);
  }
  for (const std::uint32_t task : excerpt.tasks) {
    Piece piece = pieces_[task];
    const auto home =
        std::find_if(excerpt.hosts.begin(), excerpt.hosts.end(),
                     [&](std::uint32_t host) { return hosts_[host].present == piece.home; });
    piece.home = home == excerpt.hosts.end()
                     ? UINT32_MAX
                     : static_cast<std::uint32_t>(home - excerpt.hosts.begin());
    // No task is left waiting for the sake of one of lower priority.
    piece.may_wait = priority(task) == lowest && may_wait(task);
    excerpt.weight_usd_h += piece.value_usd_h;
    excerpt.pieces.push_back(piece);
  }
  number_gangs(excerpt);
  return excerpt;
}

/// Numbers the gangs of the excerpt's pieces and fixed tasks from 0, and has their values add up to
/// those of all of the gang.
void RoundLayout::number_gangs(Excerpt& excerpt) const {
  std::vector<std::uint32_t> teams;
  const auto each = [&](const auto& visit) {
    for (Piece& piece : excerpt.pieces) {
      if (piece.gang != kNoGang) visit(piece);
    }
    for (Host& host : excerpt.given) {
      for (Piece& piece : host.fixed) {
        if (piece.gang != kNoGang) visit(piece);
      }
    }
  };
  std::vector<double> here;
  each([&](Piece& piece) {
    auto known = std::find(teams.begin(), teams.end(), piece.gang);
    if (known == teams.end()) {
      excerpt.gangs.push_back(gang_of(piece.gang, excerpt));
      excerpt.before_usd_h += gang_usd_h(piece.gang);
      teams.push_back(piece.gang);
      here.push_back(0);
      known = teams.end() - 1;
    }
    here[static_cast<std::size_t>(known - teams.begin())] += piece.value_usd_h;
    piece.gang = static_cast<std::uint32_t>(known - teams.begin());
  });
  each([&](Piece& piece) {
    if (here[piece.gang] > 0) piece.value_usd_h *= piece.gang_usd_h / here[piece.gang];
  });
}

/// The gang as the excerpt sees it: with the figures of its tasks elsewhere.
Gang RoundLayout::gang_of(std::uint32_t number, const Excerpt& excerpt) const {
  Gang gang;
  gang.whole = true;
  for (const std::uint32_t task : teams_[number].tasks) {
    const std::uint32_t host = host_of_[task];
    const bool here =
        std::find(excerpt.tasks.begin(), excerpt.tasks.end(), task) != excerpt.tasks.end();
    const bool fixed_here =
        !here && std::find(excerpt.hosts.begin(), excerpt.hosts.end(), host) != excerpt.hosts.end();
    if (fixed_here) gang.whole = false;
    if (here) continue;
    if (fixed_here) {
      // Nothing else in the repartition says that it has come there only now.
      if (!is_displaced(task)) continue;
      gang.starts = true;
      gang.share_elsewhere =
          std::min(gang.share_elsewhere, share_on(model_, pieces_[task], hosts_[host].host, false));
      continue;
    }
    gang.whole = false;
    if (host == kUnassigned) {
      gang.pace_elsewhere = 0;  // it does not run before that task has a place
      continue;
    }
    const bool displaced = is_displaced(task);
    gang.starts |= displaced;
    gang.pace_elsewhere = std::min(gang.pace_elsewhere, pace_[task]);
    gang.share_elsewhere = std::min(gang.share_elsewhere,
                                    share_on(model_, pieces_[task], hosts_[host].host, !displaced));
  }
  return gang;
}

/// New instances get numbers behind all others, and those that were to be rented before are gone
/// rather than taken out, so that numbers stand for the whole round.
void RoundLayout::adopt(const Excerpt& excerpt, const Partition& partition) {
  for (const std::uint32_t host : excerpt.fresh) {
    hosts_[host].gone = true;
    count(hosts_[host]);
  }
  std::vector<std::uint32_t> numbers = excerpt.hosts;
  for (const std::uint32_t offer : partition.new_hosts) numbers.push_back(add_new(offer));
  std::vector<std::vector<std::uint32_t>> sets(numbers.size());
  for (std::size_t i = 0; i < excerpt.hosts.size(); ++i) {
    for (const std::uint32_t task : hosts_[excerpt.hosts[i]].tasks) {
      const auto moved = std::find(excerpt.tasks.begin(), excerpt.tasks.end(), task);
      if (moved == excerpt.tasks.end()) sets[i].push_back(task);
    }
  }
  for (std::size_t i = 0; i < excerpt.tasks.size(); ++i) {
    const bool waits = partition.host_of[i] == Partition::kWaits;
    host_of_[excerpt.tasks[i]] = waits ? kUnassigned : numbers[partition.host_of[i]];
    recount_team_of(excerpt.tasks[i]);
    if (!waits) sets[partition.host_of[i]].push_back(excerpt.tasks[i]);
  }
  for (std::size_t i = 0; i < sets.size(); ++i) {
    Working& working = hosts_[numbers[i]];
    std::vector<std::uint32_t> before = working.tasks;
    std::sort(before.begin(), before.end());
    std::sort(sets[i].begin(), sets[i].end());
    if (before == sets[i]) continue;
    working.tasks = std::move(sets[i]);
    working.dirty = true;
    revalue(numbers[i]);
  }
}

}  // namespace muster::own
