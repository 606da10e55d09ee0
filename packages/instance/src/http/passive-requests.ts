import type { IncomingMessage } from "node:http";
import { pathOf } from "./replies.ts";

/** With the value `1`: the request for a picture comes from a monitor. */
const passiveHeader = "x-shoal-passive";

/** True for requests of monitors, which must not keep sessions running and are not events: stats, and pictures with the header. */
export function isPassive(request: IncomingMessage): boolean {
  const path = pathOf(request);
  return path === "/stats" || (path === "/screenshot" && request.headers[passiveHeader] === "1");
}
