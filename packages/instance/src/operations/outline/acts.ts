import { messageOf } from "@shoal/primitives";
import { setTimeout as wait } from "node:timers/promises";
import { isAmongHosts, isAmongOrigins, type PageAct, type PageActResult } from "../../protocol/page.ts";
import { createKeyboard } from "../computer/keyboard.ts";
import { createPageView } from "../computer/page-view.ts";
import { pressChord } from "../computer/typing.ts";
import { inPage, PageElement, type Point } from "../pages/follow/page-element.ts";
import { guardedFunction, guardFunction } from "../pages/node-input/click-guard.ts";
import { FrameShield } from "../pages/node-input/frame-shield.ts";
import { writeValueFunction } from "../pages/node-input/write-value.ts";
import { maskField } from "./field-masks.ts";
import { readFrames } from "./reading/frames.ts";
import type { WatchedPage } from "./watched-page.ts";

type ActOf<Kind extends PageAct["kind"]> = Extract<PageAct, { kind: Kind }>;

const done: PageActResult = { outcome: "done" };
const replaced: PageActResult = { outcome: "replaced" };
const unusable: PageActResult = { outcome: "unusable" };
/** Time for a page to replace a field that got the focus, in milliseconds. */
const focusMs = 30;

/** Operates a page with real input events. @throws {ServiceError} 400 for an unknown key, 409 when the page has gone. */
export async function actOn(page: WatchedPage, act: PageAct, signal: AbortSignal): Promise<PageActResult> {
  await page.beginAct();
  switch (act.kind) {
    case "fill":
      return withElement(page, act.ref, (element) => fill(element, act));
    case "click":
      return withElement(page, act.ref, click);
    case "check":
      return withElement(page, act.ref, (element) => check(element, act));
    case "select":
      return withElement(page, act.ref, (element) => select(element, act));
    case "press":
      return press(page, act, signal);
    case "goto":
      return open(page, act);
    case "authenticate":
      return authenticate(page, act);
  }
}

async function withElement(
  page: WatchedPage,
  ref: string,
  act: (element: PageElement<WatchedPage>) => Promise<PageActResult>,
): Promise<PageActResult> {
  const address = page.addressOf(ref);
  const element = address && (await PageElement.find(page, address));
  return element === undefined ? replaced : act(element);
}

const prepareFunction = `function () {
  const isField = /^(INPUT|TEXTAREA)$/.test(this.tagName);
  if (this.disabled || this.readOnly || !(isField || this.isContentEditable)) return "unusable";
  if (isField && /^(checkbox|radio|file|button|submit|reset|image|hidden|range|color)$/.test(this.type)) return "unusable";
  return "usable";
}`;
async function fill(
  element: PageElement<WatchedPage>,
  { hosts, origins, value, visible }: ActOf<"fill">,
): Promise<PageActResult> {
  const { address, page } = element;
  if ((await element.call(prepareFunction)) !== "usable") return unusable;
  await element.reach();
  if (!(await element.focus())) return replaced;
  // Some pages replace a field when it gets the focus.
  const [isMasked] = await Promise.all([visible === true || maskField(element), wait(focusMs)]);
  if (!isMasked) return replaced;
  const { host = "", origin = "" } = (await readFrames(page, address.target)).get(address.frameId) ?? {};
  if (!isAmongHosts(host, hosts)) return { outcome: "refused_host", detail: host };
  if (origins !== undefined && !isAmongOrigins(origin, origins)) return { outcome: "refused_host", detail: origin };
  const written = await element.call(writeValueFunction, value);
  return written === "gone" ? replaced : written === "refused" ? { outcome: "partly" } : done;
}

async function click(element: PageElement<WatchedPage>): Promise<PageActResult> {
  const { page } = element;
  const middle = await element.reach();
  if (middle === undefined) return unusable;
  if ((await element.call("function () { return this.disabled === true; }")) === true) return unusable;
  const shield = await FrameShield.raise(page, element);
  try {
    if (!(await element.isAt(middle))) return { outcome: "covered" };
    await element.call(guardFunction);
    await clickAt(page, await inPage(page, element.address.target, middle));
    const seen = await element.call(guardedFunction);
    return seen === "missed" || (seen === "unseen" && shield.hasOthers && !shield.hasInner)
      ? { outcome: "covered" }
      : done;
  } finally {
    void shield.lower();
  }
}

async function clickAt({ cdp, session }: WatchedPage, { x, y }: Point): Promise<void> {
  const send = (type: "mouseMoved" | "mousePressed" | "mouseReleased") =>
    session.outcome(
      cdp.send(
        "Input.dispatchMouseEvent",
        {
          type,
          x,
          y,
          button: type === "mouseMoved" ? "none" : "left",
          buttons: type === "mousePressed" ? 1 : 0,
          clickCount: type === "mouseMoved" ? 0 : 1,
          pointerType: "mouse",
        },
        session.sessionId,
      ),
      2_000,
    );
  await send("mouseMoved");
  await send("mousePressed");
  await send("mouseReleased");
}

async function check(element: PageElement<WatchedPage>, { checked }: ActOf<"check">): Promise<PageActResult> {
  const read = `function () { return this.checked ?? this.getAttribute("aria-checked") === "true"; }`;
  if ((await element.call(read)) === checked) return done;
  const clicked = await click(element);
  if (clicked.outcome !== "done") {
    const label = await labelPoint(element);
    if (label === undefined) return clicked;
    await clickAt(element.page, await inPage(element.page, element.address.target, label));
  }
  return (await element.call(read)) === !checked ? unusable : done;
}

/** A hidden checkbox is used through its label. */
async function labelPoint(element: PageElement<WatchedPage>): Promise<Point | undefined> {
  const point = await element.call(`function () {
    const label = this.labels?.[0];
    if (!label) return;
    label.scrollIntoView({ block: "center", behavior: "instant" });
    const box = label.getBoundingClientRect();
    return box.width > 1 && box.height > 1 ? [box.left + Math.min(10, box.width / 2), box.top + box.height / 2] : undefined;
  }`);
  if (!Array.isArray(point)) return undefined;
  const [x, y] = point as unknown[];
  return typeof x === "number" && typeof y === "number" ? { x, y } : undefined;
}

const selectOptionFunction = `function (wanted) {
  if (this.tagName !== "SELECT" || this.disabled) return false;
  const option = [...this.options].find((one) => one.value === wanted || one.label.trim() === wanted.trim());
  if (!option || option.disabled) return false;
  this.value = option.value;
  this.dispatchEvent(new Event("input", { bubbles: true, composed: true }));
  this.dispatchEvent(new Event("change", { bubbles: true }));
  return true;
}`;

async function select(element: PageElement<WatchedPage>, { option, origins }: ActOf<"select">): Promise<PageActResult> {
  const { address, page } = element;
  const origin = origins && ((await readFrames(page, address.target)).get(address.frameId)?.origin ?? "");
  if (origins !== undefined && !isAmongOrigins(origin ?? "", origins))
    return { outcome: "refused_host", detail: origin ?? "" };
  await element.reach();
  await element.focus();
  return (await element.call(selectOptionFunction, option)) === true ? done : unusable;
}

async function press(page: WatchedPage, { key }: ActOf<"press">, signal: AbortSignal): Promise<PageActResult> {
  await pressChord(createKeyboard(createPageView(page.session)), {
    chord: key,
    field: "body.key",
    durationMs: 0,
    signal,
  });
  return done;
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
