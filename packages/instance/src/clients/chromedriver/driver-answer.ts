import type { ServerResponse } from "node:http";
import type { Refusal } from "../../http/replies.ts";

/** Errors of WebDriver (W3C), by the status of a refusal. */
const errors: Readonly<Record<number, string>> = {
  400: "invalid argument",
  404: "unknown command",
  408: "timeout",
};

/** Answers in the shape that clients of WebDriver read. @param error - of WebDriver, instead of that of the status. */
export function refuseCommand(response: ServerResponse, { message, status }: Refusal, error?: string): void {
  if (response.headersSent || response.destroyed) {
    response.destroy();
    return;
  }
  const value = { error: error ?? errors[status] ?? "unknown error", message, stacktrace: "" };
  const text = JSON.stringify({ value });
  response
    .writeHead(status, { "content-type": "application/json; charset=utf-8", "content-length": Buffer.byteLength(text) })
    .end(text);
}
