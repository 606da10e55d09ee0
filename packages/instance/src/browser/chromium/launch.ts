import type { InstanceConfig, LaunchWishes } from "../../protocol/protocol.ts";
import type { Size } from "./viewport.ts";

export interface ChromiumProgram {
  readonly kind: InstanceConfig["chromium"]["kind"];
  readonly executable: string;
  readonly innerSandbox: boolean;
}

export interface BrowserLaunch {
  readonly program: ChromiumProgram;
  readonly page: Size;
  /** A headless shell always is. */
  readonly headless: boolean;
  /** X display, for example `:7`. */
  readonly display: string | undefined;
  /** Whether the window shows only the page. */
  readonly kiosk: boolean;
  readonly stealth: boolean;
  /** The browser's default when absent. */
  readonly userAgent?: string;
  /** Unpacked; paths of the host. */
  readonly extensions: readonly string[];
}

/** How every instance starts its first browser, before a session is assigned. */
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

/** Returns this host's full Chromium; `undefined` when only a headless shell is installed. */
export function fullChromium({ chromium }: InstanceConfig): ChromiumProgram | undefined {
  if (chromium.kind === "chrome")
    return { kind: "chrome", executable: chromium.executable, innerSandbox: chromium.inner_sandbox };
  return chromium.full === undefined
    ? undefined
    : { kind: "chrome", executable: chromium.full.executable, innerSandbox: chromium.full.inner_sandbox };
}

/** Returns the changes; `undefined` without any; `no_full_chromium` when only a headless shell is installed. */
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
