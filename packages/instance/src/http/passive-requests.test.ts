import { expect, it } from "vitest";
import { isPassive } from "./passive-requests.ts";

const request = (url: string, value?: string, method = "GET") =>
  isPassive({ url, method, headers: { ...(value !== undefined && { "x-shoal-passive": value }) } });

it("accepts stats, and with the header pictures and the list of processes", () => {
  expect(request("/stats")).toBe(true);
  expect(request("/screenshot?x", "1", "POST")).toBe(true);
  expect(request("/screenshot", undefined, "POST")).toBe(false);
  expect(request("/screenshot", "0", "POST")).toBe(false);
  expect(request("/process?limit=50", "1")).toBe(true);
  expect(request("/process")).toBe(false);
  expect(request("/process", "1", "POST")).toBe(false);
  expect(request("/process/exec", "1")).toBe(false);
});
