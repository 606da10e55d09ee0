import { invalid } from "@shoal/contract/refusals";
import { addressProblem, typedAddress } from "@shoal/primitives";
import { ServiceError } from "@shoal/router";
import { egressErrors, type EgressFailures, egressTarget } from "../../../egress/failures.ts";
import type { TypedSecrets } from "../../../secrets/typed-secrets.ts";
import { navigationFailed, noHistory } from "./act-errors.ts";
import type { ActTools } from "./act-tools.ts";
import type { EffectLog } from "./effects/effect-log.ts";

/** @returns the address with its scheme. @throws {ServiceError} 400 for an address that cannot be opened. */
export function checkAddress(address: string): string {
  const refusal = addressProblem(address);
  if (refusal !== undefined) throw ServiceError.of(invalid("body.url", refusal.problem, { hint: refusal.hint }));
  return new URL(typedAddress(address.trim())).href;
}

/**
 * The service closes the files of a session to callers without the right to secrets after a stored value was typed, and an action
 * does not name its caller. @throws {ServiceError} 403.
 */
export function refuseFiles(url: string, { hidesPages }: Pick<TypedSecrets, "hidesPages">): void {
  if (hidesPages && url.startsWith("file:"))
    throw new ServiceError(403, "forbidden", "a stored value was typed in this session, and its pages open no files", {
      field: "body.url",
      hint: "Administrators read the file with browsers.fs.readFile. Others use a new session.",
    });
}

/** Failures of a host that does not serve https. Not those of certificates: a person would see a warning. */
const notServed: ReadonlySet<string> = new Set(
  [
    "CONNECTION_CLOSED",
    "CONNECTION_REFUSED",
    "CONNECTION_RESET",
    "CONNECTION_TIMED_OUT",
    "EMPTY_RESPONSE",
    "SSL_PROTOCOL_ERROR",
    "SSL_VERSION_OR_CIPHER_MISMATCH",
    "TIMED_OUT",
    "TUNNEL_CONNECTION_FAILED",
  ].map((name) => `net::ERR_${name}`),
);

/** The http address of a text without a scheme whose https address failed; `undefined` if https is right. */
export function plainAddressOf(typed: string, url: string, errorText: string): string | undefined {
  const hasScheme = typedAddress(typed.trim()) === typed.trim();
  if (hasScheme || !url.startsWith("https:") || !notServed.has(errorText)) return undefined;
  const plain = new URL(url);
  plain.protocol = "http:";
  return plain.href;
}

/** An address without a scheme is opened over https, or else over http. @throws {ServiceError} 409 `navigation_failed` with Chromium's reason. */
export async function navigate(
  { act, run }: ActTools,
  log: EffectLog,
  { failures, hasDownload }: { readonly failures: EgressFailures | undefined; readonly hasDownload: () => boolean },
): Promise<void> {
  const url = checkAddress(act.url ?? "");
  const { cdp, session } = run.page;
  run.hasBegun = true;
  const open = (address: string) => run.ask(cdp.send("Page.navigate", { url: address }, session.sessionId));
  let answer = await open(url);
  const plain = plainAddressOf(act.url ?? "", url, answer?.errorText ?? "");
  if (plain !== undefined) {
    const second = await open(plain);
    // Otherwise the failure of https is the one to report.
    if ((second?.errorText ?? "") === "") answer = second;
  }
  if (answer === undefined) throw ServiceError.of(navigationFailed(url, "the browser refused the address"));
  const { errorText = "", isDownload } = answer;
  if (isDownload === true) log.endNavigation();
  run.page.isDownload = isDownload === true;
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
