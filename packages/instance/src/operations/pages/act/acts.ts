import { invalid } from "@shoal/contract/refusals";
import { ServiceError } from "@shoal/router";
import { parseChord } from "../../computer/chord.ts";
import { secretNotOffered, unfitElement } from "./act-errors.ts";
import { hasTarget } from "./act-fields.ts";
import type { ActorParts, ActTools } from "./act-tools.ts";
import type { ElementHandle } from "../follow/element-handle.ts";
import { clickReady } from "./input/click.ts";
import { FrameShield } from "../node-input/frame-shield.ts";
import type { Problem } from "./element/examine.ts";
import { Drag } from "./input/drag.ts";
import { check, fill, select } from "./input/fields.ts";
import { focusForKeys, pressOn } from "./input/press.ts";
import { scroll } from "./input/scroll.ts";
import { fillSecret } from "./input/secret.ts";
import { upload } from "./input/upload.ts";
import { waitFor } from "./wait-for.ts";
import { framesOf } from "../follow/frame-tree.ts";
import type { Point } from "../follow/points.ts";

const ready = { stable: true, enabled: true, hit: true } as const;

interface ElementActParts extends Pick<ActorParts, "root" | "secrets"> {
  /** Called before a page gets a stored value. */
  readonly closeFiles: () => Promise<void>;
}

/** Operates an element of the page with real input events. Returns the element, if the action has one. */
export async function actOnElement(
  tools: ActTools,
  { closeFiles, root, secrets }: ElementActParts,
): Promise<ElementHandle | undefined> {
  switch (tools.act.type) {
    case "click":
      return clickReady(tools, {
        ...(tools.act.button !== undefined && { button: tools.act.button }),
        ...(tools.act.click_count !== undefined && { count: tools.act.click_count }),
      });
    case "fill":
      return fillField(tools, { closeFiles, secrets });
    case "check":
      return check(tools);
    case "select":
      return select(tools);
    case "press":
      return press(tools);
    case "hover":
      return hover(tools);
    case "drag":
      return drag(tools);
    case "upload":
      return upload(tools, { root, secrets });
    case "scroll":
      return scroll(tools);
    case "wait_for":
      return waitFor(tools);
    default:
      throw new TypeError(`${tools.act.type} has no element`);
  }
}

function fillField(tools: ActTools, { closeFiles, secrets }: Omit<ElementActParts, "root">): Promise<ElementHandle> {
  const { act, offered } = tools;
  if (offered !== undefined) return fillSecret(tools, offered, { closeFiles, secrets });
  if (act.secret !== undefined) throw ServiceError.of(secretNotOffered);
  return fill(tools, {
    // The caller knows it, and readers of the telemetry do not.
    onPassword: () => {
      secrets.add(act.text ?? "", "telemetry");
    },
  });
}

async function hover(tools: ActTools): Promise<ElementHandle> {
  const { act, actionable, keyboard, pointer, run } = tools;
  const request = { target: act, field: "body", needs: { stable: true, hit: true }, moves: true };
  return actionable.untilUsed(request, async (place) => {
    const seen = { isStill: true };
    run.hasBegun = true;
    await keyboard.holding(act.hold_keys, "body.hold_keys", async () => {
      seen.isStill = await actionable.moveOnto(place, (to) => pointer.move(to));
    });
    return seen.isStill ? true : "moving";
  });
}

async function press(tools: ActTools): Promise<ElementHandle | undefined> {
  const { act, actionable, run } = tools;
  const { keys = [] } = act;
  // Before the first effect.
  for (const [place, chord] of keys.entries()) parseChord(chord, [], `body.keys[${String(place)}]`);
  const element = hasTarget(act) ? await actionable.finder.wait(act, "body") : undefined;
  // After the focus, which may add a frame.
  const [hasFocus, frames] = await Promise.all([
    element && focusForKeys(element),
    element === undefined ? undefined : framesOf(run),
  ]);
  if (element !== undefined && hasFocus !== true)
    throw ServiceError.of(
      unfitElement(
        await tools.describe(element),
        "cannot have the focus",
        "Click it first, then press without an element.",
      ),
    );
  const later = (check: Promise<void>): void => {
    run.verified = check;
  };
  const counted = frames !== undefined && { frames: frames.size };
  await pressOn(tools, element, { keys, field: "body.keys", later, ...counted });
  return element;
}

async function drag(tools: ActTools): Promise<ElementHandle> {
  const { act, actionable, keyboard, pointer, run } = tools;
  const { delta_x: right = 0, delta_y: down = 0, to } = act;
  const end = to && (await actionable.finder.wait(to, "body.to"));
  return actionable.untilUsed({ target: act, field: "body", needs: ready }, async ({ element, point }) => {
    let used: Problem | true = true;
    // No frame that covers the element for a moment receives the press, or the dragged data.
    const shield = await FrameShield.raise(run.page, element);
    const findEnd = async (start: Point): Promise<Point> => {
      if (end === undefined || (await mayShowFrame(end, element))) await shield.lower();
      if (end === undefined) return { x: start.x + right, y: start.y + down };
      const examined = await actionable.examine(end, {});
      if (examined.problem !== undefined)
        throw ServiceError.of(
          invalid("body.to", "the element to drop on is not visible", { hint: "Observe the page again." }),
        );
      return beyondMiddle(end, start, examined);
    };
    const examine = () => actionable.examine(element, { enabled: true, hit: true });
    try {
      await keyboard.holding(act.hold_keys, "body.hold_keys", async () => {
        used = await new Drag(run, { keyboard, pointer, from: element }).run(point, { examine, findEnd });
      });
    } finally {
      void shield.lower();
    }
    return used;
  });
}

const showsFrameFunction = `function () { const frames = "iframe, frame, object, embed"; return this.matches(frames) || this.querySelector(frames) !== null; }`;

/** Whether the place to drop on may be in another document than the element. */
async function mayShowFrame(end: ElementHandle, { address }: ElementHandle): Promise<boolean> {
  return end.address.frameId !== address.frameId || (await end.call<boolean>(showsFrameFunction)) !== false;
}

const sizeFunction = `function () { const { height, width } = this.getBoundingClientRect(); return { height, width }; }`;
/** A part of the size of the element to drop on; the most in CSS pixels. */
const beyondShare = 0.1;
const mostBeyond = 10;

/** Sorted lists give the place of an element up when the pointer has passed its middle. */
async function beyondMiddle(end: ElementHandle, start: Point, middle: Point): Promise<Point> {
  const { height = 0, width = 0 } = (await end.call<{ height: number; width: number }>(sizeFunction)) ?? {};
  const [right, down] = [middle.x - start.x, middle.y - start.y];
  const by = (size: number, way: number): number => Math.sign(way) * Math.min(mostBeyond, size * beyondShare);
  return Math.abs(right) > Math.abs(down)
    ? { x: middle.x + by(width, right), y: middle.y }
    : { x: middle.x, y: middle.y + by(height, down) };
}
