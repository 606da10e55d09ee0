import pTimeout from "p-timeout";
import { badInput, ServiceError } from "@shoal/router";
import type { Protocol } from "devtools-protocol";
import { CdpError, type CdpConnection } from "../../browser/cdp/cdp-connection.ts";
import { captureFrame } from "./page-frame.ts";
import { heardExpression, listenExpression, writeExpression } from "./page-clipboard.ts";
import type { Outcome, PageDialog, PageSession } from "./page-session.ts";
import type { KeyInput, MouseInput, OpenDialog, Region, View, WheelInput } from "../../browser/input/screen.ts";
import { modifierBits } from "./chord.ts";

/** Longest wait until the page processes input, in milliseconds; later input is queued by the browser. */
const inputWaitMs = 2_000;
/** The same for a page that did not process the previous input. */
const shortWaitMs = 20;
/** Time without an answer after which input is rejected instead of queued, in milliseconds. */
const patienceMs = 10_000;
/** Longest time for a page to answer an expression, in milliseconds. */
const answerWaitMs = 2_000;
const screenshotWaitMs = 10_000;
/** Time for other CDP clients to answer a dialog, in milliseconds: Playwright does so automatically. */
const dialogGraceMs = 250;
/** Larger screenshots do not fit into a message of the browser; 8K fits. */
export const maxScreenshotPixels = 36_000_000;

interface Metrics {
  readonly width: number;
  readonly height: number;
  readonly left: number;
  readonly top: number;
  readonly ratio: number;
}

export class PageView implements View {
  readonly #session: PageSession;
  readonly #cdp: CdpConnection;
  readonly #sessionId: string;
  #world: number | undefined;
  #silentSinceMs: number | undefined;
  readonly name = "page";

  constructor(session: PageSession) {
    this.#session = session;
    this.#cdp = this.#session.cdp;
    this.#sessionId = this.#session.sessionId;
  }

