import type { OutgoingHttpHeaders, ServerResponse } from "node:http";
import { sendBytes } from "./bytes-reply.ts";
import { sendEvents } from "./event-reply.ts";
import type { BytesReply, StreamFrame } from "./handler.ts";

/** An answer before it is written; the status and headers are complete but for `X-Request-Id` and `Content-Length`. */
export type Reply = TextReply | StreamedReply;

/** JSON, or nothing where `text` is `undefined`. */
export interface TextReply {
  readonly kind: "text";
  readonly status: number;
  readonly headers: OutgoingHttpHeaders;
  readonly text: string | Buffer | undefined;
}

export type StreamedReply =
  | { readonly kind: "bytes"; readonly status: number; readonly headers: OutgoingHttpHeaders; readonly bytes: BytesReply }
  | {
      readonly kind: "events";
      readonly status: number;
      readonly headers: OutgoingHttpHeaders;
      readonly events: AsyncIterable<StreamFrame<unknown>>;
      readonly gaps: boolean;
      readonly heartbeatMs: number;
    };

/** Told of what goes wrong after the headers are sent. */
export type ReportError = (error: unknown) => void;

/** Writes an answer without a stream. All headers go in one call: Node is slower where some were set before. */
export function sendText(response: ServerResponse, reply: TextReply, requestId: string): void {
  const { headers, status, text } = reply;
  const complete: OutgoingHttpHeaders = { "x-request-id": requestId, ...headers };
  // RFC 9110 8.6: a 204 has no Content-Length.
  if (status !== 204) complete["content-length"] = text === undefined ? 0 : Buffer.byteLength(text);
  response.writeHead(status, complete);
  response.end(text);
}

/** Writes an answer that is a stream; what fails after the headers is reported and cuts the connection, or ends the events. */
export function sendStream(response: ServerResponse, reply: StreamedReply, report: ReportError): void {
  switch (reply.kind) {
    case "bytes":
      sendBytes(response, reply, report);
      return;
    case "events":
      void sendEvents(response, reply, report);
      return;
  }
}
