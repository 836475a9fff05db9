#pragma once

#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "model/time.hpp"
#include "model/views.hpp"

namespace muster {

/// Marks those of the asked that have answered, in their order.
using Answered = std::vector<bool>;

/// Times of the answers to the API, and each master's figures then: for totals that lack the part
/// of a silent master or site. May be called from any thread.
class LastAnswers {
 public:
  /// By name, in the order in which they are asked; all of them are silent at `began`.
  LastAnswers(std::vector<std::string> masters, std::vector<std::string> sites, Instant began);

  /// Notes who has answered by `now`. Empty lists: these were not asked.
  void on_load(const Answered& masters, const Answered& sites, Instant now);
  /// Keeps the figures of the masters that have told them.
  void persist(const std::vector<std::optional<CellFigures>>& masters);

  /// Notes them likewise, and lists those without an answer.
  Silent silent(const Answered& masters, const Answered& sites, Instant now);

 private:
  struct Known {
    std::string name;
    Instant answered;
    std::optional<LastFigures> last{};
  };

  static void note(std::vector<Known>& known, const Answered& answers, Instant now);

  std::mutex mutex_;
  std::vector<Known> masters_, sites_;
};

}  // namespace muster
