import { contract as native } from "@shoal/contract";
import { answerBytes, answerJson } from "@shoal/placement";
import { badInput } from "@shoal/router";
import { type ComputerAction, MousePosition } from "@shoal/schemas";
import type { DialectCaller } from "../kit/dialect.ts";
import { callInstance } from "../kit/instance-calls.ts";
import type { NativeCalls } from "../kit/native-calls.ts";
import { notSupported } from "../kit/render-body.ts";
import { sessionOf } from "./sessions.ts";
import type { Computer, ComputerResult } from "./shapes.ts";

interface Screen {
  readonly calls: NativeCalls;
  readonly sessionId: string;
  readonly signal: AbortSignal;
}

/** Does one action. @throws {ServiceError} */
export async function useComputer(
  { calls }: DialectCaller,
  id: string,
  { body, signal }: { readonly body: Computer; readonly signal: AbortSignal },
): Promise<ComputerResult> {
  const screen = { calls, sessionId: (await sessionOf(calls, id)).session_id, signal };
  if (body.action === "get_cursor_position") {
    const { x, y } = await positionIn(screen);
    return { output: `X=${String(x)},Y=${String(y)}` };
  }
  if (body.action !== "take_screenshot") {
    const { calls: _calls, ...to } = screen;
    const answer = await callInstance(calls, native.batchComputerActions, {
      ...to,
      body: { actions: [await toAction(body, screen)] },
    });
    answer.resume();
    if (body.screenshot !== true) return {};
  }
  return { base64_image: await pictureOf(screen) };
}

async function positionIn({ calls, ...to }: Screen) {
  return MousePosition.parse(await answerJson(await callInstance(calls, native.getMousePosition, { ...to, body: {} })));
}

/** Bytes are neither values nor levels of JSON. */
const picture = { bytes: 32 * 2 ** 20, values: Infinity, depth: Infinity };

async function pictureOf({ calls, ...to }: Screen): Promise<string> {
  const answer = await callInstance(calls, native.captureScreenshot, { ...to, body: {} });
  return (await answerBytes(answer, picture)).toString("base64");
}

async function toAction(body: Computer, screen: Screen): Promise<ComputerAction> {
  const { action, hold_keys: held = [] } = body;
  const hold = held.length > 0 ? { hold_keys: held } : {};
  const point = async () => {
    const [x, y] = body.coordinates ?? [];
    return x !== undefined && y !== undefined ? { x, y } : positionIn(screen);
  };
  switch (action) {
    case "move_mouse":
      return { type: "move_mouse", move_mouse: { ...required(body, "coordinates", await point()), ...hold } };
    case "click_mouse":
      return {
        type: "click_mouse",
        click_mouse: {
          ...(await point()),
          ...hold,
          ...(body.button && { button: body.button }),
          ...(body.click_type && { click_type: body.click_type }),
          ...(body.num_clicks !== undefined && { num_clicks: body.num_clicks }),
        },
      };
    case "drag_mouse":
      return { type: "drag_mouse", drag_mouse: { path: required(body, "path", body.path ?? []), ...hold } };
    case "scroll":
      return {
        type: "scroll",
        scroll: { ...(await point()), ...hold, delta_x: body.delta_x ?? 0, delta_y: body.delta_y ?? 0 },
      };
    case "press_key":
      return {
        type: "press_key",
        press_key: {
          // The vendor presses them together.
          keys: [required(body, "keys", body.keys ?? []).join("+")],
          ...(body.duration !== undefined && { duration: Math.round(body.duration * 1000) }),
        },
      };
    case "type_text":
      if (held.length > 0) notSupported("hold_keys", "Use press_key for chords.");
      return { type: "type_text", type_text: { text: required(body, "text", body.text ?? "") } };
    default:
      return {
        type: "sleep",
        sleep: { duration_ms: Math.round(required(body, "duration", body.duration ?? 0) * 1000) },
      };
  }
}

/** @throws {ServiceError} 400 without the field. */
function required<Value>(body: Computer, field: keyof Computer, value: Value): Value {
  if (body[field] === undefined) throw badInput(`body.${field}`, `required for ${body.action}`);
  return value;
}
