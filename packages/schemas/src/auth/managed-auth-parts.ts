import { rule } from "../base/rules.ts";

/** How far a login is. */
export const flowStatuses = ["IN_PROGRESS", "SUCCESS", "FAILED", "EXPIRED", "CANCELED"] as const;
/** Step of a running login. */
export const flowSteps = [
  "DISCOVERING",
  "AWAITING_INPUT",
  "AWAITING_EXTERNAL_ACTION",
  "SUBMITTING",
  "COMPLETED",
] as const;

interface SaidTwice {
  browser?: { proxy?: unknown; telemetry?: unknown } | undefined;
  proxy?: unknown;
  browser_telemetry?: unknown;
}
/** `browser` replaces separate fields of older clients. */
export const saidOnce = <Value extends SaidTwice>() =>
  rule<Value>(
    ({ browser, browser_telemetry, proxy }) =>
      (browser?.proxy === undefined || proxy === undefined) &&
      (browser?.telemetry === undefined || browser_telemetry === undefined),
    "browser.proxy and browser.telemetry take the place of proxy and browser_telemetry: give one of each",
    {
      keywords: {
        not: {
          anyOf: [
            { required: ["browser", "proxy"], properties: { browser: { required: ["proxy"] } } },
            { required: ["browser", "browser_telemetry"], properties: { browser: { required: ["telemetry"] } } },
          ],
        },
      },
    },
  );
