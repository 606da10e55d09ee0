import { browserDownloads, browserReplays } from "@shoal/contract";
import { notImplemented as missingInside } from "@shoal/instance";
import { notImplemented } from "../http/not-implemented.ts";

const missing: ReadonlySet<string> = new Set<string>([...notImplemented, ...missingInside]);

export function isImplemented(name: string): boolean {
  return !missing.has(name);
}

/** Operations that their own features mount. */
export function isMountedApart(name: string): boolean {
  return name in browserReplays || name in browserDownloads;
}
