import { findChromium } from "./find-chromium.ts";
import { installedPlaces } from "./places.ts";
import { temporaryDirectory } from "../testing/placements.ts";
import { existsSync } from "node:fs";
import { readdir, symlink, utimes, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";

async function fakeBrowser(
  name: string,
  version: string,
): Promise<{ path: string; timesAsked: () => Promise<number> }> {
  const folder = await temporaryDirectory();
  const path = join(folder, name);
  await writeFile(path, `#!/bin/sh\necho x > "${folder}/asked-$$"\necho "Chromium ${version} built on somewhere"\n`, {
    mode: 0o755,
  });
  return { path, timesAsked: async () => (await readdir(folder)).filter((each) => each.startsWith("asked-")).length };
}

describe.skipIf(process.platform === "win32")("findChromium", () => {
  it("uses the given program, and recognizes a headless shell by its name", async () => {
    const shell = await fakeBrowser("chrome-headless-shell", "150.0.1.2");
    expect(await findChromium({ executable: shell.path })).toEqual({
      executable: shell.path,
      kind: "headless_shell",
      source: "named",
      version: "150.0.1.2",
    });
    const full = await fakeBrowser("chrome", "150.0.1.3");
    expect(await findChromium({ executable: full.path })).toMatchObject({ kind: "chrome", version: "150.0.1.3" });
  });

  it("reads the version of a program once, and again after its replacement", async () => {
    const { path, timesAsked } = await fakeBrowser("chrome", "150.0.1.2");
    await Promise.all([findChromium({ executable: path }), findChromium({ executable: path })]);
    await findChromium({ executable: path });
    expect(await timesAsked()).toBe(1);
    await utimes(path, new Date(), new Date(Date.now() - 60_000));
    await findChromium({ executable: path });
    expect(await timesAsked()).toBe(2);
  });

  it("resolves links to the program", async () => {
    const { path } = await fakeBrowser("chrome", "150.0.1.2");
    const link = join(await temporaryDirectory(), "browser");
    await symlink(path, link);
    expect(await findChromium({ executable: link })).toMatchObject({ executable: path });
  });

  it("names the given program if it does not work", async () => {
    await expect(findChromium({ executable: "/nonexistent/chrome" })).rejects.toMatchObject({
      code: "no_chromium",
      message: expect.stringContaining("/nonexistent/chrome") as unknown,
    });
    await expect(findChromium({ executable: "/usr" })).rejects.toMatchObject({ code: "no_chromium" });
    const text = join(await temporaryDirectory(), "chrome");
    await writeFile(text, "no program");
    await expect(findChromium({ executable: text })).rejects.toMatchObject({ code: "no_chromium" });
  });

  it("names the missing library of a browser and its package", async () => {
    const path = join(await temporaryDirectory(), "chrome");
    await writeFile(
      path,
      '#!/bin/sh\necho "chrome: error while loading shared libraries: libnss3.so: cannot open shared object file" >&2\nexit 127\n',
      { mode: 0o755 },
    );
    await expect(findChromium({ executable: path })).rejects.toMatchObject({
      code: "no_chromium",
      message: expect.stringContaining("apt-get install libnss3") as unknown,
    });
  });

  const installed = installedPlaces().find((place) => existsSync(place));
  it.skipIf(installed === undefined && process.env.SHOAL_REQUIRE_ALL !== "1")(
    "finds an installed browser and its version (needs an installed Chromium)",
    async () => {
      expect(await findChromium()).toEqual({
        executable: installed,
        kind: expect.stringMatching(/^(headless_shell|chrome)$/) as unknown,
        source: "installed",
        version: expect.stringMatching(/^\d+\.\d+\.\d+\.\d+$/) as unknown,
      });
    },
  );
});
