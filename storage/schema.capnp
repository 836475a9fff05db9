# What the store writes down. docs/storage.md says which changes keep old records readable; in short:
# add fields and enumerants at the end, never renumber, never reuse, never change what one means.

@0xd2a6f1c47be09835;

using Cxx = import "/capnp/c++.capnp";
$Cxx.namespace("muster::record");

struct Record {
  # Every value of the store is one of these.
  format @0 :UInt16;  # a program that knows a lower one must not read on
  union {
    events @1 :EventBatch;
    image @2 :MasterSnapshot;
    handoff @3 :Handoff;
    token @4 :KnownToken;
    rented @5 :Rented;
    history @6 :JobHistory;
    meta @7 :StoreMeta;
    number @8 :UInt64;
    object @9 :Data;
    place @10 :HistoryPlace;  # since format 2
    money @11 :Money;  # since format 2
    roster @12 :ClusterRoster;  # since format 2
    ended @13 :EndedHandoff;  # since format 2
    rentedSums @14 :RentedSums;
    numbers @15 :NumberBlock;
    cloudChange @16 :OfferingChange;
    letter @17 :JobLetter;
    ending @18 :JobEnding;
  }
}

# Times and durations are whole nanoseconds, prices whole nano-dollars an hour. A field named xSet says
# whether x holds something. Instance types stand by name: positions in a catalog change.

struct StoreMeta {
  kind @0 :Text;     # whose store it is, such as "master m0"
  cluster @1 :Text;
  types @2 :List(InstanceType);
}

struct ClusterRoster {
  # The numbers of sites and masters in ids. Stores without one go by the order of the cluster's file.
  sites @0 :List(Numbered);
  masters @1 :List(Numbered);
}

struct Numbered {
  name @0 :Text;
  number @1 :UInt32;
}

struct InstanceType {
  name @0 :Text;
  family @1 :Text;
  capacity @2 :Amounts;
  onDemand @3 :Int64;
  spotSet @4 :Bool;
  spot @5 :Int64;
  acquire @6 :Int64;
  setup @7 :Int64;
  terminate @8 :Int64;
  labels @9 :List(Variable);
}

struct Grant {
  amount @0 :Amounts;
  obsoleteWidth @1 :UInt32;  # 1 in records of earlier versions
}
struct Amounts {
  gpu @0 :Float64;
  cpu @1 :Float64;
  memory @2 :Float64;
  storage @3 :Float64;
  network @4 :Float64;
  spare @5 :Float64;
}

struct Money {
  # A 128-bit two's complement number of (nano-dollar an hour) x nanosecond.
  low @0 :UInt64;
  high @1 :Int64;
}

enum Market { onDemand @0; spot @1; }
enum MarketChoice { any @0; onDemand @1; spot @2; }
enum JobLength { unknown @0; shortRun @1; longRun @2; }
enum ResourceKind { gpu @0; cpu @1; memory @2; storage @3; network @4; spare @5; }
enum JobOutcome { completed @0; failed @1; refused @2; cancelled @3; replaced @4; skipped @5; expired @6; }
enum RefusalKind { notNow @0; never @1; broken @2; }
enum RefusalCode {
  awaitingRound @0;
  awaitingInstance @1;
  awaitingCapacity @2;
  awaitingPeers @3;
  fitsNoType @4;
  instanceCap @5;
  spendCap @6;
  cloudCapacity @7;
  overCapacity @8;
  outdated @9;
  taskFailed @10;
  held @11;
  inFlightCap @12;
  wrongMarket @13;
  fixedFleet @14;
  malformed @15;
  gangTurn @16;
  dayCap @17;
  notMovable @18;
  minStay @19;
  cloudQuota @20;
  cloudPrice @21;
  cloudThrottled @22;
  cloudFailed @23;
  groupRefused @24;
  notElastic @25;
  widthBounds @26;
  inTransit @27;
  unchanged @28;
  betterPlace @29;
  overBudget @30;
  distinctInstances @31;
  noProgress @32;
  keptRoom @33;
  constraint @34;
  restartPause @35;
  spareReplica @36;
  nameTaken @37;
  noFreeMachine @38;
  awaitingCounterpart @39;
}
enum CloudReason {
  notSaid @0;
  capacity @1;
  quota @2;
  price @3;
  throttled @4;
  failed @5;
  reclaimed @6;
  ended @7;
}
enum CauseCode {
  alone @0;
  packed @1;
  fullReconfiguration @2;
  partialReconfiguration @3;
  gangRestart @4;
  empty @5;
  evicted @6;
  drained @7;
  spendCap @8;
  interrupted @9;
  workerLost @10;
  fleet @11;
  complementary @12;
  bestFit @13;
  sampled @14;
  leastWaiting @15;
  firstFree @16;
  widthPlan @17;
  goodput @18;
  keptRoom @19;
  scaled @20;
  standIn @21;
  revision @22;
  resized @23;
}
enum TaskPhase {
  pending @0;
  assigned @1;
  starting @2;
  running @3;
  stopping @4;
  finished @5;
  held @6;  # in earlier records also those that are capped
  failed @7;
  capped @8;
}
enum FailureKind {
  unknown @0;
  exitCode @1;
  signal @2;
  outOfMemory @3;
  timeLimit @4;
  cannotStart @5;
  lost @6;
  rejected @7;
  diskFull @8;
  files @9;
}
enum AttemptEnd { notOver @0; finished @1; failed @2; moved @3; stopped @4; lost @5; }
enum InstancePhase { requested @0; booting @1; ready @2; terminating @3; }

