// From a request to its response: looks at the token, finds the route, checks parameters and body,
// and asks the backend. Faults of the request are answered before the cluster is asked.

#include "tools/serve/api/api.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "config/job_request.hpp"
#include "config/resubmit_request.hpp"
#include "tools/report/assets.hpp"
#include "tools/serve/api/assets.hpp"
#include "tools/serve/api/openapi.hpp"

namespace muster::api {
namespace {

/// Stands in messages where those about files have the file's name.
constexpr std::string_view kBodySource = "body";
/// The user of a job whose request names none; costs are listed under it.
constexpr std::string_view kAnonymous = "anonymous";

/// The route for the method; a HEAD is a GET whose body is not sent.
const Route* route_for(const Match& found, std::string_view method) {
  const std::string_view wanted = method == "HEAD" ? "GET" : method;
  const auto place =
      std::ranges::find(found.routes, wanted, [](const Route* route) { return route->method; });
  return place == found.routes.end() ? nullptr : *place;
}

// Every path knows OPTIONS, and HEAD where there is a GET.
std::string allowed_methods(const Match& found) {
  std::string methods = "OPTIONS";
  for (const Route* route : found.routes) {
    methods += fmt::format(", {}", route->method);
    methods += route->method == "GET" ? ", HEAD" : "";
  }
  return methods;
}

Response wrong_method(const RequestHead& head, const Match& found) {
  const std::string methods = allowed_methods(found);
  Response response{.status = 204};
  if (head.method != "OPTIONS") {
    response = error_response(
        405, fmt::format("{} is not possible here; possible are {}", head.method, methods));
  }
  response.headers.emplace_back("Allow", methods);
  return response;
}

Response refuse_request(const Failure<ConfigError>& error) {
  // 400: the text is no JSON at all. 422: it is, but some value in it is not allowed.
  return error_response(error.code == ConfigError::malformed ? 400 : 422, error.message);
}

Job job_of(JobRequest request) {
  if (request.user.empty()) {
    request.user = kAnonymous;
  }
  return make_job(request);
}

/// The reply that answers the exchange.
Reply reply_to(const std::shared_ptr<Exchange>& exchange) {
  return [exchange](Answer answer) { exchange->finish(to_response(std::move(answer))); };
}

JobState state_of(std::string_view word) {
  return word == "over" ? JobState::over : word == "all" ? JobState::all : JobState::active;
}

CostBy cost_by(std::string_view word) {
  return word == "job" ? CostBy::job : word == "instance" ? CostBy::instance : CostBy::user;
}

/// Which jobs are asked for; false when they cannot begin where they are to.
bool put_place(const Query& query, View& what) {
  what.state = state_of(query.text("state"));
  what.user = query.text("user");
  const std::string& after = query.text("after");
  if (after.empty()) return true;
  what.after = job_cursor_from(after);
  if (!what.after) return false;
  // A cursor of active jobs means nothing among those that are over, and the other way round.
  return what.state == JobState::all || what.after->over == (what.state == JobState::over);
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
    case Operation::views:
      return assets::kViews;
    case Operation::style:
      return assets::kStyle;
    default:
      return report::assets::kChartJs;
  }
}

}  // namespace

Api::Api(Backend& backend, Tokens tokens, ApiLimits limits)
    : backend_(backend),
      tokens_(std::move(tokens)),
      limits_(limits),
      traffic_(std::make_shared<Traffic>()),
      openapi_(openapi_document()) {}

/// Needs the head alone, so that the connection can refuse a request before it reads the body.
std::optional<Response> Api::refuse(const RequestHead& head) const {
  if (!head.target.starts_with('/')) {
    return error_response(400, "the request's target has to be a path that begins with /");
  }
  const Match found = match(split_target(head.target).path);
  // The token comes before the path: without one nobody learns which paths there are.
  const bool open = std::ranges::any_of(found.routes, &Route::open);
  if (!open && !tokens_.admits(head.authorization)) {
    Response response = error_response(
        401, head.authorization.empty() ? "the header 'Authorization: Bearer TOKEN' is missing"
                                        : "the token is not one of this cluster's");
    response.headers.emplace_back("WWW-Authenticate", "Bearer realm=\"muster\"");
    return response;
  }
  if (found.routes.empty()) {
    return error_response(404,
                          fmt::format("there is nothing at {:.200}; GET /v1/openapi.json lists "
                                      "the paths there are",
                                      split_target(head.target).path));
  }
  if (route_for(found, head.method) == nullptr) {
    return wrong_method(head, found);
  }
  return std::nullopt;
}

