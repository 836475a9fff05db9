#include "replay/metrics/labels.hpp"

#include <fmt/format.h>

#include <cmath>

#include "model/rounded_text.hpp"

// Times, amounts and reasons as words, one form for all reports.

namespace muster::metrics {

std::string clock_text(Instant instant) {
  const std::int64_t total =
      std::chrono::floor<std::chrono::seconds>(instant.time_since_epoch()).count();
  constexpr std::int64_t kDay = 86'400;
  // Division rounds to zero: times before 0 belong to day -1, not 0.
  const std::int64_t day = total >= 0 ? total / kDay : -((kDay - 1 - total) / kDay);
  const std::int64_t second = total - day * kDay;
  return fmt::format("day {} {:02}:{:02}:{:02}", day, second / 3600, second / 60 % 60, second % 60);
}

std::string length_text(Duration duration) {
  const double seconds = to_seconds(duration);
  if (std::abs(seconds) >= 7200) return fmt::format("{:.2f} h", seconds / 3600);
  if (std::abs(seconds) >= 120) {
    const auto whole = static_cast<std::int64_t>(seconds);
    return fmt::format("{} min {} s", whole / 60, std::abs(whole % 60));
  }
  return fmt::format("{:.4g} s", seconds);
}

std::string usd_text(double usd) {
  // An amount that rounds to zero is shown without a sign.
  return fmt::format("{}${:.2f}", usd < 0 && std::lround(usd * 100) != 0 ? "-" : "", std::abs(usd));
}

std::string describe(const Refusal& refusal) {
  std::string text = fmt::format("{}: {}", name_of(refusal.kind), name_of(refusal.code));
  if (refusal.binding) {
    text += fmt::format(" ({}: asked {}, available {})", name_of(*refusal.binding),
                        rounded_text(refusal.asked), rounded_text(refusal.available));
  } else if (refusal.asked != 0 || refusal.available != 0) {
    text += fmt::format(" (asked {}, available {})", rounded_text(refusal.asked),
                        rounded_text(refusal.available));
  }
  return text;
}

std::string describe(const Cause& cause) {
  return fmt::format("{}, gain {}/h", name_of(cause.code), usd_text(cause.gain_usd_h));
}

std::string describe(const ReplicaState& state) {
  std::string text = state.ready ? "is ready" : "is not ready";
  if (state.pause > Duration::zero()) {
    text = fmt::format("has ended with exit code {}, is started again after {}", state.exit_code,
                       length_text(state.pause));
  }
  return state.trouble.empty() ? text : text + ": " + state.trouble;
}

std::string describe(const ReplicaWanted& event) {
  return fmt::format("{} ({})",
                     event.wanted ? "it is to be a replica of its service"
                                  : "it runs only until others do without it",
                     describe(event.cause));
}

std::string describe(const ServiceScaled& event) {
  if (event.replicas > 0) {
    const std::string why =
        event.measured ? fmt::format(" by its goal: {:.6g} was measured", *event.measured) : "";
    return fmt::format("its service is to have {} replica{}{}", event.replicas,
                       event.replicas == 1 ? "" : "s", why);
  }
  return "its revision of the service did not come about in time: the one before has the service "
         "again";
}

}  // namespace muster::metrics
