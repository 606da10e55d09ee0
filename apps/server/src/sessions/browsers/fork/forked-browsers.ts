import { ServiceError } from "@shoal/router";
import type { Browser, ForkedBrowsers } from "@shoal/schemas";
import type { Forks } from "./session-forks.ts";

export function forkedBrowsers(
  browsers: readonly Browser[],
  { failures, notExactBecause, pausedMs }: Omit<Forks, "views">,
): ForkedBrowsers {
  return {
    mode: pausedMs === undefined ? "restored" : "exact",
    ...(notExactBecause !== undefined && { not_exact_because: notExactBecause }),
    paused_ms: pausedMs ?? 0,
    browsers: [...browsers],
    ...(failures.length > 0 && { errors: failures.map(({ error, index }) => ({ index, ...shownError(error) })) }),
  };
}

function shownError(error: unknown): { readonly code: string; readonly message: string } {
  if (!ServiceError.isInstance(error)) return { code: "internal_error", message: "The browser could not be started." };
  return { code: error.code, message: error.message };
}
