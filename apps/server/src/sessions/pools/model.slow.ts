import { Browser, BrowserPool } from "@shoal/schemas";
import fc from "fast-check";
import { afterAll, beforeAll, expect, it } from "vitest";
import { startTestServer, type TestServer } from "../../testing/test-server.ts";

interface Model {
  size: number;
  leased: number;
}

interface Real {
  readonly id: string;
  held: string[];
  readonly seen: Set<string>;
}

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer({ max_sessions: 12, max_sessions_per_project: 12 });
});
afterAll(() => server.close());

const patch = (id: string, body: object) => server.request("PATCH", `/browser_pools/${id}`, { body });
const acquire = (id: string, seconds: number) =>
  server.request("POST", `/browser_pools/${id}/acquire`, { body: { acquire_timeout_seconds: seconds } });
const release = (id: string, session_id: string, reuse: boolean) =>
  server.request("POST", `/browser_pools/${id}/release`, { body: { session_id, reuse } });

async function pool(id: string): Promise<BrowserPool> {
  return BrowserPool.parse((await server.request("GET", `/browser_pools/${id}`)).body);
}

async function check(model: Model, real: Real): Promise<void> {
  const { acquired_count, available_count, browser_pool_config } = await pool(real.id);
  expect(browser_pool_config.size).toBe(model.size);
  expect(acquired_count).toBe(model.leased);
  expect(real.held).toHaveLength(model.leased);
  expect(available_count + acquired_count).toBeLessThanOrEqual(Math.max(model.size, model.leased));
  const running = (await server.request("GET", "/browsers")).body as Browser[];
  expect(running.map(({ session_id }) => session_id).sort()).toEqual([...real.held].sort());
}

function take(reply: Awaited<ReturnType<typeof acquire>>, model: Model, real: Real): void {
  expect(reply.status, JSON.stringify(reply.body)).toBe(200);
  const { session_id } = Browser.parse(reply.body);
  expect(real.seen.has(session_id)).toBe(false);
  real.seen.add(session_id);
  real.held.push(session_id);
  model.leased += 1;
}

/** Returns a leased browser; `index` may be any number. */
function heldAt(real: Real, index: number): string {
  const [session = ""] = real.held.splice(index % real.held.length, 1);
  return session;
}

type Command = fc.AsyncCommand<Model, Real>;

class Acquire implements Command {
  check = (model: Readonly<Model>): boolean => model.leased < model.size;
  async run(model: Model, real: Real): Promise<void> {
    take(await acquire(real.id, 60), model, real);
    await check(model, real);
  }
  toString = (): string => "acquire";
}

class AcquireFromEmpty implements Command {
  check = (model: Readonly<Model>): boolean => model.leased >= model.size;
  async run(model: Model, real: Real): Promise<void> {
    expect(await acquire(real.id, 0)).toMatchObject({ status: 204 });
    await check(model, real);
  }
  toString = (): string => "acquire from an empty pool";
}

/** One caller waits for the browser that another one releases. */
class Exchange implements Command {
  readonly index: number;
  constructor(index: number) {
    this.index = index;
  }
  check = (model: Readonly<Model>): boolean => model.leased === model.size;
  async run(model: Model, real: Real): Promise<void> {
    const waiting = acquire(real.id, 60);
    expect((await release(real.id, heldAt(real, this.index), true)).status).toBe(204);
    model.leased -= 1;
    take(await waiting, model, real);
    await check(model, real);
  }
  toString = (): string => "exchange";
}

class Release implements Command {
  readonly index: number;
  readonly how: "reuse" | "end" | "delete";
  constructor(index: number, how: "reuse" | "end" | "delete") {
    this.index = index;
    this.how = how;
  }
  check = (model: Readonly<Model>): boolean => model.leased > 0;
  async run(model: Model, real: Real): Promise<void> {
    const session = heldAt(real, this.index);
    const reply =
      this.how === "delete"
        ? await server.request("DELETE", `/browsers/${session}`)
        : await release(real.id, session, this.how === "reuse");
    expect(reply.status).toBe(204);
    expect((await release(real.id, session, true)).status).toBe(404);
    model.leased -= 1;
    await check(model, real);
  }
  toString = (): string => `release (${this.how})`;
}

class Resize implements Command {
  readonly size: number;
  constructor(size: number) {
    this.size = size;
  }
  check = (): boolean => true;
  async run(model: Model, real: Real): Promise<void> {
    expect((await patch(real.id, { size: this.size })).status).toBe(200);
    model.size = this.size;
    await check(model, real);
  }
  toString = (): string => `resize to ${String(this.size)}`;
}

class Flush implements Command {
  check = (): boolean => true;
  async run(model: Model, real: Real): Promise<void> {
    expect((await server.request("POST", `/browser_pools/${real.id}/flush`)).status).toBe(204);
    await check(model, real);
  }
  toString = (): string => "flush";
}

it("matches a simple model for any sequence of operations", async () => {
  const commands = [
    fc.constant(new Acquire()),
    fc.constant(new Acquire()),
    fc.constant(new AcquireFromEmpty()),
    fc.nat(3).map((index) => new Exchange(index)),
    fc
      .tuple(fc.nat(3), fc.constantFrom("reuse" as const, "end" as const, "delete" as const))
      .map(([index, how]) => new Release(index, how)),
    fc.integer({ min: 1, max: 3 }).map((size) => new Resize(size)),
    fc.constant(new Flush()),
  ];
  await fc.assert(
    fc.asyncProperty(fc.commands(commands, { maxCommands: 12 }), async (steps) => {
      const made = await server.request("POST", "/browser_pools", { body: { size: 2, fill_rate_per_minute: 100_000 } });
      const real: Real = { id: BrowserPool.parse(made.body).id, held: [], seen: new Set() };
      const model: Model = { size: 2, leased: 0 };
      try {
        await fc.asyncModelRun(() => ({ model, real }), steps);
        // In the end it is full again.
        await expect
          .poll(async () => {
            const { acquired_count, available_count } = await pool(real.id);
            return available_count + acquired_count;
          })
          .toBe(Math.max(model.size, model.leased));
      } finally {
        expect((await server.request("DELETE", `/browser_pools/${real.id}`, { body: { force: true } })).status).toBe(
          204,
        );
      }
      await expect
        .poll(
          async () =>
            (await server.database.query.selectFrom("sessions").select("id").where("ended_at", "is", null).execute())
              .length,
        )
        .toBe(0);
    }),
    { numRuns: 8, endOnFailure: true },
  );
});