struct FamilyDemand {
  family @0 :Text;
  amount @1 :Amounts;
  speed @2 :Float64;
}

struct TaskSpec {
  id @0 :UInt64;
  demands @1 :List(FamilyDemand);
  image @2 :Text;
  fetch @3 :Int64;
  build @4 :Int64;
  init @5 :Int64;
  stop @6 :Int64;
  upload @7 :Int64;
  arrayIndex @8 :UInt32;
  runtimeHintSet @9 :Bool;
  runtimeHint @10 :Int64;
}

struct Variable {
  name @0 :Text;
  value @1 :Text;
}

struct Program {
  argv @0 :List(Text);
  env @1 :List(Variable);
  workDir @2 :Text;
  timeLimit @3 :Int64;
  stopGrace @4 :Int64;
  baselineRate @5 :Float64;  # units of progress a second
  warnSignal @6 :Int32;
  warnBefore @7 :Int64;
  warnProgramOnly @8 :Bool;
  script @9 :Text;
  makeWorkDir @10 :Bool;
  stage @11 :Text;
  outputs @12 :List(Text);
  optionalOutputs @13 :Bool;
}

struct Job {
  id @0 :UInt64;
  name @1 :Text;
  user @2 :Text;
  workloadClass @3 :Text;
  priority @4 :Int32;
  gang @5 :Bool = true;
  runtimeHintSet @6 :Bool;
  runtimeHint @7 :Int64;
  tasks @8 :List(TaskSpec);
  program @9 :Program;
  markets @10 :MarketChoice;
  maxRunning @11 :UInt32;
  retriesSet @12 :Bool;
  retries @13 :UInt32;
  token @14 :Text;
  length @15 :JobLength;
  spotSafe @16 :Bool;
  totalTasks @17 :UInt32;
  originSet @18 :Bool;
  latitude @19 :Float64;  # degrees, as is
  longitude @20 :Float64;
  notMovable @21 :Bool;
  noCheckpoints @22 :Bool;
  maxFailsSet @23 :Bool;
  maxFails @24 :UInt32;
  elastic @25 :ElasticSpec;  # set: the job is elastic; else a batch job
  obsolete26 @26 :AnyPointer;  # never set
  predictedRuntimeSet @27 :Bool;
  predictedRuntime @28 :Int64;
  confidence @29 :Float64;
  distinctInstances @30 :Bool;
  doneOnStop @31 :Bool;
  retryOn @32 :List(Text);
  constraint @33 :Text;
  service @34 :ServiceSpec;  # set: the job is a service
  mostAnInstance @35 :UInt32;  # 0 also where distinctInstances is set, which means 1
  submittedSet @36 :Bool;
  submitted @37 :Int64;
  after @38 :List(AfterJob);
  againOf @39 :UInt64 = 0xffffffffffffffff;
  beginSet @40 :Bool;
  begin @41 :Int64;
  deadlineSet @42 :Bool;
  deadline @43 :Int64;
  held @44 :Bool;
  keepsWaiting @45 :Bool;
  every @46 :Text;
  zone @47 :Text;
  overlaps @48 :Bool;
  recurs @49 :UInt64 = 0xffffffffffffffff;
  notify @50 :List(Text);
  notifyOn @51 :NotifyOn;
}
enum NotifyOn { end @0; fail @1; all @2; }
enum AfterEnd { ok @0; any @1; fail @2; start @3; }
struct AfterJob {
  job @0 :UInt64;
  end @1 :AfterEnd;
  place @2 :UInt32;
  met @3 :Bool;
  byIndex @4 :Bool;
  again @5 :UInt64 = 0xffffffffffffffff;
  first @6 :UInt64 = 0xffffffffffffffff;
}

