#include "schedulers/ilp/ilp_policy.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "schedulers/packing/types/cheapest_types.hpp"

namespace muster::ilp {
namespace {

/// The choices that the notes of rounds tell; each after kFull says why there is no solution.
constexpr const char* kSolved = "solved";
constexpr const char* kKept = "kept";
constexpr const char* kFull = "full: ";
constexpr const char* kFleet = "fleet";
constexpr const char* kKeptSince = "kept: ";

/// Costs that differ by less do not differ.
constexpr double kMoneyEpsilon_usd_h = 1e-9;
/// Sets of tasks that the searches for patterns of a round look at.
constexpr std::uint64_t kPatternNodes = 20'000'000;

/// Finds the problem's types by their number in the catalog.
std::vector<std::uint32_t> positions_of(const HostingProblem& hosting, std::size_t types) {
  std::vector<std::uint32_t> positions(types, kUnassigned);
  for (std::uint32_t i = 0; i < hosting.types.size(); ++i) positions[hosting.types[i].value] = i;
  return positions;
}

/// The configuration's instances as those of the problem, without tasks that are not in it; nothing
/// where one of its types is none of the problem's, or rests.
std::optional<std::vector<bound::Pattern>> instances_in(const Configuration& configuration,
                                                        const HostingProblem& hosting,
                                                        std::size_t types) {
  const std::vector<std::uint32_t> positions = positions_of(hosting, types);
  std::vector<bound::Pattern> instances;
  for (const Configuration::Bin& bin : configuration.bins) {
    bound::Pattern instance{positions[bin.type.value], {}};
    if (instance.type == kUnassigned) return std::nullopt;
    for (const std::uint32_t task : configuration.tasks_of(bin)) {
      if (hosting.kind_of[task] == kUnassigned) continue;
      instance.kinds.push_back(hosting.kind_of[task]);
    }
    if (instance.kinds.empty()) continue;
    std::sort(instance.kinds.begin(), instance.kinds.end());
    if (!bound::fits(hosting.fluid, instance)) return std::nullopt;
    instances.push_back(std::move(instance));
  }
  return instances;
}

}  // namespace

IlpPolicy::IlpPolicy(const Catalog& catalog, Market market, const IlpParams& params,
                     std::shared_ptr<const IntegerSolver> solver)
    : params_(params),
      market_(market),
      solver_(std::move(solver)),
      prices_(catalog, only(market)) {}

Cadence IlpPolicy::cadence() const {
  return {.period = params_.period,
          .on_arrival = params_.eager,
          .on_capacity = params_.eager,
          .on_price = params_.eager};
}

/// Where both markets have jobs, the solver is asked for each of them in a round, one after the
/// other.
double IlpPolicy::seconds(const ClusterView& view) const {
  const MarketView other{view, only(market_ == Market::spot ? Market::on_demand : Market::spot)};
  const bool shares =
      std::ranges::any_of(view.state.jobs(), [&](const JobRow& job) { return other.shows(job); });
  return shares ? params_.seconds / 2 : params_.seconds;
}

/// Replaces the instances of Full Reconfiguration by those of the solver, where these cost less.
void IlpPolicy::repack(const PackingTasks& tasks, const std::function<bool(TypeId)>& rests,
                       Configuration& configuration) {
  search_ = {};
  search_.tasks = static_cast<std::uint32_t>(tasks.kind_of.size());
  const std::string trouble = improve(tasks, rests, configuration);
  search_.choice = trouble.empty() ? kSolved : kFull + trouble;
  // As they are rented: a set of tasks may fit on a cheaper type than it was found for.
  use_cheapest_types(tasks, model(), rests, configuration);
  search_.cost_usd_h = muster::cost_usd_h(configuration, prices_.types());
}

/// Asks the solver. The bound of a round is the highest of those found in it, as the tasks of one
/// problem are those of the other with a rule more.
IlpPolicy::Solved IlpPolicy::solve(const HostingProblem& hosting,
                                   const Configuration& configuration, double seconds) {
  const auto start = instances_in(configuration, hosting, prices_.types().size());
  const HostingSearch search{
      params_.form, {params_.nodes, seconds, params_.gap_share}, kPatternNodes};
  HostingSolution solution = solve_hosting(
      hosting, prices_, start.value_or(std::vector<bound::Pattern>{}), search, solver_.get());
  search_.bound_usd_h = std::max(search_.bound_usd_h, solution.bound_usd_h);
  search_.failed = search_.failed || solution.failed;
  return {std::move(solution.instances), std::move(solution.trouble), start.has_value()};
}

/// Why Full Reconfiguration's instances are left; empty: they are replaced.
std::string IlpPolicy::improve(const PackingTasks& tasks, const std::function<bool(TypeId)>& rests,
                               Configuration& configuration) {
  if (search_.tasks == 0) return "no tasks";
  if (search_.tasks > params_.tasks) return "too many tasks";
  std::vector<ShapeId> shapes;
  for (const std::uint32_t kind : tasks.kind_of) shapes.push_back(tasks.kinds[kind].shape);
  const bool apart =
      std::ranges::any_of(tasks.apart_of, [](const Apart& one) { return bool(one); });
  // A job that is kept apart makes kinds of its own, which search and bound pay dearly for, and
  // most solutions without them have seats for it anyway.
  HostingProblem hosting = hosting_problem(shapes, prices_, rests);
  if (hosting.fluid.kinds.empty()) {
    return hosting.free > 0 ? "tasks without needs" : "tasks that no type holds";
  }
  // The solver may be asked twice in the time of a round.
  const double seconds = apart ? seconds_ / 2 : seconds_;
  Solved solved = solve(hosting, configuration, seconds);
  std::optional<Configuration> seated;
  if (solved.trouble.empty()) seated = seat(tasks, hosting, solved.instances);
  if (apart && solved.trouble.empty() && !seated) {
    hosting = hosting_problem(shapes, prices_, rests, tasks.apart_of);
    solved = solve(hosting, configuration, seconds);
    if (solved.trouble.empty()) seated = seat(tasks, hosting, solved.instances);
  }
  if (!solved.trouble.empty()) return solved.trouble;
  if (!seated) return "no seat";
  use_cheapest_types(tasks, model(), rests, *seated);
  Configuration full = configuration;
  use_cheapest_types(tasks, model(), rests, full);
  const double saved_usd_h =
      muster::cost_usd_h(full, prices_.types()) - muster::cost_usd_h(*seated, prices_.types());
  // Types that rest make the instances of Full Reconfiguration no solution at all.
  if (solved.may_keep && saved_usd_h <= kMoneyEpsilon_usd_h) return "nothing cheaper";
  configuration = std::move(*seated);
  return {};
}

/// Tasks that are not in the problem go with an instance on which they take nothing: the guests of
/// each instance. `left`: those without an instance.
std::vector<std::vector<std::uint32_t>> IlpPolicy::add_guests(
    const PackingTasks& tasks, const HostingProblem& hosting,
    const std::vector<bound::Pattern>& instances, std::vector<std::uint32_t>& left) const {
  std::vector<std::vector<std::uint32_t>> guests(instances.size());
  std::map<std::uint32_t, std::size_t> host_of;  // of each shape
  for (std::uint32_t task = 0; task < tasks.kind_of.size(); ++task) {
    if (hosting.kind_of[task] != kUnassigned) continue;
    if (tasks.apart(task)) {
      left.push_back(task);
      continue;
    }
    const ShapeId shape = tasks.kinds[tasks.kind_of[task]].shape;
    const auto [known, is_new] = host_of.try_emplace(shape.value, 0);
    if (is_new) {
      const auto host = std::ranges::find_if(instances, [&](const bound::Pattern& instance) {
        const auto& on = prices_.on(shape, hosting.types[instance.type]);
        return on.fits && on.amount == Resources{};
      });
      known->second = static_cast<std::size_t>(host - instances.begin());
    }
    (known->second < guests.size() ? guests[known->second] : left).push_back(task);
  }
  return guests;
}

/// Full Reconfiguration of these tasks alone.
void IlpPolicy::pack_left(const PackingTasks& tasks, const std::vector<std::uint32_t>& left,
                          Configuration& configuration) {
  if (left.empty()) return;
  std::vector<std::uint32_t> kind_of;
  std::vector<Apart> apart_of;
  kind_of.reserve(left.size());
  for (const std::uint32_t task : left) {
    kind_of.push_back(tasks.kind_of[task]);
    apart_of.push_back(tasks.apart(task));
  }
  Configuration packed;
  packing_left_.run({tasks.kinds, kind_of, apart_of}, model(), packed);
  for (Configuration::Bin bin : packed.bins) {
    bin.first += static_cast<std::uint32_t>(configuration.tasks.size());
    configuration.bins.push_back(bin);
  }
  for (const std::uint32_t task : packed.tasks) configuration.tasks.push_back(left[task]);
  for (const std::uint32_t task : packed.unplaced) configuration.unplaced.push_back(left[task]);
}

/// The tasks on the instances; nothing where one finds no seat. The program keeps equal tasks of a
/// job apart; of a job whose tasks differ each takes a seat beside no more peers than it may.
std::optional<Configuration> IlpPolicy::seat(const PackingTasks& tasks,
                                             const HostingProblem& hosting,
                                             const std::vector<bound::Pattern>& instances) {
  std::vector<std::vector<std::uint32_t>> waiting(hosting.fluid.kinds.size());
  for (std::uint32_t task = 0; task < tasks.kind_of.size(); ++task) {
    if (hosting.kind_of[task] != kUnassigned) waiting[hosting.kind_of[task]].push_back(task);
  }
  std::vector<std::uint32_t> left;
  const auto guests = add_guests(tasks, hosting, instances, left);
  std::vector<std::size_t> next(waiting.size(), 0);
  Configuration seated;
  InstanceWorth worth;
  for (std::size_t i = 0; i < instances.size(); ++i) {
    const TypeId type = hosting.types[instances[i].type];
    const auto first = static_cast<std::uint32_t>(seated.tasks.size());
    worth.clear(model());
    const auto add = [&](std::uint32_t task) {
      worth.add(entrant_of(model(), tasks.kinds[tasks.kind_of[task]], type));
      seated.tasks.push_back(task);
    };
    const auto may_join = [&](std::uint32_t task) {
      const Apart apart = tasks.apart(task);
      const auto is_peer = [&](std::uint32_t one) { return tasks.apart(one) == apart; };
      return !apart || std::count_if(seated.tasks.begin() + first, seated.tasks.end(), is_peer) <
                           std::ptrdiff_t{apart.most};
    };
    for (const std::uint32_t kind : instances[i].kinds) {
      const auto begin = waiting[kind].begin() + static_cast<std::ptrdiff_t>(next[kind]);
      const auto found = std::find_if(begin, waiting[kind].end(), may_join);
      if (found == waiting[kind].end()) return std::nullopt;
      std::rotate(begin, found, found + 1);
      add(waiting[kind][next[kind]++]);
    }
    for (const std::uint32_t task : guests[i]) add(task);
    const auto count = static_cast<std::uint32_t>(seated.tasks.size()) - first;
    seated.bins.push_back({type, first, count, worth.usd_h()});
  }
  pack_left(tasks, left, seated);
  if (seated.tasks.size() + seated.unplaced.size() != tasks.kind_of.size()) return std::nullopt;
  return seated;
}

/// Whether the present places, where every task has one, cost no more than the layout. Then they
/// become the layout.
bool IlpPolicy::keeps_present() {
  for (const RoundInput::Task& task : input_.tasks()) {
    if (task.home == kUnassigned) return false;
  }
  Layout present;
  present.reset(input_.tasks().size());
  InstanceWorth scratch;
  for (std::uint32_t i = 0; i < input_.instances().size(); ++i) {
    const RoundInput::Instance& instance = input_.instances()[i];
    if (instance.residents == 0) continue;
    const std::uint32_t host = present.add_present(input_, i);
    present.hosts[host].worth_usd_h = present_worth(input_, instance, model(), kinds_, scratch);
    for (const std::uint32_t task : input_.residents(instance)) present.assign(task, host);
  }
  const double saved_usd_h = layout_.cost_usd_h() - present.cost_usd_h();
  if (saved_usd_h < -kMoneyEpsilon_usd_h) return false;
  // The instances of all other tasks are equal in both.
  search_.cost_usd_h -= saved_usd_h;
  layout_ = std::move(present);
  return true;
}

Plan IlpPolicy::use_fleet(const ClusterView& view) {
  std::vector<Refuse> refusals;
  fleet_.run(input_, view.state, model(), kinds_, layout_, refusals);
  Plan plan = plan_of(layout_, input_, model(), kinds_, CauseCode::full_reconfiguration);
  plan.refusals.insert(plan.refusals.end(), refusals.begin(), refusals.end());
  plan.note.choice = kFleet;
  return plan;
}

Plan IlpPolicy::decide(const ClusterView& view, Rng&, Budget&) {
  input_.gather({view, prices_.types().markets()}, prices_, kinds_);
  settled_ = !view.rents() || (!input_.changes_with_time() && !view.any_rests());
  if (!view.rents()) return use_fleet(view);
  search_ = {};
  seconds_ = seconds(view);
  layouts_.repack_by([this](const PackingTasks& tasks, const std::function<bool(TypeId)>& rests,
                            Configuration& configuration) { repack(tasks, rests, configuration); });
  layouts_.full(input_, model(), kinds_, layout_);
  layouts_.repack_by({});  // it is of this object, and copies must not call it
  const bool kept = keeps_present();
  // A solver that failed may answer when it is asked again.
  settled_ = settled_ && !search_.failed;
  Plan plan = plan_of(layout_, input_, model(), kinds_, CauseCode::full_reconfiguration);
  if (search_.tasks > 0) tell(kept, plan.note);
  return plan;
}

/// Figures are told together or not at all, so that their means are over the same rounds: of the
/// layout that is carried out, where there is a bound to compare it with.
void IlpPolicy::tell(bool kept, RoundNote& note) const {
  if (kept) {
    note.choice = search_.failed ? kKeptSince + search_.choice.substr(std::string(kFull).size())
                                 : std::string(kKept);
  } else {
    note.choice = search_.choice;
  }
  if (search_.bound_usd_h <= 0) return;
  note.figures.emplace_back("laid_out_tasks", search_.tasks);
  note.figures.emplace_back("cost_usd_h", search_.cost_usd_h);
  note.figures.emplace_back("bound_usd_h", search_.bound_usd_h);
  note.figures.emplace_back("gap_share", search_.cost_usd_h / search_.bound_usd_h - 1);
}

}  // namespace muster::ilp
