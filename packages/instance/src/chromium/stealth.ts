import { execFile } from "node:child_process";
import { setTimeout as delay } from "node:timers/promises";
import { promisify } from "node:util";
import type { Protocol } from "devtools-protocol";
import type { CdpConnection } from "../cdp/pipe-connection.ts";

const run = promisify(execFile);
/** A browser says its version in a twentieth of that. */
const versionTimeoutMs = 10_000;
/** The page that is asked for the brands is there within some ten milliseconds. */
const attemptEveryMs = 10;
const maxAttempts = 500;
const platforms: Readonly<Partial<Record<NodeJS.Platform, string>>> = { darwin: "macOS", linux: "Linux", win32: "Windows" };

/**
 * The user agent of that browser with a window, `… Chrome/156.0.0.0 Safari/537.36`; it is given at the start, since what is overridden later misses the
 * first request of a page and those of its workers' scripts.
 *
 * @param present - a browser that runs; its version is taken where the program does not tell its own.
 */
export async function windowedUserAgent(executable: string, present: CdpConnection): Promise<string> {
  const [{ userAgent }, major] = await Promise.all([present.send("Browser.getVersion"), majorVersionOf(executable)]);
  const clean = userAgent.replace("HeadlessChrome/", "Chrome/");
  return major === undefined ? clean.replace(/Chrome\/(\d+)[\d.]*/, "Chrome/$1.0.0.0") : clean.replace(/Chrome\/[\d.]+/, `Chrome/${major}.0.0.0`);
}

async function majorVersionOf(executable: string): Promise<string | undefined> {
  try {
    const { stdout } = await run(executable, ["--version"], { timeout: versionTimeoutMs });
    return /(\d+)\.\d+\.\d+\.\d+/.exec(stdout)?.[1];
  } catch {
    return undefined;
  }
}

/**
 * Gives every page, frame and worker the client hints that `--user-agent` has emptied, before their first script. They hold for as long as the connection does.
 *
 * @returns resolves when that holds for every page that is open.
 */
export async function hideAutomation(cdp: CdpConnection): Promise<void> {
  const override = await overrideOf(cdp);
  const open: Promise<unknown>[] = [];
  let isFollowing = false;
  // Of its own: what one session of a connection attaches to by itself is decided once.
  const { sessionId: root } = await cdp.send("Target.attachToBrowserTarget");
  /** Those that this has attached to, and what to call when one is gone: commands to a page that goes are never answered. */
  const sessions = new Map<string, () => void>([[root, () => undefined]]);

  const attach = (sessionId: string) =>
    cdp.send("Target.setAutoAttach", { autoAttach: true, waitForDebuggerOnStart: true, flatten: true }, sessionId);

  cdp.on("Target.attachedToTarget", ({ sessionId }, parent) => {
    if (parent === undefined || !sessions.has(parent)) return;
    const gone = Promise.withResolvers<void>();
    sessions.set(sessionId, gone.resolve);
    // None waits for another: a worker that has not begun answers only some of them.
    const done = Promise.allSettled([
      cdp.send("Emulation.setUserAgentOverride", override, sessionId),
      attach(sessionId),
      cdp.send("Runtime.runIfWaitingForDebugger", undefined, sessionId),
    ]);
    if (!isFollowing) open.push(Promise.race([done, gone.promise]));
  });
  cdp.on("Target.detachedFromTarget", ({ sessionId }) => {
    sessions.get(sessionId)?.();
    sessions.delete(sessionId);
  });
  await attach(root);
  await Promise.all(open);
  isFollowing = true;
}

async function overrideOf(cdp: CdpConnection): Promise<Protocol.Emulation.SetUserAgentOverrideRequest> {
  const { product, userAgent } = await cdp.send("Browser.getVersion");
  const version = /[\d.]+$/.exec(product)?.[0] ?? "";
  const major = version.split(".")[0] ?? "";
  const { brands, platform } = (await shownBrands(cdp)) ?? {
    brands: [{ brand: "Chromium", version: major }],
    platform: platforms[process.platform] ?? "Linux",
  };
  return {
    userAgent,
    acceptLanguage: "en-US,en",
    userAgentMetadata: {
      brands,
      // The invented brand has a version of its own.
      fullVersionList: brands.map((each) => ({ brand: each.brand, version: each.version === major ? version : `${each.version}.0.0.0` })),
      platform,
      // Chromium tells none on Linux.
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

/** The brands that it names, one of which it invents anew with each version; only a page that counts as secure is told. */
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
      // As browsers have answered since there is such a thing.
      if (typeof result.value === "string" && result.value !== "") return JSON.parse(result.value) as ShownBrands;
      await delay(attemptEveryMs);
    }
    // A policy may forbid the page.
    return undefined;
  } finally {
    await cdp.send("Target.closeTarget", { targetId });
  }
}
