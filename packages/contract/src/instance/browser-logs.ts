import { LogEvent, StreamBrowserLogs } from "@shoal/schemas";
import { defineEndpoint, eventStream } from "../base/endpoint.ts";
import { sessionId } from "../base/session-id.ts";

/** Log output of a session's programs. */
const area = "Browser Logs";

/** Line by line, from the beginning of a file, or from a process's oldest kept line. Follows rotation and truncation of a file; `follow=false` ends after the present last line. Lines longer than 64 KiB are split. At most 100 streams at once. */
export const streamBrowserLogs = defineEndpoint({
  operationId: "browsers.logs.stream",
  area,
  plane: "instance",
  inSession: { handoff: "continues", shared: "log", manages: true },
  moves: ["read code"],
  scope: ["browsers:use"],
  method: "GET",
  path: "/browsers/{id}/logs/stream",
  summary: "Follow a log file or the output of a session process.",
  params: sessionId,
  query: StreamBrowserLogs,
  responses: { 200: eventStream(LogEvent) },
  errors: [400, 401, 403, 404, 429, 500],
});
