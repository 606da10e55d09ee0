export { encodeClose, encodeFrame, opcode } from "./cdp/frames.ts";
export { createServerFrames } from "./cdp/server-frames.ts";
export {
  AssignInstance,
  ChangeViewport,
  InstanceConfig,
  InstanceEvent,
  type LaunchWishes,
  maxInstanceEventBytes,
  maxTelemetryLineBytes,
  SelectTelemetry,
  ViewportChanged,
} from "./protocol.ts";
export { disableInspectorSignal } from "./inspector-signal.ts";
export { BadProfileArchive, createProfileDecompressor, packProfile, readStateOf } from "./profile-state/archive.ts";
export type { SavedState } from "./profile-state/saved-state.ts";
export { notImplemented } from "./not-implemented.ts";
export { nativeFiles as instanceNativeFiles } from "./process/native-terminal.ts";
export { processGroupsFile } from "./process/process-groups-file.ts";
export { unknownFieldsHeader } from "./unknown-fields-header.ts";
export { instanceProgramPath, liveViewPagePath, replayPagePath } from "./program-path.ts";
