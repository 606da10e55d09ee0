import { relative } from "node:path";
import { isReasonless } from "../apps/e2e/src/clients/results.ts";
import type { Reporter, SerializedError, TestModule, Vitest } from "vitest/node";

const slowestShown = 20;

/**
 * Prints the seconds of each package and of the slowest files, then lines that other programs can parse: `failed: FILE > NAME: MESSAGE` for each failure and
 * `4 passed, 0 failed, 0 skipped` at the end.
 */
export default class ClosingLine implements Reporter {
  readonly #modules: TestModule[] = [];
  readonly #unhandled: SerializedError[] = [];
  readonly #atEndOfRun: boolean;
  /** With a filter by name, the other tests are skipped. */
  #isFiltered = false;

  /** With `atEndOfRun: false`, several runs have one closing line, which `print` prints. */
  constructor({ atEndOfRun = true }: { readonly atEndOfRun?: boolean } = {}) {
    this.#atEndOfRun = atEndOfRun;
  }

  onInit({ config }: Vitest): void {
    this.#isFiltered = config.testNamePattern !== undefined;
  }

  onTestRunEnd(modules: readonly TestModule[], unhandled: readonly SerializedError[]): void {
    this.#modules.push(...modules);
    this.#unhandled.push(...unhandled);
    // Vitest does not count all of these failures.
    if (this.#atEndOfRun && this.print() > 0) process.exitCode = 1;
  }

  /** Seconds that each file took. */
  get seconds(): Map<string, number> {
    return new Map(
      this.#modules.map((module) => {
        const { collectDuration, duration, setupDuration } = module.diagnostic();
        return [fileOf(module), (collectDuration + duration + setupDuration) / 1_000];
      }),
    );
  }

  /** Prints the lines, and returns the number of failures. */
  print(): number {
    const modules = this.#modules;
    if (modules.length > slowestShown) this.#printSlowest();
    const tests = modules.flatMap((module) => [...module.children.allTests()]);
    const count = (state: string) => tests.filter((test) => test.result().state === state).length;
    for (const test of tests) {
      const { errors, state } = test.result();
      if (state === "failed") console.log(`failed: ${fileOf(test.module)} > ${test.fullName}: ${firstLine(errors)}`);
    }
    const reasonless = tests.filter((test) => {
      const outcome = { file: fileOf(test.module), title: test.name, state: test.result().state };
      return process.env.SHOAL_REQUIRE_ALL === "1" && !this.#isFiltered && isReasonless(outcome, test.fullName);
    });
    for (const test of reasonless)
      console.log(`failed: ${fileOf(test.module)} > ${test.fullName}: skipped, and docs/clients.md names it`);
    // A file that does not load, or whose set-up fails, has no failed test.
    const broken = modules.filter(
      (module) => module.state() === "failed" && ![...module.children.allTests("failed")].length,
    );
    for (const module of broken)
      console.log(
        `failed: ${fileOf(module)} did not load or its set-up failed: ${firstLine([...module.errors(), ...[...module.children.allSuites()].flatMap((suite) => suite.errors())])}`,
      );
    // Unhandled rejections and workers that exit also fail the run.
    for (const { message, stack, VITEST_TEST_PATH: path } of this.#unhandled) {
      const frames =
        stack?.split("\n").filter((line) => /^\s+at /.test(line) && !line.includes("/node_modules/")) ?? [];
      console.log(
        `failed: ${typeof path === "string" ? `${relative(process.cwd(), path)} > ` : ""}outside the tests: ${message.split("\n", 1)[0] ?? ""}${frames.slice(0, 4).join("")}`,
      );
    }
    const failed = count("failed") + reasonless.length + broken.length + this.#unhandled.length;
    const skipped = count("skipped") - reasonless.length;
    console.log(`${String(count("passed"))} passed, ${String(failed)} failed, ${String(skipped)} skipped`);
    return failed;
  }

  #printSlowest(): void {
    const packages = new Map<string, number>();
    for (const [file, seconds] of this.seconds) {
      const name = /^(?:apps|packages)\/[^/]+/.exec(file)?.[0] ?? "tools";
      packages.set(name, (packages.get(name) ?? 0) + seconds);
    }
    console.log("Seconds of all files, of which several run at once:");
    printLongest([...packages]);
    console.log(`Slowest of ${String(this.#modules.length)} files:`);
    printLongest([...this.seconds]);
  }
}

/** Path from the root of the repository, in the form that Vitest accepts as an argument. */
const fileOf = (module: TestModule) => relative(process.cwd(), module.moduleId);

function printLongest(entries: [name: string, seconds: number][]): void {
  for (const [name, seconds] of entries.sort(([, a], [, b]) => b - a).slice(0, slowestShown))
    console.log(`${seconds.toFixed(1).padStart(7)} s  ${name}`);
}

const firstLine = (errors: readonly { message: string }[]) => errors[0]?.message.split("\n", 1)[0] ?? "";
