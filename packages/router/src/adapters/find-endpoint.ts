import type { Endpoint } from "@shoal/contract";
import createRouter from "find-my-way";
import { maxParamLength, routePath } from "./route-path.ts";

/** The endpoint of a request. */
export interface FoundEndpoint {
  readonly endpoint: Endpoint;
  /** Decoded, not validated. */
  readonly params: Readonly<Record<string, string | undefined>>;
}

/** Returns the endpoint of a request, or `undefined` if none has its method and path. */
export type EndpointFinder = (method: string, url: string) => FoundEndpoint | undefined;

/** Finds the endpoint of a request as a router does, without answering it. */
export function createEndpointFinder(endpoints: Iterable<Endpoint>): EndpointFinder {
  const router = createRouter({ maxParamLength });
  for (const endpoint of endpoints) router.on(endpoint.method, routePath(endpoint.path), () => undefined, endpoint);
  return (method, url) => {
    const found = router.find(method as createRouter.HTTPMethod, url);
    return found === null ? undefined : { endpoint: found.store as Endpoint, params: found.params };
  };
}
