import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { nextBatch } from "./slow-tests/batches.ts";
import { changedSince, findBase } from "./slow-tests/changes.ts";
import { ImportGraph } from "./slow-tests/import-graph.ts";
import { orderFiles } from "./slow-tests/order.ts";

let root: string;

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "shoal-slow-tests-"));
});

afterEach(() => {
  rmSync(root, { recursive: true });
});

function write(files: Readonly<Record<string, string>>) {
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), text);
  }
}

describe("the import graph", () => {
  const manifest = (name: string, source?: string) =>
    JSON.stringify({ name, exports: source === undefined ? {} : { ".": { "@shoal/source": source } } });

  beforeEach(() => {
    write({
      "packages/low/package.json": manifest("@shoal/low", "./src/index.ts"),
      "packages/low/src/index.ts": 'export { low } from "./low.ts";',
      "packages/low/src/low.ts": 'new Worker(new URL("./worker.ts", import.meta.url));',
      "packages/low/src/worker.ts": "",
      "packages/low/src/other.ts": "",
      "apps/top/package.json": manifest("@shoal/top"),
      "apps/top/src/near.slow.ts": 'import { low } from "@shoal/low";',
      "apps/top/src/program.slow.ts": 'spawn(new URL("../../../packages/low/dist/low.js", import.meta.url));',
      "apps/top/src/documents.slow.ts": 'read("../../../docs/limits.md");',
      "docs/limits.md": "",
      "tools/tool.mjs": "",
      "tools/tool.slow.ts": 'import { run } from "./tool.mjs";',
    });
  });

  it("follows imports, packages and files next to a module", () => {
    const distances = new ImportGraph(root).distancesFrom(["packages/low/src/worker.ts"]);
    expect(distances.get("packages/low/src/low.ts")).toBe(1);
    expect(distances.get("apps/top/src/near.slow.ts")).toBe(3);
    expect(distances.has("apps/top/src/documents.slow.ts")).toBe(false);
  });

  it("counts every source of a package for a test that starts its built program", () => {
    const distances = new ImportGraph(root).distancesFrom(["packages/low/src/other.ts"]);
    expect([...distances.keys()]).toEqual(["packages/low/src/other.ts", "apps/top/src/program.slow.ts"]);
  });

  it("includes the tools", () => {
    const distances = new ImportGraph(root).distancesFrom(["tools/tool.mjs"]);
    expect(distances.get("tools/tool.slow.ts")).toBe(1);
  });

  it("follows files that are not code", () => {
    const distances = new ImportGraph(root).distancesFrom(["docs/limits.md"]);
    expect(distances.get("apps/top/src/documents.slow.ts")).toBe(1);
  });
});

describe("the order", () => {
  const files = Array.from({ length: 40 }, (_, at) => `file-${String(at)}.slow.ts`);

  it("starts with the files nearest to the change", () => {
    const distances = new Map([
      ["file-7.slow.ts", 3],
      ["file-30.slow.ts", 1],
    ]);
    const ordered = orderFiles(files, distances, 5);
    expect(ordered.slice(0, 2)).toEqual(["file-30.slow.ts", "file-7.slow.ts"]);
    expect(ordered.toSorted()).toEqual(files.toSorted());
  });

  it.each([1, 2, 3, 4, 5, 6, 8, 12, 24, 48, 72, 168])(
    "reaches every file in six runs of a third of them, %i hours apart",
    (hours) => {
      const reached = new Set<string>();
      for (let run = 0; run < 6; run++)
        for (const file of orderFiles(files, new Map(), 498_000 + run * hours).slice(0, 14)) reached.add(file);
      expect(reached.size).toBe(files.length);
    },
  );
});

describe("batches", () => {
  const file = (path: string, seconds: number, alone = false) => ({ path, seconds, alone });
  const pathsOf = (batch: readonly { path: string }[]) => batch.map(({ path }) => path).join("");

  it("take half of the time until little is left", () => {
    const files = [file("a", 100), file("b", 100), file("c", 100), file("d", 100)];
    expect(pathsOf(nextBatch(files, 200, 2))).toBe("ab");
    expect(pathsOf(nextBatch(files, 80, 2))).toBe("");
    expect(pathsOf(nextBatch(files, Number.POSITIVE_INFINITY, 2))).toBe("abcd");
  });

  it("skip a file that is longer than the time that is left, for shorter ones", () => {
    expect(pathsOf(nextBatch([file("a", 60), file("b", 30)], 50, 2))).toBe("b");
  });

  it("count the whole time of files that run alone", () => {
    const files = [file("a", 60, true), file("b", 60, true), file("c", 20)];
    expect(pathsOf(nextBatch(files, 160, 2))).toBe("ac");
  });

  it("are empty when almost no time is left", () => {
    expect(nextBatch([file("a", 1)], 10, 2)).toEqual([]);
    expect(nextBatch([file("a", 1)], -10, 2)).toEqual([]);
  });
});

describe("the base of a change", () => {
  const git = (args: string, date = "2026-01-01T00:00:00Z") =>
    execFileSync("git", args.split(" "), {
      cwd: root,
      encoding: "utf8",
      env: {
        PATH: process.env.PATH,
        GIT_CONFIG_GLOBAL: "/dev/null",
        GIT_AUTHOR_NAME: "test",
        GIT_AUTHOR_EMAIL: "test@localhost",
        GIT_COMMITTER_NAME: "test",
        GIT_COMMITTER_EMAIL: "test@localhost",
        GIT_AUTHOR_DATE: date,
        GIT_COMMITTER_DATE: date,
      },
    }).trim();
  const commit = (subject: string, date: string) => {
    write({ [subject]: subject });
    git("add .");
    git(`commit --quiet --message ${subject}`, date);
    return git("rev-parse HEAD");
  };

  beforeEach(() => {
    git("init --quiet --initial-branch main");
    commit("first", "2026-01-01T08:00:00Z");
  });

  it("is the last commit before a pause of two hours in a clone with one branch", () => {
    const landed = commit("second", "2026-01-01T09:00:00Z");
    commit("third", "2026-01-02T08:00:00Z");
    commit("fourth", "2026-01-02T09:30:00Z");
    write({ fifth: "not committed" });
    expect(findBase(root)).toBe(landed);
    expect(changedSince(root, landed)).toEqual(["fourth", "third", "fifth"]);
  });

  it("is the common commit with origin/main for a branch that has not landed", () => {
    const landed = commit("second", "2026-01-01T09:00:00Z");
    git("update-ref refs/remotes/origin/main HEAD");
    commit("third", "2026-01-01T09:10:00Z");
    expect(findBase(root)).toBe(landed);
  });

  it("is missing in a clone without earlier commits", () => {
    expect(findBase(root)).toBeUndefined();
  });
});
