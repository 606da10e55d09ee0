export * from "./shoal.ts";
export {
  type AttachedSession,
  type BrowserSession,
  type CommandOptions,
  type SessionMethods,
  type SessionReplay,
  type SessionWatch,
} from "./browsers/session/browser-session.ts";
export { type SessionComputer } from "./browsers/session/session-computer.ts";
export { type SessionFiles } from "./browsers/session/session-files.ts";
export { type ActionOptions, type Distance, type SessionPages, type Target } from "./browsers/session/session-pages.ts";
export { type SessionProcess } from "./browsers/session/session-process.ts";
export { type BrowserFiles, type UploadItem } from "./browsers/browser-fs.ts";
export { type BrowserFetchInit } from "./browsers/browser-fetch.ts";
export { type BrowserComputer } from "./browsers/browser-computer.ts";
export {
  type BrowserPlaywright,
  type PlaywrightExecutors as BrowserPlaywrightExecutors,
} from "./browsers/browser-playwright.ts";
export {
  type BrowserProcesses,
  type CommandResult,
  type ProcessOutput,
  type WriteOptions,
} from "./browsers/browser-processes.ts";
export { type BrowserLogs } from "./browsers/browser-logs.ts";
export { type SessionTelemetry } from "./browsers/browser-telemetry.ts";
export { type BrowserHandoff, type LiveViewLinks } from "./browsers/browser-handoff.ts";
export { type SessionHandoff, type StartedHandoff } from "./browsers/session/session-handoff.ts";
export { type BrowserTools } from "./browsers/session/browser-tools.ts";
export { type BrowserDownloads, type WaitForDownloadOptions } from "./browsers/browser-downloads.ts";
export { type BrowserReplays, type ReplayDownloadOptions } from "./browsers/browser-replays.ts";
export { type DirectoryWatches, type StartedWatch } from "./browsers/directory-watches.ts";
export { type AuthConnections } from "./auth/auth-connections.ts";
export { type WaitOptions } from "./deployments/wait.ts";
export { type AuditLogDownloadOptions, type AuditLogProgress } from "./organization/audit-log-download.ts";
export { type BotIdentityResource } from "./organization/bot-identity.ts";
export { type EvidenceKeyResource } from "./organization/evidence-key.ts";
export { type AuthContextResource } from "./auth/auth-context.ts";
export { ApiError, ConnectionError, ContractError, isShoalError, TimeoutError } from "@shoal/transport";
export type {
  Call,
  CallOptions,
  Download,
  DownloadOptions,
  DownloadProgress,
  EventStream,
  FailureInfo,
  ItemPage,
  RequestInfo,
  ResponseInfo,
  RetryInfo,
  ShoalError,
  StreamGap,
  StreamOptions,
  Transport,
  TransportHooks,
  TransportLogger,
  UploadProgress,
  Validation,
  WithResponse,
} from "@shoal/transport";
export type { BytesInput } from "@shoal/contract/endpoint";
export type * from "@shoal/schemas";
