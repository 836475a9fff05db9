// The lines that shims, executors and tasks say on sockets, and how whoever misbehaves is cut off.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmath>

#include "tests/support/temp_file.hpp"
#include "workers/process/shim/line_server.hpp"
#include "workers/process/shim/shim_sockets.hpp"

namespace muster::process {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using Lines = std::vector<std::string>;

/// One end of a connection that a test holds; the other is the server's.
class Peer {
 public:
  explicit Peer(LineServer& server) {
    int ends[2];
    EXPECT_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends), 0);
    own_ = Descriptor(ends[0]);
    server.add(Descriptor(ends[1]));
  }
  bool say(const std::string& text) const { return send_text(own_.get(), text); }
  /// The text that has been said so far; "(end)" behind it where the server has closed.
  std::string hear() const {
    std::string text(1 << 16, '\0');
    std::string all;
    ssize_t got = 0;
    while ((got = recv(own_.get(), text.data(), text.size(), MSG_DONTWAIT)) > 0) {
      all.append(text, 0, static_cast<std::size_t>(got));
    }
    return got == 0 || errno == ECONNRESET ? all + "(end)" : all;
  }
  void leave() { own_.reset(); }

 private:
  Descriptor own_;
};

class LineServerTest : public testing::Test {
 protected:
  /// Serves what is there; whether anybody had something to say.
  bool serve() {
    std::vector<pollfd> polled;
    server_.add_to(polled);
    poll(polled.data(), polled.size(), 0);
    return server_.serve(polled, [this](std::string_view line) -> std::optional<std::string> {
      heard_.emplace_back(line);
      if (line == "cut") return std::nullopt;
      return line == "ask" ? "answer\n" : "";
    });
  }

  LineServer server_{{.connections = 2, .line_bytes = 8, .bytes_a_round = 32}};
  Lines heard_;
};

TEST_F(LineServerTest, LinesComeWholeHoweverTheyAreCut) {
  const Peer peer(server_);
  EXPECT_FALSE(serve()) << "nobody says anything";
  peer.say("on");
  EXPECT_TRUE(serve());
  EXPECT_THAT(heard_, IsEmpty());
  peer.say("e\ntwo\n\nthr");
  serve();
  EXPECT_THAT(heard_, ElementsAre("one", "two", ""));
  peer.say("ee\n");
  serve();
  EXPECT_THAT(heard_, ElementsAre("one", "two", "", "three"));
  EXPECT_EQ(peer.hear(), "");
}

TEST_F(LineServerTest, AnAnswerGoesToWhoAskedAndNewsToAll) {
  const Peer one(server_), other(server_);
  one.say("ask\n");
  serve();
  EXPECT_EQ(one.hear(), "answer\n");
  EXPECT_EQ(other.hear(), "");
  server_.tell("news\n");
  EXPECT_EQ(one.hear(), "news\n");
  EXPECT_EQ(other.hear(), "news\n");
}

TEST_F(LineServerTest, TooLongALineEndsTheConnectionWithAWord) {
  const Peer fits(server_), longer(server_);
  fits.say("12345678\n");
  longer.say("123456789");
  serve();
  EXPECT_THAT(heard_, ElementsAre("12345678"));
  EXPECT_EQ(fits.hear(), "");
  const std::string said = longer.hear();
  EXPECT_TRUE(said.starts_with("error: ") && said.ends_with("\n(end)")) << said;
  EXPECT_TRUE(fits.say("ask\n"));
  serve();
  EXPECT_EQ(fits.hear(), "answer\n") << "others are served as before";
}

TEST_F(LineServerTest, WhoIsCutOrLeavesMakesRoomForAnother) {
  Peer one(server_);
  const Peer two(server_);
  EXPECT_EQ(Peer(server_).hear(), "(end)") << "there are enough already";
  two.say("a\ncut\nb\n");
  serve();
  EXPECT_THAT(heard_, ElementsAre("a", "cut"));
  EXPECT_EQ(two.hear(), "(end)");
  one.leave();
  EXPECT_TRUE(serve());
  const Peer three(server_), four(server_);
  EXPECT_EQ(three.hear() + four.hear(), "");
}

