import {
  type Allowlist,
  changedAllowlist,
  changedNetworkRules,
  exitTimezone,
  type NetworkRuleLists,
  newAllowlist,
  pageOutsideAllowlist,
  readLocation,
  type RequestedAllowlist,
  type RequestedLocation,
  type RequestedNetworkRules,
  shownLocation,
} from "@shoal/contract/network";
import {
  containsNul,
  gpuUnavailable,
  invalid,
  type FullBrowserOptions,
  type OwnBrowserOptions,
  refuseMemorySize,
  refuseFullBrowserOptions,
  refuseOwnBrowserOptions,
  regionUnavailable,
  viewportTooLarge,
} from "@shoal/contract/refusals";
import { addressProblem, createId } from "@shoal/primitives";
import { AllowedHosts, readAllowedHosts } from "@shoal/primitives/hosts";
import { ServiceError } from "@shoal/router";
import type { Browser, CreateBrowser, UpdateBrowser } from "@shoal/schemas";
import { maxScreenPixels, maxViewportPixels } from "@shoal/schemas/viewport-limits";
import type * as z from "zod/mini";
import { region } from "./browser-answer.ts";

type Create = z.output<typeof CreateBrowser>;

/** @throws {ServiceError} 501 for options of areas without behaviour. */
export function refuseUnsupported(
  body: Pick<Create, "extensions"> &
    Partial<Pick<Create, "recording" | "replay" | "snapshot" | "vaults" | "web_bot_auth">> & {
      readonly network?: object | undefined;
    } & Pick<z.output<typeof UpdateBrowser>, "proxy" | "proxy_id" | "telemetry">,
): void {
  const fields = [
    body.extensions !== undefined && body.extensions.length > 0 && "extensions",
    body.vaults !== undefined && body.vaults.length > 0 && "vaults",
    body.recording?.network === true && "recording",
    body.replay !== undefined && "replay",
    body.snapshot !== undefined && "snapshot",
    body.web_bot_auth?.enabled === true && "web_bot_auth",
    body.network !== undefined && "private_hosts" in body.network && "network.private_hosts",
    body.network !== undefined && "proxy_routes" in body.network && "network.proxy_routes",
    ...["headers", "http_auth"].map((name) => body.network !== undefined && name in body.network && `network.${name}`),
    Boolean(body.proxy_id) && "proxy_id",
    body.proxy !== undefined && body.proxy.mode === undefined && "proxy",
    body.telemetry !== undefined && body.telemetry !== null && body.telemetry.enabled !== false && "telemetry",
  ]
    .filter((field) => field !== false)
    .map((field) => `body.${field}`);
  if (fields.length === 0) return;
  const problem = "the fake of @shoal/testing has no behaviour for it";
  throw new ServiceError(501, "not_implemented", fields.length === 1 ? problem : `${fields.join(", ")}: ${problem}`, {
    ...(fields.length === 1 && { field: fields[0] }),
    hint: "Omit it, or run this test against a real service.",
    details: fields.map((field) => ({ code: "not_implemented", message: `${field}: ${problem}`, field })),
  });
}

/** Returns `undefined` if no list remains. @throws {ServiceError} 400 for an invalid entry. */
export function networkRulesOf(
  request: RequestedNetworkRules | undefined,
  present?: NetworkRuleLists,
): { allow?: string[]; deny?: string[] } | undefined {
  const changed = changedNetworkRules(request ?? {}, present);
  if ("refusal" in changed) throw ServiceError.of(changed.refusal);
  const { allow, deny } = changed.rules;
  return allow || deny ? { ...(allow && { allow: [...allow] }), ...(deny && { deny: [...deny] }) } : undefined;
}

const listTools = { readHosts: readAllowedHosts, newRevision: createId };

/** Returns `undefined` for a session without a list. @throws {ServiceError} 400 for an invalid entry. */
export function newAllowlistOf(network: Create["network"]): Allowlist | undefined {
  const made = newAllowlist(network ?? {}, listTools);
  if ("refusal" in made) throw ServiceError.of(made.refusal);
  return made.allowlist;
}

