import { execFile } from "node:child_process";
import { setTimeout as delay } from "node:timers/promises";
import { promisify } from "node:util";
import type { Protocol } from "devtools-protocol";
import type { CdpConnection } from "../cdp/cdp-connection.ts";
import { acceptedLanguages } from "./arguments.ts";
import { prepareTargets } from "./prepare-targets.ts";

const run = promisify(execFile);
/** A browser prints its version in a twentieth of that time. */
const versionTimeoutMs = 10_000;
const attemptEveryMs = 10;
const maxAttempts = 500;
const platforms: Readonly<Partial<Record<NodeJS.Platform, string>>> = {
  darwin: "macOS",
  linux: "Linux",
  win32: "Windows",
};

/**
 * With a window. Set at launch: a later override misses a page's first request. @param present - its version is the
 * fallback.
 */
export async function windowedUserAgent(executable: string, present: CdpConnection): Promise<string> {
  const [{ userAgent }, major] = await Promise.all([present.send("Browser.getVersion"), majorVersionOf(executable)]);
  const clean = userAgent.replace("HeadlessChrome/", "Chrome/");
  return major === undefined
    ? clean.replace(/Chrome\/(\d+)[\d.]*/, "Chrome/$1.0.0.0")
    : clean.replace(/Chrome\/[\d.]+/, `Chrome/${major}.0.0.0`);
}

async function majorVersionOf(executable: string): Promise<string | undefined> {
  try {
    const { stdout } = await run(executable, ["--version"], { timeout: versionTimeoutMs });
    return /(?<!\d)(\d+)\.\d+\.\d+\.\d+/.exec(stdout)?.[1];
  } catch {
    return undefined;
  }
}

/** Restores the client hints that `--user-agent` empties, before the first script. Ends with the connection. */
export async function hideAutomation(cdp: CdpConnection, locale: string): Promise<void> {
  const override = await overrideOf(cdp, locale);
  await prepareTargets(cdp, (sessionId) => [cdp.send("Emulation.setUserAgentOverride", override, sessionId)]);
}

async function overrideOf(cdp: CdpConnection, locale: string): Promise<Protocol.Emulation.SetUserAgentOverrideRequest> {
  const { product, userAgent } = await cdp.send("Browser.getVersion");
  const version = /(?<![\d.])[\d.]+$/.exec(product)?.[0] ?? "";
  const major = version.split(".")[0] ?? "";
  const { brands, platform } = (await shownBrands(cdp)) ?? {
    brands: [{ brand: "Chromium", version: major }],
    platform: platforms[process.platform] ?? "Linux",
  };
  return {
    userAgent,
    acceptLanguage: acceptedLanguages(locale),
    userAgentMetadata: {
      brands,
      // The invented brand has a separate version.
      fullVersionList: brands.map((each) => ({
        brand: each.brand,
        version: each.version === major ? version : `${each.version}.0.0.0`,
      })),
      platform,
      // Chromium reports none on Linux.
      platformVersion: "",
      architecture: process.arch.startsWith("arm") ? "arm" : "x86",
      bitness: "64",
      model: "",
      mobile: false,
      wow64: false,
      formFactors: ["Desktop"],
    },
  };
}

interface ShownBrands {
  readonly brands: Protocol.Emulation.UserAgentBrandVersion[];
  readonly platform: string;
}

/** Reads the brands, one of which each version invents. Only secure pages can read them. */
async function shownBrands(cdp: CdpConnection): Promise<ShownBrands | undefined> {
  const { targetId } = await cdp.send("Target.createTarget", { url: "chrome://version/", hidden: true });
  try {
    const { sessionId } = await cdp.send("Target.attachToTarget", { targetId, flatten: true });
    for (let attempt = 0; attempt < maxAttempts; attempt += 1) {
      const { result } = await cdp.send(
        "Runtime.evaluate",
        { expression: "isSecureContext ? JSON.stringify(navigator.userAgentData) : ''", returnByValue: true },
        sessionId,
      );
      // The shape that every browser with this API returns.
      if (typeof result.value === "string" && result.value !== "") return JSON.parse(result.value) as ShownBrands;
      await delay(attemptEveryMs);
    }
    // A policy may block the page.
    return undefined;
  } finally {
    await cdp.send("Target.closeTarget", { targetId });
  }
}
