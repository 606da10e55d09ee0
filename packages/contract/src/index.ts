export * from "./base/endpoint.ts";
export * from "./operations.ts";
/** Every operation by the name of its declaration. To start faster, import single operations instead. */
export * as contract from "./operations.ts";
export type { ControlOperationsOf, OperationsOf, ResourceName } from "./operations-of.ts";
/** The operations on a session's files and directory watches, by their names. */
export * as browserFs from "./instance/browser-fs.ts";
export * as browserDownloads from "./sessions/browser-downloads.ts";
export * as browserComputer from "./instance/browser-computer.ts";
export * as browserLogs from "./instance/browser-logs.ts";
export * as browserReplays from "./sessions/browser-replays.ts";
export * as browserProcess from "./instance/browser-process.ts";
