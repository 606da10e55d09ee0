import { QueryClient } from "@tanstack/react-query";
import { afterAll, beforeAll, expect, it, vi } from "vitest";

const session = { principal: { type: "api_key", id: "k2", name: "second" }, projects: [] };

beforeAll(() => {
  const items = new Map<string, string>();
  // A page has these, and Node does not.
  vi.stubGlobal("document", { baseURI: "http://shoal.test/console/" });
  vi.stubGlobal("localStorage", {
    getItem: (name: string) => items.get(name) ?? null,
    setItem: (name: string, value: string) => items.set(name, value),
  });
  // The service, joined without a socket.
  vi.stubGlobal("fetch", (url: string, init: RequestInit) => {
    expect(url).toBe("http://shoal.test/console/session");
    return Promise.resolve(Response.json(init.method === "POST" ? { page_key: "page" } : session));
  });
});
afterAll(() => {
  vi.unstubAllGlobals();
});

it("forgets the answers of an ended session when another person signs in", async () => {
  const { sessionQuery, signIn, signInWaysQuery } = await import("./console-session.ts");
  const queries = new QueryClient();
  queries.setQueryData(signInWaysQuery.queryKey, { api_key: true });
  queries.setQueryData(["keys"], ["a key of the first person"]);
  // As after an answer 401.
  queries.setQueryData(sessionQuery.queryKey, null);
  await signIn(queries, { api_key: "second" });
  expect(queries.getQueryData(sessionQuery.queryKey)).toEqual(session);
  expect(queries.getQueryData(["keys"])).toBeUndefined();
  expect(queries.getQueryData(signInWaysQuery.queryKey)).toEqual({ api_key: true });
});
