import { badInput, ServiceError } from "@shoal/router";
import type { Protocol } from "devtools-protocol";
import { CdpError } from "../cdp/pipe-connection.ts";
import { captureFrame } from "./page-frame.ts";
import { heardExpression, listenExpression, writeExpression } from "./page-clipboard.ts";
import type { Outcome, PageDialog, PageSession } from "./page-session.ts";
import type { KeyInput, OpenDialog, Region, View } from "./screen.ts";
import { modifierBits } from "./chord.ts";

/** How long input waits for the page to take it, in milliseconds; what it has not taken then it finds when it goes on. */
const inputWaitMs = 2_000;
/** The same where it did not take what came before. */
const shortWaitMs = 20;
/** Time without any answer after which input is refused rather than piled up, in milliseconds. */
const patienceMs = 10_000;
/** How long a page may take to answer a question, in milliseconds. */
const answerWaitMs = 2_000;
const screenshotWaitMs = 10_000;
/** Time that other CDP clients are given to answer a dialog, in milliseconds: Playwright does so by itself. */
const dialogGraceMs = 250;
/** Larger ones do not fit into a message of the browser's: 8K does. */
export const maxScreenshotPixels = 36_000_000;

interface Metrics {
  readonly width: number;
  readonly height: number;
  /** Place of the visible part in the document. */
  readonly left: number;
  readonly top: number;
  readonly ratio: number;
}

/** Sees and works one page by CDP. */
export function createPageView(session: PageSession): View {
  const { cdp, sessionId } = session;
  let world: number | undefined;
  let silentSinceMs: number | undefined;

  /** Sends input; a page that is busy gets it later, as from a keyboard or a mouse. */
  async function input(isRelease: boolean, send: () => Promise<unknown>): Promise<void> {
    // A page that closes when a button or key goes down has taken what is meant for it.
    if (session.ended && isRelease) return;
    if (session.ended) throw session.endError();
    const { kind } = await session.outcome(send(), silentSinceMs === undefined ? inputWaitMs : shortWaitMs);
    if (kind !== "silent") {
      silentSinceMs = undefined;
      return;
    }
    const nowMs = performance.now();
    silentSinceMs ??= nowMs - inputWaitMs;
    if (nowMs - silentSinceMs > patienceMs) throw notAnswering("takes no input");
  }

  async function evaluate<T>(expression: string): Promise<Outcome<T>> {
    const answer = (async () => {
      // A navigation ends the world that was made on the page before.
      if (world !== undefined) {
        try {
          return await evaluateIn<T>(world, expression);
        } catch (error) {
          if (!(error instanceof CdpError)) throw error;
        }
      }
      // A page's main frame has its target's id.
      world = (await cdp.send("Page.createIsolatedWorld", { frameId: session.targetId, worldName: "" }, sessionId)).executionContextId;
      return await evaluateIn<T>(world, expression);
    })();
    return await session.outcome(answer, answerWaitMs);
  }

  async function evaluateIn<T>(contextId: number, expression: string): Promise<T> {
    const { result, exceptionDetails } = await cdp.send(
      "Runtime.evaluate",
      { expression, contextId, returnByValue: true, userGesture: true },
      sessionId,
    );
    if (exceptionDetails !== undefined)
      throw new Error(`The page could not be asked: ${exceptionDetails.exception?.description ?? exceptionDetails.text}`);
    // The expressions stand beside their uses.
    return result.value as T;
  }

  async function metrics(): Promise<Metrics | undefined> {
    if (session.dialog !== undefined) return undefined;
    const outcome = await evaluate<[number, number, number, number, number]>(
      "[innerWidth, innerHeight, visualViewport.pageLeft, visualViewport.pageTop, devicePixelRatio]",
    );
    if (outcome.kind !== "done") {
      refuseGone(outcome);
      return undefined;
    }
    const [width, height, left, top, ratio] = outcome.result;
    return { width, height, left, top, ratio };
  }

  function refuseGone({ kind }: Outcome<unknown>): void {
    if (kind === "gone") throw session.endError();
  }

  async function ask<T>(expression: string): Promise<T> {
    const outcome = await evaluate<T>(expression);
    refuseGone(outcome);
    if (outcome.kind !== "done") throw notAnswering("does not answer");
    return outcome.result;
  }

  async function sendKey({ type, key, modifiers, repeated = false }: KeyInput, commands?: string[]): Promise<void> {
    const shown = key.shifted !== undefined && (modifiers & bit("Shift")) !== 0 ? key.shifted : key.key;
    const isShortcut = (modifiers & (bit("Alt") | bit("Control") | bit("Meta"))) !== 0;
    const text = type === "down" && key.text !== undefined && !isShortcut ? (key.shifted === undefined ? key.text : shown) : undefined;
    await input(type === "up", () =>
      cdp.send(
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
          // CDP's location knows left and right; the number pad has a field of its own.
          location: key.location === 3 ? 0 : (key.location ?? 0),
          ...(text !== undefined && { text, unmodifiedText: key.text ?? text }),
          ...(commands !== undefined && { commands }),
        },
        sessionId,
      ),
    );
  }

  return {
    name: "page",
    size: metrics,
    async hasKeyboard() {
      if (session.ended || session.dialog !== undefined) return false;
      const outcome = await evaluate<boolean>("document.hasFocus()");
      return outcome.kind === "done" && outcome.result;
    },
    async dialog() {
      const { dialog } = session;
      if (dialog === undefined) return undefined;
      const grace = Promise.withResolvers<undefined>();
      const timer = setTimeout(grace.resolve, dialog.openedAtMs + dialogGraceMs - performance.now(), undefined);
      await Promise.race([dialog.closed, grace.promise]);
      clearTimeout(timer);
      return session.dialog && openDialog(session, session.dialog);
    },
    async mouse({ type, x, y, button, buttons, clickCount = 0, modifiers }) {
      const cdpType = { move: "mouseMoved", down: "mousePressed", up: "mouseReleased" } as const;
      await input(type === "up", () =>
        cdp.send(
          "Input.dispatchMouseEvent",
          { type: cdpType[type], x, y, button: button ?? "none", buttons, clickCount, modifiers, pointerType: "mouse" },
          sessionId,
        ),
      );
    },
    async wheel({ x, y, deltaX, deltaY, buttons, modifiers }) {
      await input(false, () =>
        cdp.send("Input.dispatchMouseEvent", { type: "mouseWheel", x, y, deltaX, deltaY, buttons, modifiers, pointerType: "mouse" }, sessionId),
      );
    },
    key: (event) => sendKey(event),
    async screenshot(region) {
      const seen = await metrics();
      if (seen !== undefined) {
        const params = captureParameters(seen, region);
        const outcome = await session.outcome(cdp.send("Page.captureScreenshot", params, sessionId), screenshotWaitMs);
        refuseGone(outcome);
        if (outcome.kind === "done") return Buffer.from(outcome.result.data, "base64");
      }
      // The page is kept from drawing, but what it drew last is still on the screen.
      if (region !== undefined) throw notAnswering("does not answer, so only a screenshot without a region is possible");
      const frame = await captureFrame(session);
      if (session.ended) throw session.endError();
      if (frame === undefined) throw notAnswering("does not answer");
      return frame;
    },
    async readClipboard() {
      await ask(listenExpression);
      await sendKey({ type: "down", key: { key: "Unidentified", code: "", keyCode: 0 }, modifiers: 0 }, ["Paste"]);
      await sendKey({ type: "up", key: { key: "Unidentified", code: "", keyCode: 0 }, modifiers: 0 });
      const text = await ask<string | null>(heardExpression);
      if (text === null)
        throw new ServiceError(
          409,
          "conflict",
          "The clipboard cannot be read while a frame of another site has the focus. Click into the page outside of it and try again.",
        );
      return text;
    },
    async writeClipboard(text) {
      if (!(await ask<boolean>(writeExpression(text))))
        throw new ServiceError(409, "conflict", "The visible page does not let the clipboard be written. Try again on another page.");
    },
  };
}

