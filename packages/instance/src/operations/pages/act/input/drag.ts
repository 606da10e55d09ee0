import type { Protocol } from "devtools-protocol/types/protocol.d.ts";
import pTimeout from "p-timeout";
import type { Keyboard } from "../../../computer/keyboard.ts";
import type { Point } from "../../follow/points.ts";
import type { ActRun } from "../act-run.ts";
import type { Examined, Problem } from "../element/examine.ts";
import type { Pointer } from "./pointer.ts";
import type { ElementHandle } from "../../follow/element-handle.ts";

/** Mouse moves between the two places. */
const steps = 8;
/** Longest wait for the data of a drag that began, in milliseconds. */
const dragDataMs = 2_000;

/** Notes in an isolated world whether the page begins a drag-and-drop. */
const watchFunction = `function () {
  globalThis.shoalDrag = undefined;
  addEventListener("dragstart", (event) => { globalThis.shoalDrag = event; }, { once: true, capture: true });
}`;
const hasStartedFunction = `function () {
  return globalThis.shoalDrag !== undefined && !globalThis.shoalDrag.defaultPrevented;
}`;

export interface DragPlaces {
  /** Called when the pointer is on the element: where the button goes down. */
  readonly examine: () => Promise<Examined>;
  /** Scrolls to the place to drop on, while the button is down. */
  readonly findEnd: (start: Point) => Promise<Point>;
}

export interface DragParts {
  readonly keyboard: Keyboard;
  readonly pointer: Pointer;
  readonly from: ElementHandle;
}

/** Drags with the left button, also elements of HTML drag-and-drop. The button is released in any case. */
export class Drag {
  readonly #run: ActRun;
  readonly #keyboard: Keyboard;
  readonly #pointer: Pointer;
  readonly #from: ElementHandle;
  #data: Protocol.Input.DragData | undefined;

  constructor(run: ActRun, { from, keyboard, pointer }: DragParts) {
    this.#run = run;
    this.#keyboard = keyboard;
    this.#pointer = pointer;
    this.#from = from;
  }

  /** Returns what kept the button from going down, or true. */
  async run(at: Point, { examine, findEnd }: DragPlaces): Promise<Problem | true> {
    const { cdp, session } = this.#run.page;
    const { sessionId } = session;
    const intercepted = Promise.withResolvers<Protocol.Input.DragData>();
    const stop = cdp.on("Input.dragIntercepted", ({ data }, from) => {
      if (from === sessionId) intercepted.resolve(data);
    });
    let isDown = false;
    let now = at;
    try {
      await this.#from.call(watchFunction);
      await this.#run.ask(cdp.send("Input.setInterceptDrags", { enabled: true }, sessionId));
      await this.#pointer.dragTo("mouseMoved", at, false);
      // The pointer may have moved or covered something.
      const start = await examine();
      if (start.problem !== undefined) return start.problem;
      this.#run.hasBegun = true;
      isDown = true;
      now = start;
      await this.#pointer.dragTo("mousePressed", start, true);
      const end = await findEnd(start);
      for (let step = 1; step <= steps; step++) {
        now = between(start, end, step / steps);
        await this.#step(now, intercepted.promise);
      }
      return true;
    } finally {
      // Before the end of the interception: a drag of the browser would follow the real pointer.
      if (isDown) await this.#release(now).catch(() => undefined);
      stop();
      cdp.send("Input.setInterceptDrags", { enabled: false }, sessionId).catch(() => undefined);
    }
  }

  async #step(at: Point, intercepted: Promise<Protocol.Input.DragData>): Promise<void> {
    if (this.#data !== undefined) return this.#drag("dragOver", at, this.#data);
    await this.#pointer.dragTo("mouseMoved", at, true);
    if ((await this.#from.call<boolean>(hasStartedFunction)) !== true) return;
    this.#data = await pTimeout(intercepted, { milliseconds: dragDataMs, message: false });
    if (this.#data === undefined) return;
    await this.#drag("dragEnter", at, this.#data);
    await this.#drag("dragOver", at, this.#data);
  }

  async #release(at: Point): Promise<void> {
    if (this.#data !== undefined) await this.#drag("drop", at, this.#data);
    else await this.#pointer.dragTo("mouseReleased", at, false);
  }

  async #drag(type: "dragEnter" | "dragOver" | "drop", at: Point, data: Protocol.Input.DragData): Promise<void> {
    const { cdp, session } = this.#run.page;
    const params = { type, x: at.x, y: at.y, data, modifiers: this.#keyboard.modifiers };
    await session.outcome(cdp.send("Input.dispatchDragEvent", params, session.sessionId), dragDataMs);
  }
}

function between(start: Point, end: Point, share: number): Point {
  return { x: start.x + (end.x - start.x) * share, y: start.y + (end.y - start.y) * share };
}
