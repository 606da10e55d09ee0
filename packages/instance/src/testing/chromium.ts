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

const kinds: readonly ChromiumKind[] = ["headless_shell", "chrome"];
const isRequired = process.env.SHOAL_REQUIRE_ALL === "1";

/** The kinds of this run: the first installed kind, the others, or all (see CONTRIBUTING.md). */
function chosenKinds(): readonly ChromiumKind[] {
  const { SHOAL_TEST_VARIANTS: variants = "first" } = process.env;
  if (variants === "all") return kinds;
  const first = kinds.find((kind) => isRequired || findChromium(kind) !== undefined) ?? "headless_shell";
  return kinds.filter((kind) => (kind === first) === (variants === "first"));
}

/** Without that kind the suite is skipped, or fails in a run that requires everything. */
export function describeChromium(
  title: string,
  suite: (chromium: { readonly kind: ChromiumKind; readonly executable: string }) => void,
): void {
  for (const kind of chosenKinds()) {
    const executable = findChromium(kind);
    const reason =
      executable === undefined
        ? ` (skipped, needs a ${kind === "chrome" ? "Chromium or Chrome" : "Chromium headless shell"})`
        : "";
    describe.skipIf(executable === undefined && !isRequired)(`${title}, ${kind}${reason}`, () => {
      suite({ kind, executable: executable ?? `missing ${kind}` });
    });
  }
}
