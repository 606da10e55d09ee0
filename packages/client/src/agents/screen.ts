import type { ComputerAction } from "@shoal/schemas";
import type { CallOptions } from "@shoal/transport";
import { base64Of } from "../browsers/base64.ts";
import type { AttachedSession } from "../browsers/session/browser-session.ts";
import { type Picture, ToolCallError } from "./page-tools.ts";

/** The members of a session that tools for mouse and keyboard use. */
export type ComputerBrowser = Pick<AttachedSession, "computer" | "screenshot" | "headless">;

/** Timing of actions with mouse and keyboard. */
export interface ComputerOptions {
  /** Milliseconds between an action and its picture, 0 to 30,000. Default 500. */
  readonly settleMs?: number;
}

/** Sizes of pictures that a provider does not shrink. */
export interface PictureLimits {
  readonly edge: number;
  readonly pixels: number;
}

export interface Point {
  readonly x: number;
  readonly y: number;
}

interface Size {
  readonly width: number;
  readonly height: number;
}

/** The screen as the model sees it: larger screens are shrunk, and coordinates are converted. */
export class AgentScreen {
  /** Size of the pictures. */
  readonly shown: Size;
  readonly #real: Size;
  readonly #browser: ComputerBrowser;
  readonly #settleMs: number;

  private constructor(
    browser: ComputerBrowser,
    { real, settleMs, shown }: Record<"real" | "shown", Size> & { settleMs: number },
  ) {
    this.#browser = browser;
    this.#real = real;
    this.shown = shown;
    this.#settleMs = settleMs;
  }

  /** Reads the size of the screen. @throws {RangeError} if a browser with a window is too large for the model. */
  static async of(
    browser: ComputerBrowser,
    { edge, pixels }: PictureLimits,
    { settleMs = 500 }: ComputerOptions,
  ): Promise<AgentScreen> {
    const real = sizeOf(await browser.computer.captureScreenshot());
    const scale = Math.min(1, edge / Math.max(real.width, real.height), Math.sqrt(pixels / (real.width * real.height)));
    if (scale < 1 && !browser.headless)
      throw new RangeError(
        `The screen has ${String(real.width)}×${String(real.height)} pixels. For a browser with a window the model takes at most ${String(edge)} pixels an edge and ${String(pixels)} in all. Create the session with a smaller viewport.`,
      );
    const shown = { width: Math.floor(real.width * scale), height: Math.floor(real.height * scale) };
    return new AgentScreen(browser, { real, shown, settleMs });
  }

  /** Converts a point of a picture. @throws {ToolCallError} outside the picture. */
  real({ x, y }: Point): Point {
    const { height, width } = this.shown;
    if (!(x >= 0 && y >= 0 && x <= width && y <= height))
      throw new ToolCallError(
        `The point ${String(x)}, ${String(y)} is outside the screen of ${String(width)}×${String(height)} pixels.`,
      );
    return {
      x: Math.min(this.#real.width - 1, Math.round((x * this.#real.width) / width)),
      y: Math.min(this.#real.height - 1, Math.round((y * this.#real.height) / height)),
    };
  }

  /** Executes actions, and waits for the page. */
  async act(actions: readonly ComputerAction[], call: CallOptions): Promise<void> {
    const settle: ComputerAction = { type: "sleep", sleep: { duration_ms: this.#settleMs } };
    await this.#browser.computer.batch({ actions: [...actions, settle] }, call);
  }

  /** Where the pointer is, in coordinates of pictures. */
  async pointer(call: CallOptions): Promise<Point> {
    const { x, y } = await this.#browser.computer.getMousePosition(call);
    return {
      x: Math.round((x * this.shown.width) / this.#real.width),
      y: Math.round((y * this.shown.height) / this.#real.height),
    };
  }

  async picture(call: CallOptions): Promise<Picture> {
    const bytes =
      this.shown.width === this.#real.width
        ? await this.#browser.computer.captureScreenshot({}, call)
        : await this.#browser.screenshot({ max_width: this.shown.width }, call);
    return { data: base64Of(bytes), mediaType: "image/png" };
  }

  /** A part of the screen at its full size. */
  async part(from: Point, to: Point, call: CallOptions): Promise<Picture> {
    const [a, b] = [this.real(from), this.real(to)];
    if (b.x <= a.x || b.y <= a.y) throw new ToolCallError("region must be x0, y0, x1, y1 with x0 < x1 and y0 < y1.");
    const region = { x: a.x, y: a.y, width: b.x - a.x, height: b.y - a.y };
    const bytes = await this.#browser.computer.captureScreenshot({ region }, call);
    return { data: base64Of(bytes), mediaType: "image/png" };
  }
}

/** The size in a PNG's header. */
function sizeOf(png: Uint8Array<ArrayBuffer>): Size {
  const view = new DataView(png.buffer);
  return { width: view.getUint32(16), height: view.getUint32(20) };
}
