import { type Dialect, environmentName, type Names, partsOf } from "./dialect.ts";

const states = {
  url: "to_have_url",
  visible: "to_be_visible",
  hidden: "to_be_hidden",
  enabled: "to_be_enabled",
  disabled: "to_be_disabled",
} as const;

/** JSON's escapes are Python's, except those of surrogate pairs. */
function literal(value: string | number | boolean): string {
  if (typeof value === "boolean") return value ? "True" : "False";
  return JSON.stringify(typeof value === "string" ? value.toWellFormed() : value).replaceAll(
    /[^\x20-\x7e]/gu,
    (character) => {
      const code = character.codePointAt(0) ?? 0;
      return code > 0xffff ? `\\U${code.toString(16).padStart(8, "0")}` : `\\u${code.toString(16).padStart(4, "0")}`;
    },
  );
}

const snake = (name: string): string => name.replaceAll(/[A-Z]+/g, (letters) => `_${letters.toLowerCase()}`);

function text(value: string, names: Names): string {
  const parts = partsOf(value, names).map((part) =>
    part.name === undefined ? literal(part.text ?? "") : parameter(part.name),
  );
  return parts.length === 0 ? '""' : parts.join(" + ");
}

function parameter(name: string): string {
  return `values[${literal(name)}]`;
}

/** Python with `pytest-playwright`. */
export const python: Dialect = {
  sign: "#",
  methods: {
    getByRole: "get_by_role",
    getByText: "get_by_text",
    getByLabel: "get_by_label",
    getByPlaceholder: "get_by_placeholder",
    firstCall: "",
  },
  openTab: "page = page.context.new_page()",
  closeTab: ["page.close()", "page = context.pages[-1] if context.pages else context.new_page()"],
  literal,
  text,
  parameter,
  act: (on = "page", method, values) => `${on}.${snake(method)}(${values.join(", ")})`,
  options: (values) =>
    Object.entries(values).flatMap(([name, value]) =>
      value === undefined ? [] : [`${snake(name)}=${literal(value)}`],
    ),
  named: (name) => `name=${name}, exact=True`,
  containing: (content) => `has_text=${content}`,
  around: (content, inner) => `has_text=${content}, has=${inner}`,
  dialog: (accept, answer) =>
    `page.once("dialog", lambda dialog: dialog.${accept ? `accept(${answer ?? ""})` : "dismiss()"})`,
  expect: (on, state, values) => `expect(${on}).${states[state]}(${values.join(", ")})`,
  escaped: (part) => `re.escape(${part})`,
  matches: (parts) => `re.compile("^" + ${parts.join(' + ".*" + ')} + "$")`,
  file(flow, { lines, names }) {
    const values = [
      ...[...names.parameters.values()].map(({ default: usual, property }) => valueLine(property, usual)),
      ...[...names.secrets.values()].map((property) => valueLine(property, undefined)),
    ];
    const body = ["page = context.new_page()", ...lines].map((line) => `    ${line}`);
    const usesPatterns = lines.some((line) => line.includes("re.compile("));
    return [
      ...(values.length === 0 ? [] : ["import os"]),
      ...(usesPatterns ? ["import re"] : []),
      ...(values.length > 0 || usesPatterns ? [""] : []),
      "from playwright.sync_api import BrowserContext, expect",
      "",
      ...(values.length === 0 ? [] : ["values = {", ...values.map((line) => `    ${line}`), "}", ""]),
      "",
      `def test_flow(context: BrowserContext) -> None:`,
      `    ${literal(flow.name)}`,
      ...body,
      "",
    ].join("\n");
  },
};

function valueLine(property: string, usual: string | undefined): string {
  const name = literal(environmentName(property));
  return `${literal(property)}: ${usual === undefined ? `os.environ[${name}]` : `os.environ.get(${name}, ${literal(usual)})`},`;
}
