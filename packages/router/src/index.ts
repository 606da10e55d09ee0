export { isStatusReply, withStatus, type StatusReply } from "./handler/status-reply.ts";
export { notImplementedError } from "./handler/not-implemented.ts";
export {
  isLasting,
  isRepeatable,
  keyOfAnotherRequest,
  repeatable,
  type IdempotencyStore,
  type KeyedCall,
} from "./operation/idempotency.ts";
export { IdempotencyMemory } from "./operation/idempotency-memory.ts";
export { badInput, ServiceError, type ErrorData, type ServiceErrorOptions } from "./handler/service-error.ts";
export type {
  AnyCall,
  AnyHandler,
  BytesReply,
  Handler,
  HandlerCall,
  HandlerResult,
  Handlers,
  HandlersOrNotYet,
  MultipartPart,
  StreamFrame,
} from "./handler/handler.ts";
export { slowJson, type SlowJsonTimes } from "./reply/slow-json.ts";
export { insteadOfJson } from "./reply/other-bytes.ts";
export { serializedBytes, serializedJson } from "./reply/serialized-json.ts";
export { ignoredFieldsHeader } from "./request/ignored-fields.ts";
export { checkedBody } from "./request/checked-body.ts";
export { readBody } from "./request/json-body.ts";
export { FormFields } from "./request/multipart/form-fields.ts";
export { createQueryReader, type QueryReader } from "./request/query-reader.ts";
export { nearMatch } from "./request/near-match.ts";
export type { OperationOptions, UnknownFields } from "./operation/operation.ts";
