import type { InstanceConfig, LaunchWishes } from "../protocol.ts";
import type { Size } from "./viewport.ts";

/** One of the programs that are installed. */
export interface ChromiumProgram {
  readonly kind: InstanceConfig["chromium"]["kind"];
  readonly executable: string;
  /** Whether it keeps its own sandbox. */
  readonly innerSandbox: boolean;
}

/** How the session's browser is started. */
export interface BrowserLaunch {
  readonly program: ChromiumProgram;
  /** Size of the page in its first window. */
  readonly page: Size;
  /** Whether it draws without a screen; a headless shell can do nothing else. */
  readonly headless: boolean;
  /** X display of a browser with a window, `:7`. */
  readonly display: string | undefined;
  /** Whether its window shows the page alone. */
  readonly kiosk: boolean;
  /** Whether it hides the signs of automation. */
  readonly stealth: boolean;
  /** What it calls itself; its own when absent. */
  readonly userAgent?: string;
  /** Folders of unpacked extensions that it starts with, as paths of the system that the instance runs on. */
  readonly extensions: readonly string[];
}

/** How every instance starts its first browser, before it knows of a session. */
export function firstLaunch({ chromium, viewport }: InstanceConfig): BrowserLaunch {
  return {
    program: { kind: chromium.kind, executable: chromium.executable, innerSandbox: chromium.inner_sandbox },
    page: viewport,
    headless: true,
    display: undefined,
    kiosk: false,
    stealth: false,
    extensions: [],
  };
}

/** The full Chromium of this host; `undefined` where there is only a headless shell. */
export function fullChromium({ chromium }: InstanceConfig): ChromiumProgram | undefined {
  if (chromium.kind === "chrome") return { kind: "chrome", executable: chromium.executable, innerSandbox: chromium.inner_sandbox };
  return chromium.full === undefined
    ? undefined
    : { kind: "chrome", executable: chromium.full.executable, innerSandbox: chromium.full.inner_sandbox };
}

/**
 * What a session's wishes change.
 *
 * @returns `undefined` when the browser runs as wished already; `no_full_chromium` where only a headless shell is installed.
 */
export function launchChange(
  config: InstanceConfig,
  present: BrowserLaunch,
  wishes: LaunchWishes,
): Partial<BrowserLaunch> | "no_full_chromium" | undefined {
  const headless = wishes.headless ?? present.headless;
  const kiosk = wishes.kiosk ?? present.kiosk;
  const stealth = wishes.stealth ?? present.stealth;
  const needsFull = wishes.full === true || !headless || kiosk || stealth;
  if (
    wishes.again !== true &&
    headless === present.headless &&
    kiosk === present.kiosk &&
    stealth === present.stealth &&
    (!needsFull || present.program.kind === "chrome")
  )
    return undefined;
  const program = needsFull ? fullChromium(config) : present.program;
  return program === undefined ? "no_full_chromium" : { program, headless, kiosk, stealth };
}
