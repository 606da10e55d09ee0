import { type ActionField, actionFields, fieldsOfAction, invalid, targetFields } from "@shoal/contract/refusals";
import { addressProblem } from "@shoal/primitives";
import { ServiceError } from "@shoal/router";
import type { CreateFlow, FlowStep } from "@shoal/schemas";
import type * as z from "zod/mini";

/** The steps of a flow with their parameters, and where it starts. */
export type FlowContent = Pick<z.output<typeof CreateFlow>, "parameters" | "start_url" | "steps">;

/** All steps together, as JSON. */
export const maxContentBytes = 262_144;
const placeholder = /\{\{([a-z][a-z0-9_]{0,63})\}\}/g;
const ownFields = ["text", "secret", "submit", "accept", "values", "keys", "url", "button", "click_count"] as const;
const stepFields = [...ownFields, "delta_x", "delta_y"] as const satisfies readonly (ActionField & keyof FlowStep)[];

/** @throws {ServiceError} 400 for steps that no run could do. */
export function checkContent(content: FlowContent): void {
  const size = Buffer.byteLength(JSON.stringify(content));
  if (size > maxContentBytes)
    refuse("steps", `larger than the limit of ${String(maxContentBytes)} bytes`, { limit: maxContentBytes });
  const names = new Map<string, boolean>();
  for (const [index, { name, secret }] of content.parameters.entries()) {
    if (names.has(name)) refuse(`parameters[${String(index)}].name`, "occurs twice", {});
    names.set(name, secret);
  }
  checkPlaceholders(content.start_url, "start_url", names);
  checkAddress(content.start_url, "start_url");
  for (const [index, step] of content.steps.entries()) checkStep(step, `steps[${String(index)}]`, names);
}

function checkStep(step: FlowStep, path: string, names: ReadonlyMap<string, boolean>): void {
  checkFields(step, path);
  const { text, ...others } = step;
  const [, secret] = /^\{\{([a-z][a-z0-9_]{0,63})\}\}$/.exec(text ?? "") ?? [];
  const isSecret = step.action === "fill" && secret !== undefined && names.get(secret) === true;
  if (text !== undefined && !isSecret) checkPlaceholders(text, `${path}.text`, names);
  for (const [at, value] of textsIn(others)) checkPlaceholders(value, `${path}.${at}`, names);
  if (step.url !== undefined) checkAddress(step.url, `${path}.url`);
}

/** With a number in each placeholder, such as a port, and with a letter. What begins with one is known at the run only. */
function checkAddress(text: string, field: string): void {
  if (text.trim().startsWith("{{")) return;
  const [numbers, letters] = [text.replaceAll(placeholder, "1"), text.replaceAll(placeholder, "x")];
  const problem = addressProblem(numbers) ?? (URL.canParse(letters) ? addressProblem(letters) : undefined);
  if (problem !== undefined) refuse(field, problem.problem, { hint: problem.hint });
}

function checkFields(step: FlowStep, path: string): void {
  const { action } = step;
  if (action === "expect") {
    const foreign = [...stepFields, "target" as const].find((field) => step[field] !== undefined);
    if (foreign !== undefined) refuse(`${path}.${foreign}`, "not a field of expect", {});
    if (step.expect.length === 0) refuse(`${path}.expect`, "required for expect", {});
    return;
  }
  const { needs = [], target } = actionFields[action];
  const known = new Set<ActionField>(fieldsOfAction(action));
  const foreign = stepFields.find((field) => step[field] !== undefined && !known.has(field));
  if (foreign !== undefined) refuse(`${path}.${foreign}`, `not a field of ${action}`, {});
  const missing = needs.find((field) => step[field as keyof FlowStep] === undefined);
  if (missing !== undefined) refuse(`${path}.${missing}`, `required for ${action}`, {});
  if (step.target !== undefined && !targetFields.some((field) => known.has(field)))
    refuse(`${path}.target`, `not a field of ${action}`, {});
  if (step.target === undefined && target === "required") refuse(`${path}.target`, `required for ${action}`, {});
  if (action === "fill" && (step.text === undefined) === (step.secret === undefined))
    refuse(`${path}.text`, "give exactly one of text and secret", {});
  if (action === "scroll" && (step.target ?? step.delta_x ?? step.delta_y) === undefined)
    refuse(`${path}.delta_y`, "required for scroll without an element", {});
}

function checkPlaceholders(text: string, field: string, names: ReadonlyMap<string, boolean>): void {
  for (const [, name = ""] of text.matchAll(placeholder)) {
    const isSecret = names.get(name);
    if (isSecret === undefined) refuse(field, `names the unknown parameter ${name}`, { hint: "Add it to parameters." });
    if (isSecret)
      refuse(field, `uses the secret parameter ${name}`, { hint: "A secret is the whole `text` of a fill step." });
  }
}

/** Whether a text of a recorded step reads as a parameter. */
export function hasPlaceholder(step: Omit<FlowStep, "text">): boolean {
  return textsIn(step).some(([, text]) => text.search(placeholder) !== -1);
}

/** The texts of a step in which placeholders count, with their fields. */
function textsIn({ expect, target, url, values = [] }: Omit<FlowStep, "text">): (readonly [string, string])[] {
  const texts: (readonly [string, string | undefined])[] = [
    ["url", url],
    ["target.name", target?.name],
    ["target.within.name", target?.within?.name],
    ...(target?.fallbacks ?? []).map(
      ({ value }, index) => [`target.fallbacks[${String(index)}].value`, value] as const,
    ),
    ...values.map((value, index) => [`values[${String(index)}]`, value] as const),
    ...expect.flatMap((one, index) => [
      [`expect[${String(index)}].url`, one.url] as const,
      [`expect[${String(index)}].text`, one.text] as const,
      [`expect[${String(index)}].element.name`, one.element?.name] as const,
    ]),
  ];
  return texts.flatMap(([at, text]) => (text === undefined ? [] : [[at, text] as const]));
}

/** Replaces placeholders of known values. */
export function fillIn(text: string, values: ReadonlyMap<string, string>): string {
  return text.replaceAll(placeholder, (whole, name: string) => values.get(name) ?? whole);
}

/** The parameter that is the whole text. */
export function soleParameter(text: string | undefined): string | undefined {
  return /^\{\{([a-z][a-z0-9_]{0,63})\}\}$/.exec(text ?? "")?.[1];
}

function refuse(field: string, problem: string, data: { readonly limit?: number; readonly hint?: string }): never {
  throw ServiceError.of(invalid(`body.${field}`, problem, data));
}
