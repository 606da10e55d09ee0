import { CreateBrowserPool, UpdateBrowserPool } from "@shoal/schemas";
import { describe, expect, it } from "vitest";
import { changedConfig, configOf } from "./pool-config.ts";

const found = {} as Parameters<typeof configOf>[1];
type Telemetry = NonNullable<CreateBrowserPool["telemetry"]>;

const poolWith = (telemetry?: Telemetry) =>
  configOf(CreateBrowserPool.parse({ size: 1, ...(telemetry && { telemetry }) }), found);
const update = (before: ReturnType<typeof poolWith>, telemetry: Telemetry) =>
  changedConfig(before, UpdateBrowserPool.parse({ telemetry }), found).telemetry;

const unstored = { storage: { enabled: false } };
const refusal = expect.objectContaining({ status: 501, field: "body.telemetry.storage.enabled" }) as Error;

describe("telemetry without storage", () => {
  it("is accepted by an update of a pool whose telemetry is off, and leaves it off", () => {
    const off = poolWith({ enabled: false });
    expect(update(off, unstored)).toEqual(off.telemetry);
    expect(update(off, { ...unstored, browser: { console: { enabled: false } } })).toEqual(off.telemetry);
  });

  it("is refused by an update that switches a category on", () => {
    const off = poolWith({ enabled: false });
    expect(() => update(off, { ...unstored, browser: { console: { enabled: true } } })).toThrow(refusal);
    expect(() => update(off, { ...unstored, enabled: true })).toThrow(refusal);
  });

  it.each<[string, Telemetry | undefined]>([
    ["that names no telemetry", undefined],
    ["that switches one category off", { browser: { console: { enabled: false } } }],
    ["that captures", { enabled: true }],
  ])("is refused by a pool %s, because its browsers may capture events", (_title, telemetry) => {
    expect(() => update(poolWith(telemetry), unstored)).toThrow(refusal);
  });
});
