export { AssignInstance, ChangeViewport, InstanceConfig, InstanceEvent, type LaunchWishes, maxInstanceEventBytes, maxTelemetryLineBytes, SelectTelemetry, ViewportChanged } from "./protocol.ts";
export { notImplemented } from "./not-implemented.ts";
export { nativeFiles as instanceNativeFiles } from "./process/native-terminal.ts";
export { processGroupsFile } from "./process/process-groups-file.ts";
export { instanceProgramPath, liveViewPagePath, replayPagePath } from "./program-path.ts";
export { maxScreenPixels, maxViewportPixels } from "./viewport-limit.ts";
