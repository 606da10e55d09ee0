import { type Dialect, environmentName, type Names, partsOf } from "./dialect.ts";
import { toAscii } from "./flow-file.ts";

const literal = (value: string | number | boolean): string => toAscii(JSON.stringify(value));
const states = {
  url: "toHaveURL",
  visible: "toBeVisible",
  hidden: "toBeHidden",
  enabled: "toBeEnabled",
  disabled: "toBeDisabled",
} as const;

function text(value: string, names: Names): string {
  const parts = partsOf(value, names).map((part) =>
    part.name === undefined ? literal(part.text ?? "") : parameter(part.name),
  );
  return parts.length === 0 ? '""' : parts.join(" + ");
}

function parameter(name: string): string {
  return `values.${name}`;
}

/** TypeScript with `@playwright/test`. */
export const typescript: Dialect = {
  sign: "//",
  methods: {
    getByRole: "getByRole",
    getByText: "getByText",
    getByLabel: "getByLabel",
    getByPlaceholder: "getByPlaceholder",
    firstCall: "()",
  },
  openTab: "page = await page.context().newPage();",
  closeTab: ["await page.close();", "page = context.pages().at(-1) ?? (await context.newPage());"],
  literal,
  text,
  parameter,
  act: (on = "page", method, values) => `await ${on}.${method}(${values.join(", ")});`,
  options(values) {
    const given = Object.entries(values).flatMap(([name, value]) =>
      value === undefined ? [] : [`${name}: ${literal(value)}`],
    );
    return given.length === 0 ? [] : [`{ ${given.join(", ")} }`];
  },
  named: (name) => `{ name: ${name}, exact: true }`,
  containing: (content) => `{ hasText: ${content} }`,
  around: (content, inner) => `{ hasText: ${content}, has: ${inner} }`,
  dialog: (accept, answer) =>
    `page.once("dialog", (dialog) => dialog.${accept ? `accept(${answer ?? ""})` : "dismiss()"});`,
  expect: (on, state, values) => `await expect(${on}).${states[state]}(${values.join(", ")});`,
  escaped: (part) => `escaped(${part})`,
  matches: (parts) => `new RegExp("^" + ${parts.join(' + ".*" + ')} + "$")`,
  file(flow, { lines, names }) {
    const body = lines.map((line) => `  ${line}`).join("\n");
    const values = [
      ...[...names.parameters.values()].map(({ default: usual, property }) => valueLine(property, usual)),
      ...[...names.secrets.values()].map((property) => valueLine(property, undefined)),
    ];
    const needsValue = values.some((line) => line.includes("needed("));
    return [
      'import { expect, test } from "@playwright/test";',
      "",
      ...(needsValue
        ? [
            "function needed(name: string): string {",
            "  const value = process.env[name];",
            "  if (value === undefined) throw new Error(`Set ${name}.`);",
            "  return value;",
            "}",
            "",
          ]
        : []),
      ...(body.includes("escaped(")
        ? ['const escaped = (text: string): string => text.replace(/[\\\\^$.*+?()[\\]{}|/-]/g, "\\\\$&");', ""]
        : []),
      ...(values.length === 0 ? [] : ["const values = {", ...values.map((line) => `  ${line}`), "};", ""]),
      `test(${literal(flow.name)}, async ({ context }) => {`,
      `  ${body.includes("page = ") ? "let" : "const"} page = await context.newPage();`,
      body,
      "});",
      "",
    ].join("\n");
  },
};

function valueLine(property: string, usual: string | undefined): string {
  const name = environmentName(property);
  return `${property}: ${usual === undefined ? `needed(${literal(name)})` : `process.env.${name} ?? ${literal(usual)}`},`;
}
