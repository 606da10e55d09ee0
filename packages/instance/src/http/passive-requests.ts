import type { Endpoint } from "@shoal/contract";
import { sessionEndpoints } from "../protocol/session-endpoints.ts";
import { splitUrl } from "./replies.ts";

/** With the value `1`: the request comes from a monitor. */
const passiveHeader = "x-shoal-passive";

const passive: ReadonlyMap<string, "always" | "asked"> = new Map(
  Object.values<Endpoint>(sessionEndpoints).flatMap(({ inSession, method, path }) =>
    inSession?.passive === undefined ? [] : [[`${method} ${path.replace("/browsers/{id}", "")}`, inSession.passive]],
  ),
);

interface AskedRequest {
  readonly method?: string | undefined;
  /** Without `/browsers/{id}`; a query is ignored. */
  readonly url?: string | undefined;
  readonly headers?: Readonly<Record<string, unknown>> | undefined;
}

/** True for requests of monitors, which must not keep sessions running and are not events. */
export function isPassive({ headers = {}, method = "", url = "/" }: AskedRequest): boolean {
  const when = passive.get(`${method === "HEAD" ? "GET" : method} ${splitUrl(url).path}`);
  return when === "always" || (when === "asked" && headers[passiveHeader] === "1");
}
