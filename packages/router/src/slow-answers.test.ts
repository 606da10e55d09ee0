import { describe, expect, it } from "vitest";
import { slowJson } from "./index.ts";
import { adapters, answerOf } from "./testing/servers.ts";

const times = { headersAfterMs: 1, spaceEveryMs: 1 };

describe.each(adapters)("slow JSON over $name", ({ start }) => {
  it("has its headers before its value", async () => {
    const { promise, resolve } = Promise.withResolvers<unknown>();
    const { url } = await start({ get: () => slowJson(promise, times) });
    const response = await fetch(`${url}/things/x`);
    expect([response.status, response.headers.get("content-type")]).toEqual([200, "application/json; charset=utf-8"]);
    resolve({ id: "x" });
    const text = await response.text();
    expect(text).toMatch(/^ +\{"id":"x"\}$/);
    expect(JSON.parse(text)).toEqual({ id: "x" });
  });

  it("is an ordinary answer when its value is known in time, also a failure", async () => {
    const patient = { headersAfterMs: 60_000, spaceEveryMs: 60_000 };
    const { url } = await start({
      get: ({ params }) =>
        slowJson(params.id === "x" ? Promise.resolve({ id: "x" }) : Promise.reject(new Error("broken")), patient),
    });
    expect(await answerOf(fetch(`${url}/things/x`))).toMatchObject({ status: 200, body: { id: "x" } });
    expect(await answerOf(fetch(`${url}/things/y`))).toMatchObject({ status: 500 });
  });

  it("cuts the connection when the value fails after the headers", async () => {
    const { promise, reject } = Promise.withResolvers<unknown>();
    const { url } = await start({ get: () => slowJson(promise, times) });
    const response = await fetch(`${url}/things/x`);
    expect(response.status).toBe(200);
    reject(new Error("broken"));
    await expect(response.text()).rejects.toThrow();
  });
});