  /** Sends input; a busy page receives it later, as from a real keyboard or mouse. */
  async #input(isRelease: boolean, send: () => Promise<unknown>): Promise<void> {
    // A page that closes on a button or key press needs no release.
    if (this.#session.ended && isRelease) return;
    if (this.#session.ended) throw this.#session.endError();
    const { kind } = await this.#session.outcome(send(), this.#silentSinceMs === undefined ? inputWaitMs : shortWaitMs);
    if (kind !== "silent") {
      this.#silentSinceMs = undefined;
      return;
    }
    const nowMs = performance.now();
    this.#silentSinceMs ??= nowMs - inputWaitMs;
    if (nowMs - this.#silentSinceMs > patienceMs) throw notAnswering("accepts no input");
  }

  async #evaluate<T>(expression: string): Promise<Outcome<T>> {
    const answer = (async () => {
      // The isolated world ends with a navigation.
      if (this.#world !== undefined) {
        try {
          return await this.#evaluateIn<T>(this.#world, expression);
        } catch (error) {
          if (!(error instanceof CdpError)) throw error;
        }
      }
      // A main frame's id is its target's id.
      const { executionContextId } = await this.#cdp.send(
        "Page.createIsolatedWorld",
        { frameId: this.#session.targetId, worldName: "" },
        this.#sessionId,
      );
      this.#world = executionContextId;
      return await this.#evaluateIn<T>(executionContextId, expression);
    })();
    return await this.#session.outcome(answer, answerWaitMs);
  }

  async #evaluateIn<T>(contextId: number, expression: string): Promise<T> {
    const { result, exceptionDetails } = await this.#cdp.send(
      "Runtime.evaluate",
      { expression, contextId, returnByValue: true, userGesture: true },
      this.#sessionId,
    );
    if (exceptionDetails !== undefined)
      throw new Error(
        `The expression failed in the page: ${exceptionDetails.exception?.description ?? exceptionDetails.text}`,
      );
    // The caller states the type of its expression.
    return result.value as T;
  }

  async #metrics(): Promise<Metrics | undefined> {
    if (this.#session.dialog !== undefined) return undefined;
    const outcome = await this.#evaluate<[number, number, number, number, number]>(
      "[innerWidth, innerHeight, visualViewport.pageLeft, visualViewport.pageTop, devicePixelRatio]",
    );
    if (outcome.kind !== "done") {
      this.#refuseGone(outcome);
      return undefined;
    }
    const [width, height, left, top, ratio] = outcome.result;
    return { width, height, left, top, ratio };
  }

  #refuseGone({ kind }: Outcome<unknown>): void {
    if (kind === "gone") throw this.#session.endError();
  }

  async #ask<T>(expression: string): Promise<T> {
    const outcome = await this.#evaluate<T>(expression);
    this.#refuseGone(outcome);
    if (outcome.kind !== "done") throw notAnswering("does not answer");
    return outcome.result;
  }

  async #sendKey({ type, key, modifiers, repeated = false }: KeyInput, commands?: string[]): Promise<void> {
    const shown = key.shifted !== undefined && (modifiers & bit("Shift")) !== 0 ? key.shifted : key.key;
    const isShortcut = (modifiers & (bit("Alt") | bit("Control") | bit("Meta"))) !== 0;
    const text =
      type === "down" && key.text !== undefined && !isShortcut
        ? key.shifted === undefined
          ? key.text
          : shown
        : undefined;
    await this.#input(type === "up", () =>
      this.#cdp.send(
        "Input.dispatchKeyEvent",
        {
          type: type === "up" ? "keyUp" : text === undefined ? "rawKeyDown" : "keyDown",
          key: shown,
          code: key.code,
          windowsVirtualKeyCode: key.keyCode,
          nativeVirtualKeyCode: key.keyCode,
          modifiers,
          autoRepeat: repeated,
          isKeypad: key.location === 3,
          // CDP's location distinguishes left and right; the number pad has a separate field.
          location: key.location === 3 ? 0 : (key.location ?? 0),
          ...(text !== undefined && { text, unmodifiedText: key.text ?? text }),
          ...(commands !== undefined && { commands }),
        },
        this.#sessionId,
      ),
    );
  }

  size(): Promise<Metrics | undefined> {
    return this.#metrics();
  }

  async hasKeyboard(): Promise<boolean> {
    if (this.#session.ended || this.#session.dialog !== undefined) return false;
    const outcome = await this.#evaluate<boolean>("document.hasFocus()");
    return outcome.kind === "done" && outcome.result;
  }

  async dialog(): Promise<OpenDialog | undefined> {
    const { dialog } = this.#session;
    if (dialog === undefined) return undefined;
    const graceMs = dialog.openedAtMs + dialogGraceMs - performance.now();
    if (graceMs > 0) await pTimeout(dialog.closed, { milliseconds: graceMs, message: false });
    return this.#session.dialog && openDialog(this.#session, this.#session.dialog);
  }

  async mouse({ type, x, y, button, buttons, clickCount = 0, modifiers }: MouseInput): Promise<void> {
    const cdpType = { move: "mouseMoved", down: "mousePressed", up: "mouseReleased" } as const;
    await this.#input(type === "up", () =>
      this.#cdp.send(
        "Input.dispatchMouseEvent",
        { type: cdpType[type], x, y, button: button ?? "none", buttons, clickCount, modifiers, pointerType: "mouse" },
        this.#sessionId,
      ),
    );
  }

  async wheel({ x, y, deltaX, deltaY, buttons, modifiers }: WheelInput): Promise<void> {
    await this.#input(false, () =>
      this.#cdp.send(
        "Input.dispatchMouseEvent",
        { type: "mouseWheel", x, y, deltaX, deltaY, buttons, modifiers, pointerType: "mouse" },
        this.#sessionId,
      ),
    );
  }

  key(event: KeyInput): Promise<void> {
    return this.#sendKey(event);
  }

  async screenshot(region?: Region): Promise<Buffer> {
    const seen = await this.#metrics();
    if (seen !== undefined) {
      const params = captureParameters(seen, region);
      const outcome = await this.#session.outcome(
        this.#cdp.send("Page.captureScreenshot", params, this.#sessionId),
        screenshotWaitMs,
      );
      this.#refuseGone(outcome);
      if (outcome.kind === "done") return Buffer.from(outcome.result.data, "base64");
    }
    // The page cannot draw, but the compositor has its last frame.
    if (region !== undefined) throw notAnswering("does not answer, so only a screenshot without a region is possible");
    const frame = await captureFrame(this.#session);
    if (this.#session.ended) throw this.#session.endError();
    if (frame === undefined) throw notAnswering("does not answer");
    return frame;
  }

  async readClipboard(): Promise<string> {
    await this.#ask(listenExpression);
    await this.#sendKey({ type: "down", key: { key: "Unidentified", code: "", keyCode: 0 }, modifiers: 0 }, ["Paste"]);
    await this.#sendKey({ type: "up", key: { key: "Unidentified", code: "", keyCode: 0 }, modifiers: 0 });
    const text = await this.#ask<string | null>(heardExpression);
    if (text === null)
      throw new ServiceError(
        409,
        "conflict",
        "The clipboard cannot be read while a frame of another site has the focus.",
        { hint: "Click into the page outside of that frame and try again." },
      );
    return text;
  }

  async writeClipboard(text: string): Promise<void> {
    if (!(await this.#ask<boolean>(writeExpression(text))))
      throw new ServiceError(409, "conflict", "The visible page blocks clipboard writes.", {
        hint: "Try again on another page.",
      });
  }
}

function bit(modifier: string): number {
  return modifierBits[modifier] ?? 0;
}

function captureParameters(
  { width, height, left, top, ratio }: Metrics,
  region: Region | undefined,
): Protocol.Page.CaptureScreenshotRequest {
  const shown = region ?? { x: 0, y: 0, width, height };
  if (shown.x + shown.width > width || shown.y + shown.height > height) {
    throw badInput("body.region", `reaches beyond the page, which is ${String(width)} × ${String(height)} pixels`);
  }
  if (shown.width * shown.height > maxScreenshotPixels) {
    throw new ServiceError(
      400,
      "bad_request",
      `a screenshot can have at most ${String(maxScreenshotPixels)} pixels, but the region is ${String(shown.width)} × ${String(shown.height)}`,
      { field: "body.region", hint: "Take several smaller regions.", limit: maxScreenshotPixels },
    );
  }
  // Takes half the default time; the file is slightly larger.
  const fast = { format: "png", optimizeForSpeed: true } as const;
  // Clips and mouse coordinates are in CSS pixels, at any emulated density.
  return region === undefined && ratio === 1
    ? fast
    : { ...fast, clip: { x: left + shown.x, y: top + shown.y, width: shown.width, height: shown.height, scale: 1 } };
}

function openDialog(session: PageSession, { type, defaultText }: PageDialog): OpenDialog {
  return {
    type,
    async answer(accept, text = defaultText) {
      // Without a text, Chromium would use an empty one.
      const params = { accept, ...(accept && type === "prompt" && { promptText: text }) };
      try {
        await session.cdp.send("Page.handleJavaScriptDialog", params, session.sessionId);
      } catch (error) {
        // Another client answered first.
        if (!(error instanceof CdpError)) throw error;
        if (session.ended) throw session.endError();
      }
    },
  };
}

function notAnswering(what: string): ServiceError {
  return new ServiceError(503, "not_ready", `The visible page ${what}: a script keeps it busy, or a dialog is open.`, {
    hint: "Try again, answer the dialog with press_key Return or Escape, or navigate the page elsewhere.",
  });
}
