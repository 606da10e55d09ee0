import type { IncomingMessage } from "node:http";
import { expect, it } from "vitest";
import { isPassive } from "./passive-requests.ts";

const request = (url: string, value?: string) =>
  isPassive({
    url,
    headers: { ...(value !== undefined && { "x-shoal-passive": value }) },
  } as unknown as IncomingMessage);

it("accepts stats, and pictures with the header", () => {
  expect(request("/stats")).toBe(true);
  expect(request("/screenshot?x", "1")).toBe(true);
  expect(request("/screenshot")).toBe(false);
  expect(request("/screenshot", "0")).toBe(false);
  expect(request("/process/exec", "1")).toBe(false);
});
