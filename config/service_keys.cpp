#include "config/service_keys.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <utility>

#include "config/goal_keys.hpp"
#include "config/service_table.hpp"
#include "config/size_keys.hpp"

// Faults inside of the table are found while it is read and kept with the request, since a
// reader of a key can only say whether the value is of its kind. check_service() reports it.

namespace muster {

namespace config {
namespace {

using R = JobRequest;

constexpr NumberRange kReplicas{.low = 1, .high = kLargestService, .whole = true};
constexpr NumberRange kSurge{.low = 0, .high = kLargestService, .whole = true};
constexpr NumberRange kHealthy{.low = 0, .high = 3600};
constexpr NumberRange kUpdate{.low = 1, .high = 86'400};
/// Replicas that a service may be scaled to, where its file does not say.
constexpr std::uint32_t kLeastMost = 8;
constexpr NumberRange kStreak{.low = 1, .high = 100, .whole = true};
/// In seconds.
constexpr NumberRange kEvery{.low = 0.1, .high = 3600};
constexpr NumberRange kTimeout{.low = 0.01, .high = 300};
constexpr NumberRange kStart{.low = 1, .high = 86'400};
constexpr NumberRange kDrain{.low = 0, .high = 3600};
constexpr std::size_t kMostPathBytes = 1024;
constexpr const char* kPortRule =
    "small letters, digits and '_', a letter first, of 32 bytes at most";

std::uint32_t replicas_of(const RequestService& service) {
  const ServiceSpec& spec = service.spec;
  return spec.replicas > 0 ? spec.replicas : std::max(1U, spec.least);
}

std::uint32_t most_of(const RequestService& service) {
  if (service.spec.scales()) return service.spec.most;
  if (service.most_replicas > 0) return service.most_replicas;
  return default_most_replicas(replicas_of(service));
}

/// Which check the table asks for: it names one of them.
void read_kind(TableReader& in, HealthCheck& check) {
  std::string tcp;
  in.text("http", check.path);
  in.text("tcp", tcp);
  in.texts("command", check.command);
  bool line = false;
  in.truth("line", line);
  const int kinds =
      int{!check.path.empty()} + int{!tcp.empty()} + int{!check.command.empty()} + int{line};
  if (kinds != 1) {
    return in.fault("", fmt::format("{} has to name one check: http = \"/path\" with port, tcp = "
                                    "\"port\", command = [...] or "
                                    "line = true",
                                    in.path().substr(0, in.path().size() - 1)));
  }
  check.kind = !check.path.empty() ? CheckKind::http
               : !tcp.empty()      ? CheckKind::tcp
               : line              ? CheckKind::line
                                   : CheckKind::command;
  if (check.kind == CheckKind::tcp) check.port = tcp;
}

void read_check(const RequestValue& value, const std::string& path, RequestService& out,
                HealthCheck& check) {
  TableReader in(value, path, out);
  in.text("port", check.port);
  read_kind(in, check);
  in.time("every_s", kEvery, check.every);
  in.time("timeout_s", kTimeout, check.timeout);
  in.number("successes", kStreak, check.successes);
  in.number("failures", kStreak, check.failures);
  in.rest();
}

bool read_service(JobRequest& request, const RequestValue& value) {
  if (!std::holds_alternative<RequestValue::Table>(value.data)) return false;
  RequestService& service = request.service.emplace();
  ServiceSpec& spec = service.spec;
  spec.replicas = 0;  // not given
  TableReader in(value, "", service);
  in.number("replicas", kReplicas, spec.replicas);
  in.number("most_replicas", kReplicas, service.most_replicas);
  in.number("surge", kSurge, spec.surge);
  in.number("max_unavailable", kSurge, spec.max_unavailable);
  in.time("healthy_for_s", kHealthy, spec.healthy_for);
  in.time("update_within_s", kUpdate, spec.update_within);
  in.texts("ports", spec.ports);
  in.time("start_within_s", kStart, spec.start_within);
  in.time("drain_s", kDrain, spec.drain);
  if (const RequestValue* ready = in.find("ready")) {
    read_check(*ready, "ready.", service, spec.ready);
  }
  if (const RequestValue* alive = in.find("alive")) {
    read_check(*alive, "alive.", service, spec.alive);
  }
  if (const RequestValue* goal = in.find("goal")) read_goal(*goal, service);
  if (const RequestValue* scale = in.find("scale")) read_scale(*scale, service);
  if (const RequestValue* size = in.find("size")) read_size(*size, service);
  in.rest();
  return true;
}

/// Its endpoints are asked for by it.
bool is_service_name(std::string_view name) {
  return !name.empty() && std::ranges::all_of(name, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
           c == '_' || c == '.';
  });
}

void check_ports(const ServiceSpec& spec, const SayFault& say) {
  if (spec.ports.size() > kMostPorts) {
    say("ports",
        fmt::format("ports has at most {} names; it has {}", kMostPorts, spec.ports.size()));
  }
  std::set<std::string> names;
  for (const std::string& port : spec.ports) {
    if (!is_port_name(port)) {
      say("ports", fmt::format("ports: '{}' is no name of a port: {}", shown(port), kPortRule));
    } else if (!names.insert(port).second) {
      say("ports", fmt::format("ports: '{}' is there twice", port));
    }
  }
}

void check_check(const ServiceSpec& spec, const HealthCheck& check, std::string_view name,
                 const SayFault& say) {
  if (check.kind == CheckKind::nothing) return;
  const bool asks_port = check.kind == CheckKind::http || check.kind == CheckKind::tcp;
  if (asks_port && std::ranges::find(spec.ports, check.port) == spec.ports.end()) {
    say(name, check.port.empty()
                  ? fmt::format("{} needs port, one of those in ports", name)
                  : fmt::format("{}: no port '{}' among those in ports", name, shown(check.port)));
  }
  if (!asks_port && !check.port.empty()) {
    say(name, fmt::format("{}: port is for http and tcp", name));
  }
  if (check.kind == CheckKind::http &&
      (check.path.front() != '/' || check.path.size() > kMostPathBytes ||
       check.path.find_first_of(" \t") != std::string::npos)) {
    say(name,
        fmt::format("{}.http has to be a path that begins with '/', without spaces, of {} bytes at "
                    "most; it is \"{}\"",
                    name, kMostPathBytes, shown(check.path)));
  }
  if (check.kind == CheckKind::line && name == "alive") {
    say(name, "alive cannot be line: a program that hangs says nothing");
  }
}

void check_numbers(const RequestService& service, const SayFault& say) {
  const ServiceSpec& spec = service.spec;
  if (service.most_replicas > 0 && service.most_replicas < replicas_of(service)) {
    say("most_replicas", fmt::format("most_replicas is {}, less than replicas, {}",
                                     service.most_replicas, replicas_of(service)));
  }
  if (spec.surge == 0 && spec.max_unavailable == 0) {
    say("surge",
        "surge and max_unavailable are both 0: no replica of another revision could come, and "
        "no replica of this one leave");
  }
  if (spec.surge > most_of(service)) {
    say("surge", fmt::format("surge is {}, more than the {} replicas that it may have", spec.surge,
                             most_of(service)));
  }
}

/// The key's own check; check_service() has those that look at other keys.
void check_table(const JobRequest& request, const Report& report) {
  if (!request.service) return;
  const SayFault say = [&](std::string_view member, const std::string& message) {
    report(fmt::format("service.{}", member), message);
  };
  for (const auto& [member, fault] : request.service->faults) say(member, fault);
  const ServiceSpec& spec = request.service->spec;
  check_numbers(*request.service, say);
  check_ports(spec, say);
  check_check(spec, spec.ready, "ready", say);
  check_check(spec, spec.alive, "alive", say);
  check_goal(*request.service, say);
  check_size(request, say);
}

nlohmann::ordered_json json_of(const HealthCheck& check) {
  nlohmann::ordered_json out;
  switch (check.kind) {
    case CheckKind::http:
      out["http"] = check.path;
      out["port"] = check.port;
      break;
    case CheckKind::tcp:
      out["tcp"] = check.port;
      break;
    case CheckKind::command:
      out["command"] = check.command;
      break;
    case CheckKind::line:
      out["line"] = true;
      break;
    case CheckKind::nothing:
      break;
  }
  out["every_s"] = to_seconds(check.every);
  out["timeout_s"] = to_seconds(check.timeout);
  out["successes"] = check.successes;
  out["failures"] = check.failures;
  return out;
}

}  // namespace

std::uint32_t default_most_replicas(std::uint32_t replicas) {
  return std::min(kLargestService, std::max(2 * replicas, kLeastMost));
}

std::vector<RequestKey> service_keys() {
  return {{"service", "table", "none",
           "the job is a service: its tasks are replicas, restarted whenever they end, until it is "
           "cancelled; its members are in docs/services.md",
           RequestOther{&R::service, "a table, as { replicas = 2, ports = [\"http\"] }",
                        read_service, check_table}}};
}

void check_service(const JobRequest& request, bool tasks_given, const Report& report) {
  if (!request.service) return;
  const auto refuse = [&](std::string_view key, bool given, std::string_view why) {
    if (given) report(key, fmt::format("cannot be given beside service: {}", why));
  };
  if (!is_service_name(request.name)) {
    report("service",
           fmt::format("needs a name that goes into a path, of letters, digits, '-', '_' "
                       "and '.'; name is \"{:.60}\"",
                       request.name));
  }
  refuse("tasks", tasks_given, "its replicas say how many");
  refuse("array", !request.array.empty(), "its replicas are alike");
  refuse("gang", request.gang, "its replicas start by themselves");
  refuse("max_running", request.max_running > 0, "all of its replicas run");
  refuse("elastic", !request.elastic.empty(), "its replicas say how many");
  refuse("time_limit_s", request.time_limit_s.has_value(), "it runs until it is cancelled");
  refuse("retries", request.retries.has_value(), "it is started again whenever it ends");
  refuse("max_fails", request.max_fails.has_value(), "it is started again whenever it ends");
  refuse("retry_on", !request.retry_on.empty(), "it is started again whenever it ends");
  refuse("done_on_stop", request.done_on_stop, "it has no end of its own");
  refuse("runtime_hint_s", request.runtime_hint_s.has_value(), "it runs until it is cancelled");
}

void make_service(const JobRequest& request, Job& job) {
  const RequestService& service = *request.service;
  ServiceSpec spec = service.spec;
  spec.replicas = config::replicas_of(service);
  spec.size = config::size_range_of(request);
  job.kind = std::move(spec);
  const TaskSpec replica = job.tasks.front();
  // Those that stand in for others, and those of another number of replicas, are tasks to spare.
  const std::uint32_t tasks = config::most_of(service) + std::max(1U, service.spec.surge);
  job.tasks.assign(tasks, replica);
  for (std::uint32_t i = 0; i < tasks; ++i) job.tasks[i].array_index = i;
}

void ask_service(const Job& job, JobRequest& request) {
  const ServiceSpec* spec = job.service();
  if (spec == nullptr) return;
  const std::uint32_t spare = std::max(1U, spec->surge);
  const std::uint32_t tasks = job.task_count();
  const std::uint32_t most = tasks > spare ? tasks - spare : 1;
  request.service.emplace();
  RequestService& service = *request.service;
  service.spec = *spec;
  service.spec.replicas = std::clamp(spec->replicas, 1U, most);
  if (!spec->scales()) service.most_replicas = most;
  service.goal_is_reported = spec->goal.is_there() && spec->goal.probe.empty();
  service.spec.size = asked_range(spec->size, request.cpus, request.memory_gib);
  // They are those of the job, and not its user's.
  service.spec.revision = 1;
  service.spec.replaces = {};
  service.spec.master.clear();
}

}  // namespace config

void to_json(nlohmann::ordered_json& out, const RequestService& service) {
  const ServiceSpec& spec = service.spec;
  if (spec.replicas > 0) out["replicas"] = spec.replicas;
  if (service.most_replicas > 0) out["most_replicas"] = service.most_replicas;
  out["surge"] = spec.surge;
  out["max_unavailable"] = spec.max_unavailable;
  out["healthy_for_s"] = to_seconds(spec.healthy_for);
  out["update_within_s"] = to_seconds(spec.update_within);
  if (!spec.ports.empty()) out["ports"] = spec.ports;
  if (spec.ready.kind != CheckKind::nothing) out["ready"] = config::json_of(spec.ready);
  if (spec.alive.kind != CheckKind::nothing) out["alive"] = config::json_of(spec.alive);
  out["start_within_s"] = to_seconds(spec.start_within);
  out["drain_s"] = to_seconds(spec.drain);
  config::write_goal(out, service);
  config::write_size(out, service);
}

}  // namespace muster
