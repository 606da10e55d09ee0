import type { Extensions, ScreenResources } from "x11";
import type { XConnection } from "./x-connection.ts";
import type { ScreenSize, XWindows } from "./x-windows.ts";

/** What a screen shows. */
export interface ScreenMode extends ScreenSize {
  /** How often a second, in Hz: browsers draw as often. */
  readonly refreshRate: number;
}

const tellAgainMs = 1_000;

/** The one screen of an X server. */
export interface XScreen {
  readonly mode: ScreenMode;
  /** Changes its size and rate, up to the size that the server was started with. */
  change(mode: ScreenMode): Promise<void>;
}

export async function createXScreen(x: XConnection, windows: Pick<XWindows, "fill" | "settled">, first: ScreenMode): Promise<XScreen> {
  const { client, root } = x;
  const randr = await x.ask<Extensions["randr"]>((reply) => {
    client.require("randr", reply);
  });
  await x.ask((reply) => {
    randr.QueryVersion(1, 3, reply);
  });
  /** Modes that the server knows, by name. */
  const modes = new Map<string, number>();
  let mode = first;
  let changing: Promise<void> = Promise.resolve();

  async function modeId({ width, height, refreshRate }: ScreenMode, output: number): Promise<number> {
    const name = `${String(width)}x${String(height)}@${String(refreshRate)}`;
    const known = modes.get(name);
    if (known !== undefined) return known;
    const made = await x.ask<number>((reply) => {
      // The rate is the number of dots a second by the number of dots.
      randr.CreateMode(root, { width, height, dot_clock: width * height * refreshRate, h_total: width, v_total: height, name }, reply);
    });
    randr.AddOutputMode(output, made);
    modes.set(name, made);
    return made;
  }

  function sizeScreen(width: number, height: number): void {
    const millimetres = (pixels: number): number => Math.round((pixels * 25.4) / 96);
    randr.SetScreenSize(root, width, height, millimetres(width), millimetres(height));
  }

  async function change(wanted: ScreenMode): Promise<void> {
    const {
      config_timestamp: timestamp,
      crtcs,
      outputs,
    } = await x.ask<ScreenResources>((reply) => {
      randr.GetScreenResources(root, reply);
    });
    const [crtc] = crtcs;
    const [output] = outputs;
    if (crtc === undefined || output === undefined) throw new Error("The X server has no screen that can be changed.");
    const id = await modeId(wanted, output);
    // What is shown must lie on the screen at every moment.
    sizeScreen(Math.max(mode.width, wanted.width), Math.max(mode.height, wanted.height));
    await x.ask((reply) => {
      randr.SetCrtcConfig(crtc, 0, timestamp, 0, 0, id, 1, [output], reply);
    });
    sizeScreen(wanted.width, wanted.height);
    mode = wanted;
    windows.fill(wanted);
    // A browser asks what has changed when it is told, which may be between two steps: it is told again when all of it holds.
    const tell = async (): Promise<void> => {
      for (const primary of [0, output]) {
        await windows.settled();
        randr.SetOutputPrimary(root, primary);
      }
    };
    await tell();
    // One that was still busy with its windows has been seen to keep the old rate.
    setTimeout(() => void tell().catch(() => undefined), tellAgainMs).unref();
  }

  await change(first);

  return {
    get mode() {
      return mode;
    },
    change(wanted) {
      const changed = changing.then(() => change(wanted));
      changing = changed.catch(() => undefined);
      return changed;
    },
  };
}