std::shared_ptr<Exchange> Api::handle(const Request& request, Respond respond) {
  const Target target = split_target(request.head.target);
  const Match found = match(target.path);
  // No route is no fault yet: refuse() below finds the reason, in an order of its own.
  const Route* route = route_for(found, request.head.method);
  const auto exchange = std::make_shared<Exchange>(route ? route->pattern : std::string_view(),
                                                   traffic_, std::move(respond));
  if (std::optional<Response> refused = refuse(request.head)) {
    exchange->finish(std::move(*refused));
    return exchange;
  }
  const Expected<Query, int> query = Query::parse(target.query, *route);
  if (!query) {
    exchange->finish(error_response(query.error().code, query.error().message));
    return exchange;
  }
  if (route->body.empty() && !request.body.empty()) {
    exchange->finish(error_response(422, "body: this request has none"));
    return exchange;
  }
  dispatch({*route, found, query.value(), request, exchange});
  return exchange;
}

/// Answers that are constant go out at once and take no place among those that wait.
void Api::dispatch(const Call& call) {
  Response response{.body = {}, .content_type = call.route.content_type};
  switch (call.route.operation) {
    case Operation::openapi:
      response.body = openapi_;
      break;
    case Operation::health:
      response.body = "{\"ok\": true}";
      break;
    case Operation::page:
    case Operation::script:
    case Operation::plot:
    case Operation::text:
    case Operation::views:
    case Operation::style:
    case Operation::chart:
      response.body = asset_of(call.route.operation);
      break;
    default:
      return enter(call);
  }
  call.exchange->finish(std::move(response));
}

/// Requests that wait for jobs to be over take no places from those that are answered at once.
void Api::enter(const Call& call) {
  const Duration wait = call.route.operation == Operation::job
                            ? std::chrono::seconds{call.query.number("wait_s")}
                            : Duration{};
  const bool for_a_job = wait > Duration::zero();
  const std::uint32_t most = for_a_job ? limits_.max_waiting_for_jobs : limits_.max_waiting;
  if (!call.exchange->enter(for_a_job ? Waiting::for_job : Waiting::for_cluster, most)) {
    return call.exchange->finish(
        error_response(429, fmt::format("{} requests wait for {} already", most,
                                        for_a_job ? "jobs to be over" : "the cluster")));
  }
  // The connection allows this time on top of its own limit for the cluster's answer.
  call.exchange->wait_longer(wait);
  ask_backend(call);
}

void Api::ask_backend(const Call& call) {
  const auto change_job = [&](JobChange change) {
    backend_.change_job(JobId{call.match.numbers.at(0)}, change, reply_to(call.exchange));
  };
  const auto change_instance = [&](InstanceChange change) {
    backend_.change_instance(InstanceId{call.match.numbers.at(0)}, change, reply_to(call.exchange));
  };
  switch (call.route.operation) {
    case Operation::submit:
      return submit(call);
    case Operation::resubmit:
      return resubmit(call);
    case Operation::plan:
      return plan(call);
    case Operation::log:
      return read_log(call);
    case Operation::metrics:
      return metrics(call);
    case Operation::cancel:
      return change_job(JobChange::cancel);
    case Operation::hold:
      return change_job(JobChange::hold);
    case Operation::release:
      return change_job(JobChange::release);
    case Operation::drain:
      return change_instance(InstanceChange::drain);
    case Operation::interrupt:
      return change_instance(InstanceChange::interrupt);
    case Operation::jobs:
      return view(call, View::Kind::jobs);
    case Operation::job:
      return view(call, View::Kind::job);
    case Operation::explain:
      return view(call, View::Kind::explain);
    case Operation::instances:
      return view(call, View::Kind::instances);
    case Operation::nodes:
      return view(call, View::Kind::nodes);
    case Operation::cost:
      return view(call, View::Kind::cost);
    case Operation::decisions:
      return view(call, View::Kind::decisions);
    case Operation::history:
      return view(call, View::Kind::history);
    default:
      return view(call, View::Kind::status);
  }
}

