import type { actOnPage, CheckedRequestOf } from "@shoal/contract";
import {
  type ActionField,
  actionFields,
  fieldsOfAction,
  invalid,
  type Refusal,
  targetFields,
} from "@shoal/contract/refusals";
import { ServiceError } from "@shoal/router";

/** A checked body of `browsers.act`. */
export type Act = CheckedRequestOf<typeof actOnPage>["body"];
export type ActType = Act["type"];
/** An element by one of the three ways. */
export type Target = Pick<Act, "ref" | "role" | "name" | "selector">;

const allFields: readonly ActionField[] = [
  "tab",
  ...targetFields,
  "to",
  "text",
  "secret",
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
  const { needs = [], target } = actionFields[act.type];
  const missing = needs.find((field) => act[field] === undefined);
  if (missing !== undefined) return invalid(`body.${missing}`, `required for ${act.type}`);
  const known = new Set(fieldsOfAction(act.type));
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

function hasDelta({ delta_x, delta_y }: Act): boolean {
  return delta_x !== undefined || delta_y !== undefined;
}

function specialRefusal(act: Act): Refusal | undefined {
  if (act.type === "fill" && act.text !== undefined && act.secret !== undefined)
    return invalid("body.secret", "not together with text", { hint: "Send one of `text` and `secret`." });
  if (act.type === "fill" && act.text === undefined && act.secret === undefined)
    return invalid("body.text", "required for fill, or `secret`");
  if (act.type === "drag" && act.to !== undefined && hasDelta(act))
    return invalid("body.to", "not together with delta_x or delta_y", { hint: "Send an element or a distance." });
  if (act.type === "drag" && act.to === undefined && !hasDelta(act))
    return invalid("body.to", "required for drag, or `delta_x` and `delta_y`");
  if (act.type === "scroll" && !hasTarget(act) && !hasDelta(act))
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
