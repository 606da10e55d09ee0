import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { chromium } from "playwright-core";
import puppeteer from "puppeteer-core";
import { describe, expect, it } from "vitest";
import { chromiumArguments } from "./arguments.ts";

const record = readFileSync(
  fileURLToPath(new URL("../../../../../docs/decisions/chromium-flags.md", import.meta.url)),
  "utf8",
);

function flagsOf(commandLine: readonly string[]): string[] {
  return commandLine
    .filter((argument) => argument.startsWith("--"))
    .flatMap((argument) => {
      const [name = "", value = ""] = argument.split(/=(.*)/s);
      return name.endsWith("-features")
        ? value
            .split(",")
            .filter((feature) => feature !== "")
            .map((feature) => `${name}=${feature}`)
        : [name];
    });
}

/** Returns the command line with which Playwright starts a browser, recorded by a program that replaces the browser. */
async function argumentsOfPlaywright(headless: boolean): Promise<string[]> {
  const folder = mkdtempSync(join(tmpdir(), "shoal-flags-"));
  try {
    const program = join(folder, "chromium");
    writeFileSync(program, `#!/bin/sh\nfor argument; do printf '%s\\n' "$argument"; done > '${folder}/arguments'\n`);
    chmodSync(program, 0o755);
    await chromium.launch({ executablePath: program, headless }).catch(() => undefined);
    return readFileSync(join(folder, "arguments"), "utf8").split("\n");
  } finally {
    rmSync(folder, { recursive: true });
  }
}

async function argumentsOfPuppeteer(headless: boolean): Promise<string[]> {
  return puppeteer.defaultArgs({ browser: "chrome", headless });
}

const decisions = new Map(
  [...record.matchAll(/^\| `(--[^`]+)` \|[^|]*\| (yes|no|depends) \|/gm)].map(([, flag = "", used = ""]) => [
    flag,
    used,
  ]),
);

const ours = (headless: boolean) =>
  new Set(
    flagsOf(
      chromiumArguments({ session_dir: "/session", root: "/" } as Parameters<typeof chromiumArguments>[0], 1, {
        program: { kind: "chrome", executable: "", innerSandbox: true },
        page: { width: 1280, height: 800 },
        headless,
        display: undefined,
        kiosk: false,
        stealth: false,
        locale: "en-US",
        conditions: {},
        extensions: [],
      }),
    ),
  );

describe.each([
  ["Playwright", argumentsOfPlaywright],
  ["Puppeteer", argumentsOfPuppeteer],
] as const)("the flags of the newest %s", (_, argumentsOf) => {
  it.skipIf(process.platform === "win32").each([true, false])(
    "are all in use or recorded with a reason, headless: %s",
    async (headless) => {
      const theirs = flagsOf(await argumentsOf(headless));
      expect(theirs.length).toBeGreaterThan(20);
      const used = ours(headless);
      expect(theirs.filter((flag) => !decisions.has(flag))).toEqual([]);
      for (const flag of theirs)
        if (decisions.get(flag) !== "depends")
          expect({ flag, used: used.has(flag) ? "yes" : "no" }).toEqual({ flag, used: decisions.get(flag) });
    },
  );
});

it("the record of flags lists only flags that a client uses", async () => {
  const theirs = new Set(
    (
      await Promise.all(
        [true, false].flatMap((headless) => [argumentsOfPlaywright(headless), argumentsOfPuppeteer(headless)]),
      )
    ).flatMap(flagsOf),
  );
  expect([...decisions.keys()].filter((flag) => !theirs.has(flag))).toEqual([]);
});
