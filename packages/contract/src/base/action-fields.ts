import type { ActOnPage, PageTarget } from "@shoal/schemas";

/** The `type` of an action of `browsers.act`. */
export type ActionType = ActOnPage["type"];
/** A field that only some actions take. */
export type ActionField = Exclude<keyof ActOnPage, "type" | "timeout_ms" | "observe">;

/** The fields of an action of `browsers.act`. */
export interface ActionFields {
  /** Whether the action needs an element; absent for actions without one. */
  readonly target?: "required" | "optional";
  readonly needs?: readonly ActionField[];
  readonly allows?: readonly ActionField[];
  /** Actions that are not about one tab take no `tab`. */
  readonly tab?: false;
}

/** The fields that name an element. */
export const targetFields = ["ref", "role", "name", "selector"] as const satisfies readonly (keyof PageTarget)[];

/** The fields of each action of `browsers.act`. */
export const actionFields: Readonly<Record<ActionType, ActionFields>> = {
  click: { target: "required", allows: ["button", "click_count", "hold_keys"] },
  fill: { target: "required", allows: ["text", "secret", "submit"] },
  check: { target: "required", allows: ["accept"] },
  select: { target: "required", needs: ["values"] },
  press: { target: "optional", needs: ["keys"] },
  hover: { target: "required", allows: ["hold_keys"] },
  drag: { target: "required", allows: ["to", "delta_x", "delta_y", "hold_keys"] },
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

/** All fields that an action takes, without `type`, `timeout_ms` and `observe`. */
export function fieldsOfAction(type: ActionType): ActionField[] {
  const { allows = [], needs = [], tab, target } = actionFields[type];
  return [
    ...new Set<ActionField>([
      ...(tab === false ? [] : (["tab"] as const)),
      ...(target === undefined ? [] : targetFields),
      ...needs,
      ...allows,
    ]),
  ];
}
