#include "serve/node/day_costs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <sstream>
#include <utility>

#include "serve/api/private_file.hpp"

namespace muster {
namespace {

constexpr double kDayS = 86400;
/// Costs that were noted so short a time before midnight count as those at midnight.
constexpr double kNearMidnightS = 150;
/// The last line of a file that is whole.
constexpr const char* kEndLine = "end";
/// Less is rounding of the masters' sums.
constexpr double kRounding = 1e-9;

std::int64_t day_of(double now_s) {
  return static_cast<std::int64_t>(std::floor(now_s / kDayS));
}

}  // namespace

DayCosts::DayCosts(std::vector<std::string> masters, std::filesystem::path file)
    : names_(std::move(masters)), file_(std::move(file)) {
  if (file_.empty()) return;
  read();
  writer_ = std::thread([this] { write(); });
}

DayCosts::~DayCosts() {
  if (!writer_.joinable()) return;
  {
    const std::lock_guard lock(mutex_);
    stops_ = true;
  }
  news_.notify_one();
  writer_.join();
}

/// The costs before the day are those that were known last. A clock that is put back begins no day
/// again.
void DayCosts::begin_day(double now_s) {
  const std::int64_t day = day_of(now_s);
  if (day <= day_) return;
  const double midnight_s = static_cast<double>(day) * kDayS;
  if (day_ < 0) {
    since_s_ = now_s;
  } else {
    since_s_ = noted_s_ >= midnight_s - kNearMidnightS ? midnight_s : noted_s_;
  }
  day_ = day;
  for (auto& [name, users] : masters_) {
    for (auto& [user, spent] : users) spent.before = spent.in_all;
  }
}

void DayCosts::note(const std::vector<std::optional<CostView>>& said, Instant now) {
  const double now_s = to_seconds(now);
  {
    const std::lock_guard lock(mutex_);
    begin_day(now_s);
    bool all = true;  // that are known
    for (std::size_t i = 0; i < std::min(said.size(), names_.size()); ++i) {
      if (said[i]) note(names_[i], said[i]->by, now_s);
      all &= said[i].has_value() || !masters_.contains(names_[i]);
    }
    // One that is silent over midnight may have spent its sums on either day.
    if (all) noted_s_ = now_s;
    if (!writer_.joinable()) return;
    waiting_ = text();
  }
  news_.notify_one();
}

/// A master that is heard for the first time may have spent its sums on earlier days.
void DayCosts::note(const std::string& master, const std::vector<CostPart>& parts, double now_s) {
  const bool is_new = !masters_.contains(master);
  Users& users = masters_[master];
  for (const CostPart& part : parts) {
    const auto [at, added] = users.try_emplace(part.name);
    if (added && is_new) at->second.before = part.usd;
    at->second.in_all = std::max(at->second.in_all, part.usd);
  }
  if (is_new && !parts.empty()) since_s_ = now_s;
}

DayCostsView DayCosts::today(Instant now) const {
  const std::lock_guard lock(mutex_);
  DayCostsView view;
  if (day_of(to_seconds(now)) != day_) {
    view.since = now;
    return view;
  }
  view.since = Instant{from_seconds(since_s_)};
  std::map<std::string, double> sums;
  for (const auto& [name, users] : masters_) {
    for (const auto& [user, spent] : users) sums[user] += spent.in_all - spent.before;
  }
  for (const auto& [user, usd] : sums) {
    if (usd > kRounding) view.by.push_back({user, usd});
  }
  std::stable_sort(view.by.begin(), view.by.end(),
                   [](const CostPart& a, const CostPart& b) { return a.usd > b.usd; });
  return view;
}

bool DayCosts::has_heard_all() const {
  const std::lock_guard lock(mutex_);
  return std::ranges::all_of(names_,
                             [this](const std::string& name) { return masters_.contains(name); });
}

// ---- the file: a line for the day, one for each user of each master, and one that ends it ----

std::string DayCosts::text() const {
  std::string text = fmt::format("{} {} {}\n", day_, since_s_, noted_s_);
  for (const auto& [name, users] : masters_) {
    text += fmt::format("{} 0 0\n", name);  // also of one without users
    for (const auto& [user, spent] : users) {
      text += fmt::format("{} {} {} {}\n", name, spent.before, spent.in_all, user);
    }
  }
  return text + kEndLine + "\n";
}

/// A file that was cut short counts as no file: users that it lacks would seem to have cost all
/// that they ever did today.
void DayCosts::read() {
  std::ostringstream all;
  all << std::ifstream(file_).rdbuf();
  if (!all.str().ends_with(std::string("\n") + kEndLine + "\n")) return;
  std::istringstream in(all.str());
  std::string line;
  if (!std::getline(in, line)) return;
  if (!(std::istringstream(line) >> day_ >> since_s_ >> noted_s_)) {
    day_ = -1;
    return;
  }
  while (std::getline(in, line)) {
    std::istringstream words(line);
    std::string master;
    Spent spent;
    if (!(words >> master >> spent.before >> spent.in_all)) continue;
    Users& users = masters_[master];
    std::string user;
    if (words.get() == ' ' && std::getline(words, user)) users[user] = spent;
  }
}

/// A crash, or a power cut, leaves the old file or the new one. One that cannot be written is tried
/// again with the next news.
void DayCosts::write() {
  while (true) {
    std::string text;
    {
      std::unique_lock lock(mutex_);
      news_.wait(lock, [this] { return stops_ || waiting_; });
      if (!waiting_) return;
      text = *std::exchange(waiting_, std::nullopt);
    }
    api::replace_private(file_, text);
  }
}

}  // namespace muster