enum CheckKind {
  nothing @0;
  http @1;
  tcp @2;
  command @3;
  line @4;
}
struct HealthCheck {
  kind @0 :CheckKind;
  port @1 :Text;
  path @2 :Text;
  command @3 :List(Text);
  every @4 :Int64;
  timeout @5 :Int64;
  successes @6 :UInt32;
  failures @7 :UInt32;
}
struct ServiceSpec {
  ports @0 :List(Text);
  ready @1 :HealthCheck;
  alive @2 :HealthCheck;
  startWithin @3 :Int64;
  drain @4 :Int64;
  replicas @5 :UInt32;  # 0: one for each task
  surge @6 :UInt32;
  maxUnavailable @7 :UInt32;
  healthyFor @8 :Int64;
  updateWithin @9 :Int64;
  revision @10 :UInt32;
  replaces @11 :UInt64;  # the job of the revision before; not valid: it is the first one
  master @12 :Text;
  goal @13 :ServiceGoal;
  least @14 :UInt32;
  most @15 :UInt32;
  leastCpus @16 :Float64;  # 0: replicas have the size that their user asks for
  leastMemoryGib @17 :Float64;
}
struct ServiceGoal {
  metric @0 :Text;
  bound @1 :Float64;
  atLeast @2 :Bool;
  probe @3 :List(Text);
  every @4 :Int64;
  timeout @5 :Int64;
}
struct ReplicaPort {
  name @0 :Text;
  number @1 :UInt32;
}
struct ReplicaState {
  ready @0 :Bool;
  restarts @1 :UInt32;
  exitCode @2 :Int32;
  pause @3 :Int64;
  trouble @4 :Text;
  address @5 :Text;
  ports @6 :List(ReplicaPort);
}

struct ElasticSpec {
  minWidth @0 :UInt32;
  maxWidth @1 :UInt32;
  speedup @2 :List(Float64);
  epochs @3 :List(ElasticEpoch);
  unit @4 :Text;
  batch @5 :BatchLimits;  # not set: it chooses none
}
struct ElasticEpoch {
  until @0 :Float64;
  rate @1 :Float64;  # a second
  speedup @2 :List(Float64);
  spread @3 :List(Float64);
}
struct BatchLimits {
  initial @0 :UInt32;
  largest @1 :UInt32;
  localMin @2 :UInt32;
  localMax @3 :UInt32;
}
struct TrainingSample {
  nodes @0 :UInt32;
  replicas @1 :UInt32;
  localBatch @2 :UInt32;
  accumulation @3 :UInt32;
  step @4 :Float64;  # seconds
  sync @5 :Float64;
  gradSqr @6 :Float64;
  gradVar @7 :Float64;
}

struct Cause {
  code @0 :CauseCode;
  gain @1 :Float64;  # dollars an hour
}

struct Refusal {
  kind @0 :RefusalKind;
  code @1 :RefusalCode;
  bindingSet @2 :Bool;
  binding @3 :ResourceKind;
  asked @4 :Float64;
  available @5 :Float64;
}

struct ProcessEnd {
  exitCode @0 :Int32;
  outTail @1 :Data;  # what a process wrote need not be text
  errTail @2 :Data;
  cpu @3 :Int64;  # processor time; 0: not measured, or of an earlier version
  peakBytes @4 :UInt64;  # of memory; 0: likewise
}

struct Figure {
  name @0 :Text;
  value @1 :Float64;
}

struct EventBatch {
  events @0 :List(Event);  # at least one; they are kept together or not at all
}

