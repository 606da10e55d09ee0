import { expect, it } from "vitest";
import { connectProgramsOf } from "./connect-programs.ts";

it("shows the address of the session for every client, and no key", () => {
  const programs = connectProgramsOf("k3f9", "https://shoal.example/api");
  expect(programs.map(({ label }) => label)).toEqual([
    "CDP",
    "Playwright",
    "Playwright Test",
    "Puppeteer",
    "Python",
    "MCP",
    "curl",
  ]);
  for (const { code, label } of programs) {
    const own: Partial<Record<string, string>> = {
      curl: "https://shoal.example/api/browsers/k3f9",
      "Playwright Test": "wss://shoal.example/api/playwright?sessionId=k3f9",
    };
    expect(code).toContain(own[label] ?? "wss://shoal.example/api/?sessionId=k3f9");
    expect(code).toContain("SHOAL_API_KEY");
  }
});
