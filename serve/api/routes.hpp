#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

/// The one declaration of what the API serves. The router and the OpenAPI document are both made
/// of it.
namespace muster::api {

/// Operation of a route.
enum class Operation : std::uint8_t {
  submit,
  resubmit,
  jobs,
  job,
  cancel,
  hold,
  release,
  scale,
  update,
  restart,
  explain,
  log,
  exec,
  exec_step,
  stage,
  put_contents,
  add_part,
  outputs,
  content,
  usage,
  instances,
  instance,
  drain,
  interrupt,
  nodes,
  cost,
  cost_today,
  plan,
  status,
  decisions,
  history,
  services,
  service,
  endpoints,
  me,
  tokens,
  create_token,
  revoke_token,
  rotate_token,
  hosts,
  lose_host,
  remove_host,
  drain_host,
  resume_host,
  label_host,
  join_tokens,
  create_join_token,
  revoke_join_token,
  audit,
  openapi,
  metrics,
  health,
  page,
  script,
  plot,
  text,
  asking,
  views,
  job_views,
  task_view,
  pipeline_view,
  instance_views,
  style,
  chart,
};

/// Roles that may use a route.
enum class Access : std::uint8_t {
  open,                ///< everybody, without a token
  all,                 ///< every token
  users,               ///< tokens of users and admins
  owners,              ///< of the job's user, and of admins
  owners_and_readers,  ///< likewise, and read-only ones
  admins
};

/// A parameter of a query. Those of a path stand in the pattern; they are whole
/// numbers, but {name} is the name of a token.
struct Parameter {
  enum class Kind : std::uint8_t { number, choice, text };
  std::string_view name;
  Kind kind = Kind::text;
  std::string_view about;
  std::uint64_t least = 0;      ///< of a number
  std::uint64_t most = 0;       ///< of a number; of a text: bytes
  std::string_view fallback{};  ///< value when it is not given; empty: no value
  std::span<const std::string_view> choices{};
};

/// One method on the paths of one pattern.
struct Route {
  Operation operation;
  std::string_view method;   ///< "GET" or "POST"; a GET answers HEAD, too
  std::string_view pattern;  ///< "/v1/jobs/{id}"
  std::string_view summary;
  std::span<const Parameter> query;
  std::string_view body;          ///< schema of the body; empty: no body
  int success;                    ///< the status when all is well
  std::string_view answer;        ///< schema of the answer; empty: it is not JSON
  std::string_view content_type;  ///< of the answer
  Access access;
  std::string_view later{};  ///< schema of a 202; empty: it never answers so
};

/// Whether the request is to change something: it is written down then. Those of a command that
/// runs come by the thousand: its begin is written down. So do files: their job is written down.
bool changes(const Route& route);

/// All routes; they live as long as the program.
std::span<const Route> routes();

/// Result of matching a path.
struct Match {
  std::vector<const Route*> routes;    ///< one a method; none: nothing is there
  std::vector<std::uint64_t> numbers;  ///< the numbers in the path, in order
  std::string name{};                  ///< the {name} in the path; empty: it has no name
};

/// A path without its query.
Match match(std::string_view path);

/// The names in a pattern's braces, in order.
std::vector<std::string_view> path_parameters(std::string_view pattern);

}  // namespace muster::api
