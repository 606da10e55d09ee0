export { AssignInstance, InstanceConfig, InstanceEvent, maxInstanceEventBytes, maxViewportPixels } from "./protocol.ts";
export { instanceProgramPath } from "./program-path.ts";
