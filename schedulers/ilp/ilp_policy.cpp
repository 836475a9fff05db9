#include "schedulers/ilp/ilp_policy.hpp"

#include <algorithm>
#include <optional>
#include <utility>

namespace muster::ilp {
namespace {

/// The choices that the notes of rounds tell; each after kFull says why there is no solution.
constexpr const char* kSolved = "solved";
constexpr const char* kKept = "kept";
constexpr const char* kFull = "full: ";
constexpr const char* kFleet = "fleet";

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

/// The configuration's instances as those of the problem; nothing where one of its types is none of
/// the problem's, or rests.
std::optional<std::vector<bound::Pattern>> instances_in(const Configuration& configuration,
                                                        const HostingProblem& hosting,
                                                        std::size_t types) {
  const std::vector<std::uint32_t> positions = positions_of(hosting, types);
  std::vector<bound::Pattern> instances;
  for (const Configuration::Bin& bin : configuration.bins) {
    bound::Pattern instance{positions[bin.type.value], {}};
    if (instance.type == kUnassigned) return std::nullopt;
    for (const std::uint32_t task : configuration.tasks_of(bin)) {
      instance.kinds.push_back(hosting.kind_of[task]);
    }
    std::sort(instance.kinds.begin(), instance.kinds.end());
    if (!bound::fits(hosting.fluid, instance)) return std::nullopt;
    instances.push_back(std::move(instance));
  }
  return instances;
}

}  // namespace

IlpPolicy::IlpPolicy(const Catalog& catalog, Market market, const IlpParams& params,
                     std::shared_ptr<const IntegerSolver> solver)
    : params_(params), solver_(std::move(solver)), prices_(catalog, only(market)) {}

Cadence IlpPolicy::cadence() const {
  return {.period = params_.period,
          .on_arrival = params_.eager,
          .on_capacity = params_.eager,
          .on_price = params_.eager};
}

/// Replaces what Full Reconfiguration has found by what the solver finds, where that costs less.
void IlpPolicy::repack(const PackingTasks& tasks, const std::function<bool(TypeId)>& rests,
                       Configuration& configuration) {
  search_ = {};
  search_.tasks = static_cast<std::uint32_t>(tasks.kind_of.size());
  search_.solved_usd_h = muster::cost_usd_h(configuration, prices_.types());
  const auto keep_full = [&](const std::string& why) { search_.choice = kFull + why; };
  if (search_.tasks == 0) return keep_full("no tasks");
  if (search_.tasks > params_.tasks) return keep_full("too many tasks");
  if (!solver_) return keep_full("no solver");
  std::vector<ShapeId> shapes;
  for (const std::uint32_t kind : tasks.kind_of) shapes.push_back(tasks.kinds[kind].shape);
  const HostingProblem hosting = hosting_problem(shapes, prices_, rests);
  if (hosting.free > 0 || hosting.never_fit > 0) return keep_full("tasks without needs");
  const auto start = instances_in(configuration, hosting, prices_.types().size());
  const HostingSearch search{
      params_.form, {params_.nodes, params_.seconds, params_.gap_share}, kPatternNodes};
  const HostingSolution solution = solve_hosting(
      hosting, prices_, start.value_or(std::vector<bound::Pattern>{}), search, *solver_);
  search_.bound_usd_h = solution.bound_usd_h;
  if (!solution.trouble.empty()) return keep_full(solution.trouble);
  // Types that rest make what Full Reconfiguration has found no solution at all.
  if (start && solution.cost_usd_h >= search_.solved_usd_h - kMoneyEpsilon_usd_h) {
    return keep_full("nothing cheaper");
  }
  if (!seat(tasks, hosting, solution.instances, configuration)) return keep_full("no seat");
  search_.choice = kSolved;
  search_.solved_usd_h = solution.cost_usd_h;
}

/// Lays the tasks out on the instances; false, and nothing is changed, where one finds no seat.
bool IlpPolicy::seat(const PackingTasks& tasks, const HostingProblem& hosting,
                     const std::vector<bound::Pattern>& instances, Configuration& configuration) {
  std::vector<std::vector<std::uint32_t>> waiting(hosting.fluid.kinds.size());
  for (std::uint32_t task = 0; task < tasks.kind_of.size(); ++task) {
    waiting[hosting.kind_of[task]].push_back(task);
  }
  std::vector<std::size_t> next(waiting.size(), 0);
  Configuration seated;
  InstanceWorth worth;
  for (const bound::Pattern& instance : instances) {
    const TypeId type = hosting.types[instance.type];
    const auto first = static_cast<std::uint32_t>(seated.tasks.size());
    worth.clear(model());
    for (const std::uint32_t kind : instance.kinds) {
      if (next[kind] == waiting[kind].size()) return false;
      const std::uint32_t task = waiting[kind][next[kind]++];
      worth.add(entrant_of(model(), tasks.kinds[tasks.kind_of[task]], type));
      seated.tasks.push_back(task);
    }
    const auto count = static_cast<std::uint32_t>(instance.kinds.size());
    seated.bins.push_back({type, first, count, worth.usd_h()});
  }
  if (seated.tasks.size() != tasks.kind_of.size()) return false;
  configuration = std::move(seated);
  return true;
}

/// Whether the present places, where everybody has one, cost no more than the layout. Then they
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
  if (present.cost_usd_h() > layout_.cost_usd_h() + kMoneyEpsilon_usd_h) return false;
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
  layouts_.repack_by([this](const PackingTasks& tasks, const std::function<bool(TypeId)>& rests,
                            Configuration& configuration) { repack(tasks, rests, configuration); });
  layouts_.full(input_, model(), kinds_, layout_);
  layouts_.repack_by({});  // it is of this object, and copies must not call it
  const bool kept = keeps_present();
  Plan plan = plan_of(layout_, input_, model(), kinds_, CauseCode::full_reconfiguration);
  if (search_.tasks == 0) return plan;
  plan.note.choice = kept ? kKept : search_.choice;
  auto& figures = plan.note.figures;
  figures.emplace_back("laid_out_tasks", search_.tasks);
  figures.emplace_back("cost_usd_h", search_.solved_usd_h);
  if (search_.bound_usd_h > 0) {
    figures.emplace_back("bound_usd_h", search_.bound_usd_h);
    figures.emplace_back("gap_share", search_.solved_usd_h / search_.bound_usd_h - 1);
  }
  return plan;
}

}  // namespace muster::ilp