TEST_F(LineServerTest, ManyLinesAreReadOverSeveralRounds) {
  const Peer peer(server_);
  std::string text;
  for (int i = 0; i < 20; ++i) text += "abc\n";
  peer.say(text);
  serve();
  EXPECT_EQ(heard_.size(), 8U) << "32 bytes a round";
  while (serve()) {
  }
  EXPECT_EQ(heard_.size(), 20U);
}

TEST_F(LineServerTest, WhoComesIsGreetedAndWhoDoesNotReadIsCut) {
  server_.greet([] { return std::string("hello\n"); });
  const Peer peer(server_);
  EXPECT_EQ(peer.hear(), "hello\n");
  const std::string much(1 << 20, 'x');
  for (int i = 0; i < 4; ++i) server_.tell(much);
  EXPECT_TRUE(peer.hear().ends_with("(end)"));
}

TEST_F(LineServerTest, OnlyUsersThatAreAdmittedAreLetIn) {
  const auto connects = [&](const std::vector<uid_t>& users) {
    server_ = LineServer({.connections = 2, .line_bytes = 8, .bytes_a_round = 32});
    server_.greet([] { return std::string("hello\n"); });
    server_.admit(users);
    const std::string name = random_name();
    server_.listen(listen_abstract(name));
    const Descriptor connection = connect_abstract(name);
    EXPECT_TRUE(connection);
    serve();
    char byte = 0;
    return recv(connection.get(), &byte, 1, MSG_DONTWAIT) == 1;
  };
  EXPECT_TRUE(connects({geteuid()}));
  EXPECT_TRUE(connects({geteuid() + 1, geteuid()}));
  EXPECT_FALSE(connects({geteuid() + 1}));
  EXPECT_FALSE(connects({}));
}

TEST_F(LineServerTest, OnlyProcessesOfTheNamespaceAreLetIn) {
  int ends[2];
  ASSERT_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
  const Descriptor one(ends[0]), other(ends[1]);
  EXPECT_EQ(user_of_peer(one.get()), geteuid());
  EXPECT_TRUE(is_peer_in_own_namespace(one.get()));
  EXPECT_TRUE(is_peer_in_namespace_of(one.get(), getpid()));
  EXPECT_FALSE(is_peer_in_namespace_of(one.get(), 0)) << "there is no such process";
  EXPECT_EQ(user_of_peer(-1), std::nullopt);
}

// Names of sockets.

TEST(AbstractSockets, AreFoundByTheirNames) {
  const std::string name = random_name();
  EXPECT_EQ(name.size(), std::string("muster-").size() + 32);
  EXPECT_NE(random_name(), name);
  EXPECT_FALSE(connect_abstract(name)) << "nobody listens";
  const Descriptor listener = listen_abstract(name);
  ASSERT_TRUE(listener);
  EXPECT_TRUE(connect_abstract(name));
  EXPECT_FALSE(listen_abstract(name)) << "the name is somebody's";
  EXPECT_FALSE(listen_abstract(""));
  EXPECT_TRUE(listen_abstract(std::string(107, 'a')));
  EXPECT_FALSE(listen_abstract(std::string(108, 'a')));
}

TEST(TaskSocket, IsInTheFolderAsFarAsItsPathIsShortEnough) {
  const test::TempFile files("beside", "");
  const Descriptor folder = open_folder(files.folder());
  const auto [listener, name] = listen_for_task(folder.get(), files.folder().string(), {});
  EXPECT_TRUE(listener);
  EXPECT_EQ(name, files.folder().string() + "/socket");
  EXPECT_TRUE(std::filesystem::exists(name));
  const auto [other, abstract] = listen_for_task(folder.get(), "/" + std::string(108, 'd'), {});
  EXPECT_TRUE(other);
  EXPECT_TRUE(abstract.starts_with("@muster-")) << abstract;
  EXPECT_TRUE(connect_abstract(abstract.substr(1)));
}

