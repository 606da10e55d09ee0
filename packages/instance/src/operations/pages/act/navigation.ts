import { invalid } from "@shoal/contract/refusals";
import { addressProblem, typedAddress } from "@shoal/primitives";
import { ServiceError } from "@shoal/router";
import { setTimeout } from "node:timers/promises";
import pTimeout from "p-timeout";
import { type CdpConnection, CdpError } from "../../../browser/cdp/cdp-connection.ts";
import { attachToPage } from "../../../browser/pages/visible-page.ts";
import { egressErrors, type EgressFailures, egressTarget } from "../../../egress/failures.ts";
import type { TypedSecrets } from "../../../secrets/typed-secrets.ts";
import { navigationFailed, noHistory, stillOpen } from "./act-errors.ts";
import type { ActRun } from "./act-run.ts";
import type { ActTools } from "./act-tools.ts";
import type { EffectLog } from "./effects/effect-log.ts";
import type { SessionPages } from "../tabs/session-pages.ts";

/** Passes over the tabs to close the pages of files. */
const maxPasses = 20;
const passPauseMs = 50;
/** Longest wait for one tab in a pass. */
const leaveMs = 5_000;

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
export function refuseFiles(url: string, { hidesPages }: Pick<TypedSecrets, "hidesPages">, field?: string): void {
  if (hidesPages && url.startsWith("file:"))
    throw new ServiceError(403, "forbidden", "a stored value was typed in this session, and its pages open no files", {
      field,
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

interface NavigationParts {
  readonly failures: EgressFailures | undefined;
  readonly hasDownload: () => boolean;
  readonly secrets: Pick<TypedSecrets, "hidesPages">;
  /** Targets in which an action opens a file. */
  readonly openingFiles: Set<string>;
}

/** An address without a scheme is opened over https, or else over http. @throws {ServiceError} 409 `navigation_failed` with Chromium's reason. */
export async function navigate(
  { act, run }: ActTools,
  log: EffectLog,
  { failures, hasDownload, openingFiles, secrets }: NavigationParts,
): Promise<void> {
  const url = checkAddress(act.url ?? "");
  const { cdp, session } = run.page;
  // The action may have waited for its turn while a value was typed in another tab.
  refuseFiles(url, secrets, "body.url");
  run.hasBegun = true;
  const open = (address: string) => run.ask(cdp.send("Page.navigate", { url: address }, session.sessionId));
  if (url.startsWith("file:")) openingFiles.add(session.targetId);
  let answer = await open(url).finally(() => openingFiles.delete(session.targetId));
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
export async function goThroughHistory(
  { run }: ActTools,
  direction: "back" | "forward",
  secrets: Pick<TypedSecrets, "hidesPages">,
): Promise<void> {
  const { cdp, session } = run.page;
  const history = await run.ask(cdp.send("Page.getNavigationHistory", undefined, session.sessionId));
  const entry = history?.entries[history.currentIndex + (direction === "back" ? -1 : 1)];
  if (entry === undefined) throw ServiceError.of(noHistory(direction));
  refuseFiles(entry.url, secrets);
  run.hasBegun = true;
  await run.ask(cdp.send("Page.navigateToHistoryEntry", { entryId: entry.id }, session.sessionId));
}

export async function reload({ run }: ActTools): Promise<void> {
  const { cdp, session } = run.page;
  run.hasBegun = true;
  await run.ask(cdp.send("Page.reload", {}, session.sessionId));
}

/**
 * Replaces the pages of files in all tabs, and forgets the histories with files, so that neither links nor scripts lead back to
 * them. The browser answers all commands, also for tabs that are busy, crashed or show a dialog. Other tabs go on.
 * @param opening - targets in which an action opens a file.
 * @throws {ServiceError} 409 when a tab does not leave its file.
 */
export async function leaveFiles(
  pages: Pick<SessionPages, "targets">,
  { by, opening }: { readonly by: Pick<ActRun, "leftMs" | "signal">; readonly opening: ReadonlySet<string> },
): Promise<void> {
  // Pages of files can open others meanwhile.
  for (let pass = 1; ; pass += 1) {
    const { cdp, listed } = await pages.targets();
    const states = await Promise.all(
      listed.map(({ targetId }) =>
        pTimeout(leaveFile(cdp, targetId, opening.has(targetId)), {
          milliseconds: Math.max(1, Math.min(leaveMs, by.leftMs)),
          fallback: () => "unknown" as const,
          signal: by.signal,
        }),
      ),
    );
    if (states.every((state) => state === "none")) return;
    if (pass < maxPasses && by.leftMs > 0) {
      await setTimeout(passPauseMs);
      continue;
    }
    const first = listed.find(({ url }, place) => states[place] === "files" || url.startsWith("file:"));
    if (first === undefined) return;
    throw ServiceError.of(stillOpen(first.id));
  }
}

/**
 * Returns whether the tab had files in its history, which the next pass looks for again. Unknown: the tab was closed, has
 * crashed, or changes its page.
 */
async function leaveFile(
  cdp: CdpConnection,
  targetId: string,
  isOpening: boolean,
): Promise<"files" | "none" | "unknown"> {
  let hasFiles = isOpening;
  try {
    await using page = await attachToPage(cdp, targetId);
    const { sessionId } = page;
    const { currentIndex, entries } = await cdp.send("Page.getNavigationHistory", undefined, sessionId);
    const isFile = ({ url }: { readonly url: string }): boolean => url.startsWith("file:");
    hasFiles ||= entries.some(isFile);
    if (!hasFiles) return "none";
    // The history cannot be forgotten while the tab loads.
    await cdp.send("Page.stopLoading", undefined, sessionId);
    if (entries.slice(currentIndex, currentIndex + 1).some(isFile))
      await cdp.send("Page.navigate", { url: "about:blank" }, sessionId);
    await cdp.send("Page.resetNavigationHistory", undefined, sessionId);
  } catch (error) {
    if (!(error instanceof CdpError)) throw error;
  }
  return hasFiles ? "files" : "unknown";
}
