import { messageOf } from "@shoal/primitives";
import { percentile } from "./figures.ts";
import type { Actions, BenchPage, BenchSizes, Comparison, Driver, Lives, OpenBrowser, Pair, Side } from "./types.ts";

/** Both sides, and the sizes of the run. */
export interface CompareParts {
  readonly shoal: Side;
  readonly byHand: Side | undefined;
  readonly driver: Driver;
  readonly url: string;
  readonly sizes: BenchSizes;
  readonly signal: AbortSignal;
  /** Reports the beginning of a step. */
  readonly onStep: (text: string) => void;
}

const steps = ["create", "connect", "goto", "release"] as const;
type Times = Readonly<Record<(typeof steps)[number], number>>;

/** Measures both sides in turns, so that a slow spell of the machine affects both. */
export async function compare(parts: CompareParts): Promise<Comparison> {
  const { byHand, shoal, sizes, onStep } = parts;
  const sides = [shoal, byHand].filter((side) => side !== undefined);
  onStep(`${String(sizes.warmUps)} lives to warm up`);
  for (const side of sides) await lives(parts, side, { atOnce: 1, count: sizes.warmUps });
  const livesOf: Pair<Lives>[] = [];
  for (const atOnce of sizes.atOnce) {
    onStep(`${String(sizes.lives)} lives, ${String(atOnce)} at a time`);
    livesOf.push(await inTurns(parts, { atOnce, count: sizes.lives }));
  }
  onStep(`ten page actions in each of ${String(sizes.acting)} sessions`);
  const actionsOf: Pair<Actions> = {
    shoal: await actions(parts, shoal),
    by_hand: byHand === undefined ? null : await actions(parts, byHand),
  };
  const together: Pair<Lives>[] = [];
  for (const atOnce of sizes.together) {
    onStep(`${String(atOnce)} ${atOnce === 1 ? "session" : "sessions"} at once`);
    together.push({
      shoal: (await lives(parts, shoal, { atOnce, count: atOnce })).summary(),
      by_hand: byHand === undefined ? null : (await lives(parts, byHand, { atOnce, count: atOnce })).summary(),
    });
  }
  return { lives: livesOf, actions: actionsOf, together };
}

interface Load {
  readonly atOnce: number;
  readonly count: number;
}

const turns = 4;

async function inTurns(parts: CompareParts, { atOnce, count }: Load): Promise<Pair<Lives>> {
  const { byHand, shoal } = parts;
  const ours = new LifeSamples(atOnce);
  const peers = new LifeSamples(atOnce);
  for (let turn = 0; turn < turns; turn++) {
    const share = { atOnce, count: Math.ceil(count / turns) };
    ours.add(await lives(parts, shoal, share));
    if (byHand !== undefined) peers.add(await lives(parts, byHand, share));
  }
  return { shoal: ours.summary(), by_hand: byHand === undefined ? null : peers.summary() };
}

class LifeSamples {
  readonly #atOnce: number;
  readonly #samples: Times[] = [];
  #attempts = 0;
  #wallMs = 0;
  #firstError: string | undefined;

  constructor(atOnce: number) {
    this.#atOnce = atOnce;
  }

  done(times: Times): void {
    this.#attempts += 1;
    this.#samples.push(times);
  }

  failed(error: unknown): void {
    this.#attempts += 1;
    this.#firstError ??= messageOf(error);
  }

  took(wallMs: number): void {
    this.#wallMs += wallMs;
  }

  add(other: LifeSamples): void {
    this.#samples.push(...other.#samples);
    this.#attempts += other.#attempts;
    this.#wallMs += other.#wallMs;
    this.#firstError ??= other.#firstError;
  }

  summary(): Lives {
    const sums = this.#samples.map((times) => steps.reduce((sum, step) => sum + times[step], 0));
    const median = (step: keyof Times) =>
      rounded(
        percentile(
          this.#samples.map((times) => times[step]),
          0.5,
        ),
      );
    return {
      at_once: this.#atOnce,
      attempts: this.#attempts,
      successes: this.#samples.length,
      per_second: rounded((this.#samples.length * 1000) / this.#wallMs),
      median_ms: rounded(percentile(sums, 0.5)),
      p95_ms: rounded(percentile(sums, 0.95)),
      create_ms: median("create"),
      connect_ms: median("connect"),
      goto_ms: median("goto"),
      release_ms: median("release"),
      ...(this.#firstError !== undefined && { first_error: this.#firstError }),
    };
  }
}

async function lives(parts: CompareParts, side: Side, { atOnce, count }: Load): Promise<LifeSamples> {
  const samples = new LifeSamples(atOnce);
  let left = count;
  const beganMs = performance.now();
  await Promise.all(
    Array.from({ length: atOnce }, async () => {
      while (left-- > 0) {
        parts.signal.throwIfAborted();
        await life(parts, side).then(
          (times) => {
            samples.done(times);
          },
          (error: unknown) => {
            parts.signal.throwIfAborted();
            samples.failed(error);
          },
        );
      }
    }),
  );
  samples.took(performance.now() - beganMs);
  return samples;
}

async function life({ driver, url }: CompareParts, side: Side): Promise<Times> {
  const marks = [performance.now()];
  const mark = (): void => {
    marks.push(performance.now());
  };
  const browser = await side.open();
  mark();
  try {
    const page = await driver.connect(browser.cdpUrl);
    mark();
    await page.goto(url);
    mark();
    await page.disconnect();
  } catch (error) {
    await browser.close();
    throw error;
  }
  await browser.close();
  mark();
  const [began = 0, created = 0, connected = 0, loaded = 0, released = 0] = marks;
  return {
    create: created - began,
    connect: connected - created,
    goto: loaded - connected,
    release: released - loaded,
  };
}

async function actions({ driver, signal, sizes, url }: CompareParts, side: Side): Promise<Actions> {
  let tookMs = 0;
  for (let session = 0; session < sizes.acting; session++) {
    signal.throwIfAborted();
    await withPage(side, driver, async (page) => {
      await page.goto(url);
      const beganMs = performance.now();
      await page.tenActions();
      tookMs += performance.now() - beganMs;
    });
  }
  return { sessions: sizes.acting, per_second: rounded((sizes.acting * 10 * 1000) / tookMs) };
}

async function withPage(side: Side, driver: Driver, work: (page: BenchPage) => Promise<void>): Promise<void> {
  const browser: OpenBrowser = await side.open();
  try {
    const page = await driver.connect(browser.cdpUrl);
    await work(page);
    await page.disconnect();
  } finally {
    await browser.close();
  }
}

function rounded(value: number): number {
  return Number.isFinite(value) ? Math.round(value * 10) / 10 : 0;
}
