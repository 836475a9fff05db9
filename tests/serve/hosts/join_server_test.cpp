#include "serve/hosts/join_server.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>

#include <asio/io_context.hpp>
#include <asio/ip/tcp.hpp>
#include <asio/read.hpp>
#include <asio/ssl.hpp>
#include <asio/write.hpp>
#include <vector>

#include "actors/link/pki.hpp"
#include "serve/hosts/join_places.hpp"
#include "tests/support/temp_file.hpp"

namespace muster::hosts {
namespace {

using Tcp = asio::ip::tcp;
using std::chrono::seconds;
using testing::HasSubstr;

/// A join port on a loopback address.
class JoinServerTest : public testing::Test {
 protected:
  void start(JoinServerSetup setup = {}) {
    const auto pki = files_.folder() / "pki";
    ASSERT_TRUE(create_authorities(pki, {}).has_value());
    IssueRequest node;
    node.name = "n0";
    node.out = files_.folder() / "n0";
    setup.tls = issue(pki, node).value();
    setup.tls.trusted = authority_certificate(pki, PkiRole::worker);
    setup.chain = authority_certificate(pki, PkiRole::node);
    IssueRequest worker;
    worker.role = PkiRole::worker;
    worker.name = "instance-1";
    worker.out = files_.folder() / "worker";
    worker_ = issue(pki, worker).value();
    HostBookSetup book;
    book.file = files_.folder() / "hosts.json";
    book.catalog = &catalog_;
    book.report = seconds{1};
    book.wall_s = [] { return std::int64_t{0}; };
    book.since_boot = [] { return Duration{}; };
    setup.desk = std::make_shared<JoinDesk>(HostBook::open(std::move(book)).value(),
                                            JoinDeskSetup{pki, "PEM"});
    setup.address = "127.0.0.1";
    auto started = JoinServer::start(std::move(setup));
    ASSERT_TRUE(started.has_value()) << started.error().message;
    server_ = std::move(started).value();
  }
  Tcp::socket dial() {
    Tcp::socket socket(context_);
    socket.connect({asio::ip::make_address("127.0.0.1"), server_->port()});
    return socket;
  }
  /// A connection with the worker's certificate.
  std::unique_ptr<asio::ssl::stream<Tcp::socket>> dial_with_key() {
    asio::ssl::context tls(asio::ssl::context::tls_client);
    tls.use_certificate_chain_file(worker_.certificate);
    tls.use_private_key_file(worker_.key, asio::ssl::context::pem);
    auto stream = std::make_unique<asio::ssl::stream<Tcp::socket>>(dial(), tls);
    stream->handshake(asio::ssl::stream_base::client);
    return stream;
  }
  /// All that comes until the end of the connection.
  template <class Stream>
  static std::string rest_of(Stream& stream) {
    std::string text;
    std::error_code end;
    asio::read(stream, asio::dynamic_buffer(text), end);
    return text;
  }
  /// Whether the other end closes it before long.
  static bool is_closed(Tcp::socket& socket) {
    pollfd polled{socket.native_handle(), POLLIN, 0};
    constexpr int kLongMs = 5000;
    return poll(&polled, 1, kLongMs) == 1 && rest_of(socket).empty();
  }
  static void ask(asio::ssl::stream<Tcp::socket>& stream, const std::string& path,
                  const std::string& body) {
    asio::write(stream, asio::buffer(fmt::format(
                            "POST {} HTTP/1.1\r\nHost: x\r\nContent-Length: {}\r\n\r\n{}", path,
                            body.size(), body)));
  }

  test::TempFile files_{"unused", ""};
  Catalog catalog_;
  asio::io_context context_;
  TlsFiles worker_;
  std::unique_ptr<JoinServer> server_;
};

TEST_F(JoinServerTest, an_address_has_eight_places_without_a_certificate) {
  start();
  std::vector<Tcp::socket> open;
  for (int i = 0; i < 8; ++i) open.push_back(dial());
  Tcp::socket further = dial();
  EXPECT_TRUE(is_closed(further));
}

TEST_F(JoinServerTest, the_oldest_stranger_leaves_its_place_to_the_newest) {
  JoinServerSetup setup;
  setup.strangers = 3;
  start(std::move(setup));
  std::vector<Tcp::socket> open;
  for (int i = 0; i < 3; ++i) open.push_back(dial());
  const auto newest = dial_with_key();
  EXPECT_TRUE(is_closed(open.front()));
}

TEST_F(JoinServerTest, a_key_that_is_no_machines_gets_one_answer) {
  start();
  const auto stream = dial_with_key();
  ask(*stream, kReportPath, to_json(Report{"r", "b", {1, 1, 0, 1}}));
  const std::string answer = rest_of(*stream);
  EXPECT_THAT(answer, HasSubstr("HTTP/1.1 404"));
  EXPECT_THAT(answer, HasSubstr("Connection: close"));
}

TEST_F(JoinServerTest, a_key_has_two_connections_of_which_the_oldest_is_closed) {
  start();
  const auto first = dial_with_key();
  const auto second = dial_with_key();
  const auto third = dial_with_key();
  EXPECT_EQ(rest_of(*first), "");
  ask(*second, kReportPath, "{}");
  EXPECT_THAT(rest_of(*second), HasSubstr("HTTP/1.1 400"));
}

TEST(JoinPlaces, are_in_the_order_in_which_connections_came) {
  JoinPlaces places;
  places.enter(1, "a");
  places.enter(2, "b");
  places.enter(3, "b");
  EXPECT_EQ(places.oldest(), 1u);
  EXPECT_EQ(places.oldest_of("b"), 2u);
  EXPECT_EQ(places.count_of("b"), 2u);
  places.leave(2);
  places.leave(2);
  EXPECT_EQ(places.oldest_of("b"), 3u);
  places.leave(3);
  EXPECT_EQ(places.oldest_of("b"), std::nullopt);
  EXPECT_EQ(places.size(), 1u);
}

}  // namespace
}  // namespace muster::hosts
