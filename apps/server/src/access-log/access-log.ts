import { closeSync, openSync } from "node:fs";
import type { IncomingMessage, ServerResponse } from "node:http";
import { destination } from "pino";
import { redact } from "../log.ts";
import { accessOf, operationOf } from "../observation/request-facts.ts";
import { requestIdOf } from "../request-log.ts";
import { StartError } from "../start-error.ts";

/** One JSON line for each request, when its answer has ended. No query, no header but the user agent, no body. */
export interface AccessLog {
  requestEnded(request: IncomingMessage, response: ServerResponse, durationMs: number): void;
  /** Goes on in a new file of the same name, after the old one was moved away. */
  reopen(): void;
  close(): Promise<void>;
}

const maxPath = 2048;
const maxUserAgent = 512;
/** Lines are written together, at most a second late. */
const flushMs = 1000;
const bufferBytes = 8192;
/** What a slow disk may make wait; beyond, lines are dropped. */
const maxWaitingBytes = 16 * 1024 * 1024;
const mode = 0o640;

/**
 * @param target - a file that is appended to, or `-` for the standard output.
 * @param clientIpOf - as proxies that are trusted tell it.
 * @throws {StartError} when the file cannot be written to.
 */
export function openAccessLog(target: string, clientIpOf: (request: IncomingMessage) => string): AccessLog {
  try {
    // A mistake is to show at the start, and not with the first request.
    if (target !== "-") closeSync(openSync(target, "a", mode));
  } catch (error) {
    throw new StartError(`The access log ${target} cannot be written: ${error instanceof Error ? error.message : String(error)}.`, {
      hint: "Name a file in a folder that exists and is writable with --access-log, or - for the standard output.",
      cause: error,
    });
  }
  const out = destination({ dest: target === "-" ? 1 : target, sync: false, minLength: bufferBytes, maxLength: maxWaitingBytes, mode });
  // A disk that is full must not end the service; the lines are lost.
  out.on("error", () => undefined);
  const timer = setInterval(() => {
    out.flush();
  }, flushMs).unref();

  return {
    requestEnded(request, response, durationMs) {
      const access = accessOf(request);
      const line = {
        time: new Date(Date.now() - durationMs).toISOString(),
        request_id: requestIdOf(request) ?? "",
        client_ip: clientIpOf(request),
        method: request.method ?? "",
        path: (request.url?.split("?", 1)[0] ?? "").slice(0, maxPath),
        operation: operationOf(request),
        // The client went away before there was an answer, for which nginx has this number.
        status: response.headersSent ? response.statusCode : 499,
        duration_ms: Math.round(durationMs * 10) / 10,
        ...(!response.writableFinished && { cut: true }),
        ...(access !== undefined && { key_id: access.key.id, project_id: access.projectId }),
        user_agent: (request.headers["user-agent"] ?? "").slice(0, maxUserAgent),
      };
      out.write(`${redact(JSON.stringify(line))}\n`);
    },
    reopen() {
      if (target !== "-") out.reopen();
    },
    async close() {
      clearInterval(timer);
      await new Promise<void>((resolve) => {
        out.once("close", resolve);
        out.end();
      });
    },
  };
}
