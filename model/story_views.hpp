#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/job_views.hpp"
#include "model/view_fields.hpp"

// Decisions with their changes, and the lives of instances, as masters and the API show it.

namespace muster {

/// How far an instance has come in its life, also when it is gone.
enum class InstanceStage : std::uint8_t { asked_for, booting, ready, leaving, ended, refused };
constexpr auto words_of(InstanceStage) {
  using E = InstanceStage;
  return std::to_array<EnumWord<E>>({{E::asked_for, "asked for"},
                                     {E::booting, "booting"},
                                     {E::ready, "ready"},
                                     {E::leaving, "leaving"},
                                     {E::ended, "ended"},
                                     {E::refused, "refused"}});
}

/// An attempt that is or was on an instance.
struct VisitView {
  JobId job;
  std::uint32_t index = 0;
  Attempt attempt = 0;
  Instant sent;
  std::optional<Instant> ended{};
  AttemptEnd end = AttemptEnd::not_over;
};

void fields(auto& a, Like<VisitView> auto& v) {
  a(always("job", "id of the task's job"), v.job);
  a(always("task", "index of the task in its job"), v.index);
  a(always("attempt", "number of the attempt"), v.attempt);
  a(always("sent_s", "when it was sent to the instance"), v.sent);
  a(always("ended_s", "when it left the instance; null: it is there"), v.ended);
  a(always("end", "how it left"), v.end);
}

/// The life of an instance, which may be over.
struct InstanceLife {
  static constexpr std::string_view kSchema = "InstanceLife";

  bool known = false;  ///< otherwise the master has nothing of it
  InstanceId instance;
  std::string type;  ///< empty: the catalog does not have it any more
  Market market = Market::on_demand;
  std::string zone{};
  std::string master;
  InstanceStage stage = InstanceStage::asked_for;
  Instant requested;
  std::optional<Instant> up{};
  std::optional<Instant> ready{};
  std::optional<Instant> released{};
  std::optional<Instant> ended{};
  std::string why_rented{};
  std::string why_ended{};
  double usd_h = 0;
  double usd = 0;
  std::vector<VisitView> tasks{};
  std::uint64_t tasks_before = 0;
};

void fields(auto& a, Like<InstanceLife> auto& v) {
  a(inside("known"), v.known);
  a(always("instance", "id"), v.instance);
  a(or_null("type", "name of its type; null: the catalog does not have it any more"), v.type);
  a(always("market", "on-demand or spot"), v.market);
  a(or_null("zone", "its zone; null: the only one"), v.zone);
  a(always("master", "the master that rents or rented it"), v.master);
  a(always("stage",
           "leaving: no task is put there any more, and it ends with its last one; refused: the "
           "cloud did not give it"),
    v.stage);
  a(always("requested_s", "when the cloud was asked for it"), v.requested);
  a(always("up_s", "since when it is billed; null: it is not"), v.up);
  a(always("ready_s", "when its worker was ready; null before"), v.ready);
  a(always("released_s", "when it was decided to give it back; null: it was not"), v.released);
  a(always("ended_s", "when it was gone; null: it is there"), v.ended);
  a(or_null("why_rented", "a phrase for people; null: not known"), v.why_rented);
  a(or_null("why_ended", "a phrase for people; null: it is wanted"), v.why_ended);
  a(always("usd_h", "its last price an hour"), v.usd_h);
  a(always("usd", "its bill so far, by the master's word"), v.usd);
  a(always("tasks", "attempts that are or were there, the last ones, the newest last"), v.tasks);
  a(always("tasks_before", "number of attempts that were there before these"), v.tasks_before);
}

/// Kinds of changes that a round makes.
enum class ChangeKind : std::uint8_t { rent, place, move, restart, stop, give_back, resize };
constexpr auto words_of(ChangeKind) {
  using E = ChangeKind;
  return std::to_array<EnumWord<E>>({{E::rent, "rent"},
                                     {E::place, "place"},
                                     {E::move, "move"},
                                     {E::restart, "restart"},
                                     {E::stop, "stop"},
                                     {E::give_back, "give back"},
                                     {E::resize, "resize"}});
}

/// A change that a round made.
struct ChangeView {
  static constexpr std::string_view kSchema = "Change";