struct Event {
  at @0 :Int64;
  union {
    jobAccepted @1 :Job;
    taskRefused @2 :TaskRefused;
    roundDecided @3 :RoundDecided;
    planPartRefused @4 :PlanPartRefused;
    launchRequested @5 :LaunchRequested;
    launchRefused @6 :LaunchRefused;
    instanceUp @7 :InstanceMoment;
    instanceReady @8 :UInt64;  # the instance
    releaseDecided @9 :ReleaseDecided;
    terminateIssued @10 :UInt64;  # the instance
    instanceGone @11 :InstanceMoment;
    taskAssigned @12 :TaskAssigned;
    taskUnassigned @13 :TaskUnassigned;
    startIssued @14 :StartIssued;
    taskStarted @15 :TaskStarted;
    stopIssued @16 :StopIssued;
    taskCheckpointed @17 :TaskCheckpointed;
    taskFinished @18 :TaskFinished;
    taskFailed @19 :TaskFailed;
    jobFinished @20 :JobFinished;
    taskReleased @21 :UInt64;  # the task
    jobHeld @22 :UInt64;  # the job
    jobReleased @23 :UInt64;  # the job
    jobTerminating @24 :JobTerminating;
    measured @25 :Measured;
    gangTurn @26 :GangTurn;
    offeringChanged @27 :OfferingChange;
    jobResized @28 :JobResized;
    roomClaimed @29 :RoomClaimed;
    replicaChanged @30 :ReplicaChanged;
    replicaWanted @31 :ReplicaWanted;
    serviceScaled @32 :ServiceScaled;
    serviceSettled @33 :UInt64;  # the job
    counterpartOver @34 :CounterpartOver;
    ownCheckpoints @35 :UInt64;  # the instance
  }
}

struct CounterpartOver {
  task @0 :UInt64;
  lost @1 :Text;
}
struct TaskRefused {
  task @0 :UInt64;
  refusal @1 :Refusal;
}
struct RoundDecided {
  round @0 :UInt64;
  choice @1 :Text;
  figures @2 :List(Figure);
  quiet @3 :UInt64;
  settled @4 :Bool;
  behind @5 :UInt64;
  took @6 :Int64;
  budget @7 :UInt64;
  ahead @8 :Int64;  # of the cloud's clock, where a day's money is capped
}
struct PlanPartRefused {
  task @0 :UInt64;  # all bits set: an instance is meant
  instance @1 :UInt64;  # all bits set: a task is meant
  refusal @2 :Refusal;
}
struct LaunchRequested {
  instance @0 :UInt64;
  type @1 :Text;
  market @2 :Market;
  price @3 :Int64;
  cause @4 :Cause;
  zone @5 :Text;
  maxPrice @6 :Int64;  # 0: whatever it costs
}
struct LaunchRefused {
  instance @0 :UInt64;
  refusal @1 :Refusal;
  reason @2 :CloudReason;
}
struct OfferingChange {
  # An offering of a cloud that is not as it was.
  number @0 :UInt64;  # of the cloud's changes, from 1 on
  at @1 :Int64;  # by the cloud's clock
  type @2 :Text;
  market @3 :Market;
  zone @4 :Text;
  price @5 :Int64;
  available @6 :Bool;
  interruptionsH @7 :Float64;
  free @8 :UInt32;  # instances that are left
  freeSet @9 :Bool;
}
struct InstanceMoment {
  instance @0 :UInt64;
  billedSet @1 :Bool;
  billed @2 :Int64;  # from then or until then, by the cloud's word
  ahead @3 :Int64;  # of an instance that is up: the cloud's clock before the events'
  reason @4 :CloudReason;  # of one that is gone
}
struct ReleaseDecided {
  instance @0 :UInt64;
  cause @1 :Cause;
  cappedDay @2 :Int32 = -1;  # since 1970
  cappedUsd @3 :Float64;  # the cap of then
}
struct TaskAssigned {
  task @0 :UInt64;
  to @1 :UInt64;
  cause @2 :Cause;
  grant @3 :Grant;  # not set: what the task demands there
}
struct TaskUnassigned {
  task @0 :UInt64;
  cause @1 :Cause;
}
struct StartIssued {
  task @0 :UInt64;
  instance @1 :UInt64;
  attempt @2 :UInt32;
  grant @3 :Grant;  # not set: what the task demands there
}
struct TaskStarted {
  task @0 :UInt64;
  attempt @1 :UInt32;
  fetch @2 :Int64;
  build @3 :Int64;
}
struct StopIssued {
  task @0 :UInt64;
  attempt @1 :UInt32;
}
struct TaskCheckpointed {
  task @0 :UInt64;
  attempt @1 :UInt32;
  upload @2 :Int64;
  end @3 :ProcessEnd;
}
struct TaskFinished {
  task @0 :UInt64;
  attempt @1 :UInt32;
  end @2 :ProcessEnd;
}
struct TaskFailed {
  task @0 :UInt64;
  attempt @1 :UInt32;
  reason @2 :Text;
  end @3 :ProcessEnd;
  blameless @4 :Bool;
  kind @5 :FailureKind;
  forGood @6 :Bool;
  retryAt @7 :Int64;
  retryAtSet @8 :Bool;
}
struct JobFinished {
  job @0 :UInt64;
  outcome @1 :JobOutcome;
  meanThroughput @2 :Float64;
  throughputSamples @3 :UInt64;
}
struct JobTerminating {
  job @0 :UInt64;
  outcome @1 :JobOutcome;
}
struct Measured {
  tasks @0 :List(UInt64);
  normalized @1 :List(Float64);  # of each task
  quiet @2 :UInt64;
  progress @3 :List(JobProgress);
  metrics @4 :List(TaskMetrics);
}
struct TaskMetrics {
  task @0 :UInt64;
  values @1 :List(Figure);
}
struct JobProgress {
  task @0 :UInt64;
  done @1 :Float64;
  training @2 :TrainingSample;  # not set: it trains nothing, or does not say
}
struct ReplicaChanged {
  task @0 :UInt64;
  attempt @1 :UInt32;
  state @2 :ReplicaState;
}
struct ReplicaWanted {
  task @0 :UInt64;
  wanted @1 :Bool;
  cause @2 :Cause;
}
struct ServiceScaled {
  job @0 :UInt64;
  replicas @1 :UInt32;
  measuredSet @2 :Bool;
  measured @3 :Float64;
}
struct JobResized {
  job @0 :UInt64;
  width @1 :UInt32;
  cause @2 :Cause;
}

