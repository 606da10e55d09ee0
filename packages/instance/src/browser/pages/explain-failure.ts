import type { CdpConnection } from "../cdp/cdp-connection.ts";
import type { ErrorPages } from "./error-pages.ts";
import type { EgressFailures } from "../../egress/failures.ts";

const errorPages = new WeakMap<CdpConnection, ErrorPages>();

/** Shows the reason of a failed connection on the browser's error pages. Never rejects. */
export async function explainFailure(browser: Promise<CdpConnection>, failures: EgressFailures): Promise<void> {
  try {
    const [cdp, loaded] = await Promise.all([browser, import("./error-pages.ts")]);
    const pages = errorPages.get(cdp) ?? new loaded.ErrorPages(cdp, failures);
    errorPages.set(cdp, pages);
    pages.connectionFailed();
  } catch {
    // The browser is gone.
  }
}
