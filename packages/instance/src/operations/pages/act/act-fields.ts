import type { actOnPage, CheckedRequestOf } from "@shoal/contract";
import { invalid, type Refusal } from "@shoal/contract/refusals";
import { ServiceError } from "@shoal/router";

/** A checked body of `browsers.act`. */
export type Act = CheckedRequestOf<typeof actOnPage>["body"];
export type ActType = Act["type"];
/** An element by one of the three ways. */
export type Target = Pick<Act, "ref" | "role" | "name" | "selector">;

type Field = Exclude<keyof Act, "type" | "timeout_ms" | "observe">;

interface Rule {
  /** Whether the action needs an element; absent for actions without one. */
  readonly target?: "required" | "optional";
  readonly needs?: readonly Field[];
  readonly allows?: readonly Field[];
  /** Actions that are not about one tab take no `tab`. */
  readonly tab?: false;
}

const targetFields = ["ref", "role", "name", "selector"] as const satisfies readonly Field[];

const rules: Readonly<Record<ActType, Rule>> = {
  click: { target: "required", allows: ["button", "click_count", "hold_keys"] },
  fill: { target: "required", needs: ["text"], allows: ["submit"] },
  check: { target: "required", allows: ["accept"] },
  select: { target: "required", needs: ["values"] },
  press: { target: "optional", needs: ["keys"] },
  hover: { target: "required", allows: ["hold_keys"] },
  drag: { target: "required", needs: ["to"], allows: ["hold_keys"] },
  upload: { target: "required", needs: ["paths"] },
  scroll: { target: "optional", allows: ["delta_x", "delta_y"] },
  wait_for: { target: "optional", allows: ["text", "state", "url"] },
  navigate: { needs: ["url"] },
  back: {},
  forward: {},
  reload: {},
  open_tab: { allows: ["url"], tab: false },
  select_tab: { needs: ["tab"] },
  close_tab: {},
  answer_dialog: { allows: ["accept", "text"] },
};

const allFields: readonly Field[] = [
  "tab",
  ...targetFields,
  "to",
  "text",
  "submit",
  "accept",
  "values",
  "keys",
  "paths",
  "delta_x",
  "delta_y",
  "button",
  "click_count",
  "hold_keys",
  "state",
  "url",
];

/** @throws {ServiceError} 400 for a missing field, and for a field of another action. */
export function checkActFields(act: Act): void {
  const refusal = refusalOf(act);
  if (refusal !== undefined) throw ServiceError.of(refusal);
}

export function hasTarget(target: Target): boolean {
  return targetFields.some((field) => target[field] !== undefined);
}

function refusalOf(act: Act): Refusal | undefined {
  const { allows = [], needs = [], tab, target } = rules[act.type];
  const missing = needs.find((field) => act[field] === undefined);
  if (missing !== undefined) return invalid(`body.${missing}`, `required for ${act.type}`);
  const known = new Set<Field>([
    ...(tab === false ? [] : (["tab"] as const)),
    ...(target === undefined ? [] : targetFields),
    ...needs,
    ...allows,
  ]);
  const foreign = allFields.find((field) => act[field] !== undefined && !known.has(field));
  if (foreign !== undefined)
    return invalid(`body.${foreign}`, `not a field of ${act.type}`, {
      hint: known.size === 0 ? "Omit it." : `Fields of ${act.type}: ${[...known].join(", ")}.`,
    });
  return (
    targetRefusal(act, "body", target === "required") ??
    (act.to === undefined ? undefined : targetRefusal(act.to, "body.to", true)) ??
    specialRefusal(act)
  );
}

function targetRefusal(target: Target, path: string, isRequired: boolean): Refusal | undefined {
  const ways = (["ref", "role", "selector"] as const).filter((field) => target[field] !== undefined);
  const [first, second] = ways;
  if (target.name !== undefined && target.role === undefined)
    return invalid(`${path}.name`, "needs `role`", { hint: "Send the element's role, too: button." });
  if (second !== undefined)
    return invalid(`${path}.${second}`, `not together with ${String(first)}`, {
      hint: "Name the element by `ref`, by `role` and `name`, or by `selector`.",
    });
  if (isRequired && first === undefined)
    return invalid(`${path}.ref`, "an element is required", {
      hint: "Name it by `ref`, by `role` and `name`, or by `selector`.",
    });
  return undefined;
}

function specialRefusal(act: Act): Refusal | undefined {
  if (act.type === "scroll" && !hasTarget(act) && act.delta_x === undefined && act.delta_y === undefined)
    return invalid("body.delta_y", "required for scroll without an element");
  if (act.type !== "wait_for") return undefined;
  const conditions = [hasTarget(act) ? "ref" : undefined, act.text && "text", act.url && "url"].filter(Boolean);
  if (conditions.length !== 1)
    return invalid("body.text", "wait_for needs exactly one of an element, `text` and `url`");
  if (act.url !== undefined && act.state !== undefined) return invalid("body.state", "not together with url");
  if (act.text !== undefined && (act.state === "enabled" || act.state === "disabled"))
    return invalid("body.state", "a text is `visible` or `hidden`", { limit: "visible, hidden" });
  return undefined;
}
