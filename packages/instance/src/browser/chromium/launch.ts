import type { BrowserConditions } from "@shoal/schemas";
import { isDeepStrictEqual } from "node:util";
import type { InstanceConfig, LaunchWishes } from "../../protocol/protocol.ts";
import type { Size } from "./viewport.ts";

export interface ChromiumProgram {
  readonly kind: InstanceConfig["chromium"]["kind"];
  readonly executable: string;
  readonly innerSandbox: boolean;
}

export type PageConditions = Readonly<BrowserConditions>;

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
  /** The one of the system when absent. */
  readonly timezone?: string;
  readonly locale: string;
  readonly conditions: PageConditions;
  /** Added to the time of pages and workers. */
  readonly clockOffsetMs?: number;
  /** Of `Math.random`. */
  readonly randomSeed?: number;
  /** The browser's default when absent. */
  readonly userAgent?: string;
  /** Unpacked; paths of the host. */
  readonly extensions: readonly string[];
}

/** Of a headless shell: its `Intl` and its shared workers know no other language. */
export const defaultLocale = "en-US";

/** How every instance starts its first browser, before a session is assigned. */
export function firstLaunch({ chromium, viewport }: InstanceConfig): BrowserLaunch {
  return {
    program: { kind: chromium.kind, executable: chromium.executable, innerSandbox: chromium.inner_sandbox },
    page: viewport,
    headless: true,
    display: undefined,
    kiosk: false,
    stealth: false,
    locale: defaultLocale,
    conditions: {},
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
  const timezone = wishes.timezone ?? present.timezone;
  const locale = wishes.locale ?? present.locale;
  const conditions = wishes.conditions ?? present.conditions;
  const clockOffsetMs = wishes.clock_offset_ms ?? present.clockOffsetMs;
  const randomSeed = wishes.random_seed ?? present.randomSeed;
  const needsFull = wishes.full === true || !headless || kiosk || stealth || locale !== defaultLocale;
  if (
    wishes.again !== true &&
    headless === present.headless &&
    kiosk === present.kiosk &&
    stealth === present.stealth &&
    timezone === present.timezone &&
    locale === present.locale &&
    clockOffsetMs === present.clockOffsetMs &&
    randomSeed === present.randomSeed &&
    isDeepStrictEqual(conditions, present.conditions) &&
    (!needsFull || present.program.kind === "chrome")
  )
    return undefined;
  const program = needsFull ? fullChromium(config) : present.program;
  return program === undefined
    ? "no_full_chromium"
    : {
        ...{ program, headless, kiosk, stealth, locale, conditions },
        ...(timezone !== undefined && { timezone }),
        ...(clockOffsetMs !== undefined && { clockOffsetMs }),
        ...(randomSeed !== undefined && { randomSeed }),
      };
}
