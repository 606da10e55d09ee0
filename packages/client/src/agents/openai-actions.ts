import type { ComputerAction } from "@shoal/schemas";
import type { ComputerAction as OpenAIAction } from "openai/resources/responses/responses";
import { ToolCallError } from "./page-tools.ts";
import type { AgentScreen } from "./screen.ts";

/** CSS pixels per notch of a mouse wheel. */
const notchPixels = 120;
const waitMs = 2000;
/** With the pause after them, a batch of the service. */
const maxActions = 99;

/** The actions of a session for those of a call. @throws {ToolCallError} for unknown or too many actions. */
export function openaiActions(actions: readonly OpenAIAction[], screen: AgentScreen): readonly ComputerAction[] {
  const all = actions.flatMap((action) => actionsFor(action, screen));
  if (all.length > maxActions)
    throw new ToolCallError(`The call has ${String(all.length)} actions. The limit is ${String(maxActions)}.`);
  return all;
}

function actionsFor(action: OpenAIAction, screen: AgentScreen): ComputerAction[] {
  switch (action.type) {
    case "click": {
      const button = action.button === "wheel" ? "middle" : action.button;
      return [{ type: "click_mouse", click_mouse: { ...screen.real(action), button, ...heldBy(action.keys) } }];
    }
    case "double_click":
      return [{ type: "click_mouse", click_mouse: { ...screen.real(action), num_clicks: 2, ...heldBy(action.keys) } }];
    case "move":
      return [{ type: "move_mouse", move_mouse: { ...screen.real(action), ...heldBy(action.keys) } }];
    case "drag": {
      const path = action.path.map((point) => screen.real(point)).map(({ x, y }) => [x, y]);
      return [{ type: "drag_mouse", drag_mouse: { path, ...heldBy(action.keys) } }];
    }
    case "scroll": {
      const notches = { delta_x: notchesOf(action.scroll_x), delta_y: notchesOf(action.scroll_y) };
      return [{ type: "scroll", scroll: { ...screen.real(action), ...notches, ...heldBy(action.keys) } }];
    }
    case "keypress":
      return [{ type: "press_key", press_key: { keys: [action.keys.map(keyOf).join("+")] } }];
    case "type":
      return [{ type: "type_text", type_text: { text: action.text } }];
    case "wait":
      return [{ type: "sleep", sleep: { duration_ms: waitMs } }];
    case "screenshot":
      return [];
    default:
      throw new ToolCallError("The action has an unknown type.");
  }
}

/** At least one notch, because smaller turns are not possible. */
function notchesOf(pixels: number): number {
  return Math.sign(pixels) * Math.max(Math.abs(pixels) > 0 ? 1 : 0, Math.round(Math.abs(pixels) / notchPixels));
}

function heldBy(keys: readonly string[] | null | undefined): { hold_keys?: string[] } {
  return keys === null || keys === undefined || keys.length === 0 ? {} : { hold_keys: keys.map(keyOf) };
}

/** The service knows the other names in any case. */
function keyOf(key: string): string {
  return key.toLowerCase() === "space" ? "space" : key;
}
