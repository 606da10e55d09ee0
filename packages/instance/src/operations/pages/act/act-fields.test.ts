import { actOnPage } from "@shoal/contract";
import { ServiceError } from "@shoal/router";
import type { ActOnPage } from "@shoal/schemas";
import { describe, expect, it } from "vitest";
import * as z from "zod/mini";
import { checkActFields } from "./act-fields.ts";
import { matchesUrl } from "./wait-for.ts";

function refusalOf(body: ActOnPage): string | undefined {
  try {
    checkActFields(z.parse(actOnPage.body.schema, body));
    return undefined;
  } catch (error) {
    if (ServiceError.isInstance(error) && error.status === 400) return error.message;
    throw error;
  }
}

describe("the fields of an action", () => {
  it.each<ActOnPage>([
    { type: "click", ref: "e1" },
    { type: "click", role: "button", name: "Save", button: "right", click_count: 2, hold_keys: ["Shift"] },
    { type: "fill", selector: "#a", text: "", submit: true, tab: "t1" },
    { type: "fill", ref: "e1", secret: { credential: "shop", field: "password" } },
    { type: "press", keys: ["Enter"] },
    { type: "drag", ref: "e1", to: { selector: "#b" } },
    { type: "drag", ref: "e1", delta_x: -20 },
    { type: "upload", ref: "e1", paths: [] },
    { type: "scroll", delta_y: 100 },
    { type: "scroll", ref: "e1" },
    { type: "wait_for", text: "Done", state: "hidden" },
    { type: "wait_for", ref: "e1", state: "disabled" },
    { type: "navigate", url: "https://example.com/" },
    { type: "open_tab" },
    { type: "answer_dialog", text: "Bob" },
  ])("accepts %j", (body) => {
    expect(refusalOf(body)).toBeUndefined();
  });

  it.each<[ActOnPage, string]>([
    [{ type: "click" }, "body.ref: an element is required"],
    [{ type: "click", name: "Save" }, "body.name: needs `role`"],
    [{ type: "click", ref: "e1", selector: "#a" }, "body.selector: not together with ref"],
    [{ type: "click", ref: "e1", text: "x" }, "body.text: not a field of click"],
    [{ type: "fill", ref: "e1" }, "body.text: required for fill"],
    [
      { type: "fill", ref: "e1", text: "x", secret: { credential: "shop", field: "password" } },
      "body.secret: not together with text",
    ],
    [
      { type: "press", keys: ["a"], secret: { credential: "shop", field: "password" } },
      "body.secret: not a field of press",
    ],
    [{ type: "select", ref: "e1" }, "body.values: required for select"],
    [{ type: "drag", ref: "e1", to: {} }, "body.to.ref: an element is required"],
    [{ type: "drag", ref: "e1" }, "body.to: required for drag, or `delta_x` and `delta_y`"],
    [{ type: "drag", ref: "e1", to: { ref: "e2" }, delta_y: 5 }, "body.to: not together with delta_x or delta_y"],
    [{ type: "scroll" }, "body.delta_y: required for scroll without an element"],
    [{ type: "wait_for" }, "body.text: wait_for needs exactly one"],
    [{ type: "wait_for", ref: "e1", text: "x" }, "body.text: wait_for needs exactly one"],
    [{ type: "wait_for", text: "x", state: "enabled" }, "body.state: a text is"],
    [{ type: "open_tab", tab: "t1" }, "body.tab: not a field of open_tab"],
    [{ type: "select_tab" }, "body.tab: required for select_tab"],
  ])("refuses %j", (body, message) => {
    expect(refusalOf(body)).toContain(message);
  });
});

it.each([
  ["https://a.example/x", "https://a.example/x", true],
  ["https://a.example/", "https://a.example", true],
  ["https://a.example/x?y=1", "https://a.example/x", false],
  ["https://a.example/x?y=1", "*/x?y=*", true],
  ["https://a.example/x", "*b.example*", false],
  ["https://a.example/aa", "https://a.example/a*aa", false],
  ["https://a.example/a/b/c", "*a*b*c", true],
])("compares %s with the pattern %s", (url, pattern, expected) => {
  expect(matchesUrl(url, pattern)).toBe(expected);
});
