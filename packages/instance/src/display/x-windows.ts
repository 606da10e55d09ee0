import type { Geometry } from "x11";
import type { XConnection } from "./x-connection.ts";

/** Pixels. */
export interface ScreenSize {
  readonly width: number;
  readonly height: number;
}

/** The windows on a screen without a window manager, and as much of one as they need. */
export interface XWindows {
  /** Tells how large the screen is; windows that filled it fill it again. */
  fill(size: ScreenSize): void;
  /**
   * Resolves when the program that has the newest window has taken all input so far, or has not for {@link settleTimeoutMs}. At once where there is no
   * window.
   */
  settled(): Promise<void>;
}

/** What comes of windows, as far as it is looked at. */
interface WindowEvent {
  readonly name: string;
  readonly wid: number;
  readonly overrideRedirect?: boolean;
  /** Of a `ClientMessage`. */
  readonly message_type?: number;
  readonly data?: readonly number[];
}

/** `SubstructureNotify`: tells of the windows on the screen, and brings their answers. */
const substructureMask = 0x8_0000;
/** A browser makes a window that is to cover the screen one pixel smaller, for the sake of window managers. */
const almost = 2;
/** Focus of a window that has gone goes to the one below the pointer. */
const revertToPointer = 1;
/** What a browser that is busy has not taken by then it takes when it goes on, in milliseconds. */
const settleTimeoutMs = 2_000;

/**
 * Does what is needed of a window manager: a new window gets the keyboard, and one as large as the screen is put in its corner and made to cover it
 * exactly. Smaller ones stay as they are.
 */
export async function followXWindows(x: XConnection, first: ScreenSize): Promise<XWindows> {
  const { client, root } = x;
  const atom = (name: string) =>
    x.ask<number>((reply) => {
      client.InternAtom(false, name, reply);
    });
  const [protocols, pingAtom] = await Promise.all([atom("WM_PROTOCOLS"), atom("_NET_WM_PING")]);
  let size = first;
  /** Those that are shown and for people, the newest last. */
  const shown = new Set<number>();
  const filling = new Set<number>();
  const pings = new Map<number, () => void>();
  let lastPing = 0;
  let next: Promise<void> | undefined;

  function cover(window: number): void {
    client.ConfigureWindow(window, { x: 0, y: 0, width: size.width, height: size.height });
  }

  async function take(window: number): Promise<void> {
    shown.add(window);
    client.SetInputFocus(window, revertToPointer);
    const { width, height } = await x.ask<Geometry>((reply) => {
      client.GetGeometry(window, reply);
    });
    if (width < size.width - almost || height < size.height - almost) return;
    filling.add(window);
    cover(window);
  }

  function leave(window: number): void {
    filling.delete(window);
    if (!shown.delete(window)) return;
    const newest = [...shown].at(-1);
    if (newest !== undefined) client.SetInputFocus(newest, revertToPointer);
  }

  client.on("event", (event: WindowEvent) => {
    if (event.name === "ClientMessage") {
      const [kind, serial] = event.data ?? [];
      if (event.message_type === protocols && kind === pingAtom && serial !== undefined) pings.get(serial)?.();
    } else if (event.name === "MapNotify") {
      // It may be gone already. Menus and the like are the program's own affair.
      if (event.overrideRedirect !== true) take(event.wid).catch(() => undefined);
    } else if (event.name === "UnmapNotify" || event.name === "DestroyNotify") leave(event.wid);
  });
  client.ChangeWindowAttributes(root, { eventMask: substructureMask });

  /** Programs answer such a question after all input that came before it. */
  async function ask(): Promise<void> {
    const window = [...shown].at(-1);
    if (window === undefined || x.ended) return;
    const serial = ++lastPing;
    const answered = Promise.withResolvers<undefined>();
    const finish = (): void => {
      answered.resolve(undefined);
    };
    pings.set(serial, finish);
    client.SendEvent(window, 0, 0, {
      name: "ClientMessage",
      wid: window,
      format: 32,
      message_type: protocols,
      data: [pingAtom, serial, window, 0, 0],
    });
    const timer = setTimeout(finish, settleTimeoutMs);
    await Promise.race([answered.promise, x.end]);
    clearTimeout(timer);
    pings.delete(serial);
  }

  return {
    fill(wanted) {
      size = wanted;
      for (const window of filling) cover(window);
    },
    settled() {
      // Of many that ask at once, one does for all.
      next ??= Promise.resolve().then(() => {
        next = undefined;
        return ask();
      });
      return next;
    },
  };
}
