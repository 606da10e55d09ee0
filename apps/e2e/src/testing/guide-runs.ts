import { execFile } from "node:child_process";
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect } from "vitest";
import { guidePages, programsOf, type GuideProgram } from "./guide.ts";

const run = promisify(execFile);
export const repository = join(import.meta.dirname, "../../../..");
export const builtCommand = join(repository, "apps/cli/dist/shoal.js");
export const guidePrograms = guidePages.flatMap(programsOf);

interface Service {
  readonly apiKey: string;
  readonly baseUrl: string;
}

export interface GuideRuns {
  /** Contains the TypeScript programs and a `tsconfig.json`. */
  readonly folder: string;
  /** Runs a program in an empty folder. @param watch - gets the output so far, whenever it grows. */
  run(
    program: GuideProgram,
    service: Service,
    env: NodeJS.ProcessEnv,
    watch: (output: string) => void,
  ): Promise<string>;
  /** Runs a program in an empty folder, and compares its output with that of the page. */
  expectToRun(program: GuideProgram, service: Service): Promise<void>;
}

/** Call it inside a test file: the programs exist while its tests run. */
export function useGuidePrograms(): GuideRuns {
  // Inside the package, so that programs resolve its dependencies.
  const folder = mkdtempSync(join(import.meta.dirname, "../../.guide-"));
  beforeAll(() => {
    writePrograms(folder);
  });
  afterAll(() => {
    rmSync(folder, { recursive: true, force: true });
  });
  return {
    folder,
    run: (program, service, env, watch) => outputOf(folder, program, service, { env, watch }),
    async expectToRun(program, service) {
      const output = await outputOf(folder, program, service);
      if (program.output !== undefined) expect(output).toBe(program.output);
    },
  };
}

const fileOf = (folder: string, { title }: GuideProgram) => join(folder, `${title.replace(/\W+/g, "-")}.ts`);

function writePrograms(folder: string): void {
  for (const program of guidePrograms)
    if (program.language === "ts") writeFileSync(fileOf(folder, program), `${program.code}export {};\n`);
  writeFileSync(
    join(folder, "tsconfig.json"),
    JSON.stringify({ extends: "../../../tsconfig.base.json", compilerOptions: { noEmit: true }, include: ["*.ts"] }),
  );
  // Link the command as npm would.
  mkdirSync(join(folder, "bin"));
  writeFileSync(join(folder, "bin/shoal"), `#!/bin/sh\nexec "${process.execPath}" "${builtCommand}" "$@"\n`);
  chmodSync(join(folder, "bin/shoal"), 0o755);
}

async function outputOf(
  folder: string,
  program: GuideProgram,
  service: Service,
  { env: given, watch }: { readonly env?: NodeJS.ProcessEnv; readonly watch?: (output: string) => void } = {},
): Promise<string> {
  const cwd = mkdtempSync(join(folder, "run-"));
  const { HOME = "", PATH = "", SHOAL_CHROMIUM } = process.env;
  const env = {
    HOME,
    PATH: `${join(folder, "bin")}:${PATH}`,
    NO_COLOR: "1",
    SHOAL_CONFIG_DIR: join(cwd, "config"),
    SHOAL_KEYCHAIN: "0",
    // All programs load the same modules.
    NODE_COMPILE_CACHE: join(folder, "compile-cache"),
    SHOAL_API_KEY: service.apiKey,
    SHOAL_BASE_URL: service.baseUrl,
    ...(SHOAL_CHROMIUM !== undefined && { SHOAL_CHROMIUM }),
    ...given,
  };
  const [runner, args] =
    program.language === "sh"
      ? ["sh", ["-euc", program.code]]
      : [process.execPath, ["--conditions=@shoal/source", "--no-warnings", fileOf(folder, program)]];
  const running = run(runner, args, { cwd, env, timeout: 60_000 });
  let output = "";
  running.child.stdout?.on("data", (chunk: string) => {
    output += chunk;
    watch?.(output);
  });
  const { stderr, stdout } = await running;
  // Commands write confirmations to stderr.
  if (program.language === "ts") expect(stderr).toBe("");
  expect(stdout).not.toBe("");
  return stdout;
}
