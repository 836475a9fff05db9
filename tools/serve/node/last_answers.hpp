#pragma once

#include <cstdint>
#include <mutex>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "model/time.hpp"

namespace muster {

/// Who answered the API when, and what each master's figures were then: what is said of a total
/// that lacks the part of one who does not answer. May be called from any thread.
class LastAnswers {
 public:
  using Texts = std::vector<std::optional<std::string>>;

  /// By name, in the order in which they are asked; nobody has answered at `began`.
  LastAnswers(std::vector<std::string> masters, std::vector<std::string> sites, Instant began);

  /// Notes who has answered by `now`. With `loads` the masters' answers are their loads, of which
  /// the figures are kept. Empty lists: these were not asked.
  void hear(const Texts& masters, const Texts& sites, Instant now, bool loads);

  /// Those without an answer, in the shape of `Silent` in docs/api.md.
  nlohmann::json silent(const Texts& masters, const Texts& sites, Instant now) const;

 private:
  struct Known {
    std::string name;
    Instant answered;
    nlohmann::json last;  ///< a master's figures; null: none were heard
  };

  static void note(std::vector<Known>& known, const Texts& answers, Instant now);

  mutable std::mutex mutex_;
  std::vector<Known> masters_, sites_;
};

}  // namespace muster
