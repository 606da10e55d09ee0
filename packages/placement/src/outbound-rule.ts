import { createEgressPolicy, type ResolvedAddress, type ResolveName } from "./egress-policy.ts";
import { createNameResolver } from "./resolve-name.ts";

/** Where the service itself may connect to. */
export type OutboundDecision =
  /** Connect to one of these and to no other: a second look at the name could give another answer. */
  | { readonly allowed: true; readonly addresses: readonly ResolvedAddress[] }
  /** In words that fit behind a colon: `10.0.0.1 is a private network`. */
  | { readonly allowed: false; readonly because: string };

/** What addresses of its users' own the service may send something to: every public one, and the private ones that the operator allows to pages. */
export interface OutboundRule {
  /** Decides about one connection; names are resolved. Never rejects. */
  decide(hostname: string, port: number): Promise<OutboundDecision>;
  /** Why a host can be refused without asking for its addresses: it is a private address, or says that it is this host. `undefined` for all others. */
  literalProblem(hostname: string, port: number): Promise<string | undefined>;
}

/**
 * Makes the rule by which the service itself connects to addresses that its users name.
 *
 * @param options.resolveName - as the host does when absent.
 * @throws {PlacementError} `bad_option` for an entry of `allowPrivateHosts` that cannot be read.
 */
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
