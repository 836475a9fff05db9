#include "tools/experiment/run_record.hpp"

#include <fmt/format.h>
#include <sys/utsname.h>

#include <algorithm>
#include <chrono>
#include <ctime>
#include <fstream>
#include <string_view>
#include <thread>

// Each result carries what it was made by, so that a figure in a table leads back to a command.

namespace muster::experiment {
namespace {

using Json = nlohmann::ordered_json;

// A record of another shape does not count.
constexpr int kFormat = 1;

std::string processor() {
  std::ifstream in("/proc/cpuinfo");
  for (std::string line; std::getline(in, line);) {
    const std::size_t colon = line.find(": ");
    if (line.starts_with("model name") && colon != std::string::npos) return line.substr(colon + 2);
  }
  return "unknown";
}

std::string now_utc() {
  using Clock = std::chrono::system_clock;
  const auto clock = Clock::now();  // NOLINT: a record says when it was made, nothing decides by it
  const std::time_t now = Clock::to_time_t(clock);
  std::tm parts{};
  gmtime_r(&now, &parts);
  return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}Z", parts.tm_year + 1900, parts.tm_mon + 1,
                     parts.tm_mday, parts.tm_hour, parts.tm_min, parts.tm_sec);
}

}  // namespace

Provenance provenance_of(std::string version, std::string program, std::string command) {
  utsname system{};
  uname(&system);
  return {std::move(version), std::move(program), std::move(command), now_utc(),
          Json{{"host", system.nodename},
               {"system", fmt::format("{} {}", system.sysname, system.release)},
               {"processor", processor()},
               {"cores", std::thread::hardware_concurrency()}}};
}

std::optional<std::string> record_of(const std::string& report, const RunRecord& record,
                                     const Provenance& provenance) {
  const Json parsed = Json::parse(report, nullptr, false);
  // A report that was cut short is no JSON; it is written when all its runs are over.
  if (!parsed.is_object() || !parsed.contains("runs")) return std::nullopt;
  const Json& runs = parsed.at("runs");
  if (!runs.is_array() || runs.size() != 1 || !runs.front().is_object()) return std::nullopt;
  std::vector<std::string> command = {"muster"};
  const std::vector<std::string> words = replay_arguments(record.run);
  command.insert(command.end(), words.begin(), words.end());
  const Json json{{"format", kFormat},
                  {"key", record.key},
                  {"command", shell_text(command)},
                  {"config", record.run.config.string()},
                  {"policy", record.run.policy},
                  {"seed", record.run.seed},
                  {"set", record.run.overrides},
                  {"version", provenance.version},
                  {"program_sha256", provenance.program},
                  {"machine", provenance.machine},
                  {"experiment_began", provenance.began},
                  {"seconds", to_seconds(record.took)},
                  {"runs_at_once", record.at_once},
                  {"run", runs.front()}};
  return json.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

std::optional<Json> parse_record(const std::string& text, const std::string& key) {
  Json json = Json::parse(text, nullptr, false);
  if (!json.is_object() || json.value("format", 0) != kFormat) return std::nullopt;
  if (json.value("key", "") != key || !json.contains("run") || !json.at("run").is_object()) {
    return std::nullopt;
  }
  return json;
}

std::string shell_text(const std::vector<std::string>& words) {
  constexpr std::string_view kPlain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_=+.,:/@%";
  std::string text;
  for (const std::string& word : words) {
    if (!text.empty()) text += ' ';
    if (!word.empty() && word.find_first_not_of(kPlain) == std::string::npos) {
      text += word;
      continue;
    }
    text += '\'';
    for (const char c : word) text += c == '\'' ? std::string("'\\''") : std::string(1, c);
    text += '\'';
  }
  return text;
}

}  // namespace muster::experiment