function bit(modifier: string): number {
  return modifierBits[modifier] ?? 0;
}

function captureParameters({ width, height, left, top, ratio }: Metrics, region: Region | undefined): Protocol.Page.CaptureScreenshotRequest {
  const shown = region ?? { x: 0, y: 0, width, height };
  if (shown.x + shown.width > width || shown.y + shown.height > height) {
    throw badInput(`body.region: reaches beyond the page, which is ${String(width)} × ${String(height)} pixels`);
  }
  if (shown.width * shown.height > maxScreenshotPixels) {
    throw new ServiceError(
      400,
      "bad_request",
      `body.region: a screenshot has at most ${String(maxScreenshotPixels)} pixels, this one would have ${String(shown.width)} × ${String(shown.height)}. Ask for parts of it.`,
    );
  }
  // Half the time of the default, for a file that is a little larger.
  const fast = { format: "png", optimizeForSpeed: true } as const;
  // A clip is counted in CSS pixels whatever density is emulated, as the mouse's coordinates are.
  return region === undefined && ratio === 1
    ? fast
    : { ...fast, clip: { x: left + shown.x, y: top + shown.y, width: shown.width, height: shown.height, scale: 1 } };
}

function openDialog(session: PageSession, { type, defaultText }: PageDialog): OpenDialog {
  return {
    type,
    async answer(accept, text = defaultText) {
      // Without a text Chromium would fill in an empty one.
      const params = { accept, ...(accept && type === "prompt" && { promptText: text }) };
      try {
        await session.cdp.send("Page.handleJavaScriptDialog", params, session.sessionId);
      } catch (error) {
        // Somebody else was faster.
        if (!(error instanceof CdpError)) throw error;
        if (session.ended) throw session.endError();
      }
    },
  };
}

function notAnswering(what: string): ServiceError {
  return new ServiceError(
    503,
    "not_ready",
    `The visible page ${what}: a script keeps it busy, or a dialog is open. Try again, answer the dialog with press_key Return or Escape, or navigate the page elsewhere.`,
  );
}
