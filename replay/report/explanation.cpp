#include "replay/report/explanation.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "replay/metrics/labels.hpp"

// An explanation as text for readers and as JSON for programs, from the same lines.

namespace muster::report {
namespace {

using metrics::clock_text;

using Json = nlohmann::ordered_json;

/// Seconds to the millisecond, without superfluous zeros.
std::string seconds_text(Instant at) {
  std::string text = fmt::format("{:.3f}", to_seconds(at));
  text.erase(text.find_last_not_of('0') + 1);
  if (text.ends_with('.')) text.pop_back();
  return text + " s";
}

Json json_of(const ExplanationLine& line) {
  Json json{{"t_s", to_seconds(line.at)},
            {"time", clock_text(line.at)},
            {"what", line.what},
            {"text", line.text}};
  for (const auto& [name, value] : line.details) {
    std::visit([&, key = &name](const auto& v) { json[*key] = v; }, value);
  }
  if (line.times > 1) {
    json["times"] = line.times;
    json["last_s"] = to_seconds(line.last);
  }
  return json;
}

}  // namespace

std::string to_text(const Explanation& explanation) {
  std::string text = explanation.title + "\n";
  for (const ExplanationLine& line : explanation.lines) {
    const std::string again =
        line.times == 1 ? std::string()
                        : fmt::format(" ({} times until {})", line.times, clock_text(line.last));
    text += fmt::format("  {:<16}  {:>13}  {}\n", clock_text(line.at), seconds_text(line.at),
                        line.text + again);
  }
  if (!explanation.costs.empty()) text += "Costs\n";
  for (const ExplanationLine& line : explanation.costs) text += "  " + line.text + "\n";
  return text;
}

std::string to_json(const Explanation& explanation) {
  Json json{{"title", explanation.title}, {"lines", Json::array()}, {"costs", Json::array()}};
  for (const ExplanationLine& line : explanation.lines) json["lines"].push_back(json_of(line));
  for (const ExplanationLine& line : explanation.costs) json["costs"].push_back(json_of(line));
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace muster::report
