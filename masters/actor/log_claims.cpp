#include "masters/actor/log_claims.hpp"

#include <optional>
#include <string>
#include <utility>

namespace muster {
namespace {

/// Claims that are looked up at once: users read from the same places.
constexpr std::size_t kMaxOpenClaims = 16;

}  // namespace

LogClaims::LogClaims(LogHandover& handover, const AttemptPlaces& places, Host host)
    : handover_(handover), places_(places), host_(std::move(host)) {}

void LogClaims::note(const WorkerReport& report) {
  if (places_.runs_on(report.task, report.attempt) == report.instance) {
    return handover_.note(report);
  }
  if (!handover_.note_unsure(report)) return;
  claims_.push_back({{report.task, report.attempt}, report.instance});
  go_on();
}

void LogClaims::note(const FilledLogs& said) {
  for (const FilledLog& log : said.logs) {
    if (places_.runs_on(log.task, log.attempt) != said.instance) continue;
    handover_.fill({log.task, log.attempt}, said.instance, {log.out_bytes, log.err_bytes});
  }
}

void LogClaims::go_on() {
  while (!claims_.empty() && open_ < kMaxOpenClaims) {
    const Claim claim = claims_.front();
    if (!look_up(claim)) return host_.go_on_later();
    claims_.pop_front();
  }
}

/// False: too many wait already for those who read.
bool LogClaims::look_up(const Claim& claim) {
  const TaskId task = claim.name.task;
  if (const auto place = places_.known(task)) return judge(claim, *place);
  const bool waits = places_.read(task, [this, claim](const AttemptPlace& place) {
    --open_;
    if (judge(claim, place)) return go_on();
    claims_.push_front(claim);
    host_.go_on_later();
  });
  if (waits) ++open_;
  return waits;
}

/// `place` is of the newest attempt: of an earlier one it is not on record where it was, so the
/// instance that has its output is believed unless there is some already. False: as of look_up().
bool LogClaims::judge(const Claim& claim, const AttemptPlace& place) {
  const auto& [name, on] = claim;
  const bool may_be = place.known && name.attempt <= place.attempt;
  if (may_be && name.attempt < place.attempt && places_.is_here(on)) return judge_earlier(claim);
  if (may_be && name.attempt == place.attempt && place.on == on) {
    handover_.confirm(name, on);
    return true;
  }
  const std::string lost = "instance " + std::to_string(on.value) +
                           " spoke for it, and it was on instance " +
                           std::to_string(place.on.value);
  const bool is_over = may_be && name.attempt == place.attempt && !place.running;
  handover_.dismiss(name, on, is_over ? lost : "");
  return true;
}

bool LogClaims::judge_earlier(const Claim& claim) {
  ++open_;  // the answer may be quick
  const bool waits = host_.is_kept(claim.name, [this, claim](bool is_kept) {
    --open_;
    if (is_kept) {
      handover_.dismiss(claim.name, claim.on, {});
    } else {
      handover_.confirm(claim.name, claim.on);
    }
    go_on();
  });
  if (!waits) --open_;
  return waits;
}

}  // namespace muster
