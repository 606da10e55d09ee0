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
  const late = own.replace({}, {});
  await own.close();
  await expect(late).rejects.toThrow("The connection is closed.");
  expect(service.running()).toEqual([]);
});

it("starts a browser after a start that failed", async () => {
  const service = new PretendService();
  const own = new OwnBrowser(service.transport, {});
  await expect(own.replace({ timeout_seconds: 0 }, {})).rejects.toThrow();
  expect(await Promise.all([own.use({}), own.use({})])).toEqual([own.id, own.id]);
  expect(service.running()).toEqual([own.id]);
});
