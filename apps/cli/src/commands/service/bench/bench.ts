import { mkdtempSync, rmSync } from "node:fs";
import { availableParallelism, loadavg, tmpdir, totalmem } from "node:os";
import { join } from "node:path";
import { ByHand } from "../../../bench/by-hand.ts";
import { CdpDriver } from "../../../bench/cdp-driver.ts";
import { compare } from "../../../bench/compare.ts";
import { measureRest } from "../../../bench/remains.ts";
import { type BenchSite, dataUrl, serveSite } from "../../../bench/site.ts";
import { type BenchSizes, type Comparison, fullSizes, quickSizes } from "../../../bench/types.ts";
import { reach } from "../../../connection/reach.ts";
import { ExitError, UsageError } from "../../../core/errors.ts";
import { exitCodes } from "../../../core/exit-codes.ts";
import type { GlobalFlags, OutputFormat, Run } from "../../../core/types.ts";
import { notify, printJson, printJsonLine } from "../../../output/output.ts";
import { startSpinner } from "../../../output/spinner.ts";
import { startService, type ServiceProcess } from "../../../core/start-service.ts";
import { loadService } from "../load-service.ts";
import type { BenchReport } from "./bench-report.ts";
import { printReport } from "./report.ts";
import { type SessionSpecs, Sessions } from "./sessions.ts";

export interface BenchFlags extends GlobalFlags {
  readonly output: OutputFormat;
  readonly quick?: boolean;
  /** Lives of each scenario, 1 to 10,000. */
  readonly lives?: string;
  /** The largest number of sessions at once, 1 to 50. */
  readonly sessions?: string;
  /** Measures the service of the connection instead of a new one. */
  readonly running?: boolean;
}

/** Compares the sessions of a service with Chromium started by hand. */
export async function bench(specs: SessionSpecs, flags: BenchFlags, run: Run): Promise<void> {
  const report = await new Bench(specs, flags, run).measure();
  const { terminal } = run;
  if (flags.output === "json") printJson(terminal, report);
  else if (flags.output === "jsonl") printJsonLine(terminal, report);
  else if (flags.output === "yaml") terminal.stdout.write((await import("../../../output/to-yaml.ts")).toYaml(report));
  else printReport(report, terminal);
  const { files, processes, sessions } = report.remains;
  if (sessions + (processes ?? 0) + (files ?? 0) > 0)
    throw new ExitError(
      exitCodes.error.status,
      `The run left ${String(sessions)} sessions, ${String(processes ?? 0)} processes and ${String(files ?? 0)} files.`,
      "Run it again on a quiet machine, and report it if it happens again.",
    );
}

/** Sessions that the scenarios need, beyond the defaults of a small machine. */
const ownLimits = ["--max-sessions", "100", "--max-sessions-per-project", "100", "--log-level", "error"];

/** @throws {UsageError} for a number outside `1` to `max`. */
function sizeIn(text: string, flag: string, max: number): number {
  const size = Number(text);
  if (!Number.isInteger(size) || size < 1 || size > max)
    throw new UsageError(`${flag} must be a whole number from 1 to ${max.toLocaleString("en")}.`);
  return size;
}

function sizesOf(flags: BenchFlags): BenchSizes {
  const sizes = flags.quick === true ? quickSizes : fullSizes;
  const sessions = flags.sessions === undefined ? Infinity : sizeIn(flags.sessions, "--sessions", 50);
  return {
    ...sizes,
    ...(flags.lives !== undefined && { lives: sizeIn(flags.lives, "--lives", 10_000) }),
    atOnce: sizes.atOnce.filter((count) => count === 1 || count <= sessions),
    together: sizes.together.filter((count) => count === 1 || count <= sessions),
    resting: Math.min(sizes.resting, sessions),
  };
}

class Bench {
  readonly #specs: SessionSpecs;
  readonly #flags: BenchFlags;
  readonly #run: Run;
  readonly #sizes: BenchSizes;

  constructor(specs: SessionSpecs, flags: BenchFlags, run: Run) {
    this.#specs = specs;
    this.#flags = flags;
    this.#run = run;
    this.#sizes = sizesOf(flags);
  }

