export { createTransport, type CallArguments, type CallResult, type DownloadResult, type Transport } from "./transport.ts";
export { ApiError, ConnectionError, ContractError, isShoalError, TimeoutError, type ShoalError } from "./errors.ts";
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
  Validation,
} from "./options.ts";
export type { UploadProgress } from "./upload.ts";
export type { Download } from "./download.ts";
export type { EventStream } from "./event-stream.ts";
export type { ItemPage } from "./page.ts";
export { pause } from "./clock.ts";
export { requestUrl } from "./url.ts";
