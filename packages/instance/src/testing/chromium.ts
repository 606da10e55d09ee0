import { existsSync } from "node:fs";
import { describe } from "vitest";
import type { InstanceConfig } from "../protocol/protocol.ts";

export type ChromiumKind = InstanceConfig["chromium"]["kind"];

/** Where common packages install each kind. Programs come before shell scripts, which need one more process. */
const candidates: Readonly<Record<ChromiumKind, readonly string[]>> = {
  headless_shell: [
    "/usr/lib/chromium/chromium-headless-shell",
    "/usr/bin/chromium-headless-shell",
    "/usr/bin/chrome-headless-shell",
  ],
  chrome: [
    "/usr/lib/chromium/chromium",
    "/usr/bin/chromium",
    "/usr/bin/chromium-browser",
    "/usr/bin/google-chrome",
    "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
  ],
};

export function findChromium(kind: ChromiumKind): string | undefined {
  return candidates[kind].find((path) => existsSync(path));
}

/** Without that kind the suite is skipped, or fails in a run that requires everything. */
export function describeChromium(
  title: string,
  suite: (chromium: { readonly kind: ChromiumKind; readonly executable: string }) => void,
): void {
  for (const kind of ["headless_shell", "chrome"] as const) {
    const executable = findChromium(kind);
    const reason =
      executable === undefined
        ? ` (skipped, needs a ${kind === "chrome" ? "Chromium or Chrome" : "Chromium headless shell"})`
        : "";
    describe.skipIf(executable === undefined && process.env.SHOAL_REQUIRE_ALL !== "1")(
      `${title}, ${kind}${reason}`,
      () => {
        suite({ kind, executable: executable ?? `missing ${kind}` });
      },
    );
  }
}
