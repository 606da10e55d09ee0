import { invalid, type Refusal } from "@shoal/contract/refusals";
import { readRouteHosts } from "@shoal/primitives/hosts";
import { ServiceError } from "@shoal/router";
import type { BrowserProxyRoute } from "@shoal/schemas";

const field = "body.network.proxy_routes";

/** Returns the canonical hosts of each route. @throws {ServiceError} 400. */
export function routeHostsOf(
  routes: readonly BrowserProxyRoute[],
  privateHosts: readonly string[] | undefined,
): readonly (readonly string[])[] {
  const nameless = routes.findIndex(({ proxy: { id, name } }) => (id === undefined) === (name === undefined));
  if (nameless !== -1)
    throw ServiceError.of(invalid(`${field}[${String(nameless)}].proxy`, "give exactly one of id and name"));
  const read = readRouteHosts(routes, privateHosts);
  if ("hosts" in read) return read.hosts;
  const { host, problem, route } = read;
  throw ServiceError.of(
    invalid(
      `${field}[${String(route)}].hosts[${String(host)}]`,
      `${JSON.stringify(routes[route]?.hosts[host])} ${problem}`,
      { hint: "Write names (example.com), or all names below one (*.example.com), each in one route." },
    ),
  );
}

/** 400: browsers trust certificates for all hosts, not for those of a route. */
export function routeWithAuthorities(route: number): Refusal {
  return invalid(
    `${field}[${String(route)}].proxy`,
    "this proxy has private certificates (config.ca_bundle), which the browser would trust for all hosts",
    { hint: "Name a proxy without ca_bundle, or use it for the whole session (proxy)." },
  );
}