struct GangTurn {
  job @0 :UInt64;
  until @1 :Int64;
}

struct ClosedInstance {
  instance @0 :UInt64;
  until @1 :Int64;
  untilSet @2 :Bool;
}

struct RoomClaimed {
  job @0 :UInt64;
  task @1 :UInt64;
  shortOf @2 :Refusal;
  instances @3 :UInt32;
  price @4 :Int64;
  closed @5 :List(ClosedInstance);
}

struct RoomWait {
  # A job that waits for room that something bounds.
  job @0 :UInt64;
  task @1 :UInt64;
  since @2 :Int64;
  shortOf @3 :Refusal;
  restUntil @4 :Int64;
  rests @5 :UInt32;
  unpaid @6 :Bool;  # it rests for a new day's money: restUntil is of the cloud's clock
}

struct RoomClaim {
  claimed @0 :RoomClaimed;
  since @1 :Int64;
  chosenAt @2 :Int64;
  firstRoundSet @3 :Bool;
  firstRound @4 :UInt64;  # that found the room there
}

struct MasterSnapshot {
  # The state of a master after all events before the record's key. Slots are positions in the tables
  # of the state; all bits set stands for none. Lists of slots are in their list's order.
  types @0 :List(Text);  # what the types of instances below count into
  classNames @1 :List(Text);
  shapes @2 :List(Shape);
  jobs @3 :List(JobRow);
  tasks @4 :List(TaskRow);
  instances @5 :List(InstanceRow);
  freeJobs @6 :List(UInt32);
  freeTasks @7 :List(UInt32);
  freeInstances @8 :List(UInt32);
  active @9 :List(UInt32);
  pending @10 :List(UInt32);
  assigned @11 :List(UInt32);
  live @12 :List(UInt32);
  ledger @13 :Ledger;
  stories @14 :List(TaskStory);
  throughput @15 :List(ThroughputSum);
  unavailable @16 :List(Resting);
  day @17 :Int64;  # of the last event, since 1970; not written where spendSet, as the next
  dayStartTotal @18 :Money;
  nextInstance @19 :UInt64;
  rounds @20 :UInt64;
  learnt @21 :Data;
  newest @22 :Int64;  # time of the last event
  quiet @23 :UInt64;  # rounds since the last one that was held
  calmSet @24 :Bool;
  calmSince @25 :Int64;
  calm @26 :Measured;
  gangs @27 :List(GangWait);
  turn @28 :GangTurn;  # not set: it is nobody's
  cappedDay @29 :Int64 = -1;  # since 1970
  turnBegan @30 :Int64;
  othersUntil @31 :Int64;  # no gang's turn begins before
  terminalParts @32 :List(UInt64);  # jobs of which a part was given up, the newest last
  accepted @33 :List(NumberBlock);  # numbers of all jobs ever accepted; not set: only the history says
  spendSet @34 :Bool;
  upSince @35 :List(UpSince);
  spentByDay @36 :List(DaySpend);
  cappedUsd @37 :Float64;  # 0: not said
  failedParts @38 :List(FailedPart);  # the one that changed last is the last
  offeringsKnown @39 :UInt64;  # number of the newest change of an offering
  offerings @40 :List(OfferingChange);  # as they were told; number and time are not written
  idleClasses @41 :List(UInt32);  # of the names, those that no task has; the one idle longest first
  roomWaits @42 :List(RoomWait);
  roomClaim @43 :RoomClaim;  # not set: no room is kept
  roomCloudAhead @44 :Int64;  # the cloud's clock before the events', as the last round knew it
  dayLosses @45 :List(DayLoss);
  lives @46 :List(InstanceLife);
  completed @48 :List(NumberBlock);  # of those ever accepted, whole jobs that have
  failed @49 :List(NumberBlock);  # likewise, that have failed, were refused or have expired
  offeringsHad @47 :List(UInt32);  # as `offerings`: instances of the master when it was told
}

