import { Sleeper } from "./sleeper.ts";
import type { RestQuestion, RestReport } from "@shoal/instance";
import type { SleepChange } from "../interface/sleep.ts";
import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";

const afterSeconds = 10;
const silent = { debug: () => undefined, warn: () => undefined };

/** A kernel and an instance: bytes for a frozen instance wait in its sockets. */
class Machine {
  isFrozen = false;
  freezes = 0;
  report: RestReport = { busy: null, expires_in_ms: null };
  /** How long the instance takes to answer. */
  answerMs = 0;
  fault: "prepare" | "ask" | "freeze" | "thaw" | undefined;
  lastByteMs = performance.now();
  uses = 0;
  readonly changes: SleepChange["type"][] = [];
  readonly questions: RestQuestion[] = [];
  readonly paged: (() => boolean)[] = [];
  readonly stuck: unknown[] = [];
  readonly sleeper = new Sleeper({
    freezer: {
      prepare: async () => {
        this.#failIn("prepare");
        await Promise.resolve();
      },
      freeze: () => {
        this.#failIn("freeze");
        this.isFrozen = true;
        this.freezes++;
        expect(this.uses).toBe(0);
        expect(performance.now() - this.lastByteMs).toBeGreaterThanOrEqual(afterSeconds * 1000);
      },
      thaw: () => {
        this.#failIn("thaw");
        this.isFrozen = false;
      },
      pageOut: async (mayContinue) => {
        await Promise.resolve(this.paged.push(mayContinue));
      },
    },
    ask: async (question) => {
      this.questions.push(question);
      this.#failIn("ask");
      if (this.answerMs > 0) await new Promise((resolve) => setTimeout(resolve, this.answerMs));
      return this.report;
    },
    onStuck: (error) => this.stuck.push(error),
    log: silent,
  });

  constructor() {
    this.sleeper.onChange(({ type }) => this.changes.push(type));
    this.sleeper.after(afterSeconds);
  }

  #failIn(step: Machine["fault"]): void {
    if (this.fault === step) throw new Error(`${step ?? ""} failed`);
  }

  byte(): void {
    this.lastByteMs = performance.now();
    this.sleeper.touch();
    expect(this.isFrozen).toBe(false);
  }
}

const pass = (ms: number) => vi.advanceTimersByTimeAsync(ms);

beforeEach(() => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "performance", "Date"] });
});
afterEach(() => {
  vi.useRealTimers();
});

it("never leaves a byte or a request at a frozen instance, for any order of events", async () => {
  type Step = (machine: Machine, ends: (() => void)[]) => Promise<void> | void;
  const steps = fc.oneof<fc.Arbitrary<Step>[]>(
    fc.constant((machine) => {
      machine.byte();
    }),
    fc.integer({ min: 1, max: 25_000 }).map((ms) => () => pass(ms).then(() => undefined)),
    fc.constant((machine, ends) => {
      machine.lastByteMs = performance.now();
      machine.uses++;
      const end = machine.sleeper.begin();
      expect(machine.isFrozen).toBe(false);
      ends.push(() => {
        machine.lastByteMs = performance.now();
        end();
      });
    }),
    fc.constant((machine, ends) => {
      machine.uses++;
      const end = machine.sleeper.begin(true);
      expect(machine.isFrozen).toBe(false);
      ends.push(() => {
        end();
      });
    }),
    fc.constant((machine, ends) => {
      const end = ends.pop();
      if (end === undefined) return;
      machine.uses--;
      end();
      end();
    }),
    fc.boolean().map((isBusy) => (machine) => {
      machine.report = { busy: isBusy ? "a recording" : null, expires_in_ms: null };
    }),
    fc.integer({ min: 0, max: 3000 }).map((ms) => (machine) => {
      machine.answerMs = ms;
    }),
    fc.constantFrom("prepare" as const, "ask" as const, "freeze" as const, undefined).map((fault) => (machine) => {
      machine.fault = fault;
    }),
  );
  let freezes = 0;
  await fc.assert(
    fc.asyncProperty(fc.array(steps, { maxLength: 40 }), async (run) => {
      const machine = new Machine();
      const ends: (() => void)[] = [];
      for (const step of run) {
        await step(machine, ends);
        expect(machine.sleeper.asleepSinceMs !== undefined).toBe(machine.isFrozen);
      }
      // Without faults and uses, it sleeps; and it wakes at the first byte.
      for (const end of ends) end();
      machine.uses = 0;
      machine.lastByteMs = performance.now();
      machine.fault = undefined;
      machine.report = { busy: null, expires_in_ms: null };
      await pass(40_000);
      expect(machine.isFrozen).toBe(true);
      machine.byte();
      freezes += machine.freezes;
      machine.sleeper.close();
      await pass(60_000);
      expect(machine.isFrozen).toBe(false);
    }),
    { numRuns: 200 },
  );
  expect(freezes).toBeGreaterThan(200);
});

