#include "schedulers/muster/empty_host.hpp"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "schedulers/muster/pack_new.hpp"

namespace muster::own {
namespace {

class Emptying {
 public:
  Emptying(RoundLayout& layout, std::uint32_t host, std::span<const std::uint32_t> targets)
      : layout_(layout), host_(host), targets_(targets) {}

  Emptied run() {
    const RoundLayout::Working& working = layout_.host(host_);
    tasks_ = working.tasks;
    const bool all = !tasks_.empty() && working.fixed_tasks.empty() &&
                     std::all_of(tasks_.begin(), tasks_.end(), [&](std::uint32_t task) {
                       return layout_.piece(task).gang == kNoGang &&
                              layout_.priority(task) == layout_.priority(tasks_.front());
                     });
    if (!all) return {};
    for (const std::uint32_t task : tasks_) weight_usd_h_ += layout_.piece(task).value_usd_h;
    const bool pays = choose() > working.own_usd_h + kLeastGain * weight_usd_h_;
    // Tasks that wait for another instance of the kind that they have gain nothing by the wait.
    const bool is_renewed = joining_.empty() && packed_.new_hosts.size() == 1 &&
                            renews(layout_, host_, packed_.new_hosts.front());
    if (pays && !is_renewed && !anybody_waits()) done_.is_better = carry_out();
    return done_;
  }

 private:
  /// Chooses a place for each task as if the others were not to move, but for the room that they
  /// take: an estimate of what all of them gain.
  double choose() {
    std::stable_sort(tasks_.begin(), tasks_.end(), [&](std::uint32_t a, std::uint32_t b) {
      return kind_of(layout_.piece(a)) < kind_of(layout_.piece(b));
    });
    taken_.assign(targets_.size(), Resources{});
    double sum = 0;
    std::vector<Piece> rest;
    const Piece* last = nullptr;
    double alone_usd_h = kNever;
    for (const std::uint32_t task : tasks_) {
      const Piece& piece = layout_.piece(task);
      if (last == nullptr || kind_of(*last) != kind_of(piece)) alone_usd_h = worth_alone(piece);
      last = &piece;
      double most = alone_usd_h;
      std::size_t best = targets_.size();
      for (std::size_t i = 0; i < targets_.size(); ++i) {
        const std::optional<double> gain = gain_by(task, i);
        if (gain && *gain > most) most = *gain, best = i;
      }
      if (best == targets_.size()) {
        rest_.push_back(task);
        rest.push_back(piece);
        rest.back().home = kUnassigned;
        continue;
      }
      taken_[best] += layout_.amount_on(task, targets_[best]);
      joining_.emplace_back(task, targets_[best]);
      sum += most;
    }
    Packing packing = pack_new(layout_.model(), rest);
    done_.looks += packing.looks;
    packed_ = std::move(packing.partition);
    return sum + packed_.value_usd_h;
  }

  /// A task would be left without a place: the searches alone decide who is paused.
  bool anybody_waits() const {
    const auto& places = packed_.host_of;
    return std::find(places.begin(), places.end(), Partition::kWaits) != places.end();
  }

  /// On a new instance.
  double worth_alone(const Piece& piece) {
    const Piece* alone[] = {&piece};
    const std::optional<NewHost> fresh = Valuer{layout_.model(), paces_}.best_new(alone);
    return fresh ? fresh->value_usd_h : kNever;
  }

  std::optional<double> gain_by(std::uint32_t task, std::size_t target) {
    const std::uint32_t number = targets_[target];
    const RoundLayout::Working& working = layout_.host(number);
    // An empty one or one to be rented is no better than what packing finds.
    if (number == host_ || !layout_.is_open(number) || working.present == kUnassigned) return {};
    const bool is_empty = working.tasks.empty() && working.fixed_tasks.empty();
    if (is_empty && !working.machine) return {};
    if (!layout_.has_room(task, number, taken_[target])) return {};
    done_.looks += working.tasks.size() + working.fixed_tasks.size();
    return layout_.gain_by(task, number);
  }

  /// Does what was chosen, and undoes it where the estimate was too good.
  bool carry_out() {
    const double before = layout_.running_value_usd_h();
    std::vector<std::pair<std::uint32_t, bool>> marks{{host_, layout_.host(host_).dirty}};
    for (const auto& [task, target] : joining_)
      marks.emplace_back(target, layout_.host(target).dirty);
    for (const std::uint32_t task : tasks_) layout_.take_off(task);
    for (const auto& [task, target] : joining_) layout_.add(task, target);
    std::vector<std::uint32_t> fresh;
    for (const std::uint32_t offer : packed_.new_hosts) fresh.push_back(layout_.add_new(offer));
    for (std::size_t i = 0; i < rest_.size(); ++i) layout_.add(rest_[i], fresh[packed_.host_of[i]]);
    if (layout_.running_value_usd_h() > before + kLeastGain * weight_usd_h_) return true;
    for (const std::uint32_t task : tasks_) layout_.take_off(task);
    for (const std::uint32_t task : tasks_) layout_.add(task, host_);
    for (const auto& [host, dirty] : marks) layout_.set_dirty(host, dirty);
    return false;
  }

  RoundLayout& layout_;
  std::uint32_t host_;
  std::span<const std::uint32_t> targets_;
  std::vector<std::uint32_t> tasks_;
  double weight_usd_h_ = 0;
  std::vector<Resources> taken_;  ///< of each target, by those that are to join it
  std::vector<std::pair<std::uint32_t, std::uint32_t>> joining_;  ///< task, target
  std::vector<std::uint32_t> rest_;
  Partition packed_;  ///< of the rest
  Paces paces_;
  Emptied done_;
};

}  // namespace

Emptied empty_host(RoundLayout& layout, std::uint32_t host,
                   std::span<const std::uint32_t> targets) {
  return Emptying(layout, host, targets).run();
}

}  // namespace muster::own
