import { ServiceError } from "@shoal/router";
import { type ClickSeen, guardedFunction } from "../../node-input/click-guard.ts";
import { FrameShield } from "../../node-input/frame-shield.ts";
import type { Point } from "../../follow/points.ts";
import { Interrupted } from "../act-run.ts";
import type { ActTools } from "../act-tools.ts";
import type { ElementHandle } from "../../follow/element-handle.ts";
import type { Examined, Problem } from "../element/examine.ts";
import type { ClickButton } from "./pointer.ts";

const ready = { stable: true, enabled: true, hit: true, own: true } as const;

export interface ClickOptions {
  /** Returns another element to use, such as the control of a label. */
  readonly pick?: string;
  /** The element that the act's target was a moment ago. */
  readonly found?: ElementHandle;
  readonly button?: ClickButton;
  readonly count?: number;
}

/** Clicks the element of an action when it is ready. The click goes to this element, or nowhere. */
export function clickReady(tools: ActTools, { found, pick, ...options }: ClickOptions = {}): Promise<ElementHandle> {
  const { act, actionable, keyboard, pointer, run } = tools;
  const request = {
    ...{ target: act, field: "body", needs: ready, moves: true },
    ...(pick !== undefined && { pick }),
    ...(found !== undefined && { found }),
  };
  return actionable.untilUsed(request, async (place) => {
    const { element } = place;
    let used: Problem | true = "removed";
    const raising = FrameShield.raise(run.page, element);
    try {
      if (act.hold_keys !== undefined) await raising;
      await keyboard.holding(act.hold_keys, "body.hold_keys", async () => {
        // Only the click has to find it raised.
        const [shield, isStill] = await Promise.all([raising, actionable.moveOnto(place, (to) => pointer.move(to))]);
        if (!isStill) {
          used = "moving";
          return;
        }
        // The pointer may have opened or replaced something.
        const again = await examineGuarded(tools, element);
        if (again.problem === undefined) used = await clickGuarded(tools, element, { ...options, at: again, shield });
        else {
          await readGuard(element);
          used = again.problem;
        }
      });
    } finally {
      // In order before later commands to the page, which may be busy with the click.
      void raising.then(
        (shield) => shield.lower(),
        () => undefined,
      );
    }
    return used;
  });
}

/** A page that is busy may set the guard after the action has ended: no click follows that would end it. */
async function examineGuarded({ actionable }: ActTools, element: ElementHandle): Promise<Examined> {
  try {
    return await actionable.examine(element, { enabled: true, hit: true, own: true, guard: true });
  } catch (error) {
    // In order after the command that sets it.
    void readGuard(element).catch(() => undefined);
    throw error;
  }
}

/** 409 for a click that another frame may have received. */
export class ClickTaken extends ServiceError {
  /** @param element - `e3 (button "Save")` */
  constructor(element: string) {
    const problem = `${element} did not receive the click: a frame of the page may have taken it`;
    super(409, "not_actionable", problem, { hint: "Observe the page again." });
  }
}

interface GuardedClick extends Pick<ClickOptions, "button" | "count"> {
  readonly at: Point;
  readonly shield: FrameShield;
}

async function clickGuarded(
  tools: ActTools,
  element: ElementHandle,
  { at, shield, ...click }: GuardedClick,
): Promise<Problem | true> {
  await tools.pointer.click(at, click);
  const seen = await readGuard(element);
  if (seen === "missed") return "moving";
  if (seen === "unseen" && shield.hasOthers && !shield.hasInner) throw new ClickTaken(await tools.describe(element));
  return true;
}

/** A page that left, or opened a dialog, has received the click. */
async function readGuard(element: ElementHandle): Promise<ClickSeen> {
  try {
    return (await element.call<ClickSeen>(guardedFunction)) ?? "hit";
  } catch (error) {
    if (error instanceof Interrupted) return "hit";
    throw error;
  }
}
