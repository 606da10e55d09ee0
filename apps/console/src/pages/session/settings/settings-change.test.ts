import type { Browser } from "@shoal/schemas";
import { expect, it } from "vitest";
import { changeOf, initialOf } from "./settings-change.ts";

const before = initialOf({
  session_id: "s",
  name: "agent",
  tags: { team: "sales" },
  network: { allow: ["a.example"] },
  viewport: { width: 800, height: 600 },
  telemetry: { browser: { console: { enabled: true } } },
} as unknown as Browser);

it("sends the changed fields only", () => {
  expect(changeOf(before, before)).toEqual({});
  expect(changeOf(before, { ...before, name: " ", tags: "team=ops\n\nurl=a=b" })).toEqual({
    name: null,
    tags: { team: "ops", url: "a=b" },
  });
  expect(
    changeOf(before, {
      ...before,
      "network.allow": "",
      "network.deny": "b.example\n c.example ",
      "viewport.width": "1280",
      "telemetry.browser.console": false,
      "telemetry.browser.network": true,
    }),
  ).toEqual({
    network: { allow: null, deny: ["b.example", "c.example"] },
    viewport: { width: 1280, height: 600 },
    telemetry: { browser: { console: { enabled: false }, network: { enabled: true } } },
  });
});

it("names tags and policies that cannot be read", () => {
  expect(() => changeOf(before, { ...before, tags: "sales" })).toThrow('such as team=sales: "sales"');
  expect(() => changeOf(before, { ...before, chrome_policy: "[1]" })).toThrow("must be a JSON object");
  expect(() => changeOf(before, { ...before, chrome_policy: "{" })).toThrow("must be a JSON object");
});
