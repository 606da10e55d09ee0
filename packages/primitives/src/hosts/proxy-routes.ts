import { overlappingName, patternText, readNamePattern } from "./name-pattern.ts";

/** The problem of `network.proxy_routes[route].hosts[host]`, to follow the quoted entry. */
export interface RouteProblem {
  readonly route: number;
  readonly host: number;
  readonly problem: string;
}

/**
 * Returns the canonical hosts of each route, or the first problem: an invalid pattern, a repeated pattern, or a pattern
 * that matches hosts of `network.private_hosts`.
 */
export function readRouteHosts(
  routes: readonly { readonly hosts: readonly string[] }[],
  privateHosts: readonly string[] = [],
): { readonly hosts: readonly (readonly string[])[] } | RouteProblem {
  const privateNames = privateHosts.flatMap((host) => readNamePattern(host.trim().replace(/:\d+$/, "")) ?? []);
  const known = new Set<string>();
  const read: string[][] = [];
  for (const [route, { hosts }] of routes.entries()) {
    const ofRoute: string[] = [];
    for (const [host, entry] of hosts.entries()) {
      const pattern = readNamePattern(entry.trim());
      if (pattern === undefined) return { route, host, problem: "is not a host name or *. and a name, without a port" };
      const text = patternText(pattern);
      if (known.has(text)) return { route, host, problem: "is in two places of the routes" };
      if (privateNames.some((other) => overlappingName(pattern, other)))
        return { route, host, problem: "matches hosts of network.private_hosts, which are reached directly" };
      known.add(text);
      ofRoute.push(text);
    }
    read.push(ofRoute);
  }
  return { hosts: read };
}
