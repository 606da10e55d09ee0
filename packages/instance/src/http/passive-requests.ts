import type { IncomingMessage } from "node:http";
import { pathOf } from "./replies.ts";

/** With the value `1`: the request comes from a monitor. */
const passiveHeader = "x-shoal-passive";

/** True for requests of monitors, which must not keep sessions running and are not events: stats, and with the header pictures and the list of processes. */
export function isPassive(request: IncomingMessage): boolean {
  const path = pathOf(request);
  if (path === "/stats") return true;
  const isRead = path === "/screenshot" || (path === "/process" && request.method === "GET");
  return isRead && request.headers[passiveHeader] === "1";
}
