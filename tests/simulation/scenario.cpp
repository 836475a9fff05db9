#include "tests/simulation/scenario.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>

#include "model/rng.hpp"
#include "tests/simulation/pipeline_draws.hpp"

namespace muster::ring {
namespace {

/// Jobs come, and things go wrong, in so long a time.
constexpr double kJobs_s = 1500;
constexpr double kFaults_s = 2400;
/// The longest that services run when all is well again.
constexpr double kServices_s = 3600;
/// From the end of the last fault until all nodes have met again.
constexpr Duration kHeals = std::chrono::minutes{5};

Catalog small_catalog() {
  const auto type = [](std::string name, std::string family, Resources capacity, double usd_h) {
    InstanceType made;
    made.name = std::move(name);
    made.family = std::move(family);
    made.capacity = capacity;
    made.on_demand = Price::from_usd_h(usd_h);
    made.spot = Price::from_usd_h(usd_h * 0.3);
    made.acquire = std::chrono::seconds{10};
    made.setup = std::chrono::seconds{30};
    made.terminate = std::chrono::seconds{2};
    return made;
  };
  std::vector<InstanceType> types = {type("large", "cpu", Resources::of(0, 16, 64), 1.6),
                                     type("middle", "cpu", Resources::of(0, 8, 32), 0.8),
                                     type("small", "cpu", Resources::of(0, 4, 16), 0.41),
                                     type("fast", "gpu", Resources::of(2, 8, 64), 3)};
  types[2].spot.reset();
  return Catalog(std::move(types));
}

/// By turns, so that one that is added takes part.
std::string policy_of(std::uint64_t seed) {
  const std::vector<PolicyModule>& known = known_policies();
  const PolicyModule& info = known[seed % known.size()];
  std::string text = info.name;
  const std::uint64_t turn = seed / known.size();
  for (const ParamInfo& param : info.params) {
    if (param.name == "period_s" && info.name.starts_with("eva")) text += ",period_s=60";
    if (param.name == "eager" && turn % 3 == 1) text += ",eager";
    if (param.name == "full-only" && turn % 4 == 1) text += ",full-only";
    if (param.name == "partial-only" && turn % 4 == 2) text += ",partial-only";
    if (param.name == "pairing" && turn % 4 == 3) text += ",pairing=exact";
  }
  return text;
}

/// `few`: jobs of which each can be paid from a small cap.
Job draw_job(Rng& rng, std::uint64_t number, bool few) {
  Job job;
  job.name = fmt::format("job-{}", number);
  job.token = fmt::format("token {}", number);
  job.user = number % 2 == 0 ? "ann" : "bob";
  job.workload_class = fmt::format("class-{}", rng.below(3));
  job.gang = rng.uniform() < 0.4;
  const std::uint64_t wanted = rng.uniform() < 0.5 ? 1 : 2 + rng.below(4);
  const std::uint64_t tasks = few ? std::min<std::uint64_t>(wanted, 2) : wanted;
  const double gpus = rng.uniform() < 0.15 && !few ? 1 : 0;
  const auto cores = static_cast<double>(1 + rng.below(6));
  const auto memory = static_cast<double>(1 + rng.below(20));
  for (std::uint64_t i = 0; i < tasks; ++i) {
    TaskSpec task;
    task.demands = Demands(Resources::of(gpus, cores, memory));
    task.image = job.workload_class;
    task.array_index = static_cast<std::uint32_t>(i);
    task.delays.fetch = std::chrono::seconds{rng.below(10)};
    task.delays.stop = std::chrono::seconds{1};
    task.delays.upload = std::chrono::seconds{3};
    job.tasks.push_back(std::move(task));
  }
  if (!job.gang && tasks > 2 && rng.uniform() < 0.4) job.max_running = 2;
  if (rng.uniform() < 0.3) job.markets = MarketChoice::spot;
  if (rng.uniform() < 0.2) job.markets = MarketChoice::on_demand;
  if (rng.uniform() < 0.5) job.runtime_hint = from_seconds(rng.uniform(30, 900));
  return job;
}

/// Each task takes an instance of its own, and there are more than there may be instances.
void make_hopeless(Scenario& scenario, Wish& wish) {
  const std::uint32_t most =
      std::max(scenario.cloud_instances, scenario.master.caps.max_instances) + scenario.masters;
  wish.hopeless = true;
  wish.job.gang = true;
  wish.job.max_running = 0;
  wish.job.markets = MarketChoice::any;
  const TaskSpec like = wish.job.tasks.front();
  wish.job.tasks.assign(most * scenario.masters, like);
  for (std::uint32_t i = 0; i < wish.job.tasks.size(); ++i) {
    wish.job.tasks[i].array_index = i;
    wish.job.tasks[i].demands = Demands(Resources::of(0, 12, 40));
  }
}

void draw_wishes(Rng& rng, Scenario& scenario) {
  const bool day = scenario.master.caps.max_usd_day > 0;
  if (day) scenario.longest_work = std::chrono::seconds{300};
  const std::uint64_t jobs = day ? 20 + rng.below(20) : 6 + rng.below(10);
  for (std::uint64_t i = 0; i < jobs; ++i) {
    Wish wish;
    wish.job = draw_job(rng, i, scenario.master.caps.max_usd_day > 0);
    wish.at = Instant{from_seconds(5 + rng.uniform(0, kJobs_s))};
    wish.site = static_cast<std::uint32_t>(rng.below(scenario.sites));
    if (rng.uniform() < 0.5) {
      wish.job.origin = GeoPoint{rng.uniform(-60, 60), rng.uniform(-180, 180)};
    }
    scenario.wishes.push_back(std::move(wish));
  }
  std::stable_sort(scenario.wishes.begin(), scenario.wishes.end(),
                   [](const Wish& x, const Wish& y) { return x.at < y.at; });
  const bool limited = scenario.cloud_instances > 0 || scenario.master.caps.max_instances > 0;
  const bool hopeless = rng.uniform() < 0.5;
  if (limited && hopeless) make_hopeless(scenario, scenario.wishes[rng.below(3)]);
}

Fault draw_fault(Rng& rng, const ScenarioLimits& limits) {
  Fault fault;
  // All numbers are drawn whatever is left out: what is let in later does not change the others.
  fault.kind = static_cast<FaultKind>(rng.below(kFaultKinds));
  fault.at = Instant{from_seconds(20 + rng.uniform(0, kFaults_s))};
  fault.messages = static_cast<std::uint32_t>(rng.below(12));
  fault.a = rng.next();
  fault.b = rng.next();
  fault.length = from_seconds(std::min(1200.0, rng.exponential(60)));
  const double step_s = rng.uniform(-3600, 3600);
  fault.step = from_seconds(limits.clock_back ? step_s : std::abs(step_s));
  fault.told_a = rng.uniform() < 0.7;
  fault.told_b = rng.uniform() < 0.7;
  return fault;
}

bool is_of_a_sites_disk(const Fault& fault, const Scenario& scenario) {
  if (fault.kind != FaultKind::disk_refuses && fault.kind != FaultKind::disk_slow) return false;
  return fault.a % (scenario.sites + scenario.masters + 1) < scenario.sites;
}

void draw_faults(Rng& rng, const ScenarioLimits& limits, Scenario& scenario) {
  const std::uint64_t faults = 4 + rng.below(30);
  for (std::uint64_t i = 0; i < faults; ++i) {
    const Fault fault = draw_fault(rng, limits);
    const auto& without = limits.without;
    if (std::find(without.begin(), without.end(), fault.kind) != without.end()) continue;
    if (!limits.site_disks && is_of_a_sites_disk(fault, scenario)) continue;
    scenario.faults.push_back(fault);
  }
  std::stable_sort(scenario.faults.begin(), scenario.faults.end(),
                   [](const Fault& x, const Fault& y) { return x.at < y.at; });
  scenario.faults_end = scenario.healed = Instant{from_seconds(kFaults_s + 60)};
  for (const Fault& fault : scenario.faults) {
    scenario.healed = std::max(scenario.healed, fault.at + fault.length);
  }
  scenario.healed += kHeals;
}

void draw_limits(Rng& rng, const ScenarioLimits& limits, Scenario& scenario) {
  const bool few = rng.uniform() < 0.3;
  const auto many = static_cast<std::uint32_t>(6 + rng.below(6));
  if (few && limits.cloud_limits) scenario.cloud_instances = many;
  if (rng.uniform() < 0.3 && limits.cloud_limits) scenario.cloud_spot = many;
  const double day_usd = rng.uniform(0.35, 0.6);
  if (rng.uniform() < 0.3 && limits.caps) scenario.master.caps.max_usd_day = day_usd;
  if (rng.uniform() < 0.3 && limits.caps) scenario.master.caps.max_instances = many;
  const double fails = rng.uniform() < 0.3 ? 0.1 : 0;
  if (limits.failures) scenario.attempts_fail = fails;
}

/// Drawn apart from all else.
void draw_own_machines(Scenario& scenario, SeedShare share) {
  Rng rng(scenario.seed ^ 0x0311AC);
  const bool chosen = rng.below(4) == 0 || share == SeedShare::all;
  if (share == SeedShare::none || !chosen) return;
  scenario.own_machines = static_cast<std::uint32_t>(1 + rng.below(3));
  std::vector<InstanceType> types = scenario.catalog.types();
  InstanceType own;
  own.name = own.family = "own";
  own.capacity = Resources::of(0, 8, 32);
  own.on_demand = Price::from_usd_h(rng.below(2) == 0 ? 0 : 0.1);
  own.acquire = own.setup = own.terminate = std::chrono::seconds{1};
  // Before the others and behind them: its number means nothing.
  types.insert(rng.below(2) == 0 ? types.begin() : types.end(), std::move(own));
  scenario.catalog = Catalog(std::move(types));
}

/// Drawn apart from all else. A hopeless gang whose token was forgotten could come twice, and its
/// user knows of one only.
void draw_bounds(Scenario& scenario) {
  Rng rng(scenario.seed ^ 0xB0094D5);
  if (rng.below(3) != 0) return;
  const bool hopeless = std::any_of(scenario.wishes.begin(), scenario.wishes.end(),
                                    [](const Wish& wish) { return wish.hopeless; });
  scenario.bounds = {5, hopeless ? scenario.bounds.tokens : 5, 3, 2, 4, 2};
  // Each of the two users has the same tokens as the other.
  std::map<std::string, std::size_t> own;
  for (Wish& wish : scenario.wishes) {
    wish.job.token = fmt::format("token {}", own[wish.job.user]++);
  }
}

/// Drawn apart from all else, as the bounds are.
void draw_hardships(Scenario& scenario) {
  constexpr std::uint64_t kLongest = 120'000;
  Rng rng(scenario.seed ^ 0x4A2D5);
  scenario.hard.users_repeat = rng.below(3) == 0;
  scenario.hard.wild_samples = rng.below(3) == 0;
  scenario.hard.long_words = rng.below(5) == 0;
  const bool fruitless = rng.below(4) == 0;
  if (fruitless) {
    scenario.interruptions_per_h = rng.uniform(3, 20);
    scenario.master.max_interruptions = static_cast<std::uint32_t>(1 + rng.below(4));
  }
  for (Wish& wish : scenario.wishes) {
    const std::uint64_t length = rng.below(kLongest);
    if (scenario.hard.long_words) wish.job.program.argv = {"count", std::string(length, 'x')};
    if (!fruitless) continue;
    // Where the spot market gets it nowhere it has to have another one.
    if (wish.job.markets == MarketChoice::spot) wish.job.markets = MarketChoice::any;
    if (rng.below(2) == 0) continue;
    wish.job.checkpoints = false;
    for (TaskSpec& task : wish.job.tasks) task.delays.upload = {};
  }
}

/// Few instances, and a stream of small jobs that would keep them for as long as large ones wait.
/// Drawn apart from all else; of what is remembered of the stream nothing is to be forgotten, and
/// it is for one master alone to say who goes first.
void draw_stream(Scenario& scenario) {
  Rng rng(scenario.seed ^ 0x57E3A);
  if (rng.below(10) != 0 || scenario.bounds.tokens < Bounds{}.tokens) return;
  MasterSettings& master = scenario.master;
  if (master.caps.max_usd_day > 0) return;
  const auto most = static_cast<std::uint32_t>(2 + rng.below(2));
  master.caps.max_instances = most;
  scenario.cloud_instances = scenario.cloud_spot = 0;
  scenario.longest_work = std::chrono::seconds{300};
  scenario.hard.stream = 5 * most * scenario.masters;
  for (Wish& wish : scenario.wishes) {
    const bool large = rng.uniform() < 0.5;
    const auto cores = static_cast<double>(8 + rng.below(9));
    wish.job.priority = static_cast<std::int32_t>(rng.below(3));
    if (wish.hopeless) continue;
    // A gang has to be possible with an instance for each of its tasks.
    if (wish.job.gang && wish.job.tasks.size() > 2) wish.job.tasks.resize(2);
    if (!large) continue;
    for (TaskSpec& task : wish.job.tasks) task.demands = Demands(Resources::of(0, cores, 40));
  }
}

/// Some jobs wait for jobs before them, also where histories are short. Drawn apart from all else.
/// A job whose token is forgotten may have two numbers, and a hopeless one is given up when all
/// others are over.
void draw_after(Scenario& scenario) {
  Rng rng(scenario.seed ^ 0xAF7E5);
  if (rng.below(3) != 0) return;
  if (scenario.bounds.tokens < Bounds{}.tokens && rng.below(2) == 0) return;
  scenario.bounds.tokens = Bounds{}.tokens;
  for (std::size_t i = 1; i < scenario.wishes.size(); ++i) {
    Wish& wish = scenario.wishes[i];
    const std::uint64_t others = rng.below(2) == 0 ? 0 : 1 + rng.below(2);
    for (std::uint64_t k = 0; k < others; ++k) {
      const std::size_t before = rng.below(i);
      const auto end = static_cast<AfterEnd>(rng.below(3));
      if (wish.hopeless || scenario.wishes[before].hopeless) continue;
      wish.after.emplace_back(before, end);
    }
  }
}

ServiceSpec draw_service(Rng& rng) {
  ServiceSpec service;
  const std::uint64_t ports = rng.below(3);
  if (ports > 0) service.ports.push_back("http");
  if (ports > 1) service.ports.push_back("admin");
  service.drain = std::chrono::seconds{rng.below(30)};
  return service;
}

Job draw_service_job(Rng& rng, std::uint64_t number) {
  Job job;
  job.name = fmt::format("service-{}", number);
  job.token = fmt::format("service {}", number);
  job.user = rng.below(2) == 0 ? "ann" : "bob";
  job.workload_class = fmt::format("class-{}", rng.below(3));
  ServiceSpec service = draw_service(rng);
  const std::uint64_t replicas = 1 + rng.below(4);
  const std::uint64_t spare = 1 + rng.below(2);
  service.replicas = static_cast<std::uint32_t>(replicas);
  job.kind = std::move(service);
  const auto cores = static_cast<double>(1 + rng.below(4));
  const auto memory = static_cast<double>(1 + rng.below(8));
  for (std::uint64_t i = 0; i < replicas + spare; ++i) {
    TaskSpec task;
    task.demands = Demands(Resources::of(0, cores, memory));
    task.image = job.workload_class;
    task.array_index = static_cast<std::uint32_t>(i);
    task.delays.fetch = std::chrono::seconds{rng.below(10)};
    task.delays.stop = std::chrono::seconds{1};
    job.tasks.push_back(std::move(task));
  }
  if (rng.uniform() < 0.3) job.markets = MarketChoice::on_demand;
  return job;
}

/// Half of the services let a policy choose their size, by the number that their replicas say.
void draw_sizes(Job& job, Rng& rng) {
  if (rng.below(2) == 0) return;
  ServiceSpec& service = std::get<ServiceSpec>(job.kind);
  const Resources& asked = job.tasks.front().demands.entries().front().amount;
  service.size = {.least_cpus = asked[Resource::cpu] / 8,
                  .least_memory_gib = asked[Resource::memory] / 4};
  service.goal = {.metric = "throughput",
                  .bound = asked[Resource::cpu] * rng.uniform(0.05, 1.2),
                  .at_least = true};
}

/// Changes of a service while it runs, drawn apart from the service.
void draw_changes(Wish& wish, Rng& rng) {
  const auto time = [&] {
    return wish.at + from_seconds(rng.uniform(0.05, 0.95) * to_seconds(wish.ends_at - wish.at));
  };
  const auto replicas = static_cast<std::uint32_t>(wish.job.tasks.size()) - 1;
  for (std::uint64_t i = rng.below(3); i > 0; --i) {
    wish.scales.emplace_back(time(), 1 + static_cast<std::uint32_t>(rng.below(replicas)));
  }
  for (std::uint64_t i = rng.below(3); i > 0; --i) wish.updates.push_back(time());
}

/// Some jobs say how many of their tasks may share an instance. Drawn apart from all else, and
/// last.
void draw_bounds_together(Scenario& scenario) {
  Rng rng(scenario.seed ^ 0x70637);
  for (Wish& wish : scenario.wishes) {
    const auto most = static_cast<std::uint32_t>(2 + rng.below(2));
    if (rng.below(3) == 0) wish.job.most_an_instance = most;
  }
}

/// Drawn apart from all else, and last: seeds without services are what they are without this. A
/// stream has few instances, which a service would keep from all others. A service whose token was
/// forgotten could come twice, and its user would end one only.
void draw_services(Scenario& scenario, SeedShare share) {
  Rng rng(scenario.seed ^ 0x5E41C);
  const bool chosen = rng.below(4) == 0 || share == SeedShare::all;
  if (share == SeedShare::none || !chosen || scenario.hard.stream > 0) return;
  scenario.bounds.tokens = Bounds{}.tokens;
  const std::uint64_t services = 1 + rng.below(3);
  for (std::uint64_t i = 0; i < services; ++i) {
    Wish wish;
    wish.job = draw_service_job(rng, i);
    wish.at = Instant{from_seconds(5 + rng.uniform(0, kJobs_s))};
    wish.site = static_cast<std::uint32_t>(rng.below(scenario.sites));
    Rng sizes(scenario.seed ^ (0x512E5 + i));
    draw_sizes(wish.job, sizes);
    const Duration early = from_seconds(rng.uniform(300, 1500));
    const Duration late = from_seconds(rng.uniform(600, kServices_s));
    wish.ends_at = rng.below(3) == 0 ? wish.at + early : scenario.healed + late;
    Wish other = wish;  // another one that wants its name
    other.job.token += " again";
    other.site = static_cast<std::uint32_t>(rng.below(scenario.sites));
    const Instant from = rng.below(2) == 0 ? wish.at : std::max(wish.at, scenario.healed);
    other.at = from + from_seconds(rng.uniform(60, 600));
    Rng changes(scenario.seed ^ (0x5CA1E + i));
    draw_changes(wish, changes);
    scenario.wishes.push_back(std::move(wish));
    if (rng.below(2) == 0) scenario.wishes.push_back(std::move(other));
  }
}

}  // namespace

bool Scenario::has_services() const {
  return std::ranges::any_of(wishes, &Wish::is_service);
}

bool Scenario::has_pipelines() const {
  return std::ranges::any_of(wishes, [](const Wish& wish) { return wish.pipeline > 0; });
}

bool Scenario::is_limited() const {
  return cloud_instances > 0 || cloud_spot > 0 || master.caps.max_instances > 0 ||
         master.caps.max_usd_day > 0;
}

Job stream_job(const Scenario& scenario, std::uint64_t number) {
  Rng rng(scenario.seed ^ (0x57E3A + number));
  Job job;
  job.name = fmt::format("small-{}", number);
  job.token = fmt::format("small {}", number);
  job.user = kUserOfStream;
  job.workload_class = "small";
  TaskSpec task;
  task.demands = Demands(Resources::of(0, static_cast<double>(2 + rng.below(2)), 10));
  task.image = job.workload_class;
  task.delays.stop = std::chrono::seconds{1};
  task.delays.upload = std::chrono::seconds{3};
  job.tasks.push_back(std::move(task));
  if (rng.below(2) == 0) job.runtime_hint = from_seconds(rng.uniform(30, 300));
  return job;
}

std::string to_text(const Fault& fault) {
  return fmt::format("{:9.3f} s + {:2} messages: {} a={} b={} for {:.1f} s, clock {:+.0f} s{}{}",
                     to_seconds(fault.at), fault.messages, name_of(fault.kind), fault.a % 1000,
                     fault.b % 1000, to_seconds(fault.length), to_seconds(fault.step),
                     fault.told_a ? "" : ", first not told",
                     fault.told_b ? "" : ", second not told");
}

Scenario make_scenario(std::uint64_t seed, const ScenarioLimits& limits) {
  Rng rng(seed);
  Scenario scenario;
  scenario.seed = seed;
  scenario.catalog = small_catalog();
  scenario.policy_text = policy_of(seed);
  scenario.policy = parse_policy(scenario.policy_text).value();
  scenario.sites = static_cast<std::uint32_t>(2 + rng.below(2));
  scenario.masters = static_cast<std::uint32_t>(2 + rng.below(2));
  scenario.site.masters_per_job = static_cast<std::uint32_t>(rng.below(3));
  scenario.site.load_every = std::chrono::seconds{15};
  scenario.site.load_stale_after = std::chrono::seconds{60};
  scenario.classify.by = "hint";
  scenario.master.launch_backoff = std::chrono::minutes{2};
  scenario.master.gangs.patience = std::chrono::minutes{10};
  scenario.master.gangs.turn = std::chrono::minutes{10};
  scenario.master.gangs.longest = std::chrono::hours{1};
  scenario.interruptions_per_h = rng.uniform() < 0.5 ? rng.uniform(0.2, 3) : 0;
  scenario.notice = rng.uniform() < 0.3 ? Duration::zero() : from_seconds(rng.uniform(1, 120));
  scenario.snapshot_every = rng.uniform() < 0.5 ? 40 + rng.below(200) : 0;
  draw_limits(rng, limits, scenario);
  if (scenario.master.caps.max_usd_day > 0) {
    // What may be rented can be paid for as long as boot and margins last: tasks run longer, so
    // that the money of a day runs out under them.
    scenario.master.caps.spend_margin = std::chrono::minutes{1};
    // Such a run takes days: nothing is gained by asking for loads that often.
    scenario.site.load_every = std::chrono::minutes{5};
    scenario.site.load_stale_after = std::chrono::minutes{20};
  }
  const std::uint32_t nodes = scenario.sites + scenario.masters + 1;
  for (std::uint32_t i = 0; i < nodes; ++i) {
    const Duration apart = from_seconds(rng.uniform(-300, 300));
    scenario.offsets.push_back(kEvening + apart);
  }
  draw_wishes(rng, scenario);
  Rng chance(seed ^ 0xFA017);
  draw_faults(chance, limits, scenario);
  draw_own_machines(scenario, limits.machines);
  if (limits.bounds) draw_bounds(scenario);
  if (limits.hardships) draw_hardships(scenario);
  if (limits.hardships) draw_stream(scenario);
  draw_after(scenario);
  draw_services(scenario, limits.services);
  draw_pipelines(scenario, limits.pipelines);
  draw_bounds_together(scenario);
  return scenario;
}

}  // namespace muster::ring
