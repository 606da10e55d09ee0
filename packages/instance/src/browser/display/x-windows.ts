import pTimeout from "p-timeout";
import type { Geometry } from "x11";
import type { XConnection } from "./x-connection.ts";

/** Pixels. */
export interface ScreenSize {
  readonly width: number;
  readonly height: number;
}

interface WindowEvent {
  readonly name: string;
  readonly wid: number;
  readonly overrideRedirect?: boolean;
  readonly message_type?: number;
  readonly data?: readonly number[];
}

/** `SubstructureNotify`: reports windows on the screen and delivers their replies. */
const substructureMask = 0x8_0000;
/** A browser makes a window that covers the screen one pixel smaller, because of window managers. */
const almost = 2;
/** When a window closes, the focus moves to the window below the pointer. */
const revertToPointer = 1;
/** In milliseconds. A busy browser processes the input later. */
const settleTimeoutMs = 2_000;

/**
 * Focuses each new window, and makes a window as large as the screen cover it exactly. Smaller windows stay unchanged.
 */
export async function followXWindows(x: XConnection, size: ScreenSize): Promise<XWindows> {
  const atom = (name: string) =>
    x.ask<number>((reply) => {
      x.client.InternAtom(false, name, reply);
    });
  const [protocols, ping] = await Promise.all([atom("WM_PROTOCOLS"), atom("_NET_WM_PING")]);
  return new XWindows(x, { size, atoms: { protocols, ping } });
}

interface WindowManagerOptions {
  readonly size: ScreenSize;
  readonly atoms: { readonly protocols: number; readonly ping: number };
}

/** The windows on a screen without a window manager; performs the window-management tasks that browsers need. */
export class XWindows {
  readonly #x: XConnection;
  readonly #atoms: WindowManagerOptions["atoms"];
  #size: ScreenSize;
  /** Visible windows without menus and the like, newest last. */
  readonly #shown = new Set<number>();
  readonly #filling = new Set<number>();
  readonly #pings = new Map<number, () => void>();
  #lastPing = 0;
  #nextPing: Promise<void> | undefined;

  constructor(x: XConnection, { size, atoms }: WindowManagerOptions) {
    this.#x = x;
    this.#size = size;
    this.#atoms = atoms;
    x.client.on("event", (event: WindowEvent) => {
      this.#take(event);
    });
    x.client.ChangeWindowAttributes(x.root, { eventMask: substructureMask });
  }

  /** Sets the screen size; windows that filled the screen fill it again. */
  fill(size: ScreenSize): void {
    this.#size = size;
    for (const window of this.#filling) this.#cover(window);
  }

  /**
   * The program with the newest window has processed all input, or {@link settleTimeoutMs} has passed. At once without
   * a window.
   */
  settled(): Promise<void> {
    // Concurrent callers share one ping.
    this.#nextPing ??= Promise.resolve().then(() => {
      this.#nextPing = undefined;
      return this.#pingNewest();
    });
    return this.#nextPing;
  }

  #take(event: WindowEvent): void {
    if (event.name === "ClientMessage") {
      const [kind, serial] = event.data ?? [];
      const { protocols, ping } = this.#atoms;
      if (event.message_type === protocols && kind === ping && serial !== undefined) this.#pings.get(serial)?.();
    } else if (event.name === "MapNotify") {
      // It may be closed. Programs manage their menus and the like.
      if (event.overrideRedirect !== true) this.#show(event.wid).catch(() => undefined);
    } else if (event.name === "UnmapNotify" || event.name === "DestroyNotify") this.#leave(event.wid);
  }

  async #show(window: number): Promise<void> {
    const { client } = this.#x;
    this.#shown.add(window);
    client.SetInputFocus(window, revertToPointer);
    const { width, height } = await this.#x.ask<Geometry>((reply) => {
      client.GetGeometry(window, reply);
    });
    if (width < this.#size.width - almost || height < this.#size.height - almost) return;
    this.#filling.add(window);
    this.#cover(window);
  }

  #leave(window: number): void {
    this.#filling.delete(window);
    if (!this.#shown.delete(window)) return;
    const newest = [...this.#shown].at(-1);
    if (newest !== undefined) this.#x.client.SetInputFocus(newest, revertToPointer);
  }

  #cover(window: number): void {
    const { width, height } = this.#size;
    this.#x.client.ConfigureWindow(window, { x: 0, y: 0, width, height });
  }

  /** Programs answer a ping after all earlier input. */
  async #pingNewest(): Promise<void> {
    const window = [...this.#shown].at(-1);
    if (window === undefined || this.#x.ended) return;
    const serial = ++this.#lastPing;
    const answered = Promise.withResolvers<undefined>();
    this.#pings.set(serial, () => {
      answered.resolve(undefined);
    });
    this.#x.client.SendEvent(window, 0, 0, {
      name: "ClientMessage",
      wid: window,
      format: 32,
      message_type: this.#atoms.protocols,
      data: [this.#atoms.ping, serial, window, 0, 0],
    });
    await pTimeout(Promise.race([answered.promise, this.#x.end]), { milliseconds: settleTimeoutMs, message: false });
    this.#pings.delete(serial);
  }
}
