import { createEgressPolicy, type ResolvedAddress, type ResolveName } from "./egress-policy.ts";
import { createNameResolver } from "./resolve-name.ts";

export type OutboundDecision =
  | { readonly allowed: true; readonly addresses: readonly ResolvedAddress[] }
  /** A clause to follow a colon: `10.0.0.1 is a private network`. */
  | { readonly allowed: false; readonly because: string };

/** Limits where the service sends requests for users: to public addresses, and the private ones for pages. */
export interface OutboundRule {
  decide(hostname: string, port: number): Promise<OutboundDecision>;
  /** Returns why a host is refused without a lookup (a private address, `localhost`), or `undefined`. */
  literalProblem(hostname: string, port: number): Promise<string | undefined>;
}

export function createOutboundRule({
  allowPrivateHosts,
  resolveName = createNameResolver(),
}: {
  readonly allowPrivateHosts: readonly string[];
  readonly resolveName?: ResolveName;
}): OutboundRule {
  const policy = createEgressPolicy(allowPrivateHosts, resolveName);
  const literals = createEgressPolicy(allowPrivateHosts, () => Promise.reject(new Error("Names are not looked up.")));
  return {
    decide: (hostname, port) => policy.decide(hostname, port),
    async literalProblem(hostname, port) {
      const decision = await literals.decide(hostname, port);
      return decision.allowed || decision.status === 502 ? undefined : decision.because;
    },
  };
}
