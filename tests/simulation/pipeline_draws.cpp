#include "tests/simulation/pipeline_draws.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "model/rng.hpp"

namespace muster::ring {
namespace {

/// Time in which pipelines come; those of their jobs are as far apart at the most.
constexpr double kPipelines_s = 1500;
/// The longest from the time of a job to its deadline.
constexpr double kDeadline_s = 2400;

enum class Shape : std::uint8_t { chain, fan, any };

/// Where a job stands.
struct PlaceInPipeline {
  Shape shape = Shape::any;
  std::size_t first = 0;  ///< wish of the pipeline
  std::size_t own = 0;
};

AfterEnd draw_end(Rng& rng) {
  const double share = rng.uniform();
  if (share < 0.6) return AfterEnd::ok;
  return share < 0.85 ? AfterEnd::any : AfterEnd::fail;
}

/// Small jobs, of which a fourth fails.
Job draw_pipeline_job(Rng& rng, const std::string& token) {
  Job job;
  job.name = job.token = token;
  job.workload_class = "class-0";
  const bool fails = rng.uniform() < 0.25;
  const std::uint64_t tasks = rng.uniform() < 0.7 ? 1 : 2 + rng.below(2);
  const auto cores = static_cast<double>(1 + rng.below(4));
  const auto memory = static_cast<double>(1 + rng.below(8));
  if (fails) job.retries = static_cast<std::uint32_t>(rng.below(2));
  for (std::uint64_t i = 0; i < tasks; ++i) {
    TaskSpec task;
    task.demands = Demands(Resources::of(0, cores, memory));
    task.image = fails ? kFailingImage : job.workload_class;
    task.array_index = static_cast<std::uint32_t>(i);
    task.delays.stop = std::chrono::seconds{1};
    task.delays.upload = std::chrono::seconds{3};
    job.tasks.push_back(std::move(task));
  }
  if (rng.uniform() < 0.5) {
    job.origin = GeoPoint{rng.uniform(-60, 60), rng.uniform(-180, 180)};
  }
  return job;
}

/// Draws the jobs of its pipeline that the job waits for. A fan opens behind the first job; jobs
/// that close it are drawn, too.
void draw_conditions(Rng& rng, const PlaceInPipeline& at, Wish& wish) {
  constexpr std::uint64_t kMost = 4;
  const auto add = [&](std::size_t before, AfterEnd end) {
    const bool known =
        std::ranges::any_of(wish.after, [&](const auto& each) { return each.first == before; });
    if (!known) wish.after.emplace_back(before, end);
  };
  if (at.own == at.first) return;
  if (at.shape == Shape::chain) return add(at.own - 1, draw_end(rng));
  if (at.shape == Shape::fan && rng.uniform() < 0.7) return add(at.first, draw_end(rng));
  for (std::uint64_t i = 1 + rng.below(kMost); i > 0; --i) {
    const std::size_t before = at.first + rng.below(at.own - at.first);
    add(before, draw_end(rng));
  }
}

/// A job of another submission, at whatever site, in a part of the jobs.
void draw_foreign(Rng& rng, const Scenario& scenario, Wish& wish, std::size_t first) {
  const bool wants = rng.uniform() < 0.3;
  const std::size_t before = rng.below(first);
  const AfterEnd end = draw_end(rng);
  const Wish& other = scenario.wishes[before];
  if (wants && !other.hopeless && !other.is_service()) wish.after.emplace_back(before, end);
}

void draw_times(Rng& rng, Wish& wish) {
  const bool begins = rng.uniform() < 0.15, ends = rng.uniform() < 0.15;
  const bool held = rng.uniform() < 0.15, keeps = rng.uniform() < 0.4;
  const Duration later = from_seconds(rng.uniform(0, kPipelines_s));
  const Duration allowed = from_seconds(rng.uniform(60, kDeadline_s));
  const Duration held_for = from_seconds(rng.uniform(10, kPipelines_s));
  const Instant shown = wish.at + kEvening;
  if (begins) wish.job.begin = shown + later;
  if (ends) wish.job.deadline = shown + (begins ? later : Duration{}) + allowed;
  wish.job.held = held;
  if (held) wish.let_go = wish.at + held_for;
  wish.job.keeps_waiting = keeps && !wish.after.empty();
}

void draw_orders(Rng& rng, Scenario& scenario, std::size_t first) {
  const std::size_t count = scenario.wishes.size() - first;
  const Instant from = scenario.wishes[first].at;
  const auto at = [&] { return from + from_seconds(rng.uniform(1, kPipelines_s)); };
  const bool cancels = rng.uniform() < 0.25;
  const Instant cancelled = at();
  if (cancels) scenario.orders.push_back({cancelled, first + rng.below(count), true});
  for (std::uint64_t i = rng.below(3); i > 0; --i) {
    const Instant when = at();
    const std::size_t which = first + rng.below(count);
    scenario.orders.push_back({when, which, false, from_seconds(rng.exponential(300))});
  }
}

}  // namespace

void draw_pipelines(Scenario& scenario, SeedShare share) {
  Rng rng(scenario.seed ^ 0x919E11);
  const bool chosen = rng.below(3) == 0 || share == SeedShare::all;
  if (share == SeedShare::none || !chosen) return;
  // A stream ends with the wishes, and a capped day is long.
  if (scenario.hard.stream > 0 || scenario.master.caps.max_usd_day > 0) return;
  // A job whose token is forgotten may have two numbers, and a pipeline is taken as a whole.
  if (scenario.bounds.tokens < Bounds{}.tokens && rng.below(2) == 0) return;
  scenario.bounds.tokens = Bounds{}.tokens;
  scenario.bounds.waiting = Bounds{}.waiting;
  const auto pipelines = static_cast<std::uint32_t>(1 + rng.below(3));
  for (std::uint32_t number = 1; number <= pipelines; ++number) {
    const std::size_t first = scenario.wishes.size();
    const auto shape = static_cast<Shape>(rng.below(3));
    const std::uint64_t jobs = 2 + rng.below(6);
    const Instant at{from_seconds(5 + rng.uniform(0, kPipelines_s))};
    const auto site = static_cast<std::uint32_t>(rng.below(scenario.sites));
    const std::string user = rng.below(2) == 0 ? "ann" : "bob";
    for (std::uint64_t i = 0; i < jobs; ++i) {
      Wish wish;
      wish.job = draw_pipeline_job(rng, fmt::format("pipeline {} job {}", number, i));
      wish.job.user = user;
      wish.at = at;
      wish.site = site;
      wish.pipeline = number;
      draw_conditions(rng, {shape, first, scenario.wishes.size()}, wish);
      draw_foreign(rng, scenario, wish, first);
      draw_times(rng, wish);
      scenario.wishes.push_back(std::move(wish));
    }
    draw_orders(rng, scenario, first);
  }
}

}  // namespace muster::ring
