#pragma once

#include <functional>

#include "schedulers/site/actor/job_watches.hpp"
#include "schedulers/site/letters.hpp"
#include "schedulers/site/site_writer.hpp"
#include "storage/stores/site_store.hpp"

namespace muster {

/// The parts of a site by which its letters reach the world. All have to outlive it.
struct LetterParts {
  JobWatches& watches;
  SiteStore& store;
  /// As SiteDependencies::send_letter.
  std::function<void(Letter, std::function<void()> settled)> send;
  SiteWriter::Post post;
  std::function<void(Duration, std::function<void()> step)> after;
  std::function<Instant()> now;
};
Letters::Host letters_host(const LetterParts& parts);

}  // namespace muster
