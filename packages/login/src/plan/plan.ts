import type { OutlineNode, PageOutline } from "@shoal/instance";
import type { FieldKind } from "../reading/field-kinds.ts";
import type { ReadField, ReadForm } from "../reading/forms.ts";
import { isShown } from "../reading/page-tree.ts";

/** Finds a node again, on another day: by role and name, else by attributes. */
export interface Locator {
  readonly role: string;
  readonly name: string;
  readonly attributes: Readonly<Record<string, string>>;
}

export interface PlanStep {
  /** Origin and path of the page. */
  readonly page: string;
  readonly purpose: ReadForm["purpose"];
  readonly fields: readonly {
    readonly kind: FieldKind;
    readonly name: string;
    readonly locators: readonly Locator[];
  }[];
  readonly submit?: Locator;
}

/** The steps of a login that succeeded. Contains no values. */
export interface LoginPlan {
  readonly start_url: string;
  readonly steps: readonly PlanStep[];
  /** Where the browser was at the end. */
  readonly end_url?: string;
  /** Name of the control that signs out. */
  readonly sign_out?: string;
}

const lastingAttributes = ["id", "name", "autocomplete", "type", "placeholder", "data-testid"] as const;
const maxSteps = 25;

export function stepOf(outline: PageOutline, { fields, purpose, submit }: ReadForm): PlanStep {
  return {
    page: pageOf(outline),
    purpose,
    fields: fields.map(({ kind, name, nodes }) => ({ kind, name, locators: nodes.map(locatorOf) })),
    ...(submit && { submit: locatorOf(submit) }),
  };
}

/** Adds a step; a repeated one replaces the former. */
export function withStep(steps: readonly PlanStep[], step: PlanStep): readonly PlanStep[] {
  const others = steps.filter(({ fields, page }) => page !== step.page || namesOf(fields) !== namesOf(step.fields));
  return [...others, step].slice(-maxSteps);
}

/** The form of a remembered step, if the page has all its fields. */
export function formFromPlan(outline: PageOutline, { steps }: Pick<LoginPlan, "steps">): ReadForm | undefined {
  for (const step of steps) {
    if (step.page !== pageOf(outline)) continue;
    const fields = step.fields.map(({ kind, locators, name }): ReadField | undefined => {
      const nodes = locators.map((locator) => findNode(outline, locator));
      const [first] = nodes;
      if (first === undefined || nodes.includes(undefined)) return undefined;
      return {
        kind,
        name,
        label: first.name,
        nodes: nodes.filter((node) => node !== undefined),
        required: first.states.includes("required"),
        host: outline.frames[first.frame]?.host ?? "",
      };
    });
    if (fields.length === 0 || fields.includes(undefined)) continue;
    const submit = step.submit && findNode(outline, step.submit);
    if (step.submit !== undefined && submit === undefined) continue;
    return {
      purpose: step.purpose,
      fields: fields.filter((field) => field !== undefined),
      submit,
      block: undefined,
      score: 100,
    };
  }
  return undefined;
}

export function locatorOf({ attributes, name, role }: OutlineNode): Locator {
  const kept = lastingAttributes.flatMap((key) =>
    attributes[key] === undefined ? [] : [[key, attributes[key]] as const],
  );
  return { role, name, attributes: Object.fromEntries(kept) };
}

export function findNode(outline: PageOutline, locator: Locator): OutlineNode | undefined {
  const ranked = outline.nodes
    .filter((node) => node.role === locator.role && isShown(node))
    .map((node) => ({ node, rank: likeness(node, locator) }))
    .filter(({ rank }) => rank > 0)
    .sort((first, second) => second.rank - first.rank);
  const [best, next] = ranked;
  return best !== undefined && best.rank > (next?.rank ?? 0) ? best.node : undefined;
}

function likeness({ attributes, name }: OutlineNode, locator: Locator): number {
  const weights = { id: 2, name: 3, autocomplete: 2, type: 0.5, placeholder: 2, "data-testid": 3 } as const;
  let rank = name !== "" && name === locator.name ? 4 : 0;
  for (const key of lastingAttributes)
    if (locator.attributes[key] !== undefined && attributes[key] === locator.attributes[key]) rank += weights[key];
  return rank >= 2 ? rank : 0;
}

export function pageOf({ frames }: PageOutline): string {
  const url = frames[0]?.url ?? "";
  return URL.canParse(url) ? new URL(url).origin + new URL(url).pathname : "";
}

function namesOf(fields: PlanStep["fields"]): string {
  return fields.map(({ name }) => name).join();
}
