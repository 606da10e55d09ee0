import { expect, it } from "vitest";
import { PretendService } from "../testing/pretend-service.ts";
import { OwnBrowser } from "./own-browser.ts";

it("leaves no browser behind when several are opened at once and the connection ends", async () => {
  const service = new PretendService();
  const own = new OwnBrowser(service.transport, {});
  const opened = await Promise.all([own.replace({}, {}), own.replace({}, {}), own.use({})]);
  expect(service.created).toHaveLength(2);
  expect(service.running()).toEqual([own.id]);
  expect(opened[2]).toBe(own.id);
  const late = expect(own.replace({}, {})).rejects.toThrow("The connection is closed.");
  await own.close();
  await late;
  expect(service.running()).toEqual([]);
});

it("starts a browser after a start that failed", async () => {
  const service = new PretendService();
  const own = new OwnBrowser(service.transport, {});
  await expect(own.replace({ timeout_seconds: 0 }, {})).rejects.toThrow();
  expect(await Promise.all([own.use({}), own.use({})])).toEqual([own.id, own.id]);
  expect(service.running()).toEqual([own.id]);
});

it("keeps its browser if the other one cannot start", async () => {
  const service = new PretendService();
  const own = new OwnBrowser(service.transport, {});
  const { session_id } = await own.replace({}, {});
  await expect(own.replace({ timeout_seconds: 0 }, {})).rejects.toThrow("timeout_seconds");
  expect([own.id, service.running()]).toEqual([session_id, [session_id]]);
  const other = await own.replace({}, {});
  expect([own.id, service.running()]).toEqual([other.session_id, [other.session_id]]);
});

it("ends its browser first if both have no room, or if the other one starts from what it saves", async () => {
  const service = new PretendService();
  service.limit = 1;
  const own = new OwnBrowser(service.transport, {});
  await own.replace({ profile: { name: "shop", save_changes: true } }, {});
  await own.replace({}, {});
  expect([service.created.length, service.running()]).toEqual([2, [own.id]]);
  service.limit = Infinity;
  await own.replace({ profile: { name: "shop", save_changes: true } }, {});
  const runningAtStart: number[] = [];
  service.onCreate = () => runningAtStart.push(service.running().length);
  await own.replace({ profile: { name: "shop" } }, {});
  await own.replace({ profile: { name: "shop" } }, {});
  expect(runningAtStart).toEqual([0, 1]);
});
