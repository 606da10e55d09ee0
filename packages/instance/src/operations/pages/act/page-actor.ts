import { invalid } from "@shoal/contract/refusals";
import { anySignal } from "@shoal/primitives";
import { ServiceError } from "@shoal/router";
import type { ActResult, BrowserTab, PageObservation } from "@shoal/schemas";
import pTimeout from "p-timeout";
import { CdpError } from "../../../browser/cdp/cdp-connection.ts";
import type { EgressFailures } from "../../../egress/failures.ts";
import { Turns } from "../../../system/turns.ts";
import type { FollowedPage } from "../follow/followed-page.ts";
import { dialogOpen } from "../tabs/page-errors.ts";
import type { OpenTab, SessionPages } from "../tabs/session-pages.ts";
import { explainInterruption, noDialog } from "./act-errors.ts";
import { type Act, type ActType, checkActFields } from "./act-fields.ts";
import { type ActEvent, ActNote } from "./act-note.ts";
import { ActRun, Interrupted } from "./act-run.ts";
import { type ActorParts as ElementParts, ActTools, type GivenSecret } from "./act-tools.ts";
import { actOnElement } from "./acts.ts";
import { ActOutlines } from "../outline/act-outlines.ts";
import { describeActed } from "./element/describe.ts";
import { BrowserEffects } from "./effects/browser-effects.ts";
import { ChangingPage } from "./effects/changing-page.ts";
import { EffectLog } from "./effects/effect-log.ts";
import { reportEffects } from "./effects/report-effects.ts";
import { settleNewTab, settlePage } from "./effects/settle-page.ts";
import type { ElementHandle } from "../follow/element-handle.ts";
import type { ActLog, ActRecording } from "./record/act-log.ts";
import { checkAddress, goThroughHistory, leaveFiles, navigate, refuseFiles, reload } from "./navigation.ts";

export interface ActorParts extends ElementParts {
  readonly pages: SessionPages;
  readonly failures: EgressFailures | undefined;
  readonly observe: (options: NonNullable<Act["observe"]>) => Promise<PageObservation>;
  /** Remembers actions for flows. */
  readonly recorded: ActLog;
  /** Called after each action. */
  readonly onAct: (event: ActEvent) => void;
  /** Whether `onAct` gets outlines of the page around the action. */
  readonly takesOutlines: () => boolean;
}

interface AskedAct {
  readonly act: Act;
  readonly recording: ActRecording;
  readonly offered: GivenSecret | undefined;
  readonly note: ActNote;
}

interface Performed {
  readonly act: Act;
  readonly run: ActRun;
  readonly log: EffectLog;
  readonly page: ChangingPage;
  readonly element: ElementHandle | undefined;
  /** Tabs before the action. */
  readonly before: readonly BrowserTab[];
  /** The number of the last of them. */
  readonly lastTab: number;
}

/** The tab of an action, and the tabs if they were listed for it. */
interface ActedTabs {
  readonly id: string | undefined;
  readonly listed?: Awaited<ReturnType<SessionPages["tabsWith"]>>;
}

/** Actions of one tab that wait; further ones are rejected. */
const maxWaiting = 50;
/** Longest wait for a dialog to close, in milliseconds. */
const dialogCloseMs = 2_000;

/** With input events: a person would look at the tab first. */
const inputTypes: ReadonlySet<ActType> = new Set([
  "click",
  "fill",
  "check",
  "select",
  "press",
  "hover",
  "drag",
  "upload",
  "scroll",
]);

/** Acts on the pages of a session: one action at a time in each tab. */
export class PageActor {
  readonly #parts: ActorParts;
  readonly #closing = new AbortController();
  readonly #turns = new Map<string, Turns>();
  readonly #logs = new WeakMap<FollowedPage, Promise<EffectLog>>();
  /** Targets in which an action opens a file. */
  readonly #openingFiles = new Set<string>();
  #hasLeftFiles = false;

  constructor(parts: ActorParts) {
    this.#parts = parts;
  }

