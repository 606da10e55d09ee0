import { messageOf } from "@shoal/primitives";
import { closeSync, openSync } from "node:fs";
import type { IncomingMessage, ServerResponse } from "node:http";
import { destination } from "pino";
import { redact } from "../log/log.ts";
import { accessOf, operationOf } from "../http/request-facts.ts";
import { requestIdOf } from "../log/request-log.ts";
import { StartError } from "../config/start-error.ts";

/** Writes a JSON line per finished request, without query, body, and headers other than the user agent. */
export interface AccessLog {
  requestEnded(request: IncomingMessage, response: ServerResponse, durationMs: number): void;
  reopen(): void;
  close(): Promise<void>;
}

const maxPath = 2048;
const maxUserAgent = 512;
const flushMs = 1000;
const bufferBytes = 8192;
/** With a slow disk, further lines are dropped. */
const maxWaitingBytes = 16 * 1024 * 1024;
const mode = 0o640;

/** @param target - a file, or `-` for stdout. @throws {StartError} when the file is not writable. */
export function openAccessLog(target: string, clientIpOf: (request: IncomingMessage) => string): AccessLog {
  try {
    // Report errors at start, not with the first request.
    if (target !== "-") closeSync(openSync(target, "a", mode));
  } catch (error) {
    throw new StartError(`The access log ${target} cannot be written: ${messageOf(error)}.`, {
      hint: "Set --access-log to a file in an existing, writable folder, or to - for stdout.",
      cause: error,
    });
  }
  const out = destination({
    dest: target === "-" ? 1 : target,
    sync: false,
    minLength: bufferBytes,
    maxLength: maxWaitingBytes,
    mode,
  });
  // A full disk must not end the service; the lines are lost.
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
