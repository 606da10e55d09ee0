export { AssignInstance, InstanceConfig, InstanceEvent, maxInstanceEventBytes } from "./protocol.ts";
export { notImplemented } from "./not-implemented.ts";
export { instanceProgramPath } from "./program-path.ts";
export { maxViewportPixels } from "./viewport-limit.ts";
