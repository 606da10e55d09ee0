import type { ComputerAction } from "@shoal/schemas";
import * as z from "zod/mini";
import { ToolCallError } from "./page-tools.ts";
import type { AgentScreen, Point } from "./screen.ts";

const Pair = z.tuple([z.number(), z.number()]);
const Seconds = z.number().check(z.minimum(0), z.maximum(30));

/** Input of the tool `computer`, from a model. */
export const ComputerInput = z.object({
  action: z.string(),
  coordinate: z.optional(z.nullable(Pair)),
  start_coordinate: z.optional(z.nullable(Pair)),
  region: z.optional(z.nullable(z.tuple([z.number(), z.number(), z.number(), z.number()]))),
  text: z.optional(z.nullable(z.string().check(z.maxLength(100_000)))),
  scroll_direction: z.optional(z.nullable(z.enum(["up", "down", "left", "right"]))),
  scroll_amount: z.optional(z.nullable(z.int().check(z.minimum(0), z.maximum(1000)))),
  duration: z.optional(z.nullable(Seconds)),
});
export type ComputerInput = z.output<typeof ComputerInput>;

/** @throws {ToolCallError} with the invalid fields. */
export function computerInput(given: unknown): ComputerInput {
  const checked = ComputerInput.safeParse(given);
  if (checked.success) return checked.data;
  throw new ToolCallError(z.prettifyError(checked.error));
}

const clicks: Readonly<Record<string, { readonly button: "left" | "right" | "middle"; readonly num_clicks: number }>> =
  {
    left_click: { button: "left", num_clicks: 1 },
    right_click: { button: "right", num_clicks: 1 },
    middle_click: { button: "middle", num_clicks: 1 },
    double_click: { button: "left", num_clicks: 2 },
    triple_click: { button: "left", num_clicks: 3 },
  };

/** The actions of a session for one action of the model. @param pointer - its position, for actions without a point. */
export function actionsOf(input: ComputerInput, screen: AgentScreen, pointer: Point): readonly ComputerAction[] {
  const { action } = input;
  const at = screen.real(pointOf(input.coordinate) ?? pointer);
  const held =
    input.text === undefined || input.text === null || input.text === "" ? {} : { hold_keys: input.text.split("+") };
  const click = Object.hasOwn(clicks, action) ? clicks[action] : undefined;
  if (click !== undefined) return [{ type: "click_mouse", click_mouse: { ...at, ...click, ...held } }];
  switch (action) {
    case "mouse_move":
      return [{ type: "move_mouse", move_mouse: screen.real(needed(pointOf(input.coordinate), "coordinate")) }];
    case "left_mouse_down":
      return [{ type: "click_mouse", click_mouse: { ...at, click_type: "down" } }];
    case "left_mouse_up":
      return [{ type: "click_mouse", click_mouse: { ...at, click_type: "up" } }];
    case "left_click_drag": {
      const to = screen.real(needed(pointOf(input.coordinate), "coordinate"));
      const from = screen.real(pointOf(input.start_coordinate) ?? pointer);
      return [
        {
          type: "drag_mouse",
          drag_mouse: {
            path: [
              [from.x, from.y],
              [to.x, to.y],
            ],
            ...held,
          },
        },
      ];
    }
    case "scroll":
      return [{ type: "scroll", scroll: { ...at, ...notchesOf(input), ...held } }];
    case "type":
      return [{ type: "type_text", type_text: { text: needed(input.text, "text") } }];
    case "key":
      return [{ type: "press_key", press_key: { keys: keysOf(needed(input.text, "text")) } }];
    case "hold_key": {
      const duration = Math.round(needed(input.duration, "duration") * 1000);
      return [{ type: "press_key", press_key: { keys: keysOf(needed(input.text, "text")), duration } }];
    }
    case "wait":
      return [{ type: "sleep", sleep: { duration_ms: Math.round(needed(input.duration, "duration") * 1000) } }];
    default:
      throw new ToolCallError(
        `Unknown action ${action.slice(0, 50)}. Use screenshot, zoom, cursor_position, mouse_move, left_mouse_down, left_mouse_up, left_click_drag, scroll, type, key, hold_key, wait, ${Object.keys(clicks).join(", ")}.`,
      );
  }
}

function notchesOf({ scroll_amount: given, scroll_direction: direction }: ComputerInput) {
  const amount = given ?? 3;
  switch (needed(direction, "scroll_direction")) {
    case "up":
      return { delta_y: -amount };
    case "down":
      return { delta_y: amount };
    case "left":
      return { delta_x: -amount };
    case "right":
      return { delta_x: amount };
  }
}

/** `ctrl+s` and, one after another, `Down Down Return`. */
function keysOf(text: string): string[] {
  const keys = text.split(/\s+/).filter((key) => key !== "");
  return keys.length === 0 ? ["space"] : keys;
}

export function pointOf(pair: readonly [number, number] | null | undefined): Point | undefined {
  return pair === null || pair === undefined ? undefined : { x: pair[0], y: pair[1] };
}

export function needed<Value>(value: Value | null | undefined, name: string): Value {
  if (value === undefined || value === null) throw new ToolCallError(`The action needs ${name}.`);
  return value;
}