void Api::submit(const Call& call) {
  auto requests = job_requests_from_json(call.request.body, std::string(kBodySource));
  if (!requests) {
    return call.exchange->finish(refuse_request(requests.error()));
  }
  std::vector<Job> jobs;
  std::size_t tasks = 0;
  for (JobRequest& request : requests.value()) {
    jobs.push_back(job_of(std::move(request)));
    // Counted job by job: a request that is far too large is not built whole.
    tasks += jobs.back().tasks.size();
    if (tasks > limits_.max_tasks) {
      return call.exchange->finish(error_response(
          422, fmt::format("jobs: the jobs of one request have at most {} tasks in all; send the "
                           "rest in another one",
                           limits_.max_tasks)));
    }
  }
  backend_.submit(std::move(jobs), reply_to(call.exchange));
}

void Api::resubmit(const Call& call) {
  auto request = resubmit_request_from_json(call.request.body, std::string(kBodySource));
  if (!request) {
    return call.exchange->finish(refuse_request(request.error()));
  }
  backend_.resubmit({JobId{call.match.numbers.at(0)}, request->failed, request->max_fails,
                     std::move(request.value().token)},
                    reply_to(call.exchange));
}

void Api::plan(const Call& call) {
  auto request = job_request_from_json(call.request.body, std::string(kBodySource));
  if (!request) {
    return call.exchange->finish(refuse_request(request.error()));
  }
  backend_.plan(job_of(std::move(request).value()), reply_to(call.exchange));
}

void Api::read_log(const Call& call) {
  // Tasks count by 32 bits; a larger index in the path would be cut off to one that exists.
  constexpr std::uint64_t kMaxIndex = std::numeric_limits<std::uint32_t>::max();
  if (call.match.numbers.at(1) > kMaxIndex) {
    return call.exchange->finish(error_response(404, "no job has a task of that index"));
  }
  const LogQuery query{
      .job = JobId{call.match.numbers.at(0)},
      .index = static_cast<std::uint32_t>(call.match.numbers.at(1)),
      .attempt = static_cast<Attempt>(call.query.number("attempt")),
      .error_stream = call.query.text("stream") == "err",
      .offset = call.query.number("offset"),
      .max = static_cast<std::uint32_t>(call.query.number("max")),
      .raw = call.query.number("raw") == 1,
  };
  backend_.read_log(query, reply_to(call.exchange));
}

void Api::metrics(const Call& call) {
  const auto response_with = [traffic = traffic_, type = call.route.content_type](
                                 const std::optional<MetricsInput>& cluster) {
    return Response{.body = metrics_text(cluster, traffic->figures()), .content_type = type};
  };
  // Without the cluster the server's own figures are still worth having.
  call.exchange->set_late([response_with] { return response_with(std::nullopt); });
  backend_.metrics(
      [exchange = call.exchange, response_with](const std::optional<MetricsInput>& cluster) {
        exchange->finish(response_with(cluster));
      });
}

void Api::view(const Call& call, View::Kind kind) {
  View what{.kind = kind};
  if (!call.match.numbers.empty()) {
    what.job = JobId{call.match.numbers.front()};
  }
  if (kind == View::Kind::job) {
    what.wait = std::chrono::seconds{call.query.number("wait_s")};
  }
  if (kind == View::Kind::jobs && !put_place(call.query, what)) {
    return call.exchange->finish(error_response(
        422,
        "after: has to be the 'next' of an answer to the same question before, like active:12 "
        "or, when jobs that are over are asked for, over:12"));
  }
  if (kind == View::Kind::job || kind == View::Kind::explain) {
    what.phase = call.query.text("phase");
    if (!call.query.text("after").empty()) {
      what.after_task = static_cast<std::uint32_t>(call.query.number("after"));
    }
  }
  if (call.query.has("limit")) {
    what.limit = static_cast<std::uint32_t>(call.query.number("limit"));
  }
  if (kind == View::Kind::history) {
    what.hours = static_cast<std::uint32_t>(call.query.number("hours"));
  }
  if (kind == View::Kind::cost) {
    what.by = cost_by(call.query.text("by"));
  }
  backend_.view(what, reply_to(call.exchange));
}

}  // namespace muster::api
