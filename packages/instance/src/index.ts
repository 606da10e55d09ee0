export { AssignInstance, InstanceConfig, InstanceEvent, maxInstanceEventBytes } from "./protocol.ts";
export { instanceProgramPath } from "./program-path.ts";
export { maxViewportPixels } from "./viewport-limit.ts";
