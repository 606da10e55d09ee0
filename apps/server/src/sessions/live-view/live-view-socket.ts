import type { AdmittedView, LiveViewAccess, LiveViewAddresses } from "./live-view-address.ts";

export interface LiveViewTarget extends LiveViewAccess {
  /** Path in the instance. It contains the mode, so that the viewer cannot change it. */
  readonly path: string;
  readonly isControl: boolean;
  readonly viewer: string;
  readonly wantsReadOnly: boolean;
}

/**
 * `/browser/live/{token}/socket?viewer=…&readOnly=true`; `undefined` for any other path.
 * @throws {ServiceError} 401 for an invalid token.
 */
export function liveViewTarget(url: URL, addresses: Pick<LiveViewAddresses, "open">): LiveViewTarget | undefined {
  const token = /^\/browser\/live\/([^/]{1,255})\/socket$/.exec(url.pathname)?.[1];
  if (token === undefined) return undefined;
  const access = addresses.open(token);
  const wantsReadOnly = url.searchParams.get("readOnly") === "true";
  const viewer = (url.searchParams.get("viewer") ?? "").replaceAll(/[^\w-]/g, "").slice(0, 64);
  return { ...access, viewer, wantsReadOnly, ...socketPath({ ...access, viewer, wantsReadOnly }) };
}

/** The target with the rights of its link. */
export function admittedTarget(target: LiveViewTarget, { keyId, mode, person }: AdmittedView): LiveViewTarget {
  return { ...target, keyId, mode, ...socketPath({ ...target, mode }, person?.label) };
}

function socketPath(
  { mode, viewer, wantsReadOnly }: Pick<LiveViewTarget, "mode" | "viewer" | "wantsReadOnly">,
  label: string | null = null,
): Pick<LiveViewTarget, "isControl" | "path"> {
  const isControl = mode === "control" && !wantsReadOnly;
  const named = label === null ? "" : `&label=${encodeURIComponent(label)}`;
  return { isControl, path: `/live-view?mode=${isControl ? "control" : "view"}&viewer=${viewer}${named}` };
}
