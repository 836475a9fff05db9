#include "masters/actor/cloud_watch.hpp"

#include <utility>

namespace muster {

CloudWatch::CloudWatch(const Parts& parts, Host host)
    : master_(parts.master),
      link_(parts.link),
      links_(parts.links),
      workers_(parts.workers),
      logs_(parts.logs),
      host_(parts.host),
      hooks_(std::move(host)),
      reminder_(host_, [this] { remind(); }),
      asker_(host_, [this] { ask_due(); }),
      cap_(host_, [this] { keep_caps(); }) {}

void CloudWatch::start() {
  master_.know_cloud_clock(false);
  link_.greet();
  remind_later();
  for (const InstanceRow& row : master_.state().instances()) {
    workers_.await(row.id, master_.catalog()[row.type].setup);
  }
  watch_cap();
  hooks_.await_tick();
  ask_after_all();
}

void CloudWatch::hear(const CloudReport& report) {
  hear_clock(report);
  hear_offerings(report);
  const Instant heard = host_.stamp();
  const auto said = report.at == heard ? std::nullopt : std::optional(report.at);
  switch (report.kind) {
    case CloudReportKind::up:
      master_.instance_up(report.instance, said, heard);
      // Its worker may have been quicker than the cloud's word, which counts for the bill.
      if (links_.on(report.instance) != nullptr) master_.instance_ready(report.instance, heard);
      break;
    case CloudReportKind::refused:
      workers_.forget(report.instance);
      master_.instance_refused(report.instance, heard, report.reason);
      break;
    case CloudReportKind::gone:
      hear_gone(report, said, heard);
      break;
    case CloudReportKind::notice:
      hear_notice(report.instance, heard);
      break;
    case CloudReportKind::clock:
      if (link_.owes_end()) ask_after_all();
      break;
    case CloudReportKind::offerings:
      break;
  }
  host_.commit();
}

/// Nothing is rented for a clock of before: the cloud may have been started anew with another one.
void CloudWatch::hear_clock(const CloudReport& report) {
  const bool waited =
      report.kind == CloudReportKind::clock && master_.know_instances(report.newest);
  const CloudLink::ClockNews news = link_.hear_clock(report);
  if (news == CloudLink::ClockNews::none) return;
  if (news == CloudLink::ClockNews::found) {
    master_.know_cloud_clock(true);
    if (waited || master_.settings().caps.max_usd_day > 0) {
      hooks_.order_fleet();
      host_.commit();
      if (!master_.state().pending().empty()) host_.want_round();
    }
  }
  watch_cap();
}

void CloudWatch::hear_offerings(const CloudReport& report) {
  if (!link_.takes_changes(report, master_.state().offerings().known())) return;
  const bool repriced = master_.on_offerings(report.changes, host_.stamp());
  if (repriced && master_.cadence().on_price) host_.want_round();
  if (repriced) watch_cap();
}

void CloudWatch::hear_gone(const CloudReport& report, std::optional<Instant> said, Instant heard) {
  if (!link_.takes_end(report, master_.state().offerings().known())) return;
  // Of what was released its tasks have been taken off before; others come to wait only now, as
  // after a start that finds the instances of before ended.
  const InstanceRow* row = master_.state().find(report.instance);
  const bool lost_tasks = row != nullptr && !row->planned.empty();
  const auto is_out = [this, of = row != nullptr ? row->offering() : OfferingKey{}] {
    const OfferingRow* offering = master_.state().offerings().find(of);
    return offering != nullptr && left_of(master_.state(), *offering) == 0u;
  };
  const bool was_out = is_out();
  logs_.lose(report.instance);
  workers_.forget(report.instance);
  master_.instance_gone(report.instance, said, heard, {report.billed_from, report.reason});
  const bool is_back = was_out && !is_out();
  if (is_back && master_.cadence().on_price) host_.want_round();
  if (lost_tasks && master_.cadence().on_capacity) host_.want_round();
}

void CloudWatch::hear_notice(InstanceId id, Instant heard) {
  const InstanceRow* row = master_.state().find(id);
  if (row == nullptr || row->released) return;  // told before
  master_.evict(id, CauseCode::interrupted, heard);
  if (master_.cadence().on_capacity) host_.want_round();
}

void CloudWatch::watch(const std::vector<Event>& events) {
  if (events.empty()) return;
  hooks_.await_tick();
  bool ordered = false;
  bool rented = false;
  for (const Event& event : events) {
    if (const auto* up = std::get_if<InstanceUp>(&event.body)) {
      const InstanceRow* row = master_.state().find(up->instance);
      if (row != nullptr) workers_.await(row->id, master_.catalog()[row->type].setup);
    }
    if (const auto* launch = std::get_if<LaunchRequested>(&event.body)) {
      link_.ask_later(launch->instance);
      rented = true;
    }
    ordered |= std::holds_alternative<TerminateIssued>(event.body);
  }
  if (ordered || rented) remind_later();
  if (rented) watch_cap();
}

void CloudWatch::remind_later() {
  reminder_.after(master_.settings().watch.remind_every);
}

/// Orders that may have got lost on the way to the cloud, or whose answer may, are repeated; it is
/// asked after the instances of workers whose link went down.
void CloudWatch::remind() {
  master_.end_at_once();
  link_.greet_again();
  // Orders that wait for a journal that takes nothing would be repeated without end behind it.
  if (!hooks_.takes_more()) {
    host_.commit();
    return remind_later();
  }
  master_.remind();
  bool goes_on = master_.awaits_cloud() || !link_.knows_clock();
  for (const InstanceId id : links_.cut_off()) {
    master_.ask_after(id);
    goes_on = true;
  }
  host_.commit();
  if (goes_on) remind_later();
}

void CloudWatch::ask_after_all() {
  std::vector<InstanceId> all;
  for (const InstanceRow& row : master_.state().instances()) all.push_back(row.id);
  link_.restart_asks(all);
  if (!hooks_.takes_more()) return;
  master_.ask_after_all();
  host_.commit();
}

void CloudWatch::ask_due() {
  const bool takes_more = hooks_.takes_more();
  link_.ask_due([&](InstanceId id) {
    if (master_.state().find(id) == nullptr) return false;
    if (takes_more) master_.ask_after(id);
    return true;
  });
  host_.commit();
  if (master_.awaits_cloud() || links_.any_silent()) remind_later();
}

void CloudWatch::watch_cap() {
  if (!link_.ahead()) return;
  if (const auto wait = master_.until_cap(host_.stamp())) cap_.after(*wait);
}

void CloudWatch::keep_caps() {
  if (link_.ahead()) master_.keep_caps(host_.stamp());
  host_.commit();
  watch_cap();
}

}  // namespace muster