/** Applies a change. @throws {ServiceError} 400 for an invalid entry, 409 for an outdated revision. */
export function changedAllowlistOf(
  request: RequestedAllowlist | undefined,
  present: Allowlist | undefined,
): Allowlist | undefined {
  const changed = changedAllowlist(request ?? {}, { present }, listTools);
  if ("refusal" in changed) throw ServiceError.of(changed.refusal);
  return changed.allowlist;
}

/** Checks that the list contains the page. */
export function refuseOutsidePage(startUrl: string | undefined, allowlist: Allowlist | undefined): void {
  const host = startUrl === undefined ? undefined : URL.parse(startUrl)?.hostname;
  if (allowlist?.hosts === undefined || host === undefined || host === "") return;
  if (!new AllowedHosts(allowlist.hosts).allows(host)) throw ServiceError.of(pageOutsideAllowlist(host));
}

/** @returns the canonical spelling. @throws {ServiceError} 400 for what browsers do not know. */
export function locationOf(requested: RequestedLocation | undefined): RequestedLocation | undefined {
  if (requested === undefined) return undefined;
  const read = readLocation(requested);
  if ("refusal" in read) throw ServiceError.of(read.refusal);
  return read.location;
}

/** Returns what a session shows. @throws {ServiceError} 400 for `exit`, because the fake has no proxies. */
export function sessionLocation(requested: RequestedLocation): Browser["location"] {
  const exit = requested.timezone === "exit" ? exitTimezone(undefined) : undefined;
  if (exit !== undefined && "refusal" in exit) throw ServiceError.of(exit.refusal);
  return shownLocation(requested);
}

/** Checks limits beyond the contract. */
export function refuseImpossible({
  start_url,
  viewport,
  headless = true,
}: Pick<Create, "start_url" | "viewport" | "headless">): void {
  const sides =
    viewport === undefined ? [] : (["width", "height"] as const).map((side) => [side, viewport[side]] as const);
  for (const [side, pixels] of sides)
    if (pixels > maxViewportPixels) throw ServiceError.of(viewportTooLarge(side, maxViewportPixels));
  if (start_url?.includes("\0") === true) throw ServiceError.of(containsNul("body.start_url"));
  for (const [side, pixels] of sides)
    if (!headless && pixels > maxScreenPixels)
      throw ServiceError.of(viewportTooLarge(side, maxScreenPixels, { windowed: true }));
}

/** Checks options that depend on the server. */
export function refuseUnavailable(
  body: Pick<Create, "forkable" | "region" | "start_url" | "viewport" | "gpu" | "memory"> &
    FullBrowserOptions &
    OwnBrowserOptions,
): void {
  if (body.region !== undefined && body.region !== region)
    throw ServiceError.of(regionUnavailable(body.region, [region]));
  refuseImpossible(body);
  if (body.gpu === true) throw ServiceError.of(gpuUnavailable());
  const size = refuseMemorySize(body);
  if (size !== undefined) throw ServiceError.of(size);
  if (body.isolation === "context") refuseSharing(body);
  if (body.forkable === true) refuseForkable(body);
}

/** Refuses what a session that can be forked exactly cannot have. */
export function refuseForkable(body: FullBrowserOptions): void {
  const refusal = refuseFullBrowserOptions(body);
  if (refusal !== undefined) throw ServiceError.of(refusal);
}

/** Checks the page of a running session. */
export function refusePage(start_url: string | undefined): void {
  if (start_url === undefined || start_url === "") return;
  refuseImpossible({ start_url, viewport: undefined });
  const refusal = addressProblem(start_url);
  if (refusal !== undefined) throw ServiceError.of(invalid("body.start_url", refusal.problem, { hint: refusal.hint }));
}

/** Checks options of a session that shares its browser. */
export function refuseSharing(body: OwnBrowserOptions): void {
  const refusal = refuseOwnBrowserOptions(body);
  if (refusal !== undefined) throw ServiceError.of(refusal);
}
