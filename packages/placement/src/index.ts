export type {
  AddedHeader,
  EgressProxyRoute,
  EgressRules,
  EgressTraffic,
  EgressUpstream,
  ExitHeaders,
  HeaderSource,
  RequestSigner,
  TransferredBytes,
} from "./interface/egress.ts";
export type {
  AnswerHead,
  ExchangeEnd,
  ExchangePlayer,
  ExchangeRecorder,
  ExchangeRequest,
  PlayedChunk,
  PlayedExchange,
  RecordedExchange,
} from "./interface/exchanges.ts";
export type { PlacementLog } from "./interface/placement-log.ts";
export { answerBytes, answerJson, type AnswerLimits, AnswerProblem, answerText } from "./streams/answer-text.ts";
export { Pace } from "./streams/pace.ts";
export {
  findChromium,
  locateFullChromium,
  type ChromiumKind,
  type ChromiumSource,
  type FoundChromium,
  type LocatedChromium,
} from "./chromium/find-chromium.ts";
export { assignInstance, type AssignOptions } from "./instances/assign-instance.ts";
export {
  callInstance,
  checkAnswer,
  errorBodyOf,
  InstanceRefusal,
  streamFromInstance,
} from "./instances/call-instance.ts";
export { FrontPage } from "./instances/front-page.ts";
export type { RenderMore } from "@shoal/instance";
export { type RenderedParts, renderPage } from "./instances/rendered-page.ts";
export { createPlacement } from "./create-placement.ts";
export { checkPrivateHosts } from "./policy/private-hosts.ts";
export { createEgressProbe, type EgressProbe, type EgressProbeResult } from "./egress/probe.ts";
export {
  createOutboundRule,
  guardedLookup,
  type OutboundDecision,
  type OutboundRule,
  type PlainHttp,
} from "./policy/outbound-rule.ts";
export { examineDocker } from "./container/examine-docker.ts";
export { examineKubernetes } from "./kubernetes/examine-kubernetes.ts";
export { identityOf, isRunning, type ProcessIdentity, processNamespace } from "./host/process-table.ts";
export { examineHost, type HostFinding, type HostReport } from "./examine-host.ts";
export { warmRoom } from "./instances/warm-size.ts";
export type {
  AutoWarm,
  ChromePolicies,
  CopyNeeds,
  DockerOptions,
  Instance,
  InstanceCopy,
  InstanceEnd,
  InstanceRequest,
  KubernetesOptions,
  PackedCopy,
  Placement,
  PlacementAbilities,
  PlacementKind,
  PlacementMemory,
  PlacementOptions,
  SessionSurroundings,
  WarmInstances,
} from "./interface/placement.ts";
export type {
  ProgramBox,
  ProgramCommand,
  ProgramExit,
  ProgramFolder,
  ProgramOptions,
  ProgramPlace,
} from "./interface/program.ts";
export type { OpenedExtension, SessionFiles } from "./interface/session-files.ts";
export type { InstanceSleep, PlacementSleep, SleepChange } from "./interface/sleep.ts";
export { withAcquire } from "./interface/with-acquire.ts";
export { PlacementError, type PlacementErrorCode } from "./interface/placement-error.ts";