  ChangeKind change = ChangeKind::place;
  JobId job{};
  std::string name{};                    ///< of the job
  std::uint32_t tasks = 0;               ///< of the job
  std::optional<std::uint32_t> task{};   ///< the index of the first of these
  std::optional<std::uint32_t> width{};  ///< that the job is to have
  InstanceId instance{};                 ///< to which the tasks go, or which is rented; none: any
  InstanceId from{};                     ///< of tasks that run: their instance
  std::string instance_type{};
  std::optional<Market> market{};
  std::optional<double> usd_h{};  ///< of an instance that is rented
  std::string cause{};
  std::string why{};
};

void fields(auto& a, Like<ChangeView> auto& v) {
  a(always("change",
           "rent and give back: an instance; place: tasks get a place; move: tasks that run get "
           "another one; restart: they start again where they are; stop: they lose their place; "
           "resize: an elastic job gets another width"),
    v.change);
  a(or_null("job", "the job whose tasks they are; null: it is about an instance"), v.job);
  a(or_null("name", "name of the job"), v.name);
  a(always("tasks", "number of these tasks"), v.tasks);
  a(always("task", "index of the first of them"), v.task);
  a(always("width", "number of workers that the job is to have"), v.width);
  a(or_null("instance",
            "the instance, or the one to which the tasks go; null: no instance, or several that "
            "are not named"),
    v.instance);
  a(or_null("from", "the instance on which the tasks run; null: likewise"), v.from);
  a(or_null("instance_type", "type of the instance"), v.instance_type);
  a(always("market", "market of the instance"), v.market);
  a(always("usd_h", "price an hour of an instance that is rented"), v.usd_h);
  a(always("cause", "the reason, a word for programs"), v.cause);
  a(always("why", "the reason, a phrase for people"), v.why);
}

/// A round that changed something.
struct DecisionView {
  static constexpr std::string_view kSchema = "Decision";

  Instant at;
  std::string master;
  std::uint64_t round = 0;
  std::string choice;
  std::vector<FigureView> figures{};
  std::uint32_t launches = 0;
  std::uint32_t placements = 0;
  std::uint32_t moves = 0;
  std::uint32_t releases = 0;
  std::uint32_t resizes = 0;
  std::vector<ChangeView> changes{};
  std::uint32_t changes_left_out = 0;  ///< besides these
  std::string sentence{};              ///< of the changes; filled where it is shown
  std::string details{};               ///< of the choice and the figures; likewise
};

void fields(auto& a, Like<DecisionView> auto& v) {
  a(always("at_s", "when the round was"), v.at);
  a(always("master", "whose round it was"), v.master);
  a(always("round", "number of the round"), v.round);
  a(always("choice", "the policy's own word for the plan that it chose"), v.choice);
  a(later("figures", "the numbers on which the choice rests, by name"), v.figures);
  a(later("launches", "instances that it asked for"), v.launches);
  a(later("placements", "tasks that it gave a place"), v.placements);
  a(later("moves", "tasks that it moved"), v.moves);
  a(later("releases", "instances that it gave back"), v.releases);
  a(later("resizes", "elastic jobs whose width it changed"), v.resizes);
  a(later("changes", "its changes by job, instance and reason, as many as are kept"), v.changes);
  a(later("changes_left_out", "number of its changes besides these"), v.changes_left_out);
  a(always("sentence", "its changes and their reasons, for people"), v.sentence);
  a(later("details", "the policy's choice and figures, for those who know the policy"), v.details);
}

/// The last rounds of a master that changed something, the newest first.
struct DecisionsView {
  static constexpr std::string_view kSchema = "Decisions";

  std::vector<DecisionView> decisions;
};

void fields(auto& a, Like<DecisionsView> auto& v) {
  a(always("decisions", "the decisions, the newest first"), v.decisions);
}

}  // namespace muster
