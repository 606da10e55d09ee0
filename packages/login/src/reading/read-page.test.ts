import fc from "fast-check";
import type { OutlineNode, PageOutline } from "@shoal/instance";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { readPage } from "../index.ts";

const folder = join(import.meta.dirname, "../testing/outlines");
const names = readdirSync(folder).map((file) => file.replace(/\.json$/, ""));
const load = (name: string): PageOutline =>
  JSON.parse(readFileSync(join(folder, `${name}.json`), "utf8")) as PageOutline;

/** The reading in one line: `login email,password > Log in`. */
function summary(name: string): string {
  const { accounts, captcha, consent, factors, form, outside, providers, signOut, skip } = readPage(load(name));
  const fields = form?.fields.map(
    (field) => `${field.name}${field.nodes.length > 1 ? `*${String(field.nodes.length)}` : ""}`,
  );
  return [
    ...(form ? [`${form.purpose} ${fields?.join() ?? ""} > ${form.submit?.name ?? "Enter"}`] : []),
    ...(providers.length > 0 ? [`providers ${providers.map(({ provider }) => provider).join()}`] : []),
    ...(factors.length > 0 ? [`factors ${factors.map(({ factor }) => factor).join()}`] : []),
    ...(accounts.length > 0 ? [`accounts ${accounts.map(({ target }) => target).join()}`] : []),
    ...(consent ? [`consent ${consent.name}`] : []),
    ...(captcha === "none" ? [] : [`captcha ${captcha}`]),
    ...(outside ? [`outside ${outside.type}`] : []),
    ...(skip ? [`skip ${skip.name}`] : []),
    ...(signOut ? ["signed in"] : []),
  ].join("; ");
}

it("reads every saved page as expected", () => {
  const expected = JSON.parse(readFileSync(join(folder, "../expected.json"), "utf8")) as Record<string, string>;
  expect(Object.fromEntries(names.map((name) => [name, summary(name)]))).toEqual(expected);
});

it.each([
  ["sms-code-2", "sms"],
  ["phone-2", "sms"],
  ["email-code-2", "email"],
  ["six-boxes-2", "email"],
  ["totp-2", "totp"],
  ["choice-3", undefined],
  ["one-page-1", undefined],
])("reads from %s how the code reaches the person: %s", (name, source) => {
  expect(readPage(load(name)).codeSource).toBe(source);
});

it("reads the same after positions and references change", () => {
  for (const name of names) {
    const outline = load(name);
    const moved = {
      ...outline,
      nodes: outline.nodes.map((node, place) => ({
        ...node,
        ref: `e${String(place + 90_000)}`,
        box: { ...node.box, y: node.box.y + 40 },
      })),
    };
    const [before, after] = [readPage(outline), readPage(moved)];
    expect(after.form?.fields.map((field) => field.name)).toEqual(before.form?.fields.map((field) => field.name));
  }
});

const text = fc.oneof(
  fc.constantFrom(
    "Sign in",
    "Passwort",
    "E-mail",
    "Continue with Google",
    "メール",
    "code",
    "Log out",
    "a@b.c",
    " ",
    "",
  ),
  fc.string({ unit: "grapheme", maxLength: 60 }),
);
const role = fc.constantFrom(
  "textbox",
  "button",
  "link",
  "text",
  "heading",
  "form",
  "dialog",
  "alert",
  "iframe",
  "checkbox",
  "radio",
  "combobox",
  "list",
  "group",
  "status",
);
const node: fc.Arbitrary<OutlineNode> = fc.record({
  ref: fc.nat().map((number) => `e${String(number)}`),
  frame: fc.integer({ min: -2, max: 4 }),
  parent: fc.integer({ min: -3, max: 300 }),
  role,
  name: text,
  tag: fc.constantFrom("input", "button", "a", "select", "#text", "div", "textarea"),
  attributes: fc.dictionary(
    fc.constantFrom("type", "name", "id", "autocomplete", "placeholder", "href", "maxlength", "__proto__"),
    text,
  ),
  states: fc.subarray(["filled", "disabled", "readonly", "invalid", "checked"] as const).map((states) => [...states]),
  box: fc.record({ x: fc.integer(), y: fc.integer(), width: fc.integer(), height: fc.integer() }),
});
const frame = fc.record({
  parent: fc.option(fc.integer()),
  host: text,
  url: fc.oneof(text, fc.webUrl()),
  title: text,
  width: fc.integer(),
  height: fc.integer(),
});
const outlines: fc.Arbitrary<PageOutline> = fc.record({
  frames: fc.array(frame, { maxLength: 4 }),
  nodes: fc.array(node, { maxLength: 120 }),
  left_out: fc.nat(),
  viewport: fc.record({ width: fc.nat(), height: fc.nat() }),
});

it("reads any outline without an error", () => {
  fc.assert(
    fc.property(outlines, (outline) => {
      const { form, signature } = readPage(outline);
      expect(signature.length).toBeLessThanOrEqual(1_000);
      for (const field of form?.fields ?? []) expect(outline.nodes).toContain(field.nodes[0]);
    }),
    { numRuns: 150 },
  );
});

it("reads the largest outline without blocking for seconds", () => {
  const [login] = [load("one-page-1")];
  const blocks = Array.from({ length: 1_500 }, (_, place): OutlineNode => {
    const template = login.nodes[place % login.nodes.length];
    if (template === undefined) throw new Error("The saved outline is empty.");
    return {
      ...template,
      ref: `e${String(place)}`,
      parent: place - 1,
      name: `${template.name} `.repeat(200).slice(0, 400),
    };
  });
  expect(readPage({ ...login, nodes: blocks })).toBeDefined();
});
