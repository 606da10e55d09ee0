import {
  type Allowlist,
  changedAllowlist,
  newAllowlist,
  type NetworkRuleLists,
  pageOutsideAllowlist,
  type RequestedAllowlist,
} from "@shoal/contract/network";
import type { EgressRules } from "@shoal/placement";
import { createId } from "@shoal/primitives";
import { AllowedHosts, readAllowedHosts } from "@shoal/primitives/hosts";
import { ServiceError } from "@shoal/router";

const tools = { readHosts: readAllowedHosts, newRevision: createId };

/** @throws {ServiceError} 400 for an invalid entry. */
export function allowlistOf(network: Parameters<typeof newAllowlist>[0] | undefined): Allowlist | undefined {
  const made = newAllowlist(network ?? {}, tools);
  if ("refusal" in made) throw ServiceError.of(made.refusal);
  return made.allowlist;
}

/** @throws {ServiceError} 400 for an invalid entry, 409 for an outdated revision. */
export function allowlistAfter(
  request: RequestedAllowlist,
  { allowlist: present, private_hosts: privateHosts }: Listed,
): Allowlist | undefined {
  const changed = changedAllowlist(request, { present, privateHosts }, tools);
  if ("refusal" in changed) throw ServiceError.of(changed.refusal);
  return changed.allowlist;
}

interface Listed {
  readonly allowlist?: Allowlist | undefined;
  readonly private_hosts?: readonly string[] | undefined;
}

/** A session reaches its own private hosts too: the lists must not overlap. */
function reachable({ allowlist, private_hosts = [] }: Listed) {
  return allowlist?.hosts && [...allowlist.hosts, ...private_hosts];
}

/** The rules of a session for its gateway. */
export function egressRulesOf(
  options: Listed & { readonly network_rules?: NetworkRuleLists },
): EgressRules | undefined {
  const allowedHosts = reachable(options);
  if (allowedHosts === undefined) return options.network_rules;
  return { ...options.network_rules, allowedHosts };
}

/** @throws {ServiceError} 400 for a page whose host the list does not contain. */
export function refuseOutsidePage(startUrl: string | null | undefined, options: Listed): void {
  const hosts = reachable(options);
  const host = startUrl ? URL.parse(startUrl)?.hostname : undefined;
  if (hosts === undefined || host === undefined || host === "" || new AllowedHosts(hosts).allows(host)) return;
  throw ServiceError.of(pageOutsideAllowlist(host));
}
