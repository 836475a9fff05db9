// Orders and results as JSON in the attempt's folder, where they outlive the worker and the shim
// that wrote them.

#include <cstdio>
#include <nlohmann/json.hpp>

#include "workers/process/files/attempt_dir.hpp"

namespace muster::process {
namespace {

using Json = nlohmann::json;

// Strict: an argument that was changed to be valid UTF-8 would be another argument.
std::string dumped(const Json& record) {
  return record.dump(-1, ' ', false, Json::error_handler_t::strict);
}

/// at() and get() throw for what is missing or of another type; read_record() catches both.
std::int64_t number(const Json& record, const char* field) {
  return record.at(field).get<std::int64_t>();
}

/// Durations are in ns, as their count.
Duration span(const Json& record, const char* field) {
  return Duration{number(record, field)};
}

Resources resources_of(const Json& amounts) {
  // By position: the order of kAllResources is part of the format.
  Resources resources;
  for (std::size_t i = 0; i < kResourceKinds; ++i) {
    resources[kAllResources[i]] = amounts.at(i).get<double>();
  }
  return resources;
}

std::vector<HiddenPlace> hidden_places(const Json& record) {
  std::vector<HiddenPlace> places;
  const auto found = record.find("hidden");
  if (found == record.end()) return places;
  for (const Json& entry : *found) {
    // Those of earlier versions are paths alone.
    if (entry.is_string()) {
      places.push_back({entry.get<std::string>()});
    } else {
      places.push_back({entry.at(0).get<std::string>(), entry.at(1).get<std::uint64_t>(),
                        entry.at(2).get<std::uint64_t>()});
    }
  }
  return places;
}

/// Orders of earlier versions have none of these.
void read_walls(const Json& record, Order& order) {
  order.user_name = record.value("user_name", std::string{});
  order.user_home = record.value("user_home", std::string{});
  order.own_user = record.value("own_user", false);
  order.user_groups = record.value("user_groups", std::vector<std::uint32_t>{});
  order.hidden = hidden_places(record);
  order.cpus = record.value("cpus", std::vector<std::uint32_t>{});
  order.login = record.value("login", std::string{});
  order.shell = record.value("shell", std::string{});
  order.warn_signal = record.value("warn_signal", 0);
  order.warn_before = Duration{record.value("warn_before_ns", std::int64_t{0})};
  order.warn_program_only = record.value("warn_program_only", false);
}

void read_limits(const Json& record, Order& order) {
  order.time_limit = span(record, "time_limit_ns");
  order.stop_grace = span(record, "stop_grace_ns");
  order.memory_interval = span(record, "memory_interval_ns");
  order.means = static_cast<LimitMeans>(number(record, "means"));
  order.group = record.at("group").get<std::string>();
  order.max_processes = record.at("max_processes").get<std::uint32_t>();
  order.nice = record.at("nice").get<int>();
  // Nothing: the task runs as the worker's own user.
  if (record.contains("user")) order.user = record.at("user").get<std::uint32_t>();
  order.user_group = record.at("user_group").get<std::uint32_t>();
  read_walls(record, order);
  order.log_file_bytes = record.at("log_file_bytes").get<std::uint64_t>();
  order.log_files_kept = record.at("log_files_kept").get<std::uint32_t>();
  order.control = record.at("control").get<std::string>();
}

Order read_order(const Json& record) {
  Order order;
  order.job = JobId{record.at("job").get<std::uint64_t>()};
  order.key.task = TaskId{record.at("task").get<std::uint64_t>()};
  order.key.attempt = record.at("attempt").get<Attempt>();
  order.array_index = record.at("array_index").get<std::uint32_t>();
  order.task_count = record.at("task_count").get<std::uint32_t>();
  order.argv = record.at("argv").get<std::vector<std::string>>();
  for (const Json& entry : record.at("env")) {
    order.env.emplace_back(entry.at(0).get<std::string>(), entry.at(1).get<std::string>());
  }
  order.work_dir = record.at("work_dir").get<std::string>();
  order.script = record.value("script", std::string{});
  order.make_work_dir = record.value("make_work_dir", false);
  order.checkpoint_dir = record.at("checkpoint_dir").get<std::string>();
  order.gpus = record.at("gpus").get<std::string>();
  order.granted = resources_of(record.at("granted"));
  order.workload_class = record.at("workload_class").get<std::string>();
  order.baseline_rate_per_s = record.at("baseline_rate_per_s").get<double>();
  read_limits(record, order);
  return order;
}

/// Left out where there is nothing, as most orders have none of it.
void put_walls(const Order& order, Json& record) {
  if (order.user) record["user"] = *order.user;
  if (!order.user_name.empty()) record["user_name"] = order.user_name;
  if (!order.user_home.empty()) record["user_home"] = order.user_home;
  if (order.own_user) record["own_user"] = true;
  if (!order.user_groups.empty()) record["user_groups"] = order.user_groups;
  for (const HiddenPlace& place : order.hidden) {
    record["hidden"].push_back(Json::array({place.path, place.device, place.inode}));
  }
  if (!order.cpus.empty()) record["cpus"] = order.cpus;
  if (!order.login.empty()) record["login"] = order.login;
  if (!order.shell.empty()) record["shell"] = order.shell;
  if (!order.script.empty()) record["script"] = order.script;
  if (order.make_work_dir) record["make_work_dir"] = true;
  if (order.warn_signal == 0) return;
  record["warn_signal"] = order.warn_signal;
  record["warn_before_ns"] = order.warn_before.count();
  record["warn_program_only"] = order.warn_program_only;
}

AttemptResult read_result(const Json& record) {
  AttemptResult result;
  if (record.contains("task")) {
    result.key = AttemptKey{TaskId{record.at("task").get<std::uint64_t>()},
                            record.at("attempt").get<Attempt>()};
  }
  result.kind = static_cast<EndKind>(number(record, "kind"));
  result.exit_code = record.at("exit_code").get<std::int32_t>();
  result.stopped = record.at("stopped").get<bool>();
  result.reason = record.at("reason").get<std::string>();
  result.started_ns = number(record, "started_ns");
  result.ended_ns = number(record, "ended_ns");
  result.stopping = span(record, "stopping_ns");
  result.user_s = record.at("user_s").get<double>();
  result.system_s = record.at("system_s").get<double>();
  result.peak_memory_bytes = record.at("peak_memory_bytes").get<std::uint64_t>();
  result.out_bytes = record.at("out_bytes").get<std::uint64_t>();
  result.err_bytes = record.at("err_bytes").get<std::uint64_t>();
  return result;
}

template <class Record>
std::optional<Record> read_record(std::string_view text, Record (*read)(const Json&)) {
  try {
    return read(Json::parse(text));
    // The file may be cut: a shim may have been killed while the disk was full.
  } catch (const Json::exception&) {
    return std::nullopt;
  }
}

}  // namespace

/// A shim that was killed or never began says nothing about the program: such an attempt is lost.
FailureKind failure_of(EndKind kind) {
  switch (kind) {
    case EndKind::exited:
      return FailureKind::exit_code;
    case EndKind::signalled:
    case EndKind::too_many_processes:
      return FailureKind::signal;
    case EndKind::out_of_memory:
      return FailureKind::out_of_memory;
    case EndKind::timed_out:
      return FailureKind::time_limit;
    case EndKind::not_started:
      return FailureKind::cannot_start;
    case EndKind::supervisor_killed:
    case EndKind::not_launched:
      return FailureKind::lost;
    case EndKind::disk_full:
      return FailureKind::disk_full;
    case EndKind::folder_gone:
      return FailureKind::exit_code;
  }
  return FailureKind::unknown;
}

AttemptResult not_begun(EndKind kind, const std::string& reason) {
  AttemptResult result;
  result.kind = kind;
  // As a shell says of a command that it cannot execute.
  result.exit_code = 126;
  result.reason = "cannot start: " + reason;
  return result;
}

std::string time_limit_text(Duration limit) {
  char text[64];
  std::snprintf(text, sizeof text, "time limit of %g s reached", to_seconds(limit));
  return text;
}

std::string to_text(const Order& order) {
  Json env = Json::array();
  for (const auto& [name, value] : order.env) env.push_back(Json::array({name, value}));
  Json record{{"job", order.job.value},
              {"task", order.key.task.value},
              {"attempt", order.key.attempt},
              {"array_index", order.array_index},
              {"task_count", order.task_count},
              {"argv", order.argv},
              {"env", std::move(env)},
              {"work_dir", order.work_dir},
              {"checkpoint_dir", order.checkpoint_dir},
              {"gpus", order.gpus},
              {"granted", order.granted.amounts()},
              {"workload_class", order.workload_class},
              {"baseline_rate_per_s", order.baseline_rate_per_s},
              {"time_limit_ns", order.time_limit.count()},
              {"stop_grace_ns", order.stop_grace.count()},
              {"memory_interval_ns", order.memory_interval.count()},
              {"means", static_cast<int>(order.means)},
              {"group", order.group},
              {"max_processes", order.max_processes},
              {"nice", order.nice},
              {"user_group", order.user_group},
              {"log_file_bytes", order.log_file_bytes},
              {"log_files_kept", order.log_files_kept},
              {"control", order.control}};
  put_walls(order, record);
  // Empty: the caller refuses to start an attempt whose order cannot be written as it is.
  try {
    return dumped(record);
  } catch (const Json::exception&) {
    return {};
  }
}

std::string to_text(const AttemptResult& result) {
  Json record{{"kind", static_cast<int>(result.kind)},
              {"exit_code", result.exit_code},
              {"stopped", result.stopped},
              {"reason", result.reason},
              {"started_ns", result.started_ns},
              {"ended_ns", result.ended_ns},
              {"stopping_ns", result.stopping.count()},
              {"user_s", result.user_s},
              {"system_s", result.system_s},
              {"peak_memory_bytes", result.peak_memory_bytes},
              {"out_bytes", result.out_bytes},
              {"err_bytes", result.err_bytes}};
  if (result.key) {
    record["task"] = result.key->task.value;
    record["attempt"] = result.key->attempt;
  }
  // A reason may hold any bytes, such as a path; a changed one is better than none.
  return record.dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::optional<Order> order_from(std::string_view text) {
  return read_record(text, read_order);
}

std::optional<AttemptResult> result_from(std::string_view text) {
  return read_record(text, read_result);
}

}  // namespace muster::process
