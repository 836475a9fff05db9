#pragma once

#include <string>
#include <type_traits>

#include "workers/process/files/attempt_dir.hpp"

// The members of the records in an attempt's folder, besides a task's order itself
// (model/task_order.hpp): attempt_text.cpp goes over them. Of an order as of a result, a member
// that is new has its default in the texts of earlier versions; those that the first version wrote
// have to be there (kFirstOfOrder and kFirstOfResult in attempt_text.cpp).

namespace muster::process {

/// Name of a member in a text. All members of an order stand in one object, whichever struct they
/// are of, so that no two of them may be called so.
template <class T>
std::string text_name(Key key) {
  std::string name(key.name);
  if constexpr (std::is_same_v<T, Duration>) name.replace(name.size() - 1, 1, "ns");
  return name;
}

void fields(auto& a, Like<AttemptKey> auto& v) {
  a("task", v.task);
  a("attempt", v.attempt);
}

void fields(auto& a, Like<HiddenPlace> auto& v) {
  a("path", v.path);
  a("device", v.device);
  a("inode", v.inode);
}

void fields(auto& a, Like<WorkerTerms> auto& v) {
  a("checkpoint_dir", v.checkpoint_dir);
  a("gpus", v.gpus);
  a("memory_interval_s", v.memory_interval);
  a("means", v.means);
  a("group", v.group);
  a("max_processes", v.max_processes);
  a("nice", v.nice);
  a("cpus", v.cpus);
  // Nothing: the task runs as the worker's own user.
  a("user", v.user);
  a("user_group", v.user_group);
  a("user_groups", v.user_groups);
  a("user_home", v.user_home);
  a("own_user", v.own_user);
  a("hidden", v.hidden);
  a("log_file_bytes", v.log_file_bytes);
  a("log_files_kept", v.log_files_kept);
  a("login", v.login);
  a("shell", v.shell);
  a("metric_names", v.metric_names);
  a("first_port", v.first_port);
  a("last_port", v.last_port);
  a("address", v.address);
  a("control", v.control);
  a("files", v.files);
  a("outputs_max_bytes", v.outputs_max_bytes);
  a("user_max_bytes", v.user_max_bytes);
  a("files_patience_s", v.files_patience);
}

void fields(auto& a, Like<Order> auto& v) {
  if constexpr (std::is_const_v<std::remove_reference_t<decltype(v)>>) {
    fields(a, static_cast<const TaskOrder&>(v));
  } else {
    fields(a, static_cast<TaskOrder&>(v));
  }
  fields(a, v.worker);
}

void fields(auto& a, Like<AttemptResult> auto& v) {
  // Results of earlier versions do not say whose they are.
  a("of", v.key);
  a("kind", v.kind);
  a("exit_code", v.exit_code);
  a("stopped", v.stopped);
  a("reason", v.reason);
  a("started_ns", v.started_ns);
  a("ended_ns", v.ended_ns);
  a("stopping_s", v.stopping);
  a("user_s", v.user_s);
  a("system_s", v.system_s);
  a("peak_memory_bytes", v.peak_memory_bytes);
  a("out_bytes", v.out_bytes);
  a("err_bytes", v.err_bytes);
  a("metrics", v.metrics);
}

}  // namespace muster::process
