#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>

#include "actors/messages/messages.hpp"
#include "masters/actor/part_host.hpp"
#include "masters/master.hpp"
#include "model/usage_views.hpp"

namespace muster {

/// Answers with pages of running tasks and what they take: asks the workers of the page's tasks,
/// and puts together what these say within kWait. A task of which nothing has come by then stands
/// there without figures.
class UsageQuestions {
 public:
  /// Pages that wait for workers at once.
  static constexpr std::size_t kMost = 64;
  static constexpr Duration kWait = std::chrono::milliseconds{1500};

  /// Asks the instance's worker; false: it cannot be spoken to.
  using Ask = std::function<bool(InstanceId, const UsageRequest&)>;
  /// The master and the host have to outlive it.
  UsageQuestions(const Master& master, PartHost& host, Ask ask);

  void ask(const UsageQuestion& wanted, PartAnswer<UsageView> answer);
  void hear(const UsageAnswer& answer);
  /// Drops all questions: their askers are gone.
  void clear() { pages_.clear(); }

 private:
  struct Page {
    UsageView view;
    std::map<TaskId, std::size_t> rows{};              ///< by task, in `view`
    std::map<std::uint64_t, InstanceId> unanswered{};  ///< questions to workers, by number
    PartAnswer<UsageView> answer{};
  };
  /// By the number of the first question of each, which rise.
  using Pages = std::map<std::uint64_t, Page>;

  void finish(Pages::iterator page);

  const Master& master_;
  PartHost& host_;
  Ask ask_;
  std::uint64_t next_ = 0;  ///< number of the last question to a worker
  Pages pages_;
};

}  // namespace muster
