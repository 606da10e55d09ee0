import { Id, lazyObject, LogEvent, StreamBrowserLogs } from "@shoal/schemas";
import { defineEndpoint, eventStream } from "./endpoint.ts";

const area = "Browser Logs";
const id = lazyObject(() => ({
  /** The session's id, or the name of a running session. */
  id: Id,
}));

/** Line by line, through rotation and truncation of a file; with `follow=false` it ends with the last line of now. */
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
  errors: [400, 401, 403, 404, 500],
});
