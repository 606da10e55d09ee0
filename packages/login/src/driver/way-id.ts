import type { PageReading } from "../reading/read-page.ts";
import type { ReadWay } from "../reading/ways.ts";

/** The same for the same choice of a page, across looks. */
export function idOf({ factor, label, provider, type }: ReadWay): string {
  // The vendor's component shows the id of a provider's choice as the provider.
  if (type === "sso_provider" && provider !== undefined) return provider;
  const parts = [type, provider ?? factor ?? "", label].join(" ");
  return parts
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]+/gu, "-")
    .slice(0, 100);
}

export function waysOf({ accounts, factors, providers, switches }: PageReading): readonly ReadWay[] {
  return [...accounts, ...factors, ...providers, ...switches];
}
