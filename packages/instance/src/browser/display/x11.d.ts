/** The part of x11 in use; the package has no types. See https://github.com/sidorares/node-x11/tree/master/docs */
declare module "x11" {
  import type { EventEmitter } from "node:events";
  import type { Duplex } from "node:stream";

  type Reply<T> = (error: Error | null | undefined, reply: T) => void;

  interface Display {
    readonly client: Client;
    readonly screen: readonly { readonly root: number; readonly pixel_width: number; readonly pixel_height: number }[];
    readonly min_keycode: number;
    readonly max_keycode: number;
  }

  interface Extensions {
    readonly randr: Randr;
    readonly xtest: XTest;
    readonly fixes: Fixes;
    readonly xkb: Xkb;
  }

  interface Client extends EventEmitter {
    require<Name extends keyof Extensions>(name: Name, reply: Reply<Extensions[Name]>): void;
    ChangeWindowAttributes(window: number, values: { readonly eventMask: number }): void;
    ConfigureWindow(
      window: number,
      values: { readonly x?: number; readonly y?: number; readonly width?: number; readonly height?: number },
    ): void;
    InternAtom(onlyIfExists: boolean, name: string, reply: Reply<number>): void;
    SendEvent(window: number, propagate: number, eventMask: number, event: ClientMessage): void;
    SetInputFocus(window: number, revertTo: number): void;
    GetGeometry(drawable: number, reply: Reply<Geometry>): void;
    GetImage(
      format: 2,
      drawable: number,
      x: number,
      y: number,
      width: number,
      height: number,
      planeMask: number,
      reply: Reply<{ readonly depth: number; readonly data: Buffer }>,
    ): void;
    GetKeyboardMapping(firstKeycode: number, count: number, reply: Reply<readonly (readonly number[])[]>): void;
    ChangeKeyboardMapping(firstKeycode: number, keysymsPerKeycode: number, keysyms: readonly number[]): void;
    terminate(): void;
  }

  interface ClientMessage {
    readonly name: "ClientMessage";
    readonly wid: number;
    readonly format: 32;
    readonly message_type: number;
    readonly data: readonly number[];
  }

  interface Geometry {
    readonly xPos: number;
    readonly yPos: number;
    readonly width: number;
    readonly height: number;
  }

  interface XTest {
    readonly KeyPress: number;
    readonly KeyRelease: number;
    readonly ButtonPress: number;
    readonly ButtonRelease: number;
    readonly MotionNotify: number;
    FakeInput(type: number, detail: number, timeMs: number, window: number, x: number, y: number): void;
  }

  interface Mode {
    readonly width: number;
    readonly height: number;
    readonly dot_clock: number;
    readonly h_total: number;
    readonly v_total: number;
    readonly name: string;
  }

  interface ScreenResources {
    readonly config_timestamp: number;
    readonly crtcs: readonly number[];
    readonly outputs: readonly number[];
  }

  interface Randr {
    QueryVersion(major: number, minor: number, reply: Reply<unknown>): void;
    GetScreenResources(window: number, reply: Reply<ScreenResources>): void;
    CreateMode(window: number, mode: Mode, reply: Reply<number>): void;
    AddOutputMode(output: number, mode: number): void;
    SetCrtcConfig(
      crtc: number,
      timestamp: number,
      configTimestamp: number,
      x: number,
      y: number,
      mode: number,
      rotation: number,
      outputs: readonly number[],
      reply: Reply<unknown>,
    ): void;
    SetOutputPrimary(window: number, output: number): void;
    SetScreenSize(window: number, width: number, height: number, widthMm: number, heightMm: number): void;
  }

  interface Fixes {
    GetCursorImage(
      reply: Reply<{
        readonly x: number;
        readonly y: number;
        readonly width: number;
        readonly height: number;
        readonly xhot: number;
        readonly yhot: number;
        readonly cursorImage: Buffer;
      }>,
    ): void;
    HideCursor(window: number): void;
    ShowCursor(window: number): void;
  }

  interface Xkb {
    readonly UseCoreKbd: number;
    readonly ModMask: { readonly Mod2: number };
    LatchLockState(
      device: number,
      affectModLocks: number,
      modLocks: number,
      lockGroup: boolean,
      groupLock: number,
      affectModLatches: number,
      modLatches: number,
      latchGroup: boolean,
      groupLatch: number,
    ): void;
  }

  function createClient(
    options: {
      readonly display: string;
      readonly stream: Duplex;
      readonly auth: { readonly name: string; readonly data: string | Buffer };
    },
    ready: Reply<Display>,
  ): Client;
}
