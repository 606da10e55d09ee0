import type { Flow } from "@shoal/schemas";

export type Step = Flow["steps"][number];
export type Expectation = Step["expect"][number];

export const mostExpectations = 10;

/** What an expectation is about. */
export const expectationKinds = [
  { value: "url", label: "The address is" },
  { value: "text", label: "The page has the text" },
  { value: "element", label: "The page has the element" },
] as const;

/** The value of a step as one text; `undefined` if a form cannot change it. */
export function valueOf({ action, keys, secret, text, url, values }: Step): string | undefined {
  if (secret !== undefined) return undefined;
  if (action === "fill") return text ?? "";
  if (action === "answer_dialog") return text;
  if (action === "select") return values?.join("\n");
  if (action === "press") return keys?.join("\n");
  return url;
}

/** The step with another value. */
export function withValue(step: Step, value: string): Step {
  const lines = value.split("\n").filter((line) => line !== "");
  if (step.action === "fill" || step.action === "answer_dialog") return { ...step, text: value };
  if (step.action === "select") return { ...step, values: lines };
  if (step.action === "press") return { ...step, keys: lines };
  return step.url === undefined ? step : { ...step, url: value };
}

/** The fields of an expectation in a form, by their names. */
export function expectationFields(expectation: Expectation | undefined, index: number): Record<string, string> {
  const { element, state = "visible", text, url } = expectation ?? {};
  const kind = url !== undefined ? "url" : element !== undefined ? "element" : "text";
  return {
    [`kind.${String(index)}`]: kind,
    [`role.${String(index)}`]: element?.role ?? "",
    [`value.${String(index)}`]: url ?? text ?? element?.name ?? "",
    [`state.${String(index)}`]: state,
  };
}

/** Reads the expectations of a form. An empty value removes its expectation. */
export function expectationsOf(values: Readonly<Record<string, string>>): Expectation[] {
  return Array.from({ length: mostExpectations }, (_, index) => {
    const field = (name: string) => values[`${name}.${String(index)}`] ?? "";
    const value = field("value");
    if (value === "") return undefined;
    if (field("kind") === "url") return { url: value };
    const state = field("state") as NonNullable<Expectation["state"]>;
    const seen = state === "visible" ? {} : { state };
    return field("kind") === "element"
      ? { element: { role: field("role"), name: value }, ...seen }
      : { text: value, ...seen };
  }).filter((expectation) => expectation !== undefined);
}

/** The parameters of a flow, with the new parameters of its steps. */
export function parametersWith({ parameters, start_url: startUrl }: Flow, steps: readonly Step[]): Flow["parameters"] {
  const used = JSON.stringify([startUrl, steps]).matchAll(/\{\{([a-z][a-z0-9_]{0,63})\}\}/g);
  const known = new Set(parameters.map(({ name }) => name));
  const added = new Set([...used].map(([, name = ""]) => name).filter((name) => !known.has(name)));
  return [...parameters, ...[...added].map((name) => ({ name, secret: false }))];
}

/** The steps in another order. */
export function moved(steps: readonly Step[], from: number, to: number): Step[] {
  const others = steps.filter((_, index) => index !== from);
  return [...others.slice(0, to), ...steps.slice(from, from + 1), ...others.slice(to)];
}
