import { describe, expect, it } from "vitest";
import { namesOf, selectCategories } from "./categories.ts";

const defaults = ["control", "connection", "system", "captcha"];
const names = (request: Parameters<typeof selectCategories>[0], current?: Parameters<typeof selectCategories>[0]) =>
  namesOf(selectCategories(request, selectCategories(current, undefined))).sort();

describe("what a session captures", () => {
  it.each([undefined, null, {}, { browser: {} }, { enabled: false }, { browser: { console: { enabled: false } } }])(
    "is empty at first with %j",
    (request) => {
      expect(names(request)).toEqual([]);
    },
  );

  it("is the default set plus requested categories", () => {
    expect(names({ enabled: true })).toEqual([...defaults].sort());
    expect(names({ browser: { console: {} } })).toEqual(["console", ...defaults].sort());
    expect(names({ browser: { console: { enabled: true }, captcha: { enabled: false } } })).toEqual([
      "connection",
      "console",
      "control",
      "system",
    ]);
  });

  it("stays, grows, restarts or ends with an update", () => {
    const console_ = { browser: { console: { enabled: true } } };
    expect(names(null, console_)).toEqual(names(console_));
    expect(names({}, console_)).toEqual(names(console_));
    expect(names({ browser: { network: { enabled: true }, console: { enabled: false } } }, console_)).toEqual(
      ["network", ...defaults].sort(),
    );
    expect(names({ enabled: true }, console_)).toEqual([...defaults].sort());
    expect(names({ enabled: true, browser: { page: {} } }, console_)).toEqual(["page", ...defaults].sort());
    expect(names({ enabled: false }, console_)).toEqual([]);
    const off = Object.fromEntries(["console", ...defaults].map((name) => [name, { enabled: false }]));
    expect(names({ browser: off }, console_)).toEqual([]);
  });

  it("rejects disabling telemetry together with categories", () => {
    expect(() => selectCategories({ enabled: false, browser: { console: {} } }, undefined)).toThrow(/enabled: false/);
  });
});
