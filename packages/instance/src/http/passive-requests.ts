import type { Endpoint } from "@shoal/contract";
import type { IncomingMessage } from "node:http";
import { sessionEndpoints } from "../protocol/session-endpoints.ts";
import { pathOf } from "./replies.ts";

/** With the value `1`: the request comes from a monitor. */
const passiveHeader = "x-shoal-passive";

const passive: ReadonlyMap<string, "always" | "asked"> = new Map(
  Object.values<Endpoint>(sessionEndpoints).flatMap(({ inSession, method, path }) =>
    inSession?.passive === undefined ? [] : [[`${method} ${path.replace("/browsers/{id}", "")}`, inSession.passive]],
  ),
);

/** True for requests of monitors, which must not keep sessions running and are not events. */
export function isPassive(request: IncomingMessage): boolean {
  const method = request.method === "HEAD" ? "GET" : (request.method ?? "");
  const when = passive.get(`${method} ${pathOf(request)}`);
  return when === "always" || (when === "asked" && request.headers[passiveHeader] === "1");
}
