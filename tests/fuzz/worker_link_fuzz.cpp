// Hostile bytes against a master's end of the worker link:
// worker_link_fuzz [SESSIONS] [SEED] (or MUSTER_FUZZ_SESSIONS).
// Attackers run mutated sessions, before TLS and behind it with the certificate of instance 7. The
// program fails when the master hears anything in another instance's name or that no decoder should
// let through, when a good worker is not welcomed, or when connections, descriptors or memory stay.

#include <openssl/ssl.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "tests/actors/link/raw_peer.hpp"
#include "tests/actors/link/worker_link_world.hpp"

namespace muster::test {
namespace {

#if defined(__SANITIZE_ADDRESS__)
constexpr std::int64_t kMaxGrowthKib = 400 << 10;  // freed memory rests in the quarantine
#else
constexpr std::int64_t kMaxGrowthKib = 64 << 10;
#endif
constexpr int kAttackers = 4;
constexpr int kRounds = 10;
constexpr InstanceId kStolen{7};  ///< whose key the attackers have
constexpr InstanceId kGood{8};
constexpr std::size_t kFrameBytes = std::size_t{1} << 20;

std::int64_t resident_kib() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with("VmRSS:")) return std::atoll(line.c_str() + 6);
  }
  return 0;
}

std::ptrdiff_t descriptors() {
  const std::filesystem::directory_iterator all("/proc/self/fd");
  return std::distance(begin(all), end(all));
}

/// What has reached the master, and whether all of it could be said by the one who said it.
struct Heard {
  std::atomic<std::uint64_t> messages{0};
  std::atomic<std::uint64_t> wrong{0};

  void check(bool right) {
    ++messages;
    if (!right) ++wrong;
  }
};

bool known_instance(InstanceId instance) {
  return instance == kStolen || instance == kGood;
}

bool proper(const WorkerReport& report) {
  return known_instance(report.instance) && report.task.valid() && report.attempt > 0 &&
         report.kind <= WorkerReportKind::rejected && report.fetch >= Duration::zero() &&
         report.build >= Duration::zero() && report.upload >= Duration::zero() &&
         report.fetch <= kMaxSpan && report.reason.size() <= kMaxReasonBytes &&
         report.out_tail.size() <= kMaxTailBytes && report.err_tail.size() <= kMaxTailBytes;
}

bool proper(const WorkerHello& hello) {
  for (const double amount : hello.capacity.amounts()) {
    if (!std::isfinite(amount) || amount < 0) return false;
  }
  return known_instance(hello.instance) && hello.limits.size() <= kMaxLimitsBytes &&
         std::ranges::all_of(hello.known, [&](const WorkerReport& report) {
           return report.instance == hello.instance && proper(report);
         });
}

bool proper(const SampleAnswer& answer) {
  return known_instance(answer.instance) &&
         std::ranges::all_of(answer.samples,
                             [](const TaskThroughput& sample) {
                               return sample.task.valid() && sample.attempt > 0 &&
                                      static_cast<double>(sample.scaled) <= TaskThroughput::kOne;
                             }) &&
         std::ranges::all_of(answer.progress, [](const TaskProgress& each) {
           return each.said.task.valid() && each.attempt > 0 && std::isfinite(each.said.done) &&
                  each.said.done >= 0;
         });
}

bool proper(const MetricsReport& report) {
  return known_instance(report.instance) &&
         std::ranges::all_of(report.attempts, [](const AttemptMetrics& each) {
           return each.said.task.valid() && each.attempt > 0 && are_metrics(each.said.values);
         });
}

bool proper(const FilledLogs& said) {
  return known_instance(said.instance) && std::ranges::all_of(said.logs, [](const FilledLog& each) {
           return each.task.valid() && each.attempt > 0;
         });
}

