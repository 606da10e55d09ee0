export { ServiceError } from "./service-error.ts";
export type { BytesReply, Handler, HandlerCall, HandlerResult, Handlers, MultipartPart, StreamFrame } from "./handler.ts";
export type { OperationOptions } from "./operation.ts";
