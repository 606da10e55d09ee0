export { encodeClose, encodeFrame, opcode } from "./http/frames.ts";
export { isPassive } from "./http/passive-requests.ts";
export { createServerFrames } from "./http/server-frames.ts";
export { instanceControl, type InstanceControlEndpoint } from "./protocol/endpoints.ts";
export {
  AssignInstance,
  InstanceConfig,
  InstanceEvent,
  type LaunchWishes,
  maxInstanceEventBytes,
  maxTelemetryLineBytes,
  RemoteListening,
  type RestQuestion,
  type RestReport,
  type SelectTelemetry,
} from "./protocol/protocol.ts";
export { RecordedAct, RecordedActs, ReplayedStep, ReplayStep } from "./protocol/flow.ts";
export { type OfferedSecret, secretTicketHeader } from "./protocol/offered-secret.ts";
export { HostedExit, type HostedProgramConfig, type StartHosted } from "./protocol/hosted-program.ts";
export {
  isAmongHosts,
  isAmongOrigins,
  type OutlineFrame,
  type OutlineNode,
  PageAct,
  PageActResult,
  PageOutline,
  SettledPage,
  type SettlePage,
} from "./protocol/page.ts";
export { maxRenderBytes, maxRenderHeadBytes, RenderHead, type RenderPart } from "./protocol/render-frame.ts";
export type { RenderMore } from "./protocol/render-frame.ts";
export { disableInspectorSignal } from "./system/inspector-signal.ts";
export {
  BadProfileArchive,
  createProfileDecompressor,
  packProfile,
  readStateOf,
} from "./browser/profile-state/archive.ts";
export type { SavedState } from "./browser/profile-state/saved-state.ts";
export { notImplemented } from "./protocol/not-implemented.ts";
export { keysOfChord } from "./operations/computer/chord.ts";
export { nativeFiles as instanceNativeFiles } from "./operations/process/children/native-terminal.ts";
export { processGroupsFile } from "./protocol/process-groups-file.ts";
export { playwrightMinors } from "./protocol/playwright-versions.ts";
export { remoteProtocols } from "./doors/protocols.ts";
export { unknownFieldsHeader } from "./protocol/unknown-fields-header.ts";
export { instanceProgramPath, liveViewPagePath } from "./protocol/program-path.ts";