struct InstanceLife {
  # The life of an instance, also of one that is gone. A time of all bits set is not known.
  instance @0 :UInt64;
  type @1 :Text;
  market @2 :Market;
  zone @3 :Text;
  price @4 :Int64;
  requestedAt @5 :Int64;
  upAt @6 :Int64 = -1;
  readyAt @7 :Int64 = -1;
  releasedAt @8 :Int64 = -1;
  endedAt @9 :Int64 = -1;
  rentedSet @10 :Bool;
  rentedFor @11 :CauseCode;
  releasedSet @12 :Bool;
  releasedFor @13 :CauseCode;
  goneSet @14 :Bool;
  gone @15 :CloudReason;
  bill @16 :Money;
  visitsBefore @17 :UInt64;
  visits @18 :List(Visit);
}
struct Visit {
  job @0 :UInt64;
  index @1 :UInt32;
  attempt @2 :UInt32;
  sentAt @3 :Int64;
  endedAt @4 :Int64 = -1;
  end @5 :AttemptEnd;
}

struct DayLoss {
  # A run of an unfinished task that the day's cap has ended, with nothing kept of it.
  task @0 :UInt64;
  ran @1 :Int64;
}

struct FailedPart {
  job @0 :UInt64;
  failed @1 :UInt32;
  allowed @2 :UInt32;
}

struct UpSince {
  instance @0 :UInt64;
  since @1 :Int64;  # by the cloud's clock
}

struct DaySpend {
  day @0 :Int64;  # of the cloud's clock, since 1970
  amount @1 :Money;  # for instances that are gone
}

struct NumberBlock {
  # Numbers from 4,096 x block on that are in a set: a bit each, the lowest of the first word first.
  block @0 :UInt64;
  bits @1 :List(UInt64);
}

struct GangWait {
  job @0 :UInt64;
  since @1 :Int64;
  restUntil @2 :Int64;
  refusals @3 :UInt32;
  turns @4 :UInt32;
  hopeless @5 :Bool;
}

struct Shape {
  demands @0 :List(FamilyDemand);
  constraint @1 :Text;
}

struct JobRow {
  job @0 :Job;
  slot @1 :UInt32;
  acceptedAt @2 :Int64;
  tasks @3 :List(UInt32);
  pending @4 :UInt32;
  held @5 :UInt32;
  running @6 :UInt32;
  finished @7 :UInt32;
  heldByUser @8 :Bool;
  terminalOutcomeSet @9 :Bool;
  terminalOutcome @10 :JobOutcome;
  heldFrom @11 :UInt32;
  width @12 :UInt32;  # of an elastic job; 0: it is none
  done @13 :Float64;
  replicas @14 :UInt32;  # of a service, as the next ones
  settled @15 :Bool;
  progressedAt @16 :Int64;
  failedUpdate @17 :UInt64;  # 18446744073709551615: no revision was given up
  lastRevision @18 :UInt32;
}

