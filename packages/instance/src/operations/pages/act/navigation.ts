import { invalid } from "@shoal/contract/refusals";
import { typedAddress } from "@shoal/primitives";
import { ServiceError } from "@shoal/router";
import { egressErrors, type EgressFailures, egressTarget } from "../../../egress/failures.ts";
import { navigationFailed, noHistory } from "./act-errors.ts";
import type { ActTools } from "./act-tools.ts";
import type { EffectLog } from "./effects/effect-log.ts";

/** Schemes that run scripts in the present page, or that only the browser's own pages use. */
const refusedSchemes = /^(?:javascript|view-source|devtools|chrome-untrusted):$/;

/** @returns the address with its scheme. @throws {ServiceError} 400 for an address that cannot be opened. */
export function checkAddress(address: string): string {
  const url = URL.parse(typedAddress(address.trim()));
  if (url === null)
    throw ServiceError.of(invalid("body.url", "not an address", { hint: "Example: https://example.com/path." }));
  if (refusedSchemes.test(url.protocol))
    throw ServiceError.of(
      invalid("body.url", `addresses with ${url.protocol} cannot be opened`, { hint: "Use http or https." }),
    );
  return url.href;
}

/** @throws {ServiceError} 409 `navigation_failed` with Chromium's reason. */
export async function navigate(
  { act, run }: ActTools,
  log: EffectLog,
  { failures, hasDownload }: { readonly failures: EgressFailures | undefined; readonly hasDownload: () => boolean },
): Promise<void> {
  const url = checkAddress(act.url ?? "");
  const { cdp, session } = run.page;
  run.hasBegun = true;
  const answer = await run.ask(cdp.send("Page.navigate", { url }, session.sessionId));
  if (answer === undefined) throw ServiceError.of(navigationFailed(url, "the browser refused the address"));
  const { errorText = "", isDownload } = answer;
  if (isDownload === true) log.endNavigation();
  // Downloads, and pages that navigate elsewhere at once.
  if (errorText === "" || isDownload === true || hasDownload()) return;
  if (errorText === "net::ERR_ABORTED" && log.navigated) return;
  const failure = egressErrors.has(errorText) ? await failures?.of(egressTarget(url)) : undefined;
  throw ServiceError.of(navigationFailed(url, errorText, failure?.message));
}

/** @throws {ServiceError} 409 `navigation_failed` at the end of the history. */
export async function goThroughHistory({ run }: ActTools, direction: "back" | "forward"): Promise<void> {
  const { cdp, session } = run.page;
  const history = await run.ask(cdp.send("Page.getNavigationHistory", undefined, session.sessionId));
  const entry = history?.entries[history.currentIndex + (direction === "back" ? -1 : 1)];
  if (entry === undefined) throw ServiceError.of(noHistory(direction));
  run.hasBegun = true;
  await run.ask(cdp.send("Page.navigateToHistoryEntry", { entryId: entry.id }, session.sessionId));
}

export async function reload({ run }: ActTools): Promise<void> {
  const { cdp, session } = run.page;
  run.hasBegun = true;
  await run.ask(cdp.send("Page.reload", {}, session.sessionId));
}
