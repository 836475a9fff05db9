#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "actors/messages/messages.hpp"
#include "masters/actor/part_host.hpp"
#include "masters/master.hpp"
#include "model/usage_views.hpp"

namespace muster {

/// Answers with pages of running tasks and what they take: asks the workers of the page's tasks,
/// and puts together what these say within UsageQuestion::kWait. A task of which nothing has come
/// by then stands there without figures. A worker is asked once within kFresh, whoever asks.
class UsageQuestions {
 public:
  /// Pages that wait for workers at once, and those of one user.
  static constexpr std::size_t kMost = 64;
  static constexpr std::size_t kMostOfUser = 16;
  /// A worker's answer that is younger answers other pages, too.
  static constexpr Duration kFresh = std::chrono::seconds{1};

  /// Asks the instance's worker; false: it cannot be spoken to.
  using Ask = std::function<bool(InstanceId, const UsageRequest&)>;
  /// The master and the host have to outlive it.
  UsageQuestions(const Master& master, PartHost& host, Ask ask);

  void ask(const UsageQuestion& wanted, PartAnswer<UsageView> answer);
  void hear(const UsageAnswer& answer);
  /// Drops all questions: their askers are gone.
  void clear();

 private:
  struct Page {
    UsageView view;
    std::string user{};                    ///< whose tasks are asked for; empty: anybody's
    std::map<TaskId, std::size_t> rows{};  ///< by task, in `view`
    std::set<InstanceId> unanswered{};
    PartAnswer<UsageView> answer{};
  };
  /// By a number that rises.
  using Pages = std::map<std::uint64_t, Page>;
  /// A worker that was asked lately.
  struct Asked {
    std::uint64_t number = 0;
    Instant at;
    std::optional<UsageAnswer> said{};
    std::set<std::uint64_t> pages{};  ///< that wait for it
  };

  void forget_old(Instant now);
  bool put_or_ask(InstanceId instance, std::uint64_t number, Page& page, Instant now);
  void finish(Pages::iterator page);

  const Master& master_;
  PartHost& host_;
  Ask ask_;
  std::uint64_t last_page_ = 0;
  std::uint64_t last_question_ = 0;  ///< to a worker
  Pages pages_;
  std::map<InstanceId, Asked> asked_;
  std::deque<std::pair<Instant, InstanceId>> order_;  ///< of these, when each was asked
};

}  // namespace muster
