#include "schedulers/site/actor/peer_loads.hpp"

#include <algorithm>
#include <utility>

#include "schedulers/site/split.hpp"

namespace muster {

PeerLoads::PeerLoads(const SitePeers& peers, const SiteSettings& settings, std::uint64_t seed)
    : peers_(peers), settings_(settings), rng_(seed), state_(peers) {}

LoadQuestion PeerLoads::question_to(const HandoffTarget& to) const {
  const PeerState& peer = state_.at(to);
  return {peer.load.run, peer.load.completed_to, peer.failed_after};
}

bool PeerLoads::take(const HandoffTarget& from, const LoadReport& report, Instant now) {
  PeerState& peer = state_.at(from);
  const auto as_before = [&](auto part) { return peer.load.*part == report.*part; };
  const bool news = !as_before(&LoadReport::active_jobs) ||
                    !as_before(&LoadReport::pending_tasks) || !as_before(&LoadReport::instances) ||
                    !as_before(&LoadReport::load) || !as_before(&LoadReport::used) ||
                    !report.completed.empty();
  peer.load = report;
  take_failed(peer, report);
  peer.heard = {report.load, now};
  // The report counts what has been given so far.
  peer.given = 0;
  return news;
}

/// A report has the parts of the jobs between the one that was asked for and its last, or all.
void PeerLoads::take_failed(PeerState& from, const LoadReport& report) {
  const auto begin =
      from.failed_after.valid() ? from.failed.upper_bound(from.failed_after) : from.failed.begin();
  const bool goes_on = report.more_failed && !report.failed.empty();
  const auto end = goes_on ? from.failed.upper_bound(report.failed.back().job) : from.failed.end();
  from.failed.erase(begin, end);
  for (const FailedPart& part : report.failed) from.failed[part.job] = part;
  from.failed_after = goes_on ? report.failed.back().job : JobId{};
}

std::vector<JobId> PeerLoads::with_too_many_failed(const LoadReport& report) const {
  // Failed tasks are counted over all masters, each of which knows its own part only.
  std::map<JobId, std::uint64_t> failed;
  for (const FailedPart& part : report.failed) failed[part.job] = 0;
  if (failed.empty()) return {};
  for (const PeerState& each : state_.masters()) {
    for (auto& [job, sum] : failed) {
      const auto found = each.failed.find(job);
      if (found != each.failed.end()) sum += found->second.failed;
    }
  }
  std::vector<JobId> jobs;
  for (const FailedPart& part : report.failed) {
    if (failed[part.job] > part.allowed) jobs.push_back(part.job);
  }
  return jobs;
}

bool PeerLoads::counts_failed() const {
  return std::any_of(state_.masters().begin(), state_.masters().end(),
                     [](const PeerState& each) { return each.load.counting > 0; });
}

SystemUse PeerLoads::use() const {
  Resources used, capacity;
  for (const PeerState& each : state_.masters()) {
    used += each.load.used;
    capacity += each.load.capacity;
  }
  return SystemUse::of(used, capacity);
}

bool PeerLoads::is_silent(const HandoffTarget& whom, Instant since, Instant now) const {
  Heard heard = state_.at(whom).heard;
  if (!heard.at) heard.at = since;
  return !present_load(heard, now, settings_.load_stale_after);
}

HandoffTarget PeerLoads::choose_site(const Job& job, double own_load, Instant now) const {
  const std::size_t own = peers_.own();
  // Every site knows the master of a service.
  if (peers_.sites().size() == 1 || master_of_revision(job) != nullptr) return peers_.self().to;
  std::vector<SiteStanding> standings;
  for (std::size_t i = 0; i < peers_.sites().size(); ++i) {
    standings.push_back({peers_.sites()[i].position, state_.sites()[i].heard});
  }
  standings[own].heard = {own_load, now};
  const GeoPoint user = job.origin.value_or(peers_.self().position);
  const std::uint32_t chosen =
      nearest_light_site(standings, static_cast<std::uint32_t>(own), user, settings_, now);
  return peers_.sites()[chosen].to;
}

std::vector<Handoff> PeerLoads::parts_of(Job job, Instant now) {
  std::vector<Handoff> parts;
  if (const SitePeer* master = master_of_revision(job)) {
    parts.push_back({std::move(job), master->to});
    return parts;
  }
  const std::vector<std::uint32_t> chosen = choose_masters(now);
  for (Job& part : split_job(std::move(job), static_cast<std::uint32_t>(chosen.size()))) {
    const std::uint32_t master = chosen[parts.size()];
    // Counts until the master reports, so that one burst is not given to the same master.
    ++state_.masters()[master].given;
    parts.push_back({std::move(part), peers_.masters()[master].to});
  }
  return parts;
}

/// Their places.
std::vector<std::uint32_t> PeerLoads::choose_masters(Instant now) {
  if (settings_.masters_per_job <= 1) return {least_busy_master(now)};
  std::vector<Heard> heard;
  std::vector<std::uint64_t> given;
  for (const PeerState& each : state_.masters()) {
    heard.push_back(each.heard);
    given.push_back(each.given);
  }
  return draw_masters(heard, given, settings_, now, rng_);
}

/// A later revision goes to the master of the earlier ones. Null: the job is no later revision, or
/// that master is not of the cluster any more.
const SitePeer* PeerLoads::master_of_revision(const Job& job) const {
  const ServiceSpec* service = job.service();
  if (service == nullptr || !service->replaces.valid()) return nullptr;
  const auto found = std::ranges::find(peers_.masters(), service->master, &SitePeer::name);
  return found == peers_.masters().end() ? nullptr : &*found;
}

/// The master with the fewest jobs of those that answer; of all without answers.
std::uint32_t PeerLoads::least_busy_master(Instant now) const {
  const std::vector<PeerState>& masters = state_.masters();
  const auto rank = [&](const PeerState& each) {
    const bool lost = !present_load(each.heard, now, settings_.load_stale_after);
    return std::pair(lost, each.load.active_jobs + each.given);
  };
  std::uint32_t best = 0;
  for (std::uint32_t i = 1; i < masters.size(); ++i) {
    if (rank(masters[i]) < rank(masters[best])) best = i;
  }
  return best;
}

}  // namespace muster
