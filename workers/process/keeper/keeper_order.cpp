#include "workers/process/keeper/keeper_order.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "model/fields.hpp"
#include "model/max_span.hpp"
#include "model/task_metrics.hpp"

namespace muster::process {
namespace {

using Json = nlohmann::json;

constexpr std::uint32_t kLastPort = 65'535;

void members(auto& a, Like<HealthCheck> auto& v) {
  a("kind", v.kind);
  a("port", v.port);
  a("path", v.path);
  a("command", v.command);
  a("every_ns", v.every);
  a("timeout_ns", v.timeout);
  a("successes", v.successes);
  a("failures", v.failures);
}

void members(auto& a, Like<KeeperOrder> auto& v) {
  a("ports", v.service.ports);
  a("ready", v.service.ready);
  a("alive", v.service.alive);
  a("start_within_ns", v.service.start_within);
  a("drain_ns", v.service.drain);
  a("metric", v.service.goal.metric);
  a("probe", v.service.goal.probe);
  a("probe_every_ns", v.service.goal.every);
  a("probe_timeout_ns", v.service.goal.timeout);
  a("first_port", v.first_port);
  a("last_port", v.last_port);
  a("stop_grace_ns", v.stop_grace);
}

class OrderWriter {
 public:
  void operator()(const char* name, const auto& value) { json_[name] = json_of(value); }
  Json take() { return std::move(json_); }

 private:
  static Json json_of(const HealthCheck& check) {
    OrderWriter writer;
    members(writer, check);
    return writer.take();
  }
  static Json json_of(CheckKind kind) { return name_of(kind); }
  static Json json_of(Duration time) { return time.count(); }
  static Json json_of(const auto& value) { return value; }

  Json json_ = Json::object();
};

/// Sets what is there as it should be; each member has to be.
class OrderReader {
 public:
  explicit OrderReader(const Json& json) : json_(json) {}

  void operator()(const char* name, auto& value) {
    const auto member = json_.find(name);
    good_ = good_ && member != json_.end() && read(*member, value);
  }
  bool good() const { return good_; }

 private:
  static bool read(const Json& from, HealthCheck& check) {
    OrderReader reader(from);
    members(reader, check);
    return reader.good();
  }
  static bool read(const Json& from, std::string& text) {
    if (from.is_string()) text = from.get<std::string>();
    return from.is_string();
  }
  static bool read(const Json& from, std::vector<std::string>& texts) {
    return from.is_array() && std::all_of(from.begin(), from.end(), [&texts](const Json& each) {
             return read(each, texts.emplace_back());
           });
  }
  static bool read(const Json& from, CheckKind& kind) {
    std::string word;
    const auto found = read(from, word) ? named<CheckKind>(word) : std::nullopt;
    if (found) kind = *found;
    return found.has_value();
  }
  static bool read(const Json& from, std::uint64_t& number) {
    if (from.is_number_unsigned()) number = from.get<std::uint64_t>();
    return from.is_number_unsigned();
  }
  static bool read(const Json& from, std::uint32_t& number) {
    std::uint64_t whole = 0;
    if (!read(from, whole) || !std::in_range<std::uint32_t>(whole)) return false;
    number = static_cast<std::uint32_t>(whole);
    return true;
  }
  static bool read(const Json& from, Duration& time) {
    std::uint64_t ns = 0;
    if (!read(from, ns) || std::cmp_greater(ns, kMaxSpan.count())) return false;
    time = Duration{static_cast<std::int64_t>(ns)};
    return true;
  }

  const Json& json_;
  bool good_ = true;
};

bool can_follow(const HealthCheck& check, const std::vector<std::string>& ports) {
  // Checks without a pause would take a processor from the program.
  if (check.every <= Duration::zero() || check.timeout <= Duration::zero()) return false;
  if (check.kind == CheckKind::command) return !check.command.empty();
  if (check.kind != CheckKind::http && check.kind != CheckKind::tcp) return true;
  // The path stands in a line of words.
  const bool is_path = check.path.starts_with('/') && std::ranges::all_of(check.path, [](char c) {
                         return static_cast<unsigned char>(c) > 0x20 && c != 0x7f;
                       });
  return std::ranges::find(ports, check.port) != ports.end() &&
         (is_path || check.kind == CheckKind::tcp);
}

bool can_follow(const ServiceGoal& goal) {
  return goal.probe.empty() || (is_metric_name(goal.metric) && goal.every > Duration::zero() &&
                                goal.timeout > Duration::zero());
}

bool can_follow(const KeeperOrder& order) {
  const ServiceSpec& service = order.service;
  return can_follow(service.goal) && can_follow(service.ready, service.ports) &&
         can_follow(service.alive, service.ports) && service.start_within > Duration::zero() &&
         std::ranges::all_of(service.ports, is_port_name) && order.first_port <= order.last_port &&
         order.last_port <= kLastPort &&
         // The number 0 stands for any that the system chooses.
         (order.first_port > 0 || service.ports.empty());
}

}  // namespace

std::string to_text(const KeeperOrder& order) {
  OrderWriter writer;
  members(writer, order);
  try {
    return writer.take().dump(-1, ' ', false, Json::error_handler_t::strict);
  } catch (const Json::exception&) {
    return {};
  }
}

std::optional<KeeperOrder> keeper_order_from(std::string_view text) {
  const Json json = Json::parse(text, nullptr, false);
  KeeperOrder order;
  OrderReader reader(json);
  members(reader, order);
  if (!reader.good() || !can_follow(order)) return std::nullopt;
  return order;
}

}  // namespace muster::process
