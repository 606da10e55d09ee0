import type { Flow, FlowParameter } from "@shoal/schemas";

/** Names in the program: of parameters by name, and of values of credentials by credential and field. */
export interface Names {
  readonly parameters: ReadonlyMap<string, FlowParameter & { readonly property: string }>;
  readonly secrets: ReadonlyMap<string, string>;
}

export interface TestParts {
  readonly names: Names;
  /** Statements, in order. */
  readonly lines: readonly string[];
}

/** How a language writes a Playwright test. */
export interface Dialect {
  /** Begins a comment. */
  readonly sign: "//" | "#";
  readonly methods: {
    readonly getByRole: string;
    readonly getByText: string;
    readonly getByLabel: string;
    readonly getByPlaceholder: string;
    readonly firstCall: string;
  };
  /** A statement that opens a tab as `page`. */
  readonly openTab: string;
  readonly closeTab: string[];
  literal(this: void, value: string | number | boolean): string;
  /** A text with parameters in it, as an expression. */
  text(this: void, text: string, names: Names): string;
  parameter(this: void, name: string): string;
  /** A statement. @param method - as in TypeScript. */
  act(this: void, on: string | undefined, method: string, values: readonly string[]): string;
  /** Values of the present options. */
  options(this: void, values: Readonly<Record<string, string | number | undefined>>): string[];
  /** Options of `getByRole`. */
  named(this: void, name: string): string;
  /** Options of `filter`. */
  containing(this: void, text: string): string;
  /** The same, for an element around another one. */
  around(this: void, text: string, inner: string): string;
  dialog(this: void, accept: boolean, text: string | undefined): string;
  expect(
    this: void,
    on: string,
    state: "url" | "visible" | "hidden" | "enabled" | "disabled",
    values: readonly string[],
  ): string;
  /** An expression whose value is escaped for a regular expression. */
  escaped(this: void, text: string): string;
  /** A regular expression of parts with anything between them. */
  matches(this: void, parts: readonly string[]): string;
  file(this: void, flow: Flow, parts: TestParts): string;
}

interface TextPart {
  readonly text?: string;
  readonly name?: string;
}

/** The texts between the known parameters of a text, and these. */
export function partsOf(text: string, { parameters }: Names): readonly TextPart[] {
  return text.split(/(\{\{[a-z][a-z0-9_]{0,63}\}\})/).flatMap((part): TextPart[] => {
    const name = parameters.get(/^\{\{(.*)\}\}$/.exec(part)?.[1] ?? "")?.property;
    return name === undefined ? (part === "" ? [] : [{ text: part }]) : [{ name }];
  });
}

export function environmentName(property: string): string {
  return `FLOW_${property.toUpperCase()}`;
}
