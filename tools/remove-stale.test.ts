import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { expect, it } from "vitest";
import { removeStale } from "./remove-stale.mjs";

it("removes the output of deleted sources, but not the files of other build steps", () => {
  const folder = mkdtempSync(join(tmpdir(), "shoal-stale-"));
  try {
    const outputs = (module: string) => [".js", ".js.map", ".d.ts", ".d.ts.map"].map((end) => `dist/${module}${end}`);
    const kept = ["src/kept.ts", ...outputs("kept"), "dist/bundle/index.js", "dist/bundle/index.js.map"];
    const stale = [...outputs("moved"), ...outputs("room/deleted")];
    for (const path of [...kept, ...stale]) {
      mkdirSync(join(folder, dirname(path)), { recursive: true });
      writeFileSync(join(folder, path), "");
    }
    expect(removeStale(folder).sort()).toEqual(["moved", join("room", "deleted")]);
    expect([...kept, ...stale].filter((path) => existsSync(join(folder, path)))).toEqual(kept);
    expect(removeStale(folder)).toEqual([]);
  } finally {
    rmSync(folder, { recursive: true });
  }
});
