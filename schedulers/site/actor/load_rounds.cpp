#include "schedulers/site/actor/load_rounds.hpp"

#include <algorithm>
#include <utility>

namespace muster {
namespace {

/// As long as a master's pauses between questions to the cloud at its defaults.
constexpr Duration kLongestPause = std::chrono::hours{6};
/// A peer that has not answered one of these is away, and nothing waits for it any more.
constexpr std::uint32_t kFirstAskings = 10;

}  // namespace

LoadRounds::LoadRounds(const SitePeers& peers, const PeerLoads& loads, const SiteSettings& settings,
                       Host host)
    : peers_(peers), loads_(loads), settings_(settings), host_(std::move(host)) {}

void LoadRounds::ask() {
  // The failed tasks of a job are counted here.
  const bool news = std::exchange(heard_news_, false) || loads_.counts_failed() || host_.has_work();
  pause_ = news ? settings_.load_every
                : std::clamp(2 * pause_, settings_.load_every,
                             std::max(settings_.load_every, kLongestPause));
  // Everybody but itself.
  asked_ = peers_.all().size() - 1;
  masters_may_work_ = false;
  unheard_ = false;
  askings_ = std::min(askings_ + 1, kFirstAskings);
  for (const HandoffTarget& to : peers_.all()) {
    if (peers_.is_self(to)) continue;
    host_.ask(to, loads_.question_to(to), [this, to](const LoadReport* report) {
      if (report != nullptr) host_.heard(to, *report);
      unheard_ |= report == nullptr && !loads_.was_heard(to);
      masters_may_work_ |= !to.site && (report == nullptr || report->active_jobs > 0);
      answered();
    });
  }
  host_.wake(pause_);
}

void LoadRounds::answered() {
  if (asked_ == 0 || --asked_ > 0) return;
  host_.all_heard();
  if (!awaiting_.empty()) {
    // Of what is taken in now masters will have to tell, also when they have had nothing so far.
    pause_ = settings_.load_every;
    host_.wake(pause_);
  } else if (!masters_may_work_ && !heard_news_ && !host_.has_work()) {
    host_.sleep();
    pause_ = std::max(settings_.load_every, kLongestPause);
  }
  // Moved out first: jobs that are taken in may come to wait again.
  unrouted_ = 0;
  for (const auto& take : std::exchange(awaiting_, {})) take();
}

void LoadRounds::ask_soon() {
  if (settings_.load_every <= Duration::zero()) return;
  pause_ = settings_.load_every;
  host_.wake(pause_);
}

bool LoadRounds::is_fresh() const {
  const bool is_blind = unheard_ && askings_ < kFirstAskings;
  return pause_ <= settings_.load_every && awaiting_.empty() && !is_blind;
}

void LoadRounds::await(std::size_t jobs, std::function<void()> take) {
  unrouted_ += jobs;
  awaiting_.push_back(std::move(take));
  if (asked_ == 0) ask();
}

}  // namespace muster
