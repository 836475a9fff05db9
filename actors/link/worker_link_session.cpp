#include "actors/link/worker_link_session.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

#include "actors/link/frame.hpp"
#include "actors/link/worker_link_codec.hpp"

// The master's side of one link: a session checks what the worker says and speaks for it as an
// actor, in the name of the instance that its certificate says and of no other.

namespace muster {
namespace {

/// The oldest question is forgotten: its answer counts as unasked, as one to nothing.
template <class Question>
void keep(std::deque<Question>& open, const Question& asked) {
  if (open.size() == AskedQuestions::kMaxOpen) open.pop_front();
  open.push_back(asked);
}

}  // namespace

void AskedQuestions::asked_for_log(std::uint64_t number, std::uint32_t max_bytes) {
  const std::lock_guard lock(mutex_);
  keep(logs_, {number, max_bytes});
}

void AskedQuestions::asked_for_samples(std::uint64_t sample_round) {
  const std::lock_guard lock(mutex_);
  keep(askings_, sample_round);
}

void AskedQuestions::asked_about_command(std::uint64_t number) {
  const std::lock_guard lock(mutex_);
  keep(commands_, number);
}

void AskedQuestions::asked_for_usage(std::uint64_t number) {
  const std::lock_guard lock(mutex_);
  keep(usages_, number);
}

bool AskedQuestions::answers(const UsageAnswer& answer) {
  const std::lock_guard lock(mutex_);
  return std::erase(usages_, answer.number) > 0;
}

bool AskedQuestions::answers(const ExecAnswer& answer) {
  const std::lock_guard lock(mutex_);
  return std::erase(commands_, answer.number) > 0;
}

bool AskedQuestions::answers(const LogAnswer& answer) {
  const std::lock_guard lock(mutex_);
  const auto found = std::find_if(logs_.begin(), logs_.end(), [&](const auto& open) {
    // A longer text than was asked for is no answer.
    return open.first == answer.number && answer.text.size() <= open.second;
  });
  if (found == logs_.end()) return false;
  logs_.erase(found);
  return true;
}

bool AskedQuestions::answers(const SampleAnswer& answer) const {
  const std::lock_guard lock(mutex_);
  return std::find(askings_.begin(), askings_.end(), answer.sample_round) != askings_.end();
}

WorkerProxy::WorkerProxy(caf::actor_config& config, Setup setup)
    : WorkerActor::base(config), setup_(std::move(setup)) {
  // Without a master the session has no purpose.
  set_down_handler([this](const caf::down_msg&) { quit(); });
  monitor(setup_.master);
}

void WorkerProxy::on_exit() {
  setup_.connection->end("the master has let go of the worker");
  setup_.connection = nullptr;
  setup_.master = nullptr;
}

WorkerActor::behavior_type WorkerProxy::make_behavior() {
  return {
      [this](start_atom, const TaskOrder& order) { start(order); },
      [this](stop_atom, TaskId task, Attempt attempt) {
        setup_.connection->send(stop_frame(task, attempt));
      },
      [this](ack_atom, TaskId task, Attempt attempt) {
        setup_.connection->send(ack_frame(task, attempt));
      },
      [this](greet_atom) { setup_.connection->send(greet_frame()); },
      [this](sample_atom, std::uint64_t sample_round) {
        // Noted before it is sent: the answer comes on another thread.
        setup_.asked->asked_for_samples(sample_round);
        setup_.connection->send(sample_frame(sample_round));
      },
      [this](const LogRequest& request) {
        setup_.asked->asked_for_log(request.number, request.max_bytes);
        setup_.connection->send(log_request_frame(request));
      },
      [this](const ExecRequest& request) { exec(request); },
      [this](const UsageRequest& request) { usage(request); },
      [](const Wakeup& wakeup) { wakeup.run(); },
  };
}

void WorkerProxy::start(const TaskOrder& order) {
  FrameBytes frame = start_frame(order, setup_.max_frame_bytes);
  // Would never fit, however often it is repeated: the attempt fails here, in the worker's name.
  if (!frame.empty()) return setup_.connection->send(std::move(frame));
  WorkerReport report;
  report.instance = setup_.instance;
  report.task = order.task.id;
  report.attempt = order.attempt;
  report.kind = WorkerReportKind::failed;
  report.failure = FailureKind::cannot_start;
  report.reason = "the order to start it is longer than the " +
                  std::to_string(setup_.max_frame_bytes) +
                  " bytes that the worker link takes: shorten its command or environment";
  send(setup_.master, std::move(report));
}

/// A worker that would pass over the frame, or one that would never fit, is answered for here.
void WorkerProxy::exec(const ExecRequest& request) {
  const auto refuse = [&](std::string reason) {
    ExecAnswer answer = exec_trouble(request, ExecTrouble::unsupported, std::move(reason));
    answer.instance = setup_.instance;
    send(setup_.master, std::move(answer));
  };
  if (setup_.minor < kLinkMinorOfExec) {
    return refuse("the worker of instance " + std::to_string(setup_.instance.value) +
                  " is of an earlier version, which starts no commands beside tasks");
  }
  FrameBytes frame = exec_frame(request, setup_.max_frame_bytes);
  if (frame.empty()) return refuse("it is longer than the worker link takes");
  // Noted before it is sent: the answer comes on another thread.
  setup_.asked->asked_about_command(request.number);
  setup_.connection->send(std::move(frame));
}

/// A worker that would pass over the frame knows nothing.
void WorkerProxy::usage(const UsageRequest& request) {
  if (setup_.minor < kLinkMinorOfUsage) {
    return send(setup_.master, UsageAnswer{setup_.instance, request.number, {}});
  }
  // Noted before it is sent: the answer comes on another thread.
  setup_.asked->asked_for_usage(request.number);
  setup_.connection->send(usage_frame(request));
}

WorkerSession::WorkerSession(Owner owner, std::shared_ptr<FrameConnection> connection)
    : owner_(std::move(owner)), connection_(std::move(connection)) {}

void WorkerSession::start() {
  FrameHandlers handlers;
  handlers.ready = [self = shared_from_this()](const std::string& peer) {
    return self->ready(peer);
  };
  handlers.frame = [self = shared_from_this()](link_wire::Frame::Reader read) {
    return self->frame(read);
  };
  handlers.fence = [master = owner_.master](std::function<void()> passed) {
    // Mailboxes are first in, first out: when the wakeup runs, the master has dealt with all
    // before.
    caf::anon_send(master, Wakeup{std::move(passed)});
  };
  handlers.closed = [self = shared_from_this()](const std::string& reason) {
    self->closed(reason);
  };
  connection_->start(LinkEnd::master, std::move(handlers));
}

WorkerSession::Problem WorkerSession::ready(const std::string& peer) {
  peer_ = peer;
  // The name itself is compared with the hello, which says the instance.
  if (connection_->encrypted() && peer.empty()) return "no certificate that names an instance";
  return std::nullopt;
}

WorkerSession::Problem WorkerSession::frame(link_wire::Frame::Reader frame) {
  if (!proxy_ && !frame.isHello()) return "the first frame has to be a hello";
  switch (frame.which()) {
    case link_wire::Frame::HELLO:
      return hello(frame.getHello());
    case link_wire::Frame::REPORT:
      return report(frame.getReport());
    case link_wire::Frame::SAMPLES:
      return samples(frame.getSamples());
    case link_wire::Frame::LOG:
      return log(frame.getLog());
    case link_wire::Frame::METRICS:
      return metrics(frame.getMetrics());
    case link_wire::Frame::FILLED:
      return filled(frame.getFilled());
    case link_wire::Frame::EXEC_ANSWER:
      return exec_answer(frame.getExecAnswer());
    case link_wire::Frame::USAGE_ANSWER:
      return pass_on(read_usage_answer(frame.getUsageAnswer()));
    case link_wire::Frame::WELCOME:
    case link_wire::Frame::REFUSED:
    case link_wire::Frame::START:
    case link_wire::Frame::STOP:
    case link_wire::Frame::SETTLED:
    case link_wire::Frame::GREET:
    case link_wire::Frame::SAMPLE:
    case link_wire::Frame::LOG_REQUEST:
    case link_wire::Frame::EXEC:
    case link_wire::Frame::USAGE:
      return "a frame that only a master sends";
    default:  // of a newer minor version
      ++owner_.counts->unknown;
      return std::nullopt;
  }
}

WorkerSession::Problem WorkerSession::other_instance(InstanceId named) const {
  if (named == instance_) return std::nullopt;
  return "the worker of instance " + std::to_string(instance_.value) +
         " speaks in the name of instance " + std::to_string(named.value);
}

WorkerSession::Problem WorkerSession::hello(link_wire::Hello::Reader frame) {
  if (!proxy_) return first_hello(frame);
  auto read = read_hello(frame);
  if (!read) return read.error().message;
  if (auto problem = other_instance(read->instance)) return problem;
  return take_hello(std::move(read).value(), frame.getMore());
}

/// The master hears of a hello when its last frame is there: tasks that it does not name are not on
/// the instance.
WorkerSession::Problem WorkerSession::take_hello(WorkerHello part, bool more) {
  constexpr std::size_t kLeastReason = 64;
  if (!hello_ || hello_->number != part.number) hello_text_bytes_ = 0;
  // The sender is not checked: all its frames have no more text than one frame may have, and
  // further reports lose theirs.
  for (WorkerReport& report : part.known) {
    hello_text_bytes_ += report.reason.size() + report.out_tail.size() + report.err_tail.size();
    if (hello_text_bytes_ <= owner_.options->max_frame_bytes) continue;
    std::string().swap(report.out_tail);
    std::string().swap(report.err_tail);
    report.reason = clean_text(report.reason, kLeastReason);
  }
  if (hello_ && hello_->number == part.number) {
    std::move(part.known.begin(), part.known.end(), std::back_inserter(hello_->known));
  } else {
    hello_ = std::move(part);
  }
  if (hello_->known.size() > kMaxKnownReports) return "a hello with too many reports";
  if (more) return std::nullopt;
  caf::anon_send(owner_.master, hello_atom_v, *std::exchange(hello_, std::nullopt), proxy_);
  return std::nullopt;
}

WorkerSession::Problem WorkerSession::first_hello(link_wire::Hello::Reader frame) {
  const auto version = frame.getVersion();
  if (version.getMajor() != kLinkMajor) {
    return "a worker of another version: it speaks " + std::to_string(version.getMajor()) + "." +
           std::to_string(version.getMinor()) + " and this master " + std::to_string(kLinkMajor) +
           "." + std::to_string(kLinkMinor);
  }
  auto read = read_hello(frame);
  if (!read) return read.error().message;
  // Without this a worker could speak for any instance of the cluster.
  if (connection_->encrypted() && peer_ != certificate_name(read->instance)) {
    return "the certificate of '" + peer_ + "' does not speak for instance " +
           std::to_string(read->instance.value);
  }
  if (!connection_->met(frame.getCredits())) return "a hello that takes no frames, or too many";
  instance_ = read->instance;
  proxy_ = owner_.system->spawn<WorkerProxy>(
      WorkerProxy::Setup{instance_, connection_, asked_, owner_.master,
                         owner_.options->max_frame_bytes, version.getMinor()});
  // The old link of the instance ends before the master hears of the new one.
  owner_.met(shared_from_this());
  connection_->open(welcome_frame(owner_.options->credits));
  return take_hello(std::move(read).value(), frame.getMore());
}

WorkerSession::Problem WorkerSession::report(link_wire::Report::Reader frame) {
  // Reports change the master's state, so each is checked whole and in the worker's own name.
  auto read = read_report(frame);
  if (!read) return read.error().message;
  if (auto problem = other_instance(read->instance)) return problem;
  if (read->kind == WorkerReportKind::accepted) return "'accepted' outside a hello";
  caf::anon_send(owner_.master, std::move(read).value());
  return std::nullopt;
}

/// Passes on what answers a question of this link, in the name of its own instance only.
template <class Answer>
WorkerSession::Problem WorkerSession::pass_on(Expected<Answer, LinkError> read) {
  if (!read) return read.error().message;
  if (auto problem = other_instance(read->instance)) return problem;
  if (asked_->answers(read.value())) {
    caf::anon_send(owner_.master, std::move(read).value());
  } else {
    ++owner_.counts->unasked;
  }
  return std::nullopt;
}

WorkerSession::Problem WorkerSession::samples(link_wire::Samples::Reader frame) {
  auto read = read_samples(frame);
  if (!read) return read.error().message;
  if (samples_ && samples_->sample_round == read->sample_round) {
    std::move(read->samples.begin(), read->samples.end(), std::back_inserter(samples_->samples));
    std::move(read->progress.begin(), read->progress.end(), std::back_inserter(samples_->progress));
  } else {
    samples_ = std::move(read).value();
  }
  if (std::max(samples_->samples.size(), samples_->progress.size()) > kMaxSamples) {
    return "too many samples in one answer";
  }
  if (frame.getMore()) return std::nullopt;
  return pass_on(Expected<SampleAnswer, LinkError>(*std::exchange(samples_, std::nullopt)));
}

WorkerSession::Problem WorkerSession::log(link_wire::Log::Reader frame) {
  return pass_on(read_log(frame));
}

WorkerSession::Problem WorkerSession::exec_answer(link_wire::ExecAnswer::Reader frame) {
  return pass_on(read_exec_answer(frame));
}

WorkerSession::Problem WorkerSession::metrics(link_wire::Metrics::Reader frame) {
  auto read = read_metrics(frame);
  if (!read) return read.error().message;
  if (auto problem = other_instance(read->instance)) return problem;
  caf::anon_send(owner_.master, std::move(read).value());
  return std::nullopt;
}

WorkerSession::Problem WorkerSession::filled(link_wire::Filled::Reader frame) {
  auto read = read_filled(frame);
  if (!read) return read.error().message;
  if (auto problem = other_instance(read->instance)) return problem;
  caf::anon_send(owner_.master, std::move(read).value());
  return std::nullopt;
}

void WorkerSession::closed(const std::string& reason) {
  // Monitors of the proxy see the reason, as if the worker itself had gone down.
  if (proxy_) caf::anon_send_exit(proxy_, caf::exit_reason::remote_link_unreachable);
  proxy_ = nullptr;
  owner_.closed(shared_from_this(), reason);
}

}  // namespace muster
