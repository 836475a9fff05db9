#include "schedulers/eva/artifact_layouts.hpp"

// Repeats the decisions of the paper's published simulator, with its deviations from the paper's
// text, so that its figures can be reproduced. Plain loops over all tasks and hosts: it is for
// comparison, not for large clusters.

namespace muster::eva {
namespace {

WorthModel with_form(const WorthModel& model, GangForm form) {
  WorthModel changed = model;
  changed.form = form;
  return changed;
}

}  // namespace

void ArtifactLayouts::begin(const RoundInput& input, Layout& out) {
  out.reset(input.tasks().size());
  waiting_.clear();
  present_peers_ = input.any_apart() ? input.peer_rooms() : PeerRooms{};
  host_at_.assign(input.instances().size(), kUnassigned);
}

void ArtifactLayouts::wait_for_place(const RoundInput& input, std::uint32_t task) {
  const RoundInput::Task& row = input.tasks()[task];
  waiting_.push_back({task, row.kind, row.home, row.apart});
}

std::uint32_t ArtifactLayouts::host_of_instance(const Round& round, std::uint32_t instance) {
  if (host_at_[instance] == kUnassigned) {
    host_at_[instance] = round.out.add_present(*round.input, instance);
  }
  return host_at_[instance];
}

bool ArtifactLayouts::pays(const Round& round, std::uint32_t instance) {
  const RoundInput::Instance& row = round.input->instances()[instance];
  scratch_.clear(round.model);
  const auto residents = round.input->residents(row);
  for (std::uint32_t task : residents) {
    const TaskKind& kind = round.kinds[round.input->tasks()[task].kind];
    scratch_.add(entrant_of(round.model, kind, row.type));
  }
  if (scratch_.usd_h() >= row.price_usd_h) return true;
  // Alone on the type of its reservation price a task is worth that price, whatever was recorded.
  return residents.size() == 1 && prefers(round, round.input->tasks()[residents[0]].kind, row.type);
}

void ArtifactLayouts::full(const RoundInput& input, const WorthModel& model, const TaskKinds& kinds,
                           Layout& out) {
  begin(input, out);
  // Sets are filled and weighed as if tasks were of their own; provision() takes the clipped form.
  const Round round{&input, with_form(model, GangForm::plain), kinds.all(), out};
  for (std::uint32_t i = 0; i < input.tasks().size(); ++i) {
    const RoundInput::Task& task = input.tasks()[i];
    if (task.movable) {
      wait_for_place(input, i);
      // Tasks on their way keep their instances, and these take others.
    } else if (task.home != kUnassigned) {
      out.assign(i, host_of_instance(round, task.home));
    }
  }
  fill_present(round);
  provision(round);
  weigh(round);
}

void ArtifactLayouts::partial(const RoundInput& input, const WorthModel& model,
                              const TaskKinds& kinds, Layout& out) {
  begin(input, out);
  const Round round{&input, with_form(model, GangForm::plain), kinds.all(), out};
  for (std::uint32_t i = 0; i < input.tasks().size(); ++i) {
    if (input.tasks()[i].home == kUnassigned && input.tasks()[i].movable) wait_for_place(input, i);
  }
  std::vector<char> poor(input.instances().size(), 0);
  for (std::uint32_t i = 0; i < input.instances().size(); ++i) {
    const RoundInput::Instance& instance = input.instances()[i];
    if (instance.pinned || instance.held || instance.closed || pays(round, i)) continue;
    poor[i] = 1;
    for (std::uint32_t task : input.residents(instance)) wait_for_place(input, task);
  }
  // The order decides in which the layout lists hosts, and with it who wins ties.
  for (const bool movable : {false, true}) {  // the artifact's plan begins with those on their way
    for (std::uint32_t i = 0; i < input.tasks().size(); ++i) {
      const RoundInput::Task& task = input.tasks()[i];
      if (task.movable != movable || task.home == kUnassigned || poor[task.home]) continue;
      out.assign(i, host_of_instance(round, task.home));
    }
  }
  fill_present(round);
  provision(round);
  weigh(round);
}

/// Packs onto the layout's present instances as long as anything fits, whatever it is worth.
/// O(waiting x hosts) for each task placed.
void ArtifactLayouts::fill_present(const Round& round) {
  const std::size_t hosts = round.out.hosts.size();
  if (hosts == 0 || waiting_.empty()) return;
  if (worths_.size() < hosts) worths_.resize(hosts);
  used_.assign(hosts, {});
  for (std::size_t i = 0; i < hosts; ++i) worths_[i].clear(round.model);
  for (std::uint32_t i = 0; i < round.out.host_of.size(); ++i) {
    const std::uint32_t host = round.out.host_of[i];
    if (host == kUnassigned) continue;
    const TaskKind& kind = round.kinds[round.input->tasks()[i].kind];
    const TypeId type = round.out.hosts[host].type;
    worths_[host].add(entrant_of(round.model, kind, type));
    used_[host] += round.model.prices.on(kind.shape, type).amount;
  }
  for (std::size_t i = 0; i < hosts; ++i) {
    const std::uint32_t present = round.out.hosts[i].present;
    if (present == kUnassigned || !round.input->instances()[present].closed) continue;
    used_[i] = round.model.prices.types()[round.out.hosts[i].type].capacity;
  }
  list_peers(round);
  while (place_best(round)) {
  }
}

void ArtifactLayouts::list_peers(const Round& round) {
  peers_.clear();
  if (!round.input->any_apart()) return;
  for (std::uint32_t i = 0; i < round.out.host_of.size(); ++i) {
    const RoundInput::Task& task = round.input->tasks()[i];
    const std::uint32_t host = round.out.host_of[i];
    // Those that stay at home are peers of the input.
    const bool stays = task.home != kUnassigned && host_at_[task.home] == host;
    if (host != kUnassigned && !stays) peers_.add(host, task.apart);
  }
  for (const RoundInput::Peer& peer : round.input->peers()) {
    if (host_at_[peer.instance] != kUnassigned) peers_.add(host_at_[peer.instance], peer.apart);
  }
}

bool ArtifactLayouts::place_best(const Round& round) {
  const PricedTypes& types = round.model.prices.types();
  Score best;
  std::size_t best_task = waiting_.size();
  std::uint32_t best_host = 0;
  for (std::size_t i = 0; i < waiting_.size(); ++i) {
    const TaskKind& kind = round.kinds[waiting_[i].kind];
    for (std::uint32_t host = 0; host < used_.size(); ++host) {
      const TypeId type = round.out.hosts[host].type;
      const ShapeOnType& shape = round.model.prices.on(kind.shape, type);
      const Resources& capacity = types[type].capacity;
      if (!shape.fits || !(used_[host] + shape.amount).fits_in(capacity)) continue;
      if (peers_.is_full(host, waiting_[i].apart)) continue;
      // Worth first, then staying where it is, then how well it fills the host.
      const Score score{worths_[host].with(entrant_of(round.model, kind, type)),
                        round.out.hosts[host].present == waiting_[i].home,
                        alignment_of(shape.amount, used_[host], capacity)};
      if (best < score) best = score, best_task = i, best_host = host;
    }
  }
  if (best_task == waiting_.size()) return false;
  const TaskKind& kind = round.kinds[waiting_[best_task].kind];
  const TypeId type = round.out.hosts[best_host].type;
  worths_[best_host].add(entrant_of(round.model, kind, type));
  used_[best_host] += round.model.prices.on(kind.shape, type).amount;
  peers_.add(best_host, waiting_[best_task].apart);
  round.out.assign(waiting_[best_task].task, best_host);
  waiting_.erase(waiting_.begin() + static_cast<std::ptrdiff_t>(best_task));
  return true;
}

void ArtifactLayouts::weigh(const Round& round) {
  const std::size_t hosts = round.out.hosts.size();
  if (worths_.size() < hosts) worths_.resize(hosts);
  // Added up anew, task by task in ascending order: fills added in another order, and sums may
  // differ in their last bits.
  for (std::size_t i = 0; i < hosts; ++i) worths_[i].clear(round.model);
  for (std::uint32_t i = 0; i < round.out.host_of.size(); ++i) {
    const std::uint32_t host = round.out.host_of[i];
    if (host == kUnassigned) continue;
    const TaskKind& kind = round.kinds[round.input->tasks()[i].kind];
    worths_[host].add(entrant_of(round.model, kind, round.out.hosts[host].type));
  }
  for (std::size_t i = 0; i < hosts; ++i) round.out.hosts[i].worth_usd_h = worths_[i].usd_h();
}

double ArtifactLayouts::cost_alone_usd_h(std::span<const TaskKind> tasks, const WorthModel& model) {
  // The artifact asks for a job's price alone once and before it learns: every pair at its default.
  const ColocationTable nothing_learnt(model.rates == nullptr ? 1 : model.rates->default_pair());
  WorthModel blank = with_form(model, GangForm::plain);
  if (model.rates != nullptr) blank.rates = &nothing_learnt;
  Layout out;
  out.reset(tasks.size());
  waiting_.clear();
  host_at_.clear();
  for (std::uint32_t i = 0; i < tasks.size(); ++i) waiting_.push_back({i, i, kUnassigned, {}});
  provision({nullptr, blank, tasks, out});
  return out.cost_usd_h();
}

}  // namespace muster::eva
