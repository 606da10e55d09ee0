import { setTimeout as delay } from "node:timers/promises";
import type { BrowserDownload, Handoff, TimelineEvent, VaultItem } from "@shoal/schemas";
import { afterAll, beforeAll, expect, it } from "vitest";
import { Shoal, TimeoutError } from "../index.ts";
import { startPartialService, type PartialService } from "../node/testing/partial-service.ts";

/** Of the client; shorter than each wait of the service. */
const timeoutMs = 20;
let wait = (): Promise<unknown> => delay(5 * timeoutMs);
const waited = async <Value>(value: Partial<Value>): Promise<Value> => {
  await wait();
  return value as Value;
};
let ended_at: string | null = "2026-01-31T12:00:00.000Z";

let service: PartialService;
let shoal: Shoal;
beforeAll(async () => {
  service = await startPartialService({
    getVaultItem: () => waited<VaultItem>({ key: "login" }),
    listVaultItemEvents: () => waited<[]>([]),
    checkConnection: () => waited<TimelineEvent>({ id: "check" }),
    getHandoff: () => waited<Handoff>({ id: "handoff", ended_at }),
    waitForDownload: () => waited<BrowserDownload>({ download_id: "report" }),
  });
  const options = { apiKey: "sk_secret_0123456789", baseUrl: service.baseUrl, timeoutMs, maxRetries: 0 };
  shoal = new Shoal({ ...options, validate: "off" });
});
afterAll(() => service[Symbol.asyncDispose]());

it("waits longer than the limit of a request if the service was asked to wait", async () => {
  const { auth, browsers, vaults } = shoal;
  const seconds = 50;
  expect((await vaults.items.get("team", "login", { wait: seconds })).key).toBe("login");
  expect(await vaults.items.events("team", "login", { wait: seconds })).toEqual([]);
  expect((await auth.connections.check("shop", { wait_seconds: seconds })).id).toBe("check");
  expect((await browsers.handoff.get("b", { wait_seconds: seconds })).id).toBe("handoff");
  expect((await browsers.handoff.done("b")).id).toBe("handoff");
  expect((await browsers.downloads.wait("b"))?.download_id).toBe("report");
  expect((await browsers.downloads.waitForDownload("b")).download_id).toBe("report");
});

it("keeps the limit of a request without a wait, and the caller's own limit", async () => {
  const { promise, resolve } = Promise.withResolvers<void>();
  wait = () => promise;
  for (const call of [
    () => shoal.vaults.items.get("team", "login"),
    () => shoal.vaults.items.get("team", "login", { wait: 1 }, { timeoutMs }),
    () => shoal.browsers.handoff.get("b"),
  ])
    await expect(call()).rejects.toSatisfy((error) => TimeoutError.isInstance(error));
  resolve();
});

it("ends the wait for a handoff after totalTimeoutMs", async () => {
  ended_at = null;
  wait = () => Promise.resolve();
  await expect(shoal.browsers.handoff.done("b", {}, { timeoutMs: 60_000, totalTimeoutMs: 500 })).rejects.toSatisfy(
    (error) => TimeoutError.isInstance(error),
  );
});
