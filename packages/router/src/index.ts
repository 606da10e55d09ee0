export { isStatusReply, withStatus, type StatusReply } from "./status-reply.ts";
export { notImplementedError } from "./not-implemented.ts";
export { isLasting, keyOfAnotherRequest, readIdempotencyKey } from "./idempotency-key.ts";
export { badInput, ServiceError } from "./service-error.ts";
export type { BytesReply, Handler, HandlerCall, HandlerResult, Handlers, HandlersOrNotYet, MultipartPart, StreamFrame } from "./handler.ts";
export { exceededJsonBound, type JsonBounds } from "./json-bounds.ts";
export { serializedJson } from "./serialized-json.ts";
export type { OperationOptions } from "./operation.ts";
