import pLimit from "p-limit";
import type { Extensions, ScreenResources } from "x11";
import type { XConnection } from "./x-connection.ts";
import type { ScreenSize, XWindows } from "./x-windows.ts";

export interface ScreenMode extends ScreenSize {
  /** Hz; browsers draw at this rate. */
  readonly refreshRate: number;
}

const repeatMs: readonly number[] = [1_000, 5_000];

export async function createXScreen(
  x: XConnection,
  windows: Pick<XWindows, "fill" | "settled">,
  first: ScreenMode,
): Promise<XScreen> {
  const randr = await x.ask<Randr>((reply) => {
    x.client.require("randr", reply);
  });
  await x.ask((reply) => {
    randr.QueryVersion(1, 3, reply);
  });
  const screen = new XScreen(x, { randr, windows, first });
  await screen.change(first);
  return screen;
}

type Randr = Extensions["randr"];

interface RandrScreenOptions {
  readonly randr: Randr;
  readonly windows: Pick<XWindows, "fill" | "settled">;
  readonly first: ScreenMode;
}

export class XScreen {
  readonly #x: XConnection;
  readonly #randr: Randr;
  readonly #windows: RandrScreenOptions["windows"];
  readonly #modes = new Map<string, number>();
  readonly #oneAtATime = pLimit(1);
  #mode: ScreenMode;

  constructor(x: XConnection, { randr, windows, first }: RandrScreenOptions) {
    this.#x = x;
    this.#randr = randr;
    this.#windows = windows;
    this.#mode = first;
  }

  get mode(): ScreenMode {
    return this.#mode;
  }

  /** Up to the size the server was started with. */
  change(mode: ScreenMode): Promise<void> {
    return this.#oneAtATime(() => this.#change(mode));
  }

  async #change(wanted: ScreenMode): Promise<void> {
    // The shown area must always lie on the screen.
    this.#sizeScreen(Math.max(this.#mode.width, wanted.width), Math.max(this.#mode.height, wanted.height));
    const output = await this.#show(wanted);
    this.#sizeScreen(wanted.width, wanted.height);
    this.#mode = wanted;
    this.#windows.fill(wanted);
    await this.#notify(output);
    for (const delayMs of repeatMs) setTimeout(() => void this.#repeat(wanted).catch(() => undefined), delayMs).unref();
  }

  /**
   * A browser that was busy with its windows can keep the old rate. It applies a rate only when it changes, so the rate
   * changes by 1 Hz for a moment.
   */
  #repeat(mode: ScreenMode): Promise<void> {
    return this.#oneAtATime(async () => {
      for (const refreshRate of [mode.refreshRate + 1, mode.refreshRate])
        if (this.#mode === mode) await this.#notify(await this.#show({ ...mode, refreshRate }));
    });
  }

  /** @returns the output of the screen. */
  async #show(mode: ScreenMode): Promise<number> {
    const {
      config_timestamp: timestamp,
      crtcs: [crtc],
      outputs: [output],
    } = await this.#x.ask<ScreenResources>((reply) => {
      this.#randr.GetScreenResources(this.#x.root, reply);
    });
    if (crtc === undefined || output === undefined)
      throw new Error("The X server has no screen whose size can change.");
    const id = await this.#modeId(mode, output);
    await this.#x.ask((reply) => {
      this.#randr.SetCrtcConfig(crtc, 0, timestamp, 0, 0, id, 1, [output], reply);
    });
    return output;
  }

  async #modeId({ width, height, refreshRate }: ScreenMode, output: number): Promise<number> {
    const name = `${String(width)}x${String(height)}@${String(refreshRate)}`;
    const known = this.#modes.get(name);
    if (known !== undefined) return known;
    const made = await this.#x.ask<number>((reply) => {
      // Refresh rate = dots per second / dots.
      this.#randr.CreateMode(
        this.#x.root,
        { width, height, dot_clock: width * height * refreshRate, h_total: width, v_total: height, name },
        reply,
      );
    });
    this.#randr.AddOutputMode(output, made);
    this.#modes.set(name, made);
    return made;
  }

  #sizeScreen(width: number, height: number): void {
    const millimetres = (pixels: number): number => Math.round((pixels * 25.4) / 96);
    this.#randr.SetScreenSize(this.#x.root, width, height, millimetres(width), millimetres(height));
  }

  /** A browser queries the screen when notified, possibly between two steps: so it is notified after the last step. */
  async #notify(output: number): Promise<void> {
    for (const primary of [0, output]) {
      await this.#windows.settled();
      this.#randr.SetOutputPrimary(this.#x.root, primary);
    }
  }
}