struct TaskRow {
  id @0 :UInt64;
  slot @1 :UInt32;
  job @2 :UInt32;
  index @3 :UInt32;
  class @4 :UInt32;
  shape @5 :UInt32;
  phase @6 :TaskPhase;
  attempt @7 :UInt32;
  at @8 :UInt32;
  target @9 :UInt32;
  reason @10 :Refusal;
  seenLoad @11 :Int64;
  seenUpload @12 :Int64;
  startedAt @13 :Int64;  # of the newest attempt that started
  ran @14 :Int64;
  held @15 :Grant;  # not set: none, or, where it is at an instance, what it demands there
  planned @16 :Grant;  # likewise
  fruitless @17 :UInt32;
  metrics @18 :List(Figure);
  replica @19 :ReplicaState;  # not set: it is none, or nothing is known of it
  setbacks @20 :UInt32;
  restsUntil @21 :Int64;  # 0: it does not rest
  wanted @22 :Bool;
  readySince @23 :Int64;  # 0: it is not ready
  awaits @24 :Bool;  # its counterpart in another job
}

struct InstanceRow {
  id @0 :UInt64;
  slot @1 :UInt32;
  type @2 :UInt32;
  market @3 :Market;
  price @4 :Int64;
  phase @5 :InstancePhase;
  up @6 :Bool;
  released @7 :Bool;
  requestedAt @8 :Int64;
  occupants @9 :List(UInt32);
  planned @10 :List(UInt32);
  used @11 :Amounts;  # the sums as they were added up, rounding and all
  committed @12 :Amounts;
  upAt @13 :Int64;  # 0: not up, or of an earlier version
  zone @14 :Text;
  maxPrice @15 :Int64;
  earlierPrices @16 :List(PriceStep);  # the oldest first
  owned @17 :Bool;  # of the fleet; not set: rented, or of an earlier version
  ownCheckpoints @18 :Bool;
}
struct PriceStep {
  until @0 :Int64;  # by the cloud's clock
  price @1 :Int64;
}

struct Ledger {
  total @0 :Money;
  boot @1 :Money;
  idle @2 :Money;
  drain @3 :Money;
  fragmentation @4 :Money;
  closedTasks @5 :Money;
  tasks @6 :List(TaskMoney);
  settled @7 :List(SettledUntil);
}
struct TaskMoney {
  task @0 :UInt64;
  amount @1 :Money;
}
struct SettledUntil {
  instance @0 :UInt64;
  until @1 :Int64;
  ahead @2 :Int64;  # the cloud's clock before the one of the above
}

struct TaskStory {
  task @0 :UInt64;
  attempts @1 :UInt32;
  finished @2 :Bool;
  moves @3 :UInt32;
  failures @4 :UInt32;
  reason @5 :Text;
  instance @6 :UInt64 = 0xffffffffffffffff;
  type @7 :Text;
  startedSet @8 :Bool;
  startedAt @9 :Int64;
  endedSet @10 :Bool;
  endedAt @11 :Int64;
  end @12 :ProcessEnd;
  cost @13 :Money;
  failure @14 :FailureKind;
  failed @15 :Bool;
  losses @16 :UInt32;
  metrics @17 :List(Figure);
  attemptList @18 :List(AttemptStory);  # the newest is the last; empty: of an earlier version
  paid @19 :Money;
  ranSet @20 :Bool;
  ran @21 :Int64;
  cpu @22 :Int64;  # of all attempts that have ended; 0: not measured, or of an earlier version
  peakBytes @23 :UInt64;  # likewise, the highest
}

struct AttemptStory {
  number @0 :UInt32;
  instance @1 :UInt64 = 0xffffffffffffffff;
  type @2 :Text;
  marketSet @3 :Bool;
  market @4 :Market;
  sentSet @5 :Bool;
  sentAt @6 :Int64;
  startedSet @7 :Bool;
  startedAt @8 :Int64;
  endedSet @9 :Bool;
  endedAt @10 :Int64;
  end @11 :AttemptEnd;
  leavesSet @12 :Bool;
  leaves @13 :CauseCode;
  goneSet @14 :Bool;
  gone @15 :CloudReason;
  exitSet @16 :Bool;
  exitCode @17 :Int32;
  reason @18 :Text;
  cost @19 :Money;
  cpu @20 :Int64;  # processor time; 0: not measured, or of an earlier version
  peakBytes @21 :UInt64;
}

