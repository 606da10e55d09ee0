import { changedNetworkRules, type NetworkRuleLists, type RequestedNetworkRules } from "@shoal/contract/network";
import { ServiceError } from "@shoal/router";

/** Returns `undefined` if no list remains. @throws {ServiceError} 400 for an invalid entry. */
export function networkRulesOf(
  request: RequestedNetworkRules | undefined,
  present?: NetworkRuleLists | null,
): NetworkRuleLists | undefined {
  const changed = changedNetworkRules(request ?? {}, present ?? {});
  if ("refusal" in changed) throw ServiceError.of(changed.refusal);
  return Object.keys(changed.rules).length === 0 ? undefined : changed.rules;
}
