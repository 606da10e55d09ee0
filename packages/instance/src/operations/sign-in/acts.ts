import { messageOf } from "@shoal/primitives";
import { ServiceError } from "@shoal/router";
import { isAmongHosts, isAmongOrigins, type PageAct, type PageActResult } from "../../protocol/page.ts";
import { NotActionable } from "../pages/act/act-errors.ts";
import type { Act } from "../pages/act/act-fields.ts";
import { ActRun, Interrupted } from "../pages/act/act-run.ts";
import { ActTools } from "../pages/act/act-tools.ts";
import type { Obstacle } from "../pages/act/element/examine.ts";
import { ClickTaken, clickReady } from "../pages/act/input/click.ts";
import { check, fill, select } from "../pages/act/input/fields.ts";
import { pressOn } from "../pages/act/input/press.ts";
import { ElementHandle } from "../pages/follow/element-handle.ts";
import { maskField } from "../pages/node-input/field-masks.ts";
import type { WatchedPage } from "./watched-page.ts";

type ActOf<Kind extends PageAct["kind"]> = Extract<PageAct, { kind: Kind }>;

const done: PageActResult = { outcome: "done" };
const replaced: PageActResult = { outcome: "replaced" };
const unusable: PageActResult = { outcome: "unusable" };
/** Longest wait until an element is ready, in milliseconds: the caller reads the page again and decides. */
const readyMs = 1_000;
/** Longest wait for one answer of a busy page. Milliseconds. */
const answerMs = 8_000;
/** A person reads the result of a single act by the page; {@link settle} waits for its effects. */
const outcomes: Readonly<Record<Obstacle, PageActResult>> = {
  covered: { outcome: "covered" },
  moving: { outcome: "covered" },
  outside: unusable,
  hidden: unusable,
  disabled: unusable,
  inert: { outcome: "covered" },
  readonly: unusable,
  removed: replaced,
};

/** A value is not for the site of its field. */
class WrongSite extends Error {
  override readonly name = "WrongSite";
}
/** The page has replaced the field. */
class Replaced extends Error {
  override readonly name = "Replaced";
}

/** Operates a page by the actor of agents. @throws {ServiceError} 400 for an unknown key, 409 when the page has gone. */
export async function actOn(page: WatchedPage, act: PageAct, signal: AbortSignal): Promise<PageActResult> {
  await page.beginAct();
  try {
    return await operate(page, act, signal);
  } finally {
    // The effects of an act can follow its end: a slow act must not use up their time.
    page.log.touch();
  }
}

async function operate(page: WatchedPage, act: PageAct, signal: AbortSignal): Promise<PageActResult> {
  if (act.kind === "goto") return open(page, act);
  if (act.kind === "authenticate") return authenticate(page, act);
  const run = new ActRun(page, { answerMs, signal, timeoutMs: readyMs });
  try {
    await perform(page, run, act);
    return done;
  } catch (error) {
    return outcomeOf(error, { act, run });
  }
}

async function perform(
  page: WatchedPage,
  run: ActRun,
  act: Exclude<PageAct, ActOf<"authenticate"> | ActOf<"goto">>,
): Promise<void> {
  const toolsFor = (asked: Omit<Act, "timeout_ms">) =>
    new ActTools({ ...asked, timeout_ms: readyMs }, { pages: page, run, tab: { id: "the front tab", page } });
  switch (act.kind) {
    case "fill": {
      const { ref, value } = act;
      const check = (field: ElementHandle) => admit(page, field, act);
      page.filled = await fill(toolsFor({ type: "fill", ref, text: value }), { check });
      return;
    }
    case "click":
      await clickReady(toolsFor({ type: "click", ref: act.ref }));
      return;
    case "check":
      await check(toolsFor({ type: "check", ref: act.ref, accept: act.checked }));
      return;
    case "select": {
      const tools = toolsFor({ type: "select", ref: act.ref, values: [act.option] });
      await checkSite(await tools.actionable.finder.wait(tools.act, "body"), { origins: act.origins });
      await select(tools);
      return;
    }
    case "press": {
      const field = page.filled && (await ElementHandle.connectedAt(run, page.filled.address));
      await pressOn(toolsFor({ type: "press" }), field, { keys: [act.key], field: "body.key" });
    }
  }
}

/** Hides the characters of a field and checks its site, before it gets a value. */
async function admit(page: WatchedPage, field: ElementHandle, act: ActOf<"fill">): Promise<boolean> {
  if (act.visible !== true && !(await maskField(page, field, act.value))) throw new Replaced();
  await checkSite(field, act);
  return true;
}

/** The document of the element cannot change between this and the value: the element would go with it. */
async function checkSite(
  element: ElementHandle,
  { hosts, origins }: { readonly hosts?: readonly string[]; readonly origins?: readonly string[] | undefined },
): Promise<void> {
  const origin = (await element.call<string>("function () { return self.origin; }")) ?? "";
  const host = URL.parse(origin)?.hostname ?? "";
  if (hosts !== undefined && !isAmongHosts(host, hosts)) throw new WrongSite(host);
  if (origins !== undefined && !isAmongOrigins(origin, origins)) throw new WrongSite(origin);
}

function outcomeOf(error: unknown, { act, run }: { readonly act: PageAct; readonly run: ActRun }): PageActResult {
  if (error instanceof WrongSite) return { outcome: "refused_host", detail: error.message };
  if (error instanceof Replaced) return replaced;
  // A dialog or a navigation is an effect of input that was sent.
  if (error instanceof Interrupted && !run.page.session.ended) return run.hasBegun ? done : replaced;
  if (error instanceof NotActionable) return outcomes[error.obstacle];
  if (error instanceof ClickTaken) return { outcome: "covered" };
  if (!ServiceError.isInstance(error) || run.page.session.ended) throw error;
  if (error.code === "stale_reference" || error.code === "element_not_found") return replaced;
  // The page has hidden the field, or moved the focus on: the caller reads it again.
  if (act.kind === "press" && error.code === "not_actionable") return replaced;
  if (act.kind === "press" || (error.code !== "not_actionable" && error.status !== 400)) throw error;
  return act.kind === "fill" && run.hasBegun ? { outcome: "partly" } : unusable;
}

async function open(page: WatchedPage, { hosts, url }: ActOf<"goto">): Promise<PageActResult> {
  const address = URL.canParse(url) ? new URL(url) : undefined;
  if (address === undefined || !/^https?:$/.test(address.protocol)) return unusable;
  if (!isAmongHosts(address.hostname, hosts)) return { outcome: "refused_host", detail: address.hostname };
  try {
    const answer = await page.send(page.cdp.send("Page.navigate", { url }, page.session.sessionId));
    const problem = answer?.errorText;
    // A download, or a page that replaced this one.
    if (problem === undefined || problem === "" || problem === "net::ERR_ABORTED") return done;
    return { outcome: "unreachable", detail: problem.slice(0, 200) };
  } catch (error) {
    return { outcome: "unreachable", detail: messageOf(error).slice(0, 200) };
  }
}

async function authenticate(page: WatchedPage, act: ActOf<"authenticate">): Promise<PageActResult> {
  const { hosts, origins, password, username } = act;
  page.authentication.answerNext({ hosts, username, password, ...(origins !== undefined && { origins }) });
  await page.send(page.cdp.send("Page.reload", {}, page.session.sessionId));
  return done;
}