describe("a sleeping instance", () => {
  it("reports its sleep, its wake and the time until it answers", async () => {
    const machine = new Machine();
    await pass(10_000);
    expect(machine.sleeper.asleepSinceMs).toBe(Date.now());
    machine.answerMs = 40;
    machine.byte();
    await pass(40);
    expect(machine.changes).toEqual(["asleep", "awake", "answered"]);
    machine.sleeper.close();
  });

  it("receives its time without use before it sleeps, and the length of its sleep after it, visits included", async () => {
    const machine = new Machine();
    await pass(10_000);
    const end = machine.sleeper.begin(true);
    await pass(1000);
    end();
    await pass(1000);
    machine.byte();
    const slept = { ms: 2000, until_ms: Date.now() };
    expect(machine.questions).toEqual([{ idle_ms: 10_000 }, {}, {}, { slept }]);
    machine.sleeper.close();
  });

  it("receives the use that prevents its sleep", async () => {
    const machine = new Machine();
    machine.answerMs = 50;
    await pass(10_020);
    machine.byte();
    await pass(30);
    expect(machine.questions).toEqual([{ idle_ms: 10_000 }, { slept: { ms: 0, until_ms: Date.now() } }]);
    expect(machine.freezes).toBe(0);
    machine.sleeper.close();
  });

  it("wakes at the deadline of its idle timeout, which it then keeps itself", async () => {
    const machine = new Machine();
    machine.report = { busy: null, expires_in_ms: 5000 };
    await pass(14_999);
    expect(machine.isFrozen).toBe(true);
    await pass(1);
    expect(machine.isFrozen).toBe(false);
    machine.sleeper.close();
  });

  it("moves its memory only when it sleeps on, and stops at the wake", async () => {
    const machine = new Machine();
    await pass(11_000);
    machine.byte();
    await pass(13_500);
    const [mayContinue] = machine.paged;
    expect([machine.paged.length, mayContinue?.()]).toEqual([1, true]);
    machine.byte();
    expect(mayContinue?.()).toBe(false);
    machine.sleeper.close();
  });

  it("is ended when it cannot continue", async () => {
    const machine = new Machine();
    await pass(10_000);
    machine.fault = "thaw";
    machine.sleeper.touch();
    expect(machine.stuck).toEqual([new Error("thaw failed")]);
    machine.sleeper.close();
  });

  it("wakes when its session is to sleep no more", async () => {
    const machine = new Machine();
    await pass(10_000);
    machine.sleeper.after(0);
    expect(machine.isFrozen).toBe(false);
    await pass(100_000);
    expect(machine.freezes).toBe(1);
    machine.sleeper.close();
  });

  it("sleeps again at once after the visit of a monitor", async () => {
    const machine = new Machine();
    await pass(10_000);
    const end = machine.sleeper.begin(true);
    await pass(30_000);
    expect(machine.isFrozen).toBe(false);
    end();
    await pass(250);
    expect(machine.isFrozen).toBe(true);
    machine.sleeper.close();
  });

  it("counts as awake once it has ended", async () => {
    const machine = new Machine();
    await pass(10_000);
    machine.sleeper.close();
    expect(machine.changes).toEqual(["asleep", "awake"]);
    expect(machine.sleeper.asleepSinceMs).toBeUndefined();
  });
});