struct ThroughputSum {
  job @0 :UInt64;
  sum @1 :Float64;
  count @2 :UInt64;
}
struct Resting {
  type @0 :Text;
  market @1 :Market;
  until @2 :Int64;
  zone @3 :Text;
  refusals @4 :UInt32 = 1;  # in a row
  code @5 :RefusalCode = cloudCapacity;
}

struct JobHistory {
  job @0 :Job;
  outcome @1 :JobOutcome;
  acceptedAt @2 :Int64;
  overAt @3 :Int64;
  meanThroughput @4 :Float64;
  tasks @5 :List(TaskStory);
}

struct HistoryPlace {
  # Where in the history a job is, and what lists and bills need of it. Up to format 1 a number stood
  # in its stead: the place alone.
  place @0 :UInt64;
  job @1 :UInt64;
  user @2 :Text;
  name @3 :Text;
  cost @4 :Money;
  known @5 :Bool;  # the following members; they came later than those above
  listedAt @6 :Int64;
  submitted @7 :Int64;
  outcome @8 :JobOutcome;
  failed @9 :Bool;
  exitCodeSet @10 :Bool;
  exitCode @11 :Int32;
  overAt @12 :Int64;
}

struct Handoff {
  job @0 :Job;
  index @1 :UInt32;  # number of the master or the site that is to have it
  site @2 :Bool;
}

struct KnownToken {
  token @0 :Text;
  job @1 :UInt64;
  # Records of formats 1 and 2 may be without a user. The jobs that another site had left to this one stood
  # there as a token "forwarded N", or with `forwarded` set; they are numbers in sets of their own since.
  userSet @2 :Bool;
  user @3 :Text;
  forwarded @4 :Bool;
  # A number for what the user said of the job; not there where it was not kept.
  digestSet @5 :Bool;
  digest @6 :UInt64;
}

struct EndedHandoff {
  job @0 :Job;  # without its tasks
  index @1 :UInt32;  # of the master or the site that was to have it
  site @2 :Bool;
  tasks @3 :UInt32;
  outcome @4 :JobOutcome;
  reason @5 :Text;
  at @6 :Int64;
  conflict @7 :Bool;  # its number was another job's
}

struct JobLetter {
  # Of a job whose end is to be told: to whom, and how it ended, once that is known.
  job @0 :UInt64;
  name @1 :Text;
  user @2 :Text;
  to @3 :List(Text);  # those that have not been told
  on @4 :NotifyOn;
  group @5 :UInt64 = 0xffffffffffffffff;  # the first of the jobs that are told of together
  ended @6 :Bool;
  outcomeSet @7 :Bool;
  outcome @8 :JobOutcome;
  tasks @9 :UInt32;
  at @10 :Int64;
}

struct JobEnding {
  # Of a master's part of a job that is over, for jobs and tasks that wait for it.
  job @0 :UInt64;
  outcome @1 :JobOutcome;
  overAt @2 :Int64;
  first @3 :UInt32;  # position of its first task in the job
  tasks @4 :UInt32;
  whole @5 :UInt32;
  broken @6 :Bool;
  completed @7 :List(UInt32);  # array indices: of each run the first, the last and the step
  failed @8 :List(UInt32);
  user @9 :Text;
}

struct Rented {
  instance @0 :UInt64;
  type @1 :Text;
  market @2 :Market;
  price @3 :Int64;
  orderedAt @4 :Int64;
  upSet @5 :Bool;
  upAt @6 :Int64;
  goneSet @7 :Bool;
  goneAt @8 :Int64;
  noticeSet @9 :Bool;
  notice @10 :Int64;
  refused @11 :Bool;
  ending @12 :Bool;
  machine @13 :Text;
  zone @14 :Text;
  maxPrice @15 :Int64;
  reason @16 :CloudReason;
  charged @17 :Money;
  pricedSet @18 :Bool;
  pricedAt @19 :Int64;
  change @20 :UInt64;
}

struct RentedSums {
  # Of the instances of a master that are gone and not on record one by one any more.
  charged @0 :Money;
  launched @1 :UInt64;
  refused @2 :UInt64;
  newest @3 :UInt64;  # the highest number of these
}
