#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "workers/executor.hpp"
#include "workers/process/files/attempt_dir.hpp"
#include "workers/process/shim/shim_usage.hpp"

namespace muster::process {

/// Usage of the attempts of an instance by the word of their shims, which look only when somebody
/// asks here, and no more often than once in kFresh. It keeps the last two looks of each attempt.
class UsageDesk {
 public:
  using Answer = std::function<void(std::vector<AttemptUsage>)>;

  /// Looks that are younger answer a question at once.
  static constexpr Duration kFresh = std::chrono::seconds{1};
  /// How long shims may take to answer: later words count for the next question.
  static constexpr Duration kWait = std::chrono::milliseconds{200};
  /// Between the two looks of a question that is the first one within kOld.
  static constexpr Duration kBetween = std::chrono::milliseconds{400};
  /// A longer span between two looks says nothing of the present.
  static constexpr Duration kOld = std::chrono::seconds{15};
  /// Questions that wait for looks; further ones are answered with the looks that are there.
  static constexpr std::size_t kMostWaiting = 64;
  /// Two looks that lie closer together are one: processor time comes in ticks.
  static constexpr Duration kLeastApart = std::chrono::milliseconds{100};

  /// Blocks of the attempt's folder when these were counted last; 0: they were not.
  using DiskBytes = std::function<std::uint64_t(const AttemptKey&)>;
  /// `look` has all shims asked; their words come to note(). The host outlives this.
  UsageDesk(const ExecutorHost& host, std::function<void()> look, DiskBytes disk_bytes);

  /// Answers at once or soon, unless this is gone by then.
  void ask(const Answer& answer);
  void note(const AttemptKey& attempt, const UsageLook& look);
  void end(const AttemptKey& attempt) { looks_.erase(attempt); }

 private:
  struct Looks {
    UsageLook last;
    Instant heard;  ///< when the last one came
    std::optional<UsageLook> before{};
  };

  void later(Duration wait, void (UsageDesk::*step)());
  void look_again() { look_(); }
  void answer_all();
  std::vector<AttemptUsage> usages() const;

  const ExecutorHost& host_;
  std::function<void()> look_;
  DiskBytes disk_bytes_;
  std::map<AttemptKey, Looks> looks_;
  std::optional<Instant> looked_at_;
  std::vector<Answer> waiting_;
  std::shared_ptr<const bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace muster::process