/// Asks every worker that says hello for what it might then answer.
LinkedMaster spawn_checking_master(caf::actor_system& system, Heard& heard) {
  return system.spawn([&heard](LinkedMaster::pointer self) -> LinkedMaster::behavior_type {
    return {
        [&heard, self](hello_atom, const WorkerHello& hello, const WorkerActor& worker) {
          heard.check(proper(hello));
          self->send(worker, sample_atom_v, std::uint64_t{1});
          self->send(worker, LogRequest{1, TaskId{1}, 1, false, 0, 4096});
          self->send(worker, ExecRequest{1, TaskId{1}, 1});
          self->send(worker, UsageRequest{1});
          self->send(worker, stop_atom_v, TaskId{1}, Attempt{1});
        },
        [&heard](const WorkerReport& report) {
          heard.check(proper(report) && report.kind != WorkerReportKind::accepted);
        },
        [&heard](const SampleAnswer& answer) {
          heard.check(proper(answer) && answer.sample_round == 1);
        },
        [&heard](const LogAnswer& answer) {
          heard.check(known_instance(answer.instance) && answer.number == 1 &&
                      answer.text.size() <= 4096);
        },
        [&heard](const MetricsReport& report) { heard.check(proper(report)); },
        [&heard](const FilledLogs& said) { heard.check(proper(said)); },
        [&heard](const ExecAnswer& answer) {
          heard.check(known_instance(answer.instance) && answer.number == 1 &&
                      answer.out.size() + answer.err.size() <= kMostExecOutput);
        },
        [&heard](const UsageAnswer& answer) {
          bool is_proper = known_instance(answer.instance) && answer.number == 1;
          for (const AttemptUsage& each : answer.attempts) {
            is_proper &= each.so_far == within_bounds(each.so_far) && each.task.valid();
            is_proper &= !each.cores || (*each.cores >= 0 && *each.cores <= kMostCores);
          }
          heard.check(is_proper);
        },
        [](const Wakeup& wakeup) { wakeup.run(); },
    };
  });
}

WorkerReport report_of(std::uint64_t task, WorkerReportKind kind) {
  WorkerReport report;
  report.instance = kStolen;
  report.task = TaskId{task};
  report.attempt = 1;
  report.kind = kind;
  report.reason = "because";
  report.out_tail = std::string(300, 'o');
  report.err_tail = "err";
  return report;
}

FrameBytes good_hello(InstanceId instance) {
  WorkerHello hello{instance, 1, Resources::of(1, 4, 16), "limits", {}};
  hello.known = {report_of(1, WorkerReportKind::accepted),
                 report_of(2, WorkerReportKind::finished)};
  for (WorkerReport& report : hello.known) report.instance = instance;
  return hello_frame(hello, 256, kFrameBytes);
}

