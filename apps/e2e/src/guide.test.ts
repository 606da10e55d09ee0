import { createFakeShoal, type FakeListener } from "@shoal/testing";
import { execFile } from "node:child_process";
import { chmodSync, existsSync, globSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { missingFor } from "./testing/components.ts";
import { brokenLinks, guidePages, programsOf, type GuideProgram } from "./testing/guide.ts";
import { useService } from "./testing/service.ts";

const run = promisify(execFile);
const root = join(import.meta.dirname, "../../..");
const command = join(root, "apps/cli/dist/shoal.js");

// Inside the package, so that a program finds what it imports.
const folder = mkdtempSync(join(import.meta.dirname, "../.guide-"));
afterAll(() => {
  rmSync(folder, { recursive: true, force: true });
});

const programs = guidePages.flatMap(programsOf);
const fileOf = ({ title }: GuideProgram) => join(folder, `${title.replace(/\W+/g, "-")}.ts`);

beforeAll(() => {
  for (const program of programs) if (program.language === "ts") writeFileSync(fileOf(program), `${program.code}export {};\n`);
  writeFileSync(
    join(folder, "tsconfig.json"),
    JSON.stringify({ extends: "../../../tsconfig.base.json", compilerOptions: { noEmit: true }, include: ["*.ts"] }),
  );
  // The command, as npm would link it.
  mkdirSync(join(folder, "bin"));
  writeFileSync(join(folder, "bin/shoal"), `#!/bin/sh\nexec "${process.execPath}" "${command}" "$@"\n`);
  chmodSync(join(folder, "bin/shoal"), 0o755);
});

/** Runs a program in an empty folder. Gives what it printed. */
async function outputOf(program: GuideProgram, service: { readonly apiKey: string; readonly baseUrl: string }): Promise<string> {
  const cwd = mkdtempSync(join(folder, "run-"));
  const { HOME = "", PATH = "", SHOAL_CHROMIUM } = process.env;
  const env = {
    HOME,
    PATH: `${join(folder, "bin")}:${PATH}`,
    NO_COLOR: "1",
    SHOAL_CONFIG_DIR: join(cwd, "config"),
    SHOAL_KEYCHAIN: "0",
    SHOAL_API_KEY: service.apiKey,
    SHOAL_BASE_URL: service.baseUrl,
    ...(SHOAL_CHROMIUM !== undefined && { SHOAL_CHROMIUM }),
  };
  const [runner, args] =
    program.language === "sh" ? ["sh", ["-euc", program.code]] : [process.execPath, ["--conditions=@shoal/source", "--no-warnings", fileOf(program)]];
  const { stderr, stdout } = await run(runner, args, { cwd, env, timeout: 60_000 });
  // Of a command that is where it tells what it did.
  if (program.language === "ts") expect(stderr).toBe("");
  expect(stdout).not.toBe("");
  return stdout;
}

async function expectToRun(program: GuideProgram, service: { readonly apiKey: string; readonly baseUrl: string }): Promise<void> {
  const output = await outputOf(program, service);
  if (program.output !== undefined) expect(output).toBe(program.output);
}

describe("the programs of the guide and the READMEs", () => {
  it("compile", async () => {
    const said = await run(process.execPath, [join(root, "node_modules/typescript-7/bin/tsc"), "-p", folder], { cwd: folder }).then(
      ({ stdout }) => stdout,
      // It ends with another status when there is something to say.
      (error: unknown) => (error as { stdout?: string }).stdout ?? String(error),
    );
    // What it says of the packages themselves is their own affair.
    expect(said.split("\n").filter((line) => /^(?!\.\.|\s|$)/.test(line))).toEqual([]);
  }, 120_000);

  // In the order of the pages, on one service: a reader types them one after another.
  describe("run one after another against one fake", () => {
    const fake = createFakeShoal();
    let listener: FakeListener;
    beforeAll(async () => {
      if (!existsSync(command)) throw new Error(`${command} is missing. Build it first: pnpm exec turbo run build --filter @shoal/cli`);
      listener = await fake.listen();
    });
    afterAll(() => listener.close());
    // Windows has no sh.
    const onFake = programs.filter(({ trial, language }) => trial === "fake" && (language === "ts" || process.platform !== "win32"));
    it.each(onFake.map((program) => [program.title, program.language, program] as const))(
      "%s (%s)",
      async (_title, _language, program) => {
        await expectToRun(program, { apiKey: fake.apiKey, baseUrl: listener.baseUrl });
      },
      60_000,
    );
  });

  const missing = missingFor("process");
  describe.skipIf(missing !== undefined)(`run against a service${missing === undefined ? "" : ` (skipped, ${missing})`}`, () => {
    const test = useService(() => ["--warm", "1"]);
    it.each(programs.filter(({ trial }) => trial === "service").map((program) => [program.title, program] as const))(
      "%s",
      async (_title, program) => {
        await expectToRun(program, test.service);
      },
      60_000,
    );
  });
});

it("every page of the guide has something to run", () => {
  const run = new Set(programs.filter(({ trial }) => trial !== "check").map(({ title }) => title.replace(/: .*/, "")));
  expect(guidePages.filter((page) => page.startsWith("docs/guide/") && page !== "docs/guide/README.md" && !run.has(page))).toEqual([]);
});

it("links lead to files that are there", () => {
  const pages = globSync(["*.md", "docs/*.md", "docs/{guide,decisions}/*.md", "{packages,apps}/*/README.md"], { cwd: root });
  expect(pages.flatMap((page) => brokenLinks(page, existsSync))).toEqual([]);
});
