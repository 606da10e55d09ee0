import { describe, expect, it } from "vitest";
import {
  capturedAtStart,
  type CapturedCategories,
  categoriesNamed,
  changedCategories,
  defaultCategories,
  namesOf,
  shownCategories,
  type TelemetryRequest,
} from "./categories.ts";

const defaults = ["control", "connection", "system", "captcha"];

function captured(outcome: ReturnType<typeof changedCategories>): CapturedCategories | undefined {
  if ("refusal" in outcome) throw new Error(outcome.refusal.problem);
  return outcome.captured;
}

const names = (request: TelemetryRequest, current?: TelemetryRequest) =>
  namesOf(captured(changedCategories(request, captured(changedCategories(current, undefined))))).sort();

const standard = defaultCategories(["console", "network", "page"]);
const atStart = (request: TelemetryRequest, off = false) =>
  namesOf(captured(capturedAtStart(request, off ? undefined : standard))).sort();
const sorted = (...more: string[]) => [...more, ...defaults].sort();

describe("what a session captures", () => {
  it.each([undefined, null, {}, { browser: {} }, { enabled: false }, { browser: { console: { enabled: false } } }])(
    "is empty at first with %j",
    (request) => {
      expect(names(request)).toEqual([]);
    },
  );

  it("is stored: a request without storage is refused", () => {
    const request = { enabled: true, storage: { enabled: false } };
    const refusal = { status: 501, field: "body.telemetry.storage.enabled" };
    expect(changedCategories(request, undefined)).toMatchObject({ refusal });
    expect(capturedAtStart({ storage: { enabled: false } }, standard)).toMatchObject({ refusal });
    expect(changedCategories({ storage: { enabled: false } }, standard)).toMatchObject({ refusal });
    // Nothing to store.
    expect(names({ enabled: false, storage: { enabled: false } })).toEqual([]);
    expect(changedCategories({ storage: { enabled: false } }, undefined)).toEqual({ captured: undefined });
    expect(names({ enabled: true, storage: { enabled: true } })).toEqual([...defaults].sort());
  });

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
      ["bodies", "network", ...defaults].sort(),
    );
    expect(names({ enabled: true }, console_)).toEqual([...defaults].sort());
    expect(names({ enabled: true, browser: { page: {} } }, console_)).toEqual(["page", ...defaults].sort());
    expect(names({ enabled: false }, console_)).toEqual([]);
    const off = Object.fromEntries(["console", ...defaults].map((name) => [name, { enabled: false }]));
    expect(names({ browser: off }, console_)).toEqual([]);
  });

  it("has management calls only if they are named", () => {
    expect(names({ enabled: true, browser: { platform: { enabled: true } } })).toEqual(sorted("platform"));
    expect(names({ browser: { platform: {} } })).toEqual(sorted("platform"));
    expect(defaultCategories(["platform"])).toMatchObject({ platform: true, console: false });
  });

  it("keeps the excluded commands until an update sends others", () => {
    const excluding = (...excluded_methods: ("DOM.focus" | "Page.navigate")[]): TelemetryRequest => ({
      browser: { control: { cdp: { excluded_methods } } },
    });
    const one = [...defaults, "-DOM.focus"].sort();
    expect(names(excluding("DOM.focus", "DOM.focus"))).toEqual(one);
    expect(names({ browser: { control: { enabled: true } } }, excluding("DOM.focus"))).toEqual(one);
    expect(names({ browser: { control: { cdp: {} } } }, excluding("DOM.focus"))).toEqual(one);
    expect(names(excluding("Page.navigate"), excluding("DOM.focus"))).toEqual([...defaults, "-Page.navigate"].sort());
    expect(names(excluding(), excluding("DOM.focus"))).toEqual([...defaults].sort());
    const off: TelemetryRequest = { browser: { console: {}, control: { enabled: false } } };
    expect(names(excluding("DOM.focus"), off)).not.toContain("control");
    const shown = captured(changedCategories(excluding("DOM.focus"), undefined));
    expect(shownCategories(shown).browser?.control).toEqual({
      enabled: true,
      cdp: { excluded_methods: ["DOM.focus"] },
    });
    expect(categoriesNamed(namesOf(shown))).toEqual(shown);
  });

  it("refuses to exclude commands that telemetry does not report", () => {
    const outcome = changedCategories(
      { browser: { control: { cdp: { excluded_methods: ["DOM.focus", "Runtime.evaluate"] } } } },
      undefined,
    );
    expect(outcome).toMatchObject({
      refusal: { problem: '"Runtime.evaluate" is not a command that telemetry reports' },
    });
  });

  it("rejects disabling telemetry together with categories", () => {
    expect(() => names({ enabled: false, browser: { console: {} } })).toThrow(/enabled: false/);
  });

  it("has outlines with page if they are named, until an update switches them or page off", () => {
    const on = { browser: { page: { outlines: true } } };
    expect(names(on)).toEqual(sorted("outlines", "page"));
    expect(names({ browser: { page: {} } })).toEqual(sorted("page"));
    expect(names({ browser: { page: { enabled: true } } }, on)).toEqual(sorted("outlines", "page"));
    expect(names({ browser: { console: {} } }, on)).toEqual(sorted("console", "outlines", "page"));
    expect(names({ browser: { page: { outlines: false } } }, on)).toEqual(sorted("page"));
    expect(names({ browser: { page: { enabled: false } } }, on)).toEqual(sorted());
    expect(names({ browser: { page: { enabled: false, outlines: true } } })).toEqual([]);
    expect(shownCategories(captured(changedCategories(on, undefined))).browser?.page).toEqual({
      enabled: true,
      outlines: true,
    });
  });

  it("has bodies with network, unless they are switched off", () => {
    expect(names({ browser: { network: {} } })).toEqual(sorted("bodies", "network"));
    expect(names({ browser: { network: { bodies: false } } })).toEqual(sorted("network"));
    expect(names({ browser: { console: {} } }, { browser: { network: { bodies: false } } })).toEqual(
      sorted("console", "network"),
    );
    expect(names({ browser: { network: { enabled: false } } }, { browser: { network: {}, page: {} } })).toEqual(
      sorted("page"),
    );
  });
});

