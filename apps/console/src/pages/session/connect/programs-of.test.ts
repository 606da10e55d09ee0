import { expect, it } from "vitest";
import { programsOf } from "./programs-of.ts";

const programs = programsOf("k3f9", "https://shoal.example/api");

it.each(programs)("shows $name the address of the service, and no key", ({ code }) => {
  expect(code).toMatch(/(https|wss):\/\/shoal\.example\/api\b/);
  expect(code).not.toMatch(/SERVICE_URL|SOCKET_URL|SESSION_ID|shoal\.example\/api\/\//);
});

it("offers each protocol, and says which of them are off by default", () => {
  expect([...new Set(programs.map(({ door }) => door))]).toEqual([
    "CDP",
    "Playwright's own protocol",
    "WebDriver",
    "Browserbase",
    "Steel",
    "Browserless",
    "Cloudflare Browser Rendering",
    "The contract",
    "MCP",
  ]);
  expect(programs.find(({ name }) => name === "WebdriverIO")?.notes[0]).toContain("--dialects webdriver");
  expect(programs.find(({ name }) => name === "Stagehand 3")?.code).toContain('browserbaseSessionID: "k3f9"');
  expect(programs.find(({ name }) => name === "Puppeteer")?.code).toContain("wss://shoal.example/api/?sessionId=k3f9");
});
