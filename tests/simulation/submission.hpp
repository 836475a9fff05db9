#pragma once

#include <cstdint>
#include <optional>

#include "model/event.hpp"
#include "tests/simulation/scenario.hpp"

namespace muster::ring {

/// What has become of a submission, as its user sees it.
struct Submission {
  const Wish* wish = nullptr;
  std::optional<JobId> job;              ///< acknowledged
  bool cancelled = false;                ///< its user has asked for that
  std::optional<Instant> cancel_kept{};  ///< a site has promised to see to that
  bool cancelled_everywhere = false;     ///< and has said that everybody has confirmed it
  std::uint32_t open = 0;                ///< askings without an answer yet
  std::uint32_t watches = 0;             ///< times that a site was asked to tell of its end
  std::uint32_t told = 0;                ///< times that it was
  std::optional<JobOutcome> outcome{};   ///< as it was told
  bool refused = false;  ///< the last try was: another service of its user has its name
  Instant acknowledged_at{};
};

}  // namespace muster::ring
