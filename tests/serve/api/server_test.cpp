#include "serve/api/server.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>
#include <vector>

#include "tests/serve/served.hpp"
#include "tests/support/golden.hpp"

namespace muster::api {
namespace {

using muster::test::IsGolden;
using std::chrono::milliseconds;
using testing::AllOf;
using testing::HasSubstr;

TEST(Server, answers_one_request_after_the_other_on_a_connection) {
  Served served;
  RawClient client(served.port());
  for (int i = 0; i < 5; ++i) {
    client.send(request_text("GET", "/v1/status"));
    const RawResponse response = client.receive();
    EXPECT_EQ(response.status, 200);
    EXPECT_EQ(response.headers.at("Connection"), "keep-alive");
  }
}

TEST(Server, answers_pipelined_requests_in_order) {
  Served served;
  RawClient client(served.port());
  client.send(request_text("GET", "/v1/jobs?limit=1") + request_text("GET", "/healthz") +
              request_text("POST", "/v1/jobs", R"({"command": ["a"]})") +
              request_text("GET", "/v1/nodes"));
  EXPECT_THAT(client.receive().body, HasSubstr("\"jobs\""));
  EXPECT_THAT(client.receive().body, HasSubstr("\"ok\""));
  EXPECT_EQ(client.receive().status, 201);
  EXPECT_THAT(client.receive().body, HasSubstr("\"nodes\""));
}

TEST(Server, closes_when_it_is_asked_to) {
  Served served;
  RawClient client(served.port());
  client.send(request_text("GET", "/healthz", {}, "Connection: close\r\n"));
  EXPECT_EQ(client.receive().headers.at("Connection"), "close");
  EXPECT_TRUE(client.closed());
  RawClient old(served.port());
  old.send("GET /healthz HTTP/1.0\r\n\r\n");
  EXPECT_EQ(old.receive().status, 200);
  EXPECT_TRUE(old.closed());
}

TEST(Server, takes_requests_byte_by_byte_and_in_chunks) {
  Served served;
  RawClient client(served.port());
  const std::string text =
      request_text("POST", "/v1/jobs", {}, "Transfer-Encoding: chunked\r\n") +
      "5\r\n{\"com\r\n10;x=y\r\nmand\": [\"true\"]}\r\n0\r\nTrailer: 1\r\n\r\n";
  for (const char byte : text) {
    ASSERT_TRUE(client.send({&byte, 1}));
  }
  EXPECT_EQ(client.receive().status, 201);
  client.send(request_text("GET", "/healthz"));
  EXPECT_EQ(client.receive().status, 200);
}

TEST(Server, tells_a_client_that_waits_to_send_its_body) {
  Served served;
  RawClient client(served.port());
  const std::string body = R"({"command": ["true"]})";
  client.send(
      request_text("POST", "/v1/jobs", {},
                   fmt::format("Expect: 100-continue\r\nContent-Length: {}\r\n", body.size())));
  EXPECT_EQ(client.receive().status, 100);
  client.send(body);
  EXPECT_EQ(client.receive().status, 201);
}

TEST(Server, refuses_before_the_body_comes) {
  Served served;
  RawClient large(served.port());
  large.send(request_text("POST", "/v1/jobs", {}, "Content-Length: 9000000\r\n"));
  EXPECT_EQ(large.receive().status, 413);
  EXPECT_TRUE(large.closed());
  RawClient stranger(served.port());
  stranger.send("POST /v1/jobs HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000000\r\n\r\n");
  EXPECT_EQ(stranger.receive().status, 401);
  EXPECT_TRUE(stranger.closed());
}

TEST(Server, lets_a_client_that_sends_too_much_read_why) {
  ServerOptions options;
  options.request.max_body = 1000;
  Served served(options);
  RawClient client(served.port());
  client.send(request_text("POST", "/v1/jobs", std::string(3'000'000, ' ')));
  EXPECT_EQ(client.receive().status, 413);
  RawClient chunked(served.port());
  chunked.send(request_text("POST", "/v1/jobs", {}, "Transfer-Encoding: chunked\r\n"));
  chunked.send("fff\r\n" + std::string(0xfff, ' ') + "\r\n");
  EXPECT_EQ(chunked.receive().status, 413);
}

TEST(Server, bounds_a_requests_head) {
  Served served;
  RawClient url(served.port());
  url.send(request_text("GET", "/" + std::string(5000, 'a')));
  EXPECT_EQ(url.receive().status, 414);
  RawClient value(served.port());
  value.send(request_text("GET", "/healthz", {}, "X: " + std::string(20'000, 'a') + "\r\n"));
  EXPECT_EQ(value.receive().status, 431);
  std::string many;
  for (int i = 0; i < 5000; ++i) {
    many += "a:\r\n";
  }
  RawClient fields(served.port());
  fields.send(request_text("GET", "/healthz", {}, many));
  EXPECT_EQ(fields.receive().status, 431);
  RawClient trailers(served.port());
  trailers.send(request_text("POST", "/v1/jobs", {}, "Transfer-Encoding: chunked\r\n") +
                "0\r\nX: " + std::string(20'000, 'a'));
  EXPECT_EQ(trailers.receive().status, 431);
}

TEST(Server, says_what_is_not_http) {
  Served served;
  for (const char* text :
       {"\x16\x03\x01\x02\x01\x01", "HELLO\r\n\r\n", "GET /healthz\r\n\r\n x",
        "GET /healthz HTTP/9.9\r\n\r\n", "GET /healthz HTTP/1.1\r\nContent-Length: x\r\n\r\n",
        "POST /v1/jobs HTTP/1.1\r\nContent-Length: 3\r\nContent-Length: 4\r\n\r\nabc",
        "GET http://elsewhere/ HTTP/1.1\r\n\r\n", "CONNECT a:1 HTTP/1.1\r\n\r\n"}) {
    RawClient client(served.port());
    client.send(text);
    client.finish_sending();
    EXPECT_EQ(client.receive().status, 400) << text;
    EXPECT_TRUE(client.closed()) << text;
  }
  EXPECT_EQ(served.get("/healthz").status, 200);
}

TEST(Server, does_not_upgrade) {
  Served served;
  RawClient client(served.port());
  client.send(request_text("GET", "/healthz", {}, "Connection: Upgrade\r\nUpgrade: h2c\r\n"));
  EXPECT_EQ(client.receive().status, 200);
  EXPECT_TRUE(client.closed());
}

TEST(Server, gives_up_on_a_slow_client) {
  ServerOptions options;
  options.read = milliseconds(200);
  options.idle = milliseconds(200);
  Served served(options);
  RawClient slow(served.port());
  slow.send("GET /healthz HT");
  EXPECT_EQ(slow.receive().status, 408);
  EXPECT_TRUE(slow.closed());
  RawClient slow_body(served.port());
  slow_body.send(request_text("POST", "/v1/jobs", {}, "Content-Length: 100\r\n") + "{");
  EXPECT_EQ(slow_body.receive().status, 408);
  RawClient silent(served.port());
  EXPECT_TRUE(silent.closed());
}

TEST(Server, gives_up_on_a_client_that_does_not_read) {
  ServerOptions options;
  options.write = milliseconds(200);
  Served served(options);
  RawClient client(served.port());
  std::string many;
  for (int i = 0; i < 300; ++i) {
    many += request_text("GET", "/chart.js");
  }
  client.send(many);
  // Until the only connection is the one that asks.
  while (served.get("/metrics").body.find("muster_http_connections 1\n") == std::string::npos) {
    std::this_thread::sleep_for(milliseconds(20));
  }
  int answers = 0;
  while (client.receive().status == 200) {
    ++answers;
  }
  EXPECT_LT(answers, 300);
}

TEST(Server, answers_for_a_cluster_that_does_not) {
  ServerOptions options;
  options.handle = milliseconds(100);
  Served served(options);
  served.backend.be_silent();
  RawClient client(served.port());
  client.send(request_text("GET", "/v1/status"));
  const RawResponse response = client.receive();
  EXPECT_EQ(response.status, 503);
  EXPECT_EQ(response.headers.at("Retry-After"), "1");
  client.send(request_text("GET", "/healthz"));
  EXPECT_EQ(client.receive().status, 200);
  served.backend.answer_kept();
  client.send(request_text("GET", "/healthz"));
  EXPECT_EQ(client.receive().body, "{\"ok\": true}");
}

TEST(Server, answers_late_from_another_thread) {
  Served served;
  served.backend.be_silent();
  RawClient client(served.port());
  client.send(request_text("GET", "/v1/nodes"));
  while (served.backend.calls() == 0) {
    std::this_thread::yield();
  }
  std::thread([&] { served.backend.answer_kept(); }).join();
  EXPECT_THAT(client.receive().body, HasSubstr("\"nodes\""));
}

TEST(Server, bounds_the_requests_that_wait) {
  ServerOptions options;
  options.api.max_waiting = 2;
  Served served(options);
  served.backend.be_silent();
  RawClient first(served.port());
  RawClient second(served.port());
  first.send(request_text("GET", "/v1/nodes"));
  second.send(request_text("GET", "/v1/nodes"));
  while (served.backend.calls() < 2) {
    std::this_thread::yield();
  }
  const RawResponse third = served.get("/v1/nodes");
  EXPECT_EQ(third.status, 429);
  EXPECT_EQ(third.headers.at("Retry-After"), "1");
  EXPECT_EQ(served.get("/healthz").status, 200);
  served.backend.answer_kept();
  EXPECT_EQ(first.receive().status, 200);
  EXPECT_EQ(second.receive().status, 200);
}

TEST(Server, one_token_takes_its_share_of_the_places_and_no_more) {
  ServerOptions options;
  options.api.max_waiting = 2;
  options.api.of_token = 1;
  Served served(options);
  served.backend.be_silent();
  RawClient first(served.port());
  first.send(request_text("GET", "/v1/nodes"));
  while (served.backend.calls() < 1) {
    std::this_thread::yield();
  }
  const RawResponse second = served.get("/v1/nodes");
  EXPECT_EQ(second.status, 429);
  EXPECT_THAT(message_of(second), AllOf(HasSubstr("1 of the token"), IsGolden()));
  served.backend.answer_kept();
  EXPECT_EQ(first.receive().status, 200);
}

TEST(Server, who_waits_for_a_job_waits_longer_and_takes_no_other_requests_place) {
  ServerOptions options;
  options.api.max_waiting = 1;
  options.api.max_waiting_for_jobs = 1;
  options.handle = std::chrono::milliseconds(50);
  Served served(options);
  served.backend.be_silent();
  RawClient waiting(served.port());
  waiting.send(request_text("GET", "/v1/jobs/7?wait_s=30"));
  while (served.backend.calls() == 0) {
    std::this_thread::yield();
  }
  const RawResponse second = served.get("/v1/jobs/8?wait_s=30");
  EXPECT_EQ(second.status, 429);
  EXPECT_THAT(message_of(second), AllOf(HasSubstr("are 1 in all"), IsGolden()));
  EXPECT_EQ(served.get("/v1/nodes").status, 503) << "it had a place, and waited 50 ms";
  served.backend.answer_kept();
  EXPECT_EQ(waiting.receive().status, 200) << "longer than that";
}

TEST(Server, who_waits_for_a_job_and_goes_gives_his_place_back) {
  ServerOptions options;
  options.api.max_waiting_for_jobs = 1;
  Served served(options);
  served.backend.be_silent();
  {
    RawClient gone(served.port());
    gone.send(request_text("GET", "/v1/jobs/7?wait_s=30"));
    while (served.backend.calls() == 0) {
      std::this_thread::yield();
    }
  }
  RawClient next(served.port());
  do {  // until the server has seen that the first one is gone
    next.send(request_text("GET", "/v1/jobs/8?wait_s=30"));
    if (served.backend.calls() == 2) break;
    served.get("/healthz");
    if (served.backend.calls() == 2) break;
    next.receive();
  } while (served.backend.calls() < 2);
  served.backend.answer_kept();
  EXPECT_EQ(next.receive().status, 200);
}

TEST(Server, lets_a_connection_in_for_the_one_that_has_waited_longest_for_its_client) {
  ServerOptions options;
  options.max_connections = 2;
  // Two threads could note the ends of two answers in either order after both were read here.
  options.threads = 1;
  Served served(options);
  RawClient first(served.port());
  RawClient second(served.port());
  for (RawClient* client : {&first, &second}) {
    client->send(request_text("GET", "/healthz"));
    EXPECT_EQ(client->receive().status, 200);
  }
  EXPECT_EQ(served.get("/healthz").status, 200);
  EXPECT_TRUE(first.closed());
  second.send(request_text("GET", "/healthz"));
  EXPECT_EQ(second.receive().status, 200);
}

TEST(Server, takes_room_from_the_address_that_has_the_most_idle_connections) {
  ServerOptions options;
  options.max_connections = 4;
  Served served(options);
  RawClient lonely(served.port(), "127.0.0.2");
  lonely.send(request_text("GET", "/healthz"));
  EXPECT_EQ(lonely.receive().status, 200);
  std::vector<std::unique_ptr<RawClient>> crowd;
  for (int i = 0; i < 40; ++i) crowd.push_back(std::make_unique<RawClient>(served.port()));
  EXPECT_EQ(ask(served.port(), "GET", "/healthz").status, 200) << "whoever sends nothing gives way";
  lonely.send(request_text("GET", "/healthz"));
  EXPECT_EQ(lonely.receive().status, 200) << "and not the one that has waited longer";
}

/// How many requests for the script were answered, as a connection that stays open is told.
std::string scripts_served(RawClient& observer) {
  observer.send(request_text("GET", "/metrics"));
  const std::string all = observer.receive().body;
  const std::size_t at = all.find("chart.js");
  return at == std::string::npos ? "" : all.substr(at, all.find('\n', at) - at);
}

TEST(Server, whoever_does_not_read_its_answers_keeps_nobody_out) {
  ServerOptions options;
  options.max_connections = 6;
  options.write = std::chrono::minutes(10);  // it is not for this that they have to go
  Served served(options);
  RawClient observer(served.port(), "127.0.0.2");
  EXPECT_EQ(scripts_served(observer), "");
  std::string many;
  for (int i = 0; i < 1000; ++i) many += request_text("GET", "/chart.js");
  std::vector<std::unique_ptr<RawClient>> crowd;
  for (int i = 0; i < 5; ++i) {
    crowd.push_back(std::make_unique<RawClient>(served.port()));
    crowd.back()->send(many);
  }
  // Until nothing more can be written to any of them.
  for (int same = 0; same < 5;) {
    const std::string before = scripts_served(observer);
    std::this_thread::sleep_for(milliseconds(50));
    same = !before.empty() && scripts_served(observer) == before ? same + 1 : 0;
  }
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(ask(served.port(), "GET", "/v1/status").status, 200);
  }
  observer.send(request_text("GET", "/healthz"));
  EXPECT_EQ(observer.receive().status, 200) << "the other address has the most that wait";
}

TEST(Server, turns_connections_away_while_requests_are_answered_on_all) {
  ServerOptions options;
  options.max_connections = 2;
  Served served(options);
  served.backend.be_silent();
  RawClient first(served.port());
  RawClient second(served.port());
  first.send(request_text("GET", "/v1/nodes"));
  second.send(request_text("GET", "/v1/nodes"));
  while (served.backend.calls() < 2) {
    std::this_thread::yield();
  }
  RawClient third(served.port());
  EXPECT_EQ(third.receive().status, 429);
  served.backend.answer_kept();
  EXPECT_EQ(first.receive().status, 200);
}

TEST(Server, answers_many_clients_at_once) {
  Served served;
  std::vector<std::thread> clients;
  std::atomic<int> good{0};
  for (int i = 0; i < 8; ++i) {
    clients.emplace_back([&] {
      RawClient client(served.port());
      for (int request = 0; request < 50; ++request) {
        client.send(request_text("POST", "/v1/jobs", R"({"command": ["true"]})"));
        good += client.receive().status == 201 ? 1 : 0;
      }
    });
  }
  for (std::thread& client : clients) {
    client.join();
  }
  EXPECT_EQ(good, 400);
  EXPECT_EQ(served.backend.jobs().size(), 400U);
}

TEST(Server, stops_with_connections_open_and_replies_owed) {
  Served served;
  served.backend.be_silent();
  RawClient waits(served.port());
  waits.send(request_text("GET", "/v1/status"));
  RawClient idles(served.port());
  RawClient half(served.port());
  half.send("GET /v1");
  while (served.backend.calls() == 0) {
    std::this_thread::yield();
  }
  served.server->stop();
  served.server->stop();
  EXPECT_TRUE(waits.closed());
  EXPECT_TRUE(idles.closed());
  served.server.reset();
  served.backend.answer_kept();
}

TEST(Server, says_that_its_port_is_taken) {
  Served served;
  FakeBackend backend;
  ServerOptions options;
  options.tokens = test_tokens();
  options.port = served.port();
  const auto second = Server::start(backend, options);
  ASSERT_FALSE(second.has_value());
  EXPECT_EQ(second.error().code, ServerError::cannot_listen);
  EXPECT_THAT(second.error().message, HasSubstr(fmt::format("port {}", served.port())));
  served.server->stop();
  EXPECT_TRUE(Server::start(backend, options).has_value());
}

TEST(Server, refuses_options_that_make_no_sense) {
  FakeBackend backend;
  const auto fault = [&](auto change) {
    ServerOptions options;
    options.tokens = test_tokens();
    change(options);
    const auto started = Server::start(backend, options);
    return started ? std::string("started") : started.error().message;
  };
  EXPECT_THAT(fault([](auto& o) { o.address = "localhost"; }), HasSubstr("address"));
  EXPECT_THAT(fault([](auto& o) { o.address = "0.0.0.0"; }), HasSubstr("loopback"));
  EXPECT_THAT(fault([](auto& o) { o.tokens.reset(); }), HasSubstr("tokens"));
  EXPECT_THAT(fault([](auto& o) { o.key = "k"; }), HasSubstr("certificate, key"));
  EXPECT_THAT(fault([](auto& o) { o.max_connections = 0; }), HasSubstr("max_connections"));
  EXPECT_THAT(fault([](auto& o) { o.threads = 0; }), HasSubstr("threads"));
  EXPECT_THAT(fault([](auto& o) { o.key = o.certificate = "/nowhere.pem"; }),
              HasSubstr("/nowhere.pem"));
  EXPECT_EQ(fault([](auto& o) {
              o.address = "0.0.0.0";
              o.plain_beyond_loopback = true;
            }),
            "started");
}

}  // namespace
}  // namespace muster::api
