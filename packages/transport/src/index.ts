export {
  callOf,
  createTransport,
  type Call,
  type CallArguments,
  type CallResult,
  type DownloadResult,
  type Transport,
  type WithResponse,
} from "./transport.ts";
export {
  ApiError,
  ConnectionError,
  ContractError,
  isShoalError,
  TimeoutError,
  type ShoalError,
} from "./surface/errors.ts";
export type {
  CallOptions,
  DownloadOptions,
  DownloadProgress,
  FailureInfo,
  RequestInfo,
  ResponseInfo,
  RetryInfo,
  StreamGap,
  StreamOptions,
  TransportHooks,
  TransportLogger,
  TransportOptions,
  UploadProgress,
  Validation,
} from "./surface/options.ts";
export type { Download } from "./answers/download.ts";
export type { EventStream } from "./events/event-stream.ts";
export type { ItemPage } from "./answers/page.ts";
export { pause } from "./exchange/pause.ts";
export { requestUrl } from "./request/url.ts";
