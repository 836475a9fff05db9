#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "config/work_folder.hpp"
#include "model/newest_revision.hpp"
#include "tools/cli/client_options.hpp"
#include "tools/cli/commands.hpp"
#include "tools/cli/job_source.hpp"
#include "tools/cli/output.hpp"
#include "tools/cli/stage_folders.hpp"
#include "tools/client/pages.hpp"
#include "tools/client/service_views.hpp"
#include "tools/client/views.hpp"

// Commands that change a service, which goes by its name. The API knows its revisions, which are
// jobs: the newest one stands for the service.

namespace muster::cli {
namespace {

/// Between two looks at a service whose change is waited for.
constexpr std::chrono::milliseconds kLookPause{500};
/// For a revision that has been submitted to come to its master.
constexpr std::chrono::seconds kPatience{30};

struct OrderOptions {
  ClientOptions client;
  std::string name;
  std::string user;
  std::string file;      ///< of the next revision
  std::string work_dir;  ///< of the next revision; empty: as its file says
  std::uint32_t to = 0;  ///< the revision that is to come again; 0: no such one
  std::uint32_t replicas = 0;
  bool wait = false;
};

std::string query_of(const OrderOptions& options) {
  return options.user.empty() ? "" : "?user=" + client::url_escaped(options.user);
}

/// The service's revisions that are not over, or nothing after a complaint.
std::optional<ServicesView> ask_service(client::ApiClient& api, const OrderOptions& options) {
  const auto answer =
      api.get("/v1/services/" + client::url_escaped(options.name) + query_of(options));
  if (!answer) {
    complain_of(answer.error());
    return std::nullopt;
  }
  const auto services = client::view_of<ServicesView>(answer.value());
  if (!services) {
    complain_of(services.error());
    return std::nullopt;
  }
  const auto& all = services->services;
  const auto other = std::ranges::find_if(
      all, [&](const ServiceView& each) { return each.user != all.front().user; });
  if (other != all.end()) {
    complain(fmt::format("{} and {} both have a service '{}': say whose it is with --user",
                         all.front().user, other->user, options.name));
    return std::nullopt;
  }
  return services.value();
}

std::optional<ServiceView> find_service(client::ApiClient& api, const OrderOptions& options) {
  const auto services = ask_service(api, options);
  if (!services) return std::nullopt;
  const ServiceView* newest = newest_revision(services->services);
  if (newest == nullptr) {
    complain(fmt::format("no service '{}' that is not over", options.name));
    return std::nullopt;
  }
  return *newest;
}

/// Waits until the job has the service and is steady. False: it was given up, or has ended.
int wait_steady(client::ApiClient& api, const OrderOptions& options, JobId job) {
  std::string last;
  // A master may not have it yet.
  auto patience = std::chrono::steady_clock::now() + kPatience;
  while (true) {
    const auto services = ask_service(api, options);
    if (!services) return kFailed;
    const auto& all = services->services;
    const auto one = std::ranges::find(all, job, &ServiceView::job);
    if (one == all.end() && std::chrono::steady_clock::now() < patience) {
      std::this_thread::sleep_for(kLookPause);
      continue;
    }
    patience = {};
    if (one == all.end() || one->standing == "given up" || one->standing == "leaving") {
      const ServiceView* newest = newest_revision(services->services);
      complain(fmt::format("job {} did not come about{}", job.value,
                           newest == nullptr
                               ? ""
                               : fmt::format(": revision {}, job {}, has the service; `muster "
                                             "explain {}` says why",
                                             newest->revision, newest->job.value, job.value)));
      return kFailed;
    }
    const bool alone = std::ranges::none_of(all, [&](const ServiceView& each) {
      return each.job != job && each.standing != "given up";
    });
    if (one->standing == "steady" && alone) return kDone;
    const std::string now = fmt::format("{} of {} replicas ready", one->ready, one->wanted);
    if (now != last && !options.client.json) print_text(now + "\n");
    last = now;
    std::this_thread::sleep_for(kLookPause);
  }
}

int scale(const OrderOptions& options) {
  const auto api = connect(options.client);
  if (!api) return kFailed;
  const auto service = find_service(*api, options);
  if (!service) return kFailed;
  const auto answer =
      api->post(fmt::format("/v1/jobs/{}/scale/{}", service->job.value, options.replicas), "",
                client::Elsewhere::always);
  if (!answer) return complain_of(answer.error());
  if (options.client.json) {
    print_json(answer->text);
  } else {
    print_text(fmt::format("{}: {} replica{} instead of {}\n", service->name, options.replicas,
                           options.replicas == 1 ? "" : "s", service->wanted));
  }
  return options.wait ? wait_steady(*api, options, service->job) : kDone;
}

/// The newest job of the service's name and user that is that revision; nothing after a complaint.
std::optional<JobId> find_revision(client::ApiClient& api, const OrderOptions& options,
                                   const ServiceView& service) {
  std::optional<JobId> found;
  client::Pages pages{.path = "/v1/jobs?state=all&user=" + client::url_escaped(service.user),
                      .list = "jobs",
                      .most = std::numeric_limits<std::uint64_t>::max(),
                      .name = service.name};
  using Trouble = std::optional<Failure<client::ClientError>>;
  const auto use = [&](const client::Answer& page, bool) -> Trouble {
    const auto jobs = client::job_list(page);
    if (!jobs) return jobs.error();
    for (const JobView& job : jobs.value()) {
      const bool meant = job.name == service.name && job.revision == options.to;
      if (meant && (!found || *found < job.job)) found = job.job;
    }
    return std::nullopt;
  };
  if (const Trouble failure = client::each_page(api, pages, use)) {
    complain_of(*failure);
    return std::nullopt;
  }
  if (!found) {
    complain(fmt::format("no revision {} of '{}' is known any more", options.to, service.name));
  }
  return found;
}

/// Sends the next revision; its job, or nothing after a complaint.
int revise(const OrderOptions& options, client::ApiClient& api, const ServiceView& service,
           const std::string& path, const std::string& body) {
  const auto answer = api.post(path, body, client::Elsewhere::unsent);
  if (!answer) return complain_of(answer.error());
  const auto jobs = client::submitted_jobs(answer.value());
  if (!jobs) return complain_of(jobs.error());
  if (options.client.json) {
    print_json(answer->text);
  } else {
    print_text(fmt::format("job {} replaces job {} as {}\n", jobs->front(), service.job.value,
                           service.name));
  }
  return options.wait ? wait_steady(api, options, JobId{jobs->front()}) : kDone;
}

int restart(const OrderOptions& options) {
  const auto api = connect(options.client);
  if (!api) return kFailed;
  const auto service = find_service(*api, options);
  if (!service) return kFailed;
  return revise(options, *api, *service, fmt::format("/v1/jobs/{}/restart", service->job.value),
                "");
}

/// The revision that the file describes; nothing after complaints.
std::optional<JobRequest> revision_from(const OrderOptions& options) {
  const auto source = read_source(options.file);
  if (!source) {
    complain(source.error().message);
    return std::nullopt;
  }
  auto requests = requests_from(source.value());
  if (!requests) {
    complain(requests.error().message);
    return std::nullopt;
  }
  JobRequest& request = requests->front();
  if (requests->size() > 1 || !request.service) {
    complain(fmt::format("{}: has {}: a service is updated to a service", options.file,
                         requests->size() > 1 ? "several jobs" : "no table [service]"));
    return std::nullopt;
  }
  if (request.name != options.name) {
    complain(fmt::format("{}: name is '{}', and not '{}': a revision has the name of its service",
                         options.file, request.name, options.name));
    return std::nullopt;
  }
  place_stage(options.file, request);
  return std::move(request);
}

int update_by_file(const OrderOptions& options) {
  auto request = revision_from(options);
  if (!request) return kUsage;
  const auto api = connect(options.client);
  if (!api) return kFailed;
  const auto service = find_service(*api, options);
  if (!service) return kFailed;
  if (request->user.empty()) request->user = service->user;
  if (!options.work_dir.empty()) {
    // As for `submit`: the user's path may have placeholders, the current folder does not.
    const std::filesystem::path here = std::filesystem::current_path().lexically_normal();
    const std::filesystem::path base = pattern_of_path(here.string());
    request->work_dir = (base / options.work_dir).lexically_normal().string();
  }
  if (request->token.empty()) request->token = client::random_token();
  std::vector<JobRequest> staged{*std::move(request)};
  // The revision is sent to the API that has its files.
  if (!stage_folders(*api, staged, client::Elsewhere::always)) return kFailed;
  return revise(options, *api, *service, fmt::format("/v1/jobs/{}/update", service->job.value),
                to_json(staged.front()));
}

int update(const OrderOptions& options) {
  if (options.file.empty() == (options.to == 0)) {
    complain("update takes a job file, or --to REVISION");
    return kUsage;
  }
  if (options.to == 0) return update_by_file(options);
  const auto api = connect(options.client);
  if (!api) return kFailed;
  const auto service = find_service(*api, options);
  if (!service) return kFailed;
  const auto job = find_revision(*api, options, *service);
  if (!job) return kFailed;
  return revise(options, *api, *service, fmt::format("/v1/jobs/{}/restart", job->value), "");
}

CLI::App* add_order(CLI::App& app, OrderOptions& options, const char* name, const char* meaning) {
  CLI::App* command = app.add_subcommand(name, meaning);
  command->add_option("name", options.name, "name of a service")->required()->check(is_filter());
  command->add_option("--user", options.user, "the service of this user")->check(is_filter());
  command->add_flag("--wait", options.wait,
                    "wait until all its replicas are healthy, or it is given up");
  add_client_options(*command, options.client);
  return command;
}

}  // namespace

void add_service_orders(CLI::App& app, int& exit_code) {
  auto scaled = std::make_shared<OrderOptions>();
  CLI::App* command = add_order(app, *scaled, "scale", "Give a service another number of replicas");
  command->add_option("replicas", scaled->replicas, "number of replicas")
      ->required()
      ->check(CLI::Range(1U, kLargestService));
  command->callback([scaled, &exit_code] { exit_code = scale(*scaled); });

  auto updated = std::make_shared<OrderOptions>();
  command = add_order(app, *updated, "update",
                      "Replace a service by another revision, replica by replica");
  command->add_option("file", updated->file, "job file of the next revision");
  command->add_option("--workdir", updated->work_dir,
                      "folder that the program runs in; default: as the file says");
  command->add_option("--to", updated->to, "number of an earlier revision, which is to come again")
      ->check(CLI::Range(1U, std::numeric_limits<std::uint32_t>::max()));
  command->callback([updated, &exit_code] { exit_code = update(*updated); });

  auto restarted = std::make_shared<OrderOptions>();
  command = add_order(app, *restarted, "restart", "Replace all replicas of a service by new ones");
  command->callback([restarted, &exit_code] { exit_code = restart(*restarted); });
}

}  // namespace muster::cli