describe("what a new session captures", () => {
  it.each([undefined, null, {}, { browser: {} }])("is the default with %j", (request) => {
    expect(atStart(request)).toEqual(sorted("console", "network", "page"));
    expect(atStart(request, true)).toEqual([]);
  });

  it("is nothing with enabled: false, with and without a default", () => {
    expect(atStart({ enabled: false })).toEqual([]);
  });

  it("is the default without the categories that are switched off", () => {
    expect(atStart({ browser: { console: { enabled: false } } })).toEqual(sorted("network", "page"));
    expect(atStart({ browser: { network: { enabled: false }, page: { enabled: false } } })).toEqual(sorted("console"));
  });

  it("consists of the named categories instead of the default", () => {
    expect(atStart({ browser: { console: {} } })).toEqual(sorted("console"));
    expect(atStart({ browser: { console: {}, page: { enabled: false } } })).toEqual(sorted("console"));
    expect(atStart({ enabled: true })).toEqual(sorted());
  });

  it("is the default for a destination without categories", () => {
    const request = { export: { otlp: { destination: { name: "collector" } } } };
    expect(atStart(request)).toEqual(sorted("console", "network", "page"));
    expect(atStart(request, true)).toEqual(sorted());
  });

  it("follows the words of the default", () => {
    expect(namesOf(defaultCategories(["off"]))).toEqual([]);
    expect(namesOf(defaultCategories(["bodies"])).sort()).toEqual(sorted("bodies", "network"));
    expect(namesOf(defaultCategories(["console", "page"], true)).sort()).toEqual(sorted("page"));
    expect(shownCategories(standard).browser).toMatchObject({
      console: { enabled: true },
      network: { enabled: true, bodies: false },
      interaction: { enabled: false },
    });
    expect(shownCategories(defaultCategories(["bodies"])).browser?.network).toEqual({ enabled: true });
  });
});