TEST(TaskFolder, IsMadeWithThoseAboveItForItsUserAlone) {
  const test::TempFile files("beside", "");
  const std::string folder = files.folder() / "a/b/c";
  EXPECT_EQ(make_task_folder(folder, {}), 0);
  EXPECT_EQ(make_task_folder(folder, {}), 0) << "it is there";
  for (const char* each : {"a", "a/b", "a/b/c"}) {
    struct stat found {};
    ASSERT_EQ(stat((files.folder() / each).c_str(), &found), 0);
    EXPECT_EQ(found.st_mode & 07777U, 0700U) << each;
  }
  EXPECT_EQ(make_task_folder(files.path().string() + "/x", {}), ENOTDIR);
}

TEST(TaskFolder, OfAnotherUserCanBeReachedByIt) {
  if (geteuid() != 0) GTEST_SKIP() << "only root can make folders for other users";
  const test::TempFile files("beside", "");
  WorkerTerms worker;
  worker.user = 65534;
  worker.user_group = 65533;
  EXPECT_EQ(make_task_folder(files.folder() / "a/b", worker), 0);
  struct stat above {
  }, own{};
  ASSERT_EQ(stat((files.folder() / "a").c_str(), &above), 0);
  ASSERT_EQ(stat((files.folder() / "a/b").c_str(), &own), 0);
  EXPECT_EQ(above.st_mode & 07777U, 0711U);
  EXPECT_EQ(above.st_uid, 0U);
  EXPECT_EQ(own.st_mode & 07777U, 0700U);
  EXPECT_EQ(own.st_uid, 65534U);
  EXPECT_EQ(own.st_gid, 65533U);
}

// Lines about progress.

/// Without the line's end, as the other side has it.
std::string_view line_of(const std::string& text) {
  EXPECT_EQ(text.find('\n'), text.size() - 1);
  return std::string_view(text).substr(0, text.size() - 1);
}

TEST(ProgressLine, IsReadBackAsItWas) {
  for (const double units : {0.0, 0.1, 12.5, 1e15}) {
    const ProgressPoint point{Duration{123'456'789}, units, {}};
    const std::string text = progress_line(point);
    const auto again = point_from(line_of(text));
    ASSERT_TRUE(again) << text;
    EXPECT_EQ(again->at, point.at);
    EXPECT_EQ(again->units, units);
    EXPECT_FALSE(again->step);
  }
}

TEST(ProgressLine, OfATrainingTaskHasItsStep) {
  ProgressPoint point{Duration{7}, 3, step_from("step 32 2 0.5 0.125 4.5 0.25")};
  ASSERT_TRUE(point.step);
  const std::string text = progress_line(point);
  const auto again = point_from(line_of(text));
  ASSERT_TRUE(again) << text;
  EXPECT_EQ(again->step, point.step);
}

TEST(ProgressLine, IsNothingElse) {
  for (const char* none : {"", "progress", "progress ", "progress 7", "progress 7 ", "progress x 3",
                           "progress 7,3", "progress 7 x", "progress 7 3 ", "progress 7 3 steps",
                           "progress 7 3x", "Progress 7 3", " progress 7 3"}) {
    EXPECT_FALSE(point_from(none)) << none;
  }
  EXPECT_TRUE(point_from("progress 7 3"));
}

TEST(MetricsLine, HasEachNameWithItsWholeValue) {
  const Metrics metrics{{"loss", 0.1}, {"p99_ms", -12.5}, {"x", 1e-7}};
  const std::string text = metrics_line(metrics);
  EXPECT_EQ(metrics_from(line_of(text)), metrics) << text;
  const std::string none = metrics_line({});
  EXPECT_EQ(metrics_from(line_of(none)), Metrics{});
  for (const char* other :
       {"", "metric", "metrics a", "metrics a=", "metrics a=x", "metrics  a=1", "metricsa=1",
        "metrics a=1 ", "metrics a=1b=2", "metrics =1", "metrics a=nan", "metrics a=1 a=2"}) {
    EXPECT_FALSE(metrics_from(other)) << other;
  }
}

}  // namespace
}  // namespace muster::process
