import type { Instance } from "@shoal/placement";
import { Readable } from "node:stream";
import { expect, it } from "vitest";
import { flowHandlers } from "./handlers.ts";

const actAt = (at: number) => ({
  ...{ at, action: "click", target: { role: "button", name: "Save", fallbacks: [] }, navigated: false },
  ...{ before_url: "https://shop.example/", page_url: "https://shop.example/" },
});

it.each([
  ["without a time", undefined, 200],
  ["before the oldest kept action", 1000, 200],
  ["at the oldest kept action", 2000, 200],
  ["after the oldest kept action", 2001, 0],
])("counts forgotten actions of a flow that begins %s", async (_title, sinceMs, forgotten) => {
  const answer = () => Readable.from([Buffer.from(JSON.stringify({ acts: [2000, 3000].map(actAt), forgotten: 200 }))]);
  const instance = { request: () => Promise.resolve(Object.assign(answer(), { statusCode: 200 })) };
  const { recordFlow } = flowHandlers({
    flows: { create: (_project: string, flow: object) => Promise.resolve(flow) },
    sessions: {
      get: () => Promise.resolve({ row: { id: "session" } }),
      instanceHere: () => Promise.resolve(instance as unknown as Instance),
    },
  } as unknown as Parameters<typeof flowHandlers>[0]);
  const since = sinceMs === undefined ? {} : { since: new Date(sinceMs).toISOString() };
  const call = {
    ...{ body: { name: "order", values: "parameters", ...since }, context: { projectId: "project" } },
    ...{ params: { id: "session" }, signal: new AbortController().signal },
  };
  expect(await recordFlow(call as unknown as Parameters<typeof recordFlow>[0])).toMatchObject({ forgotten });
});
