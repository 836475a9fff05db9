#include "serve/notify/cap_watch.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <functional>
#include <optional>
#include <sstream>
#include <utility>

#include "serve/api/private_file.hpp"

namespace muster::notify {
namespace {

constexpr std::size_t kMostBytes = 64 << 10;

std::string day_of(Instant now) {
  return fmt::format("{:%Y-%m-%d}", fmt::gmtime(static_cast<std::time_t>(to_seconds(now))));
}

}  // namespace

CapWatch::CapWatch(std::vector<std::string> to, std::filesystem::path file, Send send)
    : to_(std::move(to)), file_(std::move(file)), send_(std::move(send)) {
  // A line for the day, and one for each address that was told; no file: not one was.
  const auto read = api::read_private(file_, kMostBytes);
  std::istringstream lines(read ? read.value() : std::string());
  std::getline(lines, told_day_);
  for (std::string line; std::getline(lines, line);) told_.insert(line);
}

void CapWatch::note(double spent_usd, double cap_usd, Instant now) {
  if (to_.empty() || cap_usd <= 0 || spent_usd < kToldShare * cap_usd) return;
  const std::string day = day_of(now);
  std::vector<std::pair<std::size_t, std::string>> open;
  {
    const std::lock_guard lock(mutex_);
    if (day_ == day) return;
    day_ = day;
    if (std::exchange(told_day_, day) != day) told_.clear();
    for (std::size_t i = 0; i < to_.size(); ++i) {
      if (!told_.contains(to_[i])) open.emplace_back(i + 1, to_[i]);
    }
  }
  for (const auto& [place, address] : open) {
    send_({fmt::format("cap-{}-{}", day, place),
           {},
           address,
           now,
           CapIsNear{day, spent_usd, cap_usd}},
          [this, day, to = address] { settled(day, to); });
  }
}

void CapWatch::settled(const std::string& day, const std::string& address) {
  const std::lock_guard lock(mutex_);
  if (told_day_ != day) return;
  told_.insert(address);
  std::string text = day + '\n';
  for (const std::string& each : told_) text += each + '\n';
  // A file that is not written has admins told again after a restart.
  static_cast<void>(api::replace_private(file_, text));
}

}  // namespace muster::notify