  /**
   * @param offered - the stored value that the service sent for this action.
   * @throws {ServiceError} 400 for wrong fields, 404 or 409 if the action is not possible.
   */
  async act(act: Act, caller: AbortSignal, offered?: GivenSecret): Promise<ActResult> {
    const { observe } = this.#parts;
    const signal = anySignal([caller, this.#closing.signal]);
    try {
      const result = await pTimeout(this.#actNoted({ act, offered }, signal), { milliseconds: Infinity, signal });
      return act.observe === undefined ? result : { ...result, observation: await observe(act.observe) };
    } catch (error) {
      if (!this.#closing.signal.aborted) throw error;
      throw new ServiceError(503, "shutting_down", "The session ended during the call.", { cause: error });
    }
  }

  close(): void {
    this.#closing.abort();
  }

  async #actNoted(asked: Pick<AskedAct, "act" | "offered">, signal: AbortSignal): Promise<ActResult> {
    const { onAct, pages, recorded, takesOutlines } = this.#parts;
    const note = new ActNote(asked.act, pages.references, new ActOutlines(pages, takesOutlines()));
    // A flow cannot repeat a value that is for one element only, so it gets a parameter.
    const recording = recorded.begin(asked.act, { isHidden: asked.offered?.only !== undefined });
    try {
      const result = await this.#actNext({ ...asked, note, recording }, signal);
      onAct(note.done(result));
      await recording.done(result);
      return result;
    } catch (error) {
      onAct(note.failed(error));
      throw error;
    }
  }

  async #actNext(asked: AskedAct, signal: AbortSignal): Promise<ActResult> {
    const { act } = asked;
    checkActFields(act);
    if (act.type === "navigate" || (act.type === "open_tab" && act.url !== undefined))
      refuseFiles(checkAddress(act.url ?? ""), this.#parts.secrets, "body.url");
    const found = await this.#tabOf(act);
    const { id } = found;
    if (act.type === "answer_dialog") return this.#run(asked, found, signal);
    const turns = this.#turns.get(id ?? "") ?? new Turns({ running: 1, waiting: maxWaiting });
    this.#turns.set(id ?? "", turns);
    if (turns.isFull)
      throw new ServiceError(409, "conflict", `More than ${String(maxWaiting)} actions wait for the tab.`, {
        hint: "Wait for their answers first.",
      });
    const isNext = turns.isIdle;
    const endTurn = await turns.take(signal);
    try {
      // Another action may have changed the tabs meanwhile.
      return await this.#run(asked, isNext ? found : { id }, signal);
    } finally {
      endTurn();
      if (turns.isIdle) this.#turns.delete(id ?? "");
    }
  }

  /** A reference belongs to a tab. */
  async #tabOf({ ref, tab, to, type }: Act): Promise<ActedTabs> {
    const { pages } = this.#parts;
    if (type === "open_tab") return { id: undefined };
    const [first, second] = [ref, to?.ref].map((one) => (one === undefined ? undefined : pages.references.get(one)));
    if (first !== undefined && second !== undefined && first.tabId !== second.tabId)
      throw ServiceError.of(
        invalid("body.to.ref", `is in ${second.tabId}, and ${first.ref} in ${first.tabId}`, {
          hint: "Drag to an element of the same tab.",
        }),
      );
    for (const known of [first, second]) {
      if (known === undefined) continue;
      if (tab !== undefined && tab !== known.tabId)
        throw ServiceError.of(
          invalid("body.tab", `does not contain ${known.ref}`, { hint: `Omit tab, or pass ${known.tabId}.` }),
        );
      return { id: known.tabId };
    }
    if (tab !== undefined) return { id: tab };
    const listed = await pages.tabsWith();
    return { id: listed.tab.id, listed };
  }

  async #run(
    { act, note, offered, recording }: AskedAct,
    { id, listed }: ActedTabs,
    signal: AbortSignal,
  ): Promise<ActResult> {
    const { pages } = this.#parts;
    const { tab, tabs: before } =
      act.type === "open_tab" ? await this.#openTab() : (listed ?? (await pages.tabsWith(id)));
    const { lastTab } = pages;
    if (inputTypes.has(act.type) && before.find((one) => one.id === tab.id)?.active !== true)
      await pages.select(tab.id);
    note.tab = tab;
    await note.outlines.before(tab);
    recording.startsAt(before.find((one) => one.id === tab.id)?.url ?? "");
    const log = await this.#logOf(tab.page);
    const run = new ActRun(tab.page, { signal, timeoutMs: act.timeout_ms });
    run.onFound = (element) => {
      const describe = async () =>
        pages.references.at(element.address) ?? (await describeActed(pages, tab.id, element));
      const pageUrl = async () => (await pages.tabs()).find((one) => one.id === tab.id)?.url;
      recording.found({ element, describe, pageUrl });
    };
    const effects = new BrowserEffects(tab.page.cdp);
    const tools = new ActTools(act, { offered: act.secret && offered, pages, run, tab });
    log.begin(run, inputTypes.has(act.type));
    try {
      this.#checkDialog(act, tab);
      const page = new ChangingPage(run);
      if (inputTypes.has(act.type)) run.prepared = page.begin();
      const element = await this.#perform(tools, log, effects);
      const settled = await this.#settle({ act, before, element, lastTab, log, page, run });
      await run.verified;
      recording.ends();
      return await reportEffects(tools, { before, effects, log, element, pages, settled });
    } catch (error) {
      if (act.type === "open_tab") await pages.closeTab(tab);
      throw error;
    } finally {
      note.point = run.point;
      effects.close();
      log.end();
      // Before the next action of the tab.
      await note.outlines.after();
    }
  }

  /** With the tabs before it. */
  async #openTab(): ReturnType<SessionPages["tabsWith"]> {
    const tabs = await this.#parts.pages.tabs();
    return { tabs, tab: await this.#parts.pages.open() };
  }

  #logOf(page: FollowedPage): Promise<EffectLog> {
    const log = this.#logs.get(page) ?? EffectLog.open(page);
    this.#logs.set(page, log);
    return log;
  }