  async measure(): Promise<BenchReport> {
    const chromium = await this.#findChromium();
    const byHand = chromium === undefined ? undefined : new ByHand(chromium.executable);
    const loadAverage = loadavg()[0] ?? 0;
    try {
      const measured = this.#flags.running === true ? await this.#ofRunning(byHand) : await this.#ofOwn(byHand);
      return {
        machine: {
          cores: availableParallelism(),
          memory_bytes: totalmem(),
          node: process.version,
          platform: `${process.platform}-${process.arch}`,
          load_average: Math.round(loadAverage * 10) / 10,
          chromium: chromium === undefined ? null : `${chromium.kind} ${chromium.version}`,
        },
        ...measured,
      };
    } finally {
      await byHand?.close();
    }
  }

  async #findChromium() {
    if (this.#flags.running !== true) return (await loadService()).findChromium();
    // The service may be on another machine, and its package missing here.
    return loadService().then(
      ({ findChromium }) => findChromium().catch(() => undefined),
      () => undefined,
    );
  }

  async #ofRunning(byHand: ByHand | undefined): Promise<Omit<BenchReport, "machine">> {
    const { baseUrl } = reach(this.#flags, this.#run);
    return this.#withSessions(this.#run, async (sessions) => ({
      service: { base_url: baseUrl, started: false },
      ...(await this.#compare(sessions, byHand, dataUrl)),
      memory: null,
      remains: { sessions: await sessions.left(), processes: null, files: null },
    }));
  }

  async #ofOwn(byHand: ByHand | undefined): Promise<Omit<BenchReport, "machine">> {
    const site = await serveSite();
    try {
      const measured = await this.#withService(site, "default", [], (sessions, service) =>
        this.#compare(sessions, byHand, site.url).then(async (comparison) => ({
          service: { base_url: service.baseUrl, started: true },
          ...comparison,
          remains: { sessions: await sessions.left(), processes: null, files: null },
        })),
      );
      if (process.platform !== "linux") return { ...measured, memory: null };
      const rest = await this.#withService(site, "rest", ["--warm", "0"], (sessions, { pid }, dataDir) =>
        this.#showing(`memory of ${String(this.#sizes.resting)} sessions at rest`, () =>
          measureRest({ pid, dataDir }, this.#sizes, { side: sessions, signal: this.#run.signal }),
        ),
      );
      return { ...measured, memory: rest.memory, remains: { ...measured.remains, ...rest.remains } };
    } finally {
      site.close();
    }
  }

  /** Starts a service on a temporary data directory, and removes both. */
  async #withService<Result>(
    site: BenchSite,
    name: string,
    settings: readonly string[],
    work: (sessions: Sessions, service: ServiceProcess, dataDir: string) => Promise<Result>,
  ): Promise<Result> {
    const folder = mkdtempSync(join(tmpdir(), "shoal-bench-"));
    const dataDir = join(folder, name);
    const { SHOAL_CONTEXT: _context, SHOAL_PROJECT: _project, ...env } = this.#run.env;
    try {
      const service = await this.#showing("starting a service", () =>
        startService(dataDir, ["--allow-private-hosts", site.host, ...ownLimits, ...settings], env),
      );
      try {
        const own: Run = {
          ...this.#run,
          env: { ...env, SHOAL_BASE_URL: service.baseUrl, SHOAL_API_KEY: service.apiKey },
        };
        return await this.#withSessions(own, (sessions) => work(sessions, service, dataDir));
      } finally {
        await service.stop();
      }
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  }

  async #withSessions<Result>(run: Run, work: (sessions: Sessions) => Promise<Result>): Promise<Result> {
    // A started service gets its key from the environment, not from the flags of the connection.
    const { baseUrl: _baseUrl, context: _context, project: _project, ...rest } = this.#flags;
    const flags = run === this.#run ? this.#flags : rest;
    const sessions = new Sessions(this.#specs, flags, run);
    try {
      return await work(sessions);
    } finally {
      await sessions.close();
    }
  }

  async #compare(sessions: Sessions, byHand: ByHand | undefined, url: string): Promise<Comparison> {
    const { signal, terminal } = this.#run;
    const spinner = startSpinner(terminal);
    try {
      return await compare({
        shoal: sessions,
        byHand,
        driver: new CdpDriver(),
        url,
        sizes: this.#sizes,
        signal,
        onStep: (text) => {
          spinner.say(text);
          if (!terminal.progress) notify(terminal, this.#flags, text);
        },
      });
    } finally {
      spinner.stop();
    }
  }

  async #showing<Result>(text: string, work: () => Promise<Result>): Promise<Result> {
    const { terminal } = this.#run;
    const spinner = startSpinner(terminal);
    spinner.say(text);
    if (!terminal.progress) notify(terminal, this.#flags, text);
    try {
      return await work();
    } finally {
      spinner.stop();
    }
  }
}
