import { Id, lazyObject, LogEvent, StreamBrowserLogs } from "@shoal/schemas";
import { defineEndpoint, eventStream } from "./endpoint.ts";

const area = "Browser Logs";
const id = lazyObject(() => ({
  /** The session's id, or the name of a running session. */
  id: Id,
}));

/** Line by line, from the beginning of a file and through its rotation and truncation, or from the oldest line of a process that is kept; with `follow=false` it ends with the last line of now. Lines longer than 64 KiB come in pieces. At most 100 streams at once. */
export const streamBrowserLogs = defineEndpoint({
  operationId: "browsers.logs.stream",
  area,
  plane: "instance",
  method: "GET",
  path: "/browsers/{id}/logs/stream",
  summary: "Follow a log file or a process beside the browser.",
  params: id,
  query: StreamBrowserLogs,
  responses: { 200: eventStream(LogEvent) },
  errors: [400, 401, 403, 404, 429, 500],
});
