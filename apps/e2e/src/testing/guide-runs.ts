import { execFile, fork, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { isDeepStrictEqual, promisify } from "node:util";
import { testLimitMs } from "@shoal/testkit";
import { afterAll, beforeAll, expect } from "vitest";
import type { GuideOrder, GuideReport } from "./guide-process.ts";
import { guidePages, programsOf, type GuideProgram } from "./guide.ts";
import { python } from "./python.ts";

const run = promisify(execFile);
export const repository = join(import.meta.dirname, "../../../..");
export const builtCommand = join(repository, "apps/cli/dist/shoal.js");
export const guidePrograms = guidePages.flatMap(programsOf);
export const pageOf = ({ title }: GuideProgram) => title.replace(/: .*/, "");

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
    watch?: (output: string) => void,
  ): Promise<string>;
  /** Runs a program in an empty folder, and compares its output with that of the page. */
  expectToRun(program: GuideProgram, service: Service): Promise<void>;
  /** Ends the process of the programs. Fails if they left anything that keeps the process alive. */
  expectToEnd(): Promise<void>;
}

/**
 * Call it inside a test file: the programs exist while its tests run. They use the built packages, as users do. The
 * TypeScript programs share a process, because its start takes longer than most of them.
 */
export function useGuidePrograms(): GuideRuns {
  // Inside the package, so that programs resolve its dependencies.
  const folder = mkdtempSync(join(import.meta.dirname, "../../.guide-"));
  let programs: ProgramProcess | undefined;
  beforeAll(() => {
    writePrograms(folder);
  });
  afterAll(() => {
    programs?.kill();
    rmSync(folder, { recursive: true, force: true });
  });

  async function outputOf(
    program: GuideProgram,
    service: Service,
    { env: given, watch }: { readonly env?: NodeJS.ProcessEnv; readonly watch?: (output: string) => void } = {},
  ): Promise<string> {
    const cwd = mkdtempSync(join(folder, "run-"));
    const env = { ...environmentOf(folder, service), ...given };
    if (program.language === "sh")
      return outputOfProcess(["sh", "-euc", program.code], {
        cwd,
        watch,
        env: { SHOAL_CONFIG_DIR: join(cwd, "config"), ...env },
      });
    // Some packages write to these folders.
    if (program.language === "python")
      return outputOfProcess([python, "-c", program.code], { cwd, watch, env: { ...env, HOME: cwd, TMPDIR: cwd } });
    if (programs?.canRunWith(env) !== true) {
      programs?.kill();
      programs = new ProgramProcess(env);
    }
    return programs.outputOf({ file: fileOf(folder, program), cwd }, watch);
  }

  return {
    folder,
    run: (program, service, env, watch) => outputOf(program, service, { env, ...(watch && { watch }) }),
    async expectToRun(program, service) {
      const output = await outputOf(program, service);
      if (program.output !== undefined) expect(output).toBe(program.output);
    },
    async expectToEnd() {
      const ending = programs;
      programs = undefined;
      await ending?.end();
    },
  };
}

const fileOf = (folder: string, { title }: GuideProgram) => join(folder, `${title.replace(/\W+/g, "-")}.ts`);

function writePrograms(folder: string): void {
  for (const program of guidePrograms)
    if (program.language === "ts") writeFileSync(fileOf(folder, program), `${program.code}export {};\n`);
  const compilerOptions = { noEmit: true, customConditions: [] };
  writeFileSync(
    join(folder, "tsconfig.json"),
    JSON.stringify({ extends: "../../../tsconfig.base.json", compilerOptions, include: ["*.ts"] }),
  );
  // Link the command as npm would.
  mkdirSync(join(folder, "bin"));
  writeFileSync(join(folder, "bin/shoal"), `#!/bin/sh\nexec "${process.execPath}" "${builtCommand}" "$@"\n`);
  chmodSync(join(folder, "bin/shoal"), 0o755);
}

function environmentOf(folder: string, service: Service): NodeJS.ProcessEnv {
  const { HOME = "", PATH = "", SHOAL_CHROMIUM } = process.env;
  return {
    HOME,
    PATH: `${join(folder, "bin")}:${PATH}`,
    NO_COLOR: "1",
    SHOAL_KEYCHAIN: "0",
    SHOAL_API_KEY: service.apiKey,
    SHOAL_BASE_URL: service.baseUrl,
    ...(SHOAL_CHROMIUM !== undefined && { SHOAL_CHROMIUM }),
  };
}

interface ProcessOptions {
  readonly cwd: string;
  readonly env: NodeJS.ProcessEnv;
  readonly watch: ((output: string) => void) | undefined;
}

async function outputOfProcess(
  [program, ...given]: readonly [program: string, ...given: string[]],
  { cwd, env, watch }: ProcessOptions,
): Promise<string> {
  const running = run(program, given, { cwd, env, timeout: testLimitMs });
  let output = "";
  running.child.stdout?.on("data", (chunk: string) => {
    output += chunk;
    watch?.(output);
  });
  const { stdout } = await running;
  expect(stdout).not.toBe("");
  return stdout;
}

/** Runs TypeScript programs, one at a time. */
class ProgramProcess {
  readonly #env: NodeJS.ProcessEnv;
  readonly #child: ChildProcess;
  readonly #exited: Promise<readonly unknown[]>;
  #isBusy = false;
  #stderr = "";
  /** After the last program. */
  #lateOutput = "";

  constructor(env: NodeJS.ProcessEnv) {
    this.#env = env;
    this.#child = fork(join(import.meta.dirname, "guide-process.ts"), {
      env,
      execArgv: ["--no-warnings"],
      stdio: ["ignore", "pipe", "pipe", "ipc"],
    });
    this.#child.stderr?.setEncoding("utf8").on("data", (text: string) => (this.#stderr += text));
    this.#child.stdout?.setEncoding("utf8").on("data", (text: string) => (this.#lateOutput += text));
    this.#exited = once(this.#child, "close");
  }

  /** False after a program has failed to end. */
  canRunWith(env: NodeJS.ProcessEnv): boolean {
    return isDeepStrictEqual(env, this.#env) && !this.#isBusy && this.#child.connected;
  }

  async outputOf(order: GuideOrder, watch?: (output: string) => void): Promise<string> {
    this.#isBusy = true;
    let output = "";
    const { promise, resolve, reject } = Promise.withResolvers<undefined>();
    const read = (report: GuideReport) => {
      if (report.kind === "output") {
        output += report.text;
        watch?.(output);
      } else if (report.problem === undefined) resolve(undefined);
      else reject(new Error(`The program failed after the output:\n${output}\n${report.problem}`));
    };
    this.#child.on("message", read);
    this.#child.send(order);
    try {
      await Promise.race([
        promise,
        this.#exited.then(() => expect.fail(`The process of the programs ended. ${this.#stderr}`)),
      ]);
    } finally {
      this.#child.off("message", read);
    }
    this.#isBusy = false;
    expect(this.#stderr).toBe("");
    expect(output).not.toBe("");
    return output;
  }

  async end(): Promise<void> {
    this.#child.send("end");
    const [status] = await this.#exited;
    expect({ status, stderr: this.#stderr }, this.#lateOutput).toEqual({ status: 0, stderr: "" });
  }

  kill(): void {
    this.#child.kill("SIGKILL");
  }
}
