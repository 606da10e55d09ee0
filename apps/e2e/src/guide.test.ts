import { execFile } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { afterAll, describe, expect, it } from "vitest";
import { missingFor } from "./testing/components.ts";
import { useService } from "./testing/service.ts";

const here = dirname(fileURLToPath(import.meta.url));
const guide = readFileSync(join(here, "../../../docs/guide.md"), "utf8");
const programs = [...guide.matchAll(/^## (.+)$|^```ts\n([\s\S]*?)^```$/gm)].reduce<{ title: string; code: string }[]>((found, [, title, code]) => {
  if (title !== undefined) found.push({ title, code: "" });
  else if (found.at(-1) !== undefined) found[found.length - 1] = { title: found.at(-1)?.title ?? "", code: code ?? "" };
  return found;
}, []);

// Inside the package, so that a program finds what it imports.
const folder = mkdtempSync(join(here, "../.guide-"));
afterAll(() => {
  rmSync(folder, { recursive: true, force: true });
});

describe("docs/guide.md", () => {
  const missing = missingFor("process");
  const test = useService(() => ["--warm", "1"]);

  it.skipIf(missing !== undefined).each(programs)(`$title${missing === undefined ? "" : ` (skipped, ${missing})`}`, async ({ title, code }) => {
    const file = join(folder, `${title.replace(/\W+/g, "-")}.ts`);
    writeFileSync(file, code);
    const { stdout, stderr } = await promisify(execFile)(process.execPath, ["--conditions=@shoal/source", "--no-warnings", file], {
      env: { ...process.env, SHOAL_API_KEY: test.service.apiKey, SHOAL_BASE_URL: test.service.baseUrl },
      timeout: 60_000,
    });
    expect(stderr).toBe("");
    expect(stdout).not.toBe("");
  }, 60_000);

  it("has a program in each section", () => {
    expect(programs.length).toBeGreaterThan(4);
    expect(programs.filter(({ code }) => code === "").map(({ title }) => title)).toEqual([]);
  });
});
