import type { CaptureScreenshot, ComputerBatch, MousePosition } from "@shoal/schemas";
import type { CallOptions } from "@shoal/transport";
import type { BrowserComputer } from "../browser-computer.ts";

/** Mouse, keyboard and screen of one session, as in `browsers.computer`. */
export class SessionComputer {
  readonly #computer: BrowserComputer;
  readonly #id: string;
  constructor(computer: BrowserComputer, id: string) {
    this.#computer = computer;
    this.#id = id;
  }

  /** Executes 1 to 100 actions in order and stops at the first failure. */
  batch(body: ComputerBatch, options?: CallOptions): Promise<void> {
    return this.#computer.batch(this.#id, body, options);
  }
  /** Takes a PNG picture of the screen or of a part of it. */
  async captureScreenshot(body: CaptureScreenshot = {}, options?: CallOptions): Promise<Uint8Array<ArrayBuffer>> {
    const { stream } = await this.#computer.captureScreenshot(this.#id, body, options);
    return new Uint8Array(await new Response(stream).arrayBuffer());
  }
  /** Position of the pointer. */
  getMousePosition(options?: CallOptions): Promise<MousePosition> {
    return this.#computer.getMousePosition(this.#id, options);
  }
}