ExecAnswer command_of() {
  ExecAnswer answer{kStolen, 1, 70'000};
  answer.out = std::string(500, 'o');
  answer.err = "err";
  return answer;
}

std::vector<FrameBytes> good_session() {
  return {good_hello(kStolen),
          report_frame(report_of(1, WorkerReportKind::started), kFrameBytes),
          samples_frame({kStolen, 1, {{TaskId{1}, 1, 77}, {TaskId{2}, 1, 78}}}, kFrameBytes),
          log_frame({kStolen, 1, 0, std::string(1000, 'l'), true}, kFrameBytes),
          filled_frames({kStolen, {{TaskId{1}, 1, 8192, 0}}}, kFrameBytes).front(),
          heartbeat_frame(),
          credit_frame(3),
          report_frame(report_of(1, WorkerReportKind::failed), kFrameBytes),
          welcome_frame(256),
          greet_frame(),
          exec_answer_frame(command_of(), kFrameBytes),
          exec_frame({1, TaskId{1}, 1, 0, "ann", "t", {"sh", "-c", "ls"}}, kFrameBytes),
          start_frame(TaskOrder{}, kFrameBytes)};
}

/// The first bytes of a client that begins TLS in earnest.
std::string client_hello(const TlsContext& context) {
  const std::unique_ptr<SSL, decltype(&SSL_free)> tls(SSL_new(context->native_handle()), &SSL_free);
  SSL_set_bio(tls.get(), BIO_new(BIO_s_mem()), BIO_new(BIO_s_mem()));
  SSL_connect(tls.get());
  char* data = nullptr;
  const long size = BIO_get_mem_data(SSL_get_wbio(tls.get()), &data);
  return {data, static_cast<std::size_t>(size)};
}

class Attacker {
 public:
  struct Target {
    std::uint16_t port;
    TlsContext worker;
    TlsContext node;  ///< of the wrong authority
    std::string hello;
    std::vector<FrameBytes> session;
  };

  Attacker(const Target& target, std::uint64_t seed) : target_(target), draw_(seed) {}

  void run(int sessions) {
    for (int i = 0; i < sessions; ++i) attack();
  }

 private:
  std::size_t below(std::size_t bound) { return draw_() % bound; }

  void attack() {
    RawPeer peer(target_.port);
    if (!peer.connected()) return;
    if (below(4) != 0) peer.reset();
    const std::size_t kind = below(10);
    if (kind == 0) {
      peer.send(random_bytes(below(3000)));
    } else if (kind < 3) {
      std::string hello = target_.hello;
      if (below(2) == 0) hello.resize(below(hello.size()));
      if (below(2) == 0 && !hello.empty()) hello[below(hello.size())] ^= static_cast<char>(draw_());
      peer.send(hello + random_bytes(below(100)));
    } else if (kind == 3) {
      if (peer.start_tls(target_.node)) peer.send(target_.session.front());
    } else {
      behind_tls(peer);
    }
    // One that has said its last is closed at once; the others only when they are given up.
    if (below(8) == 0) peer.finish_sending();
    if (below(512) == 0) peer.is_closed_by_other();
    decode_here();
  }

  void behind_tls(RawPeer& peer) {
    if (!peer.start_tls(target_.worker)) return;
    const std::string session = mutated_session();
    const std::size_t chunk = 1 + below(below(4) == 0 ? 40 : 8000);
    for (std::size_t at = 0; at < session.size(); at += chunk) {
      if (!peer.send(std::string_view(session).substr(at, chunk))) return;
      if (below(200) == 0) std::this_thread::sleep_for(std::chrono::milliseconds{2});
    }
    if (below(2) == 0) {
      peer.finish_sending();
      peer.receive(8);
    }
  }

  /// A hello, most of the time a good one, and some frames of which some are not what they were.
  std::string mutated_session() {
    std::string bytes;
    if (below(8) != 0) bytes += below(4) == 0 ? mutated(target_.session[0]) : target_.session[0];
    for (std::size_t i = below(8); i > 0; --i) {
      const FrameBytes& frame = target_.session[below(target_.session.size())];
      const std::size_t times = below(20) == 0 ? 300 : 1;
      const FrameBytes sent = below(3) == 0 ? frame : mutated(frame);
      for (std::size_t n = 0; n < times; ++n) bytes += sent;
    }
    if (below(4) == 0) bytes += random_bytes(below(100));
    return bytes;
  }

  FrameBytes mutated(FrameBytes frame) {
    for (std::size_t i = 1 + below(3); i > 0 && frame.size() > kFrameHeaderBytes; --i) {
      mutate_once(frame);
    }
    return frame;
  }

  void mutate_once(FrameBytes& frame) {
    static constexpr std::array<std::uint64_t, 8> kWords{
        0,
        1,
        0x7fffffffffffffff,
        0xffffffffffffffff,
        0x00000001fffffffc,  // a struct pointer to itself
        0xfffffffffffffffd,  // a list of very many
        0x7ff0000000000000,  // infinity
        0x7ff8000000000000};
    const std::size_t body = frame.size() - kFrameHeaderBytes;
    switch (below(8)) {
      case 0:
      case 1:
        frame[kFrameHeaderBytes + below(body)] ^= static_cast<char>(1 << below(8));
        break;
      case 2:
      case 3:
        put_word(frame, below(body / 8), kWords[below(kWords.size())]);
        break;
      case 4:
        put_word(frame, below(body / 8), draw_());
        break;
      case 5:  // a length that is not the frame's
        put_length(frame, below(2) == 0 ? 8 * below(300'000) : draw_());
        break;
      case 6:  // shorter or longer, and it says so
        frame.resize(kFrameHeaderBytes + 8 * (1 + below(2 * body / 8)));
        put_length(frame, frame.size() - kFrameHeaderBytes);
        break;
      default:
        frame[below(frame.size())] = static_cast<char>(draw_());
    }
  }

  static void put_word(FrameBytes& frame, std::size_t index, std::uint64_t word) {
    for (std::size_t i = 0; i < 8 && kFrameHeaderBytes + 8 * index + i < frame.size(); ++i) {
      frame[kFrameHeaderBytes + 8 * index + i] = static_cast<char>(word >> (8 * i));
    }
  }
  static void put_length(FrameBytes& frame, std::uint64_t length) {
    for (std::size_t i = 0; i < kFrameHeaderBytes; ++i) {
      frame[i] = static_cast<char>(length >> (8 * i));
    }
  }

  /// The frames that only a worker reads, through its decoders.
  void decode_here() {
    // The last two.
    const FrameBytes frame = mutated(target_.session[target_.session.size() - 1 - below(2)]);
    std::vector<std::uint64_t> words((frame.size() - kFrameHeaderBytes) / 8);
    std::copy_n(frame.data() + kFrameHeaderBytes, words.size() * 8,
                reinterpret_cast<char*>(words.data()));
    read_frame(words, [](link_wire::Frame::Reader read) -> std::optional<std::string> {
      if (read.isStart()) read_start(read.getStart());
      if (read.isLogRequest()) read_log_request(read.getLogRequest());
      if (read.isExec()) read_exec(read.getExec());
      return std::nullopt;
    });
  }

  std::string random_bytes(std::size_t size) {
    std::string bytes(size, '\0');
    std::ranges::generate(bytes, [this] { return static_cast<char>(draw_()); });
    return bytes;
  }

  const Target& target_;
  std::mt19937_64 draw_;
};

bool welcomes_a_good_worker(std::uint16_t port, const TlsFiles& files) {
  RawWorker worker(port, files);
  return worker.send(good_hello(kGood)) && worker.welcomed();
}

void one_round(const Attacker::Target& target, int sessions, std::uint64_t seed) {
  std::vector<std::thread> threads;
  for (int i = 0; i < kAttackers; ++i) {
    threads.emplace_back([&target, sessions, seed, i] {
      Attacker(target, seed * kAttackers + static_cast<std::uint64_t>(i))
          .run(std::max(1, sessions / kAttackers));
    });
  }
  for (std::thread& thread : threads) thread.join();
}

int fail(const char* what) {
  std::printf("FAILED: %s\n", what);
  return 1;
}

/// The master's side of the fuzzed link.
struct World {
  World() {
    master = spawn_checking_master(system.actors(), heard);
    WorkerListenerSetup setup;
    setup.tls = pki.node("m0");
    setup.tls->trusted = pki.authority(PkiRole::worker);
    setup.options.handshake = from_seconds(2);
    setup.options.heartbeat = from_seconds(0.5);
    setup.options.dead_after = from_seconds(2);
    setup.master = master;
    auto started = WorkerListener::start(system.actors(), std::move(setup));
    MUSTER_CHECK(started.has_value(), "a fuzz test without a listener");
    listener = std::move(started).value();
  }
  ~World() {
    listener.reset();
    caf::anon_send_exit(master, caf::exit_reason::kill);
  }
  World(const World&) = delete;
  World& operator=(const World&) = delete;

  ClusterPki pki;
  Heard heard;
  LiveSystem system;
  LinkedMaster master;
  std::unique_ptr<WorkerListener> listener;
};

void print(const World& world, std::int64_t first_kib) {
  const WorkerListenerCounts& counts = world.listener->counts();
  const auto shown = [](const auto& count) { return static_cast<long long>(count.load()); };
  std::printf("accepted %lld, met %lld, refused %lld, unknown kinds %lld, unasked answers %lld\n",
              shown(counts.accepted), shown(counts.met), shown(counts.refused),
              shown(counts.unknown), shown(counts.unasked));
  std::printf("messages that reached the master: %lld, improper ones: %lld\n",
              shown(world.heard.messages), shown(world.heard.wrong));
  std::printf("resident: %lld KiB after the first round, %lld KiB at the end\n",
              static_cast<long long>(first_kib), static_cast<long long>(resident_kib()));
}

int run(int sessions, std::uint64_t seed) {
  World world;
  const std::uint16_t port = world.listener->port();
  const TlsFiles stolen = world.pki.worker(certificate_name(kStolen));
  const TlsFiles good = world.pki.worker(certificate_name(kGood));
  const TlsContext worker = client_context(stolen).value();
  const Attacker::Target target{port, worker, client_context(world.pki.node("n1")).value(),
                                client_hello(worker), good_session()};
  if (!welcomes_a_good_worker(port, good)) return fail("a good worker is not welcomed at first");
  if (!comes_true([&] { return world.listener->counts().open == 0; })) {
    return fail("a good worker's connection stays");
  }
  const std::ptrdiff_t descriptors_first = descriptors();
  std::int64_t first_kib = 0;
  for (int round = 0; round < kRounds; ++round) {
    one_round(target, sessions / kRounds, seed * kRounds + static_cast<std::uint64_t>(round));
    if (!welcomes_a_good_worker(port, good)) return fail("a good worker is not welcomed");
    if (world.heard.wrong != 0) return fail("something improper has reached the master");
    if (first_kib == 0) first_kib = resident_kib();
    if (resident_kib() > first_kib + kMaxGrowthKib) return fail("memory grows");
  }
  if (!comes_true([&] { return world.listener->counts().open == 0; })) {
    return fail("connections stay open");
  }
  if (!comes_true([&] { return descriptors() <= descriptors_first; })) {
    return fail("descriptors stay open");
  }
  print(world, first_kib);
  if (world.heard.messages == 0) return fail("nothing has reached the master at all");
  std::printf("%d sessions, seed %llu: all is well\n", sessions,
              static_cast<unsigned long long>(seed));
  return 0;
}

}  // namespace
}  // namespace muster::test

int main(int argc, char** argv) {
  const char* wanted = std::getenv("MUSTER_FUZZ_SESSIONS");
  const int sessions = argc > 1 ? std::atoi(argv[1]) : wanted != nullptr ? std::atoi(wanted) : 2000;
  const auto seed = argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 1;
  return muster::test::run(sessions, seed);
}