  #checkDialog({ type }: Act, { id, page }: OpenTab): void {
    const { dialog } = page.session;
    if (dialog !== undefined && type !== "answer_dialog" && type !== "close_tab" && type !== "select_tab")
      throw ServiceError.of(dialogOpen(id, dialog));
  }

  /** A dialog, or the end of the page, is an effect of input that was sent, and otherwise an error. */
  async #perform(tools: ActTools, log: EffectLog, effects: BrowserEffects): Promise<ElementHandle | undefined> {
    const { run, tab } = tools;
    try {
      return await this.#performType(tools, log, effects);
    } catch (error) {
      if (error instanceof Interrupted && run.hasBegun) return undefined;
      throw explainInterruption(error, tab);
    }
  }

  async #performType(tools: ActTools, log: EffectLog, effects: BrowserEffects): Promise<ElementHandle | undefined> {
    const { failures, pages, secrets } = this.#parts;
    const { act, run, tab } = tools;
    const hasDownload = () => effects.downloads.length > 0;
    switch (act.type) {
      case "open_tab":
        if (act.url === undefined) return undefined;
        await navigate(tools, log, { failures, hasDownload, openingFiles: this.#openingFiles, secrets });
        return undefined;
      case "navigate":
        await navigate(tools, log, { failures, hasDownload, openingFiles: this.#openingFiles, secrets });
        return undefined;
      case "back":
      case "forward":
        await goThroughHistory(tools, act.type, secrets);
        return undefined;
      case "reload":
        await reload(tools);
        return undefined;
      case "select_tab":
        await pages.select(tab.id);
        return undefined;
      case "close_tab":
        await pages.closeTab(tab);
        return undefined;
      case "answer_dialog":
        await answerDialog(tools);
        return undefined;
      default:
        return actOnElement(tools, { ...this.#parts, closeFiles: () => this.#closeFiles(run) });
    }
  }

  /** Once: no page opens another file after the first value. */
  async #closeFiles(run: ActRun): Promise<void> {
    if (this.#hasLeftFiles) return;
    await leaveFiles(this.#parts.pages, { by: run, opening: this.#openingFiles });
    this.#hasLeftFiles = true;
  }

  /** Follows the action into a tab that it opened. */
  async #settle({ act, before, element, lastTab, log, page: changing, run }: Performed): Promise<boolean> {
    const settle = async () => settlePage(run, log, { act, element, page: changing });
    const settled = run.page.session.ended || (await untilAnswered(run, settle));
    if (settled && !log.hasSent && this.#parts.pages.lastTab === lastTab) return settled;
    const tabs = settled ? await this.#parts.pages.tabs() : [];
    const opened = tabs.find(({ active, id }) => active && !before.some((one) => one.id === id));
    if (opened === undefined || run.leftMs <= 0) return settled;
    const { page } = await this.#parts.pages.tab(opened.id);
    if (page === run.page) return settled;
    const next = new ActRun(page, { signal: run.signal, timeoutMs: run.leftMs });
    const nextLog = await this.#logOf(page);
    return untilAnswered(next, () => settleNewTab(next, nextLog));
  }
}

/** A dialog, or the end of the page, ends the wait; a busy page has not settled. */
async function untilAnswered(run: ActRun, settle: () => Promise<boolean>): Promise<boolean> {
  try {
    return await settle();
  } catch (error) {
    if (error instanceof Interrupted) return error.kind !== "silent";
    if (run.page.session.ended) return true;
    throw error;
  }
}

async function answerDialog({ act, run, tab }: ActTools): Promise<void> {
  const { cdp, session } = run.page;
  const { dialog } = session;
  const accept = act.accept ?? true;
  // Without a text, Chromium would use an empty one.
  const promptText = act.text ?? dialog?.defaultText ?? "";
  run.hasBegun = true;
  try {
    // A headless shell also answers a dialog that opened before the page was followed.
    const sessionId = dialog?.sessionId ?? session.sessionId;
    await cdp.send("Page.handleJavaScriptDialog", { accept, promptText }, sessionId);
  } catch (error) {
    if (!(error instanceof CdpError)) throw error;
    throw ServiceError.of(noDialog(tab.id));
  }
  if (dialog === undefined) return;
  await pTimeout(Promise.race([dialog.closed, session.end]), { milliseconds: dialogCloseMs, message: false });
}
