import { copyFontCache, fontCachePath } from "./font-cache.ts";
import { createHash } from "node:crypto";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it } from "vitest";

it("copies only the caches of font directories in a box", async () => {
  const folder = mkdtempSync(join(tmpdir(), "shoal-fonts-"));
  try {
    const to = join(folder, "fonts");
    const caches = existsSync(fontCachePath) ? readdirSync(fontCachePath) : [];
    const top = createHash("md5").update("/usr/share/fonts").digest("hex");
    const copied = (await copyFontCache(to)) ? readdirSync(to) : [];
    expect(copied).toEqual(expect.arrayContaining(caches.filter((name) => name.startsWith(top))));
    for (const name of copied) {
      const cache = readFileSync(join(to, name));
      expect(cache).toEqual(readFileSync(join(fontCachePath, name)));
      expect(cache.includes("/usr/share/fonts") || cache.includes("/usr/local/share/fonts"), name).toBe(true);
    }
  } finally {
    rmSync(folder, { recursive: true });
  }
});
