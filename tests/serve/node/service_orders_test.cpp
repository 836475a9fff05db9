#include "tests/serve/node/actor_backend_fixture.hpp"

namespace muster {
namespace {

using test::JobBuilder;

/// Ann's service `web`: job 1, with the first master.
class ServiceOrders : public test::ActorBackendTest {
 protected:
  ServiceOrders() {
    fakes_[0].services.services = {revision(1, 1)};
    fakes_[1].scales = fakes_[2].scales = ActorError::unknown;
  }

  static ServiceView revision(std::uint64_t job, std::uint32_t number) {
    ServiceView view;
    view.name = "web";
    view.user = "ann";
    view.job = JobId{job};
    view.master = "m0";
    view.revision = number;
    view.standing = "steady";
    view.wanted = 3;
    return view;
  }
  static Job next(const std::string& name = "web") {
    Job job = JobBuilder(9).tasks(9).gang(false).build();
    job.id = {};
    job.name = name;
    job.user = "ann";
    ServiceSpec spec;
    spec.replicas = 2;
    job.kind = spec;
    return job;
  }
  api::Answer revise(api::ServiceChange what) {
    api::Answer answer;
    backend_->change_service(std::move(what), [&](api::Answer said) { answer = std::move(said); });
    system_.time().drain();
    return answer;
  }
  api::Answer update(std::uint64_t job, bool keeps_replicas = false) {
    return revise({.job = JobId{job}, .as = next(), .keeps_replicas = keeps_replicas});
  }
  api::Answer scale(std::uint32_t replicas) {
    api::Answer answer;
    backend_->change_service({.job = JobId{1}, .replicas = replicas},
                             [&](api::Answer said) { answer = std::move(said); });
    system_.time().drain();
    return answer;
  }
  const ServiceSpec& sent() const { return *site_says_.last.service(); }
};

TEST_F(ServiceOrders, AScaleGoesToTheMasterThatHasTheService) {
  EXPECT_EQ(scale(5).json, R"({"job":1})");
  EXPECT_EQ(fakes_[0].scaled, 5U);
  fakes_[0].scales = ActorError::too_many;
  EXPECT_EQ(scale(50).status, 422);
  fakes_[0].scales = ActorError::out_of_range;
  EXPECT_EQ(scale(3).status, 422) << "its goal chooses the number";
  fakes_[0].scales = ActorError::unknown;
  EXPECT_EQ(scale(5).status, 409) << "a job that is no service";
}

TEST_F(ServiceOrders, ARepeatedSubmissionIsAnsweredThoughAnotherServiceHasItsName) {
  ServiceView mine = revision(9, 1);
  mine.token = "mine";
  fakes_[0].services.services = {revision(1, 1), mine};
  const auto submit = [this](const std::string& token) {
    Job job = next();
    job.token = token;
    api::Answer answer;
    backend_->submit({job}, [&](api::Answer said) { answer = std::move(said); });
    system_.time().drain();
    return answer.status;
  };
  EXPECT_EQ(submit("mine"), 201);
  EXPECT_EQ(submit("another"), 409);
  EXPECT_EQ(submit(""), 409);
}

TEST_F(ServiceOrders, AnUpdateIsAJobThatReplacesTheNewestRevisionAtItsMaster) {
  fakes_[0].services.services = {revision(1, 1), revision(4, 2)};
  EXPECT_EQ(update(4).status, 201);
  EXPECT_EQ(sent().replaces, JobId{4});
  EXPECT_EQ(sent().master, "m0");
  EXPECT_EQ(sent().revision, 3U);
  EXPECT_EQ(sent().replicas, 2U);
}

TEST_F(ServiceOrders, WithoutANumberOfReplicasAnUpdateKeepsThatOfTheService) {
  EXPECT_EQ(update(1, true).status, 201);
  EXPECT_EQ(sent().replicas, 3U);
}

TEST_F(ServiceOrders, ARevisionThatWasGivenUpIsNotReplacedAndKeepsItsNumber) {
  ServiceView given_up = revision(4, 2);
  given_up.standing = "given up";
  fakes_[0].services.services = {revision(1, 1), given_up};
  EXPECT_EQ(update(1).status, 201);
  EXPECT_EQ(sent().replaces, JobId{1});
  EXPECT_EQ(sent().revision, 3U);
}

TEST_F(ServiceOrders, AnUpdateNeedsAServiceOfThatNameThatIsNotOver) {
  EXPECT_EQ(update(2).status, 409) << "another job than the service";
  fakes_[0].services.services.clear();
  EXPECT_EQ(update(1).status, 409);
  fakes_[1].answers = false;
  EXPECT_EQ(update(1).status, 503) << "who does not answer may have it";
}

TEST_F(ServiceOrders, SoManyRevisionsMayBeUnderWayAndNoMore) {
  auto& all = fakes_[0].services.services;
  all = {revision(1, 1), revision(2, 2), revision(3, 3)};
  EXPECT_EQ(update(3).status, 201);
  all.push_back(revision(4, 4));
  EXPECT_EQ(update(4).status, 409);
}

TEST_F(ServiceOrders, AnUpdateThatIsRepeatedIsTheRevisionThatItWas) {
  ServiceView made = revision(8, 2);
  made.token = "mine";
  fakes_[0].services.services = {revision(1, 1), made};
  Job again = next();
  again.token = "mine";
  const api::Answer answer = revise({.job = JobId{1}, .as = again});
  EXPECT_EQ(answer.status, 201);
  EXPECT_EQ(answer.json, R"({"jobs":[{"job":8}]})");
}

TEST_F(ServiceOrders, ARestartIsTheJobAsItWasWithTheReplicasOfNow) {
  RequestView known;
  known.known = true;
  known.job = next();
  known.job.tasks.resize(1);
  known.whole = 9;
  for (std::uint32_t i = 0; i < 9; ++i) known.tasks.push_back({i, i, TaskEnd::Kind::neither});
  fakes_[0].request = known;
  EXPECT_EQ(revise({.job = JobId{1}}).status, 201);
  EXPECT_EQ(sent().replicas, 3U);
  EXPECT_EQ(sent().replaces, JobId{1});
  known.job.kind = BatchSpec{};
  fakes_[0].request = known;
  EXPECT_EQ(revise({.job = JobId{1}}).status, 409) << "it is no service";
}

}  // namespace
}  // namespace muster
