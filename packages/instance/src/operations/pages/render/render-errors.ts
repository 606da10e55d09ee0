import type { Refusal } from "@shoal/contract/refusals";
import { ServiceError } from "@shoal/router";
import { withExplanation } from "../act/act-errors.ts";
import { withoutCredentials } from "../tabs/shown-address.ts";

const shown = (url: string): string => withoutCredentials(url).slice(0, 500);

/** 409 for an answer that is not a page. @param what - `started the download of report.zip` */
export function notAPage(url: string, what: string): ServiceError {
  return ServiceError.of({
    status: 409,
    code: "navigation_failed",
    problem: `${shown(url)} ${what}`,
    hint: "Create a session, and load it with browsers.curl or as a download.",
  });
}

/** 409 for an address that the browser could not open. @param reason - `net::ERR_NAME_NOT_RESOLVED` */
export function cannotOpen(url: string, reason: string, explanation?: string): ServiceError {
  return ServiceError.of({
    status: 409,
    code: "navigation_failed",
    problem: `Cannot open ${shown(url)}: ${withExplanation(reason, explanation)}`,
    hint: reason.includes("ERR_CERT_")
      ? "Its certificate is invalid. Render it with a proxy whose ca_bundle contains its authority."
      : "Check the address, and the network rules of the project.",
  });
}

export function pageCrashed(url: string): ServiceError {
  return ServiceError.of({
    status: 409,
    code: "navigation_failed",
    problem: `The page of ${shown(url)} crashed`,
    hint: "It may need more memory than the browser has. Block images or scripts, or use a session.",
  });
}

export function browserCrashed(cause?: unknown): ServiceError {
  return new ServiceError(503, "browser_not_running", "The browser ended while it rendered the page.", {
    hint: "Repeat the request.",
    retryAfterSeconds: 1,
    cause,
  });
}

/** @param condition - `The page did not finish loading` */
export function tooLate(condition: string, timeoutMs: number): Refusal {
  return {
    status: 409,
    code: "wait_timeout",
    problem: `${condition} within ${String(timeoutMs)} ms`,
    limit: timeoutMs,
    hint: "Send a larger timeout_ms, wait_until: domcontentloaded, or best_attempt: true.",
  };
}
