// From a request to its response: has the gate look at it, checks parameters and body, and asks the
// backend. Faults of the request are answered before the cluster is asked.

#include "serve/api/api.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <limits>
#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

#include "config/job_request.hpp"
#include "config/resubmit_request.hpp"
#include "serve/api/assets.hpp"
#include "serve/api/audit_entry.hpp"
#include "serve/api/exec_request.hpp"
#include "serve/api/file_routes.hpp"
#include "serve/api/openapi.hpp"
#include "serve/api/request_mark.hpp"
#include "serve/api/token_routes.hpp"
#include "serve/api/view_request.hpp"
#include "serve/page/chart_js.hpp"

namespace muster::api {
namespace {

/// Stands in messages where those about files have the file's name.
constexpr std::string_view kBodySource = "body";
constexpr std::chrono::seconds kFilesPatience{50};

Response refuse_request(const Failure<ConfigError>& error) {
  // 400: the text is no JSON at all. 422: it is, but some value in it is not allowed.
  return error_response(error.code == ConfigError::malformed ? 400 : 422, error.message);
}

/// A submission without a token has the request's number as its token; each of several jobs has its
/// own.
void put_tokens(std::vector<JobRequest>& requests, const std::string& number) {
  for (std::size_t i = 0; i < requests.size() && !number.empty(); ++i) {
    if (!requests[i].token.empty()) continue;
    requests[i].token = requests.size() == 1 ? number : fmt::format("{} {}", number, i);
  }
}

std::string_view asset_of(Operation operation) {
  switch (operation) {
    case Operation::page:
      return assets::kPage;
    case Operation::script:
      return assets::kScript;
    case Operation::plot:
      return assets::kPlot;
    case Operation::text:
      return assets::kText;
    case Operation::asking:
      return assets::kAsk;
    case Operation::views:
      return assets::kViews;
    case Operation::job_views:
      return assets::kJobs;
    case Operation::task_view:
      return assets::kTask;
    case Operation::pipeline_view:
      return assets::kPipeline;
    case Operation::instance_views:
      return assets::kInstances;
    case Operation::style:
      return assets::kStyle;
    case Operation::chart:
      return web::kChartJs;
    default:
      return {};  // no file of the dashboard
  }
}

/// The view that the caller may have; a user's token sees its own user's running tasks only.
Expected<View, int> view_for(const Principal& who, const ViewRequest& request) {
  auto what = view_from(request);
  if (!what || request.operation != Operation::usage || who.role != Role::user) return what;
  constexpr int kForbidden = 403;
  if (!what->user.empty() && what->user != who.user) {
    return Failure<int>{
        kForbidden,
        fmt::format("user: the token '{}' acts for '{}' and sees its own running tasks only",
                    who.token, who.user)};
  }
  what->user = who.user;
  return what;
}

void answer_metrics(Backend& backend, const std::shared_ptr<Traffic>& traffic,
                    std::string_view type, const std::shared_ptr<Exchange>& exchange) {
  const auto response_with = [traffic, type](const std::optional<MetricsInput>& cluster) {
    return Response{.body = metrics_text(cluster, traffic->figures()), .content_type = type};
  };
  // Without the cluster the server's own figures are still worth having.
  exchange->set_late([response_with] { return response_with(std::nullopt); });
  backend.metrics([exchange, response_with](const std::optional<MetricsInput>& cluster) {
    exchange->finish(response_with(cluster));
  });
}

}  // namespace

Api::Api(Backend& backend, Gate gate, ApiParts parts)
    : backend_(backend),
      gate_(std::move(gate)),
      parts_(std::move(parts)),
      traffic_(std::make_shared<Traffic>()),
      openapi_(openapi_document()) {}

std::optional<Response> Api::refuse(const RequestHead& head, const std::string& from) const {
  const Pass pass = gate_.look(head);
  const int status = pass.refused ? pass.refused->status : 0;
  // Those that were turned away for who they are, not for a slip of theirs.
  if (status == 401 || status == 403 || status == 421) {
    AuditEntry entry = entry_of(head, pass, from);
    entry.status = status;
    write_down(std::move(entry), true);
  }
  return pass.refused;
}

void Api::write_down(AuditEntry entry, bool refused) const {
  if (!parts_.audit) return;
  entry.at_s = gate_.tokens().now_s();
  refused ? parts_.audit->add_refused(std::move(entry)) : parts_.audit->add(std::move(entry));
}

/// Has the answer written down when the request is to change something, or may be refused because
/// of whose job it is about.
void Api::watch(const Request& request, const Pass& pass, const std::string& from,
                Exchange& exchange) const {
  const bool changing = changes(*pass.route);
  // Not what the log's own thread answers: it must not be the last to let go of the log.
  if (!parts_.audit || !(changing || only_own_jobs(*pass.route, pass.who.role))) return;
  AuditEntry begun = entry_of(request.head, pass, from);
  add_command(begun, pass, request.body);
  exchange.set_note([weak = weak_from_this(), entry = std::move(begun),
                     changing](const Response& response) mutable {
    constexpr int kForbidden = 403, kFirstFault = 400;
    const auto self = weak.lock();
    if (!self || !(changing || response.status == kForbidden)) return;
    add_answer(entry, response);
    // Requests that change nothing can be sent as often as somebody likes, to push out the rest.
    self->write_down(std::move(entry), response.status >= kFirstFault);
  });
}

std::shared_ptr<Exchange> Api::handle(const Request& request, const std::string& from,
                                      Respond respond) {
  Pass pass = gate_.look(request.head);
  // A missing route is not a fault of its own: a refused request has its reason.
  const Route* route = pass.route;
  auto exchange = std::make_shared<Exchange>(route ? route->pattern : std::string_view(), traffic_,
                                             std::move(respond));
  if (pass.refused) {
    exchange->finish(std::move(*pass.refused));
    return exchange;
  }
  watch(request, pass, from, *exchange);
  Expected<Query, int> query = Query::parse(split_target(request.head.target).query, *route);
  if (!query) {
    exchange->finish(error_response(query.error().code, query.error().message));
    return exchange;
  }
  if (route->body.empty() && !request.body.empty()) {
    exchange->finish(error_response(422, "body: this request has to have no body"));
    return exchange;
  }
  const auto mark = mark_of(request.head);
  if (!mark) {
    exchange->finish(error_response(400, mark.error().message));
    return exchange;
  }
  dispatch(
      {*route, std::move(pass), std::move(query).value(), request.body, exchange, mark.value()});
  return exchange;
}

/// Answers from the server's own memory; nothing when the cluster, or a disk, has to be asked.
std::optional<Response> Api::answer_at_once(const Call& call) {
  Response response{.body = {}, .content_type = call.route.content_type};
  if (const auto asset = asset_of(call.route.operation); !asset.empty()) {
    response.body = asset;
    return response;
  }
  switch (call.route.operation) {
    case Operation::openapi:
      response.body = openapi_;
      return response;
    case Operation::health:
      response.body = "{\"ok\": true}";
      return response;
    case Operation::me:
      return answer_me(call.pass.who, parts_.hosts != nullptr);
    case Operation::tokens:
      return answer_tokens(gate_.tokens());
    default:
      return std::nullopt;
  }
}

/// Answers that are there go out at once and take no place among those that wait.
void Api::dispatch(Call call) {
  if (auto response = answer_at_once(call)) return call.exchange->finish(*std::move(response));
  enter(std::move(call));
}

/// Requests that wait for an end, or for other endpoints, take no places from those that do not.
void Api::enter(Call call) {
  const bool may_wait = call.query.has("wait_s");
  const auto wait = std::chrono::seconds{may_wait ? call.query.number("wait_s") : 0};
  const bool for_a_job = wait.count() > 0;
  const Places places =
      for_a_job ? Places{parts_.limits.max_waiting_for_jobs, parts_.limits.jobs_of_token}
                : Places{parts_.limits.max_waiting, parts_.limits.of_token};
  const auto where = for_a_job ? Waiting::for_job : Waiting::for_cluster;
  // Changes of tokens wait for a disk alone: a user who fills the places cannot keep his token.
  const Operation asked = call.route.operation;
  const bool is_of_tokens = asked == Operation::create_token || asked == Operation::revoke_token ||
                            asked == Operation::rotate_token;
  if (!is_of_tokens && !call.exchange->enter(where, call.pass.who.token, places)) {
    return call.exchange->finish(error_response(
        429, fmt::format("the requests that may wait for {} are {} in all and {} of the token "
                         "'{}': send this one again when one of them is answered",
                         for_a_job ? "jobs to be over" : "the cluster", places.all, places.of_token,
                         call.pass.who.token)));
  }
  // The connection allows this time on top of its own limit for the cluster's answer.
  // A disk may take a while for many files.
  call.exchange->wait_longer(brings_files(asked) ? kFilesPatience : wait);
  if (is_order(call.route) && parts_.requests && !call.mark.number.empty()) {
    return recognise(std::move(call));
  }
  go_on(std::move(call));
}

void Api::go_on(Call call) {
  if (only_own_jobs(call.route, call.pass.who.role)) return ask_if_own(std::move(call));
  ask_backend(call);
}

/// Goes on when the job is the caller's. Whose a job is never changes, so the answer stays true.
void Api::ask_if_own(Call call) {
  const JobId job{call.pass.found.numbers.at(0)};
  backend_.owner(job, [self = shared_from_this(), call = std::move(call), job](JobOwner owner) {
    const Principal& who = call.pass.who;
    if (!owner.user) return call.exchange->finish(to_response(std::move(owner.why)));
    if (*owner.user == who.user) return self->ask_backend(call);
    call.exchange->finish(error_response(
        403, fmt::format("job {} is one of '{}'; the token '{}' acts for '{}' and may do that with "
                         "its own jobs only",
                         job.value, *owner.user, who.token, who.user)));
  });
}

void Api::ask_backend(const Call& call) {
  const auto change_job = [&](JobChange change) {
    backend_.change_job(JobId{call.pass.found.numbers.at(0)}, change, reply_to_order(call));
  };
  const auto change_instance = [&](InstanceChange change) {
    backend_.change_instance(InstanceId{call.pass.found.numbers.at(0)}, change,
                             reply_to_order(call));
  };
  if (is_about_hosts(call.route.operation))
    return parts_.tokens->post(about_hosts(
        parts_.hosts, {call.route.operation, call.pass.found, call.body}, call.exchange));
  if (is_about_files(call.route.operation)) {
    const auto& numbers = call.pass.found.numbers;
    const JobId job{numbers.empty() ? 0 : numbers.front()};
    return about_files({backend_, parts_.files, call.exchange}, call.pass.who,
                       {call.route.operation, job, call.query, call.body});
  }
  switch (call.route.operation) {
    case Operation::submit:
      return submit(call);
    case Operation::resubmit:
      return resubmit(call);
    case Operation::plan:
      return plan(call);
    case Operation::log:
      return read_log(call);
    case Operation::exec:
    case Operation::exec_step:
      return exec(call);
    case Operation::metrics:
      return answer_metrics(backend_, traffic_, call.route.content_type, call.exchange);
    case Operation::audit:
      return read_audit(call);
    case Operation::create_token:
    case Operation::revoke_token:
    case Operation::rotate_token:
      return change_token(call);
    case Operation::cancel:
      return change_job(JobChange::cancel);
    case Operation::hold:
      return change_job(JobChange::hold);
    case Operation::release:
      return change_job(JobChange::release);
    case Operation::scale:
    case Operation::update:
    case Operation::restart:
      return change_service(call);
    case Operation::drain:
      return change_instance(InstanceChange::drain);
    case Operation::interrupt:
      return change_instance(InstanceChange::interrupt);
    default:
      return view(call);
  }
}

void Api::submit(const Call& call) {
  auto requests = job_requests_from_json(call.body, std::string(kBodySource));
  if (!requests) return call.exchange->finish(refuse_request(requests.error()));
  put_tokens(requests.value(), call.mark.number);
  std::vector<Job> jobs;
  std::size_t tasks = 0;
  for (JobRequest& request : requests.value()) {
    if (!put_user(rights_of(call), request)) return;
    jobs.push_back(make_job(request));
    // Counted job by job: a request that is far too large is not built whole.
    tasks += jobs.back().tasks.size();
    if (tasks > parts_.limits.max_tasks) {
      return call.exchange->finish(error_response(
          422, fmt::format("jobs: the jobs of one request have at most {} tasks in all; send the "
                           "rest in another one",
                           parts_.limits.max_tasks)));
    }
  }
  submit_jobs({backend_, parts_.files, call.exchange}, std::move(jobs));
}

void Api::resubmit(const Call& call) {
  auto request = resubmit_request_from_json(call.body, std::string(kBodySource));
  if (!request) return call.exchange->finish(refuse_request(request.error()));
  if (request->token.empty()) request->token = call.mark.number;
  const JobId job{call.pass.found.numbers.at(0)};
  resubmit_with_files({backend_, parts_.files, call.exchange},
                      {job, request->failed, request->max_fails, request->token, call.pass.who.user,
                       most_priority(call)});
}

void Api::change_service(const Call& call) {
  ServiceChange change{.job = JobId{call.pass.found.numbers.at(0)}, .token = call.mark.number};
  change.scope = call.pass.who.user;
  change.max_priority = most_priority(call);
  if (call.route.operation == Operation::scale) {
    change.replicas = call.pass.found.numbers.at(1);
    return backend_.change_service(std::move(change), reply_to_order(call));
  }
  if (call.route.operation == Operation::update) {
    auto request = job_request_from_json(call.body, std::string(kBodySource));
    if (!request) return call.exchange->finish(refuse_request(request.error()));
    if (request->token.empty()) request->token = call.mark.number;
    if (!put_user(rights_of(call), request.value())) return;
    change.keeps_replicas = request->service && request->service->spec.replicas == 0;
    change.as = make_job(request.value());
    return update_service({backend_, parts_.files, call.exchange}, std::move(change));
  }
  restart_service({backend_, parts_.files, call.exchange}, std::move(change));
}

void Api::plan(const Call& call) {
  auto request = job_request_from_json(call.body, std::string(kBodySource));
  if (!request) return call.exchange->finish(refuse_request(request.error()));
  if (!put_user(rights_of(call), request.value())) return;
  std::vector<Job> jobs{make_job(request.value())};
  if (auto fault = prepare_files(parts_.files.get(), jobs)) {
    return call.exchange->finish(*std::move(fault));
  }
  backend_.plan(std::move(jobs.front()), reply_to(call.exchange));
}

/// Tasks count by 32 bits; a larger index in the path would be cut off to one that exists.
bool Api::is_index(const Call& call) {
  constexpr std::uint64_t kMaxIndex = std::numeric_limits<std::uint32_t>::max();
  if (call.pass.found.numbers.at(1) <= kMaxIndex) return true;
  call.exchange->finish(error_response(404, "no job has a task of that index"));
  return false;
}

void Api::exec(const Call& call) {
  if (!is_index(call)) return;
  const bool begins = call.route.operation == Operation::exec;
  auto request = begins ? exec_start_from(call.body) : exec_step_from(call.body);
  if (!request) return call.exchange->finish(refuse_request(request.error()));
  const auto& numbers = call.pass.found.numbers;
  ExecQuery query{JobId{numbers.at(0)}, static_cast<std::uint32_t>(numbers.at(1)),
                  std::move(request).value()};
  query.request.user = call.pass.who.user;
  if (begins) {
    query.request.token = call.mark.number;
  } else {
    query.request.command = numbers.at(2);
    query.request.wait = std::chrono::seconds{call.query.number("wait_s")};
    // The number 0 stands for a command that is to begin.
    if (query.request.command == 0) {
      return call.exchange->finish(error_response(404, "there is no command 0"));
    }
  }
  backend_.exec(query, reply_to(call.exchange));
}

void Api::read_log(const Call& call) {
  if (!is_index(call)) return;
  const LogQuery query{
      .job = JobId{call.pass.found.numbers.at(0)},
      .index = static_cast<std::uint32_t>(call.pass.found.numbers.at(1)),
      .attempt = static_cast<Attempt>(call.query.number("attempt")),
      .error_stream = call.query.text("stream") == "err",
      .offset = call.query.number("offset"),
      .max = static_cast<std::uint32_t>(call.query.number("max")),
      .raw = call.query.number("raw") == 1,
  };
  backend_.read_log(query, reply_to(call.exchange));
}

void Api::read_audit(const Call& call) {
  if (!parts_.audit) {
    return call.exchange->finish(error_response(409, "this server keeps no audit log"));
  }
  AuditQuestion question;
  question.most = call.query.number("limit");
  question.user = call.query.text("user");
  const auto within = static_cast<std::int64_t>(call.query.number("within_s"));
  if (within > 0) question.since_s = gate_.tokens().now_s() - within;
  parts_.audit->read(std::move(question), [exchange = call.exchange,
                                           node = nlohmann::json(parts_.audit->node()).dump()](
                                              std::vector<std::string> lines) {
    // Each line is a document already.
    exchange->finish(
        {.body = fmt::format("{{\"node\": {}, \"entries\": [{}]}}", node, fmt::join(lines, ", "))});
  });
}

void Api::view(const Call& call) {
  const auto what = view_for(call.pass.who, {call.route.operation, call.pass.found, call.query});
  if (!what) {
    return call.exchange->finish(error_response(what.error().code, what.error().message));
  }
  backend_.view(what.value(), reply_to(call.exchange));
}

}  // namespace muster::api
