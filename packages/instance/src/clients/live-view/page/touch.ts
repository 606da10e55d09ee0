import type { ViewerMessage } from "../messages.ts";
import type { Point, Zoom } from "./zoom.ts";

interface TouchTarget {
  readonly canvas: HTMLCanvasElement;
  readonly send: (message: ViewerMessage) => void;
  readonly pressed: (x: number, y: number) => void;
  readonly placeOf: (point: Point) => { x: number; y: number };
  readonly zoom: Pick<Zoom, "move" | "pinch">;
}

/** A shorter finger movement is a tap. */
const tapPixels = 8;

const pointOf = ({ clientX, clientY }: Touch): Point => ({ clientX, clientY });

/** A tap clicks. One finger moves an enlarged picture, and scrolls the page beyond its edges; two fingers enlarge and move it. */
export function followTouch(target: TouchTarget): void {
  const fingers = new Fingers(target);
  for (const [type, follow] of [
    ["touchstart", fingers.onStart],
    ["touchmove", fingers.onMove],
    ["touchend", fingers.onEnd],
    ["touchcancel", fingers.onCancel],
  ] as const)
    target.canvas.addEventListener(
      type,
      (event) => {
        event.preventDefault();
        follow(event);
      },
      { passive: false },
    );
}

class Fingers {
  readonly #target: TouchTarget;
  #from: readonly Point[] = [];
  /** From the first movement or second finger until all fingers are up. */
  #isGesture = false;

  constructor(target: TouchTarget) {
    this.#target = target;
  }

  readonly onStart = ({ touches }: TouchEvent): void => {
    // Also with a second finger, so that the place of the first one is current.
    this.#from = Array.from(touches, pointOf);
    this.#isGesture = touches.length > 1;
  };

  readonly onMove = ({ touches }: TouchEvent): void => {
    const now = Array.from(touches, pointOf);
    const [one, other] = now;
    const [from, otherFrom] = this.#from;
    if (one === undefined || from === undefined) return;
    if (other !== undefined && otherFrom !== undefined) this.#target.zoom.pinch([from, otherFrom], [one, other]);
    else {
      const isShort = Math.hypot(one.clientX - from.clientX, one.clientY - from.clientY) < tapPixels;
      if (!this.#isGesture && isShort) return;
      this.#isGesture = true;
      this.#drag(from, one);
    }
    this.#from = now;
  };

  readonly onEnd = ({ touches }: TouchEvent): void => {
    const [from] = this.#from;
    if (touches.length === 0 && from !== undefined && !this.#isGesture) this.#tap(from);
    this.#from = Array.from(touches, pointOf);
  };

  readonly onCancel = ({ touches }: TouchEvent): void => {
    this.#from = Array.from(touches, pointOf);
    this.#isGesture = true;
  };

  #drag(from: Point, to: Point): void {
    const { placeOf, send, zoom } = this.#target;
    const rest = zoom.move(to.clientX - from.clientX, to.clientY - from.clientY);
    if (rest.x === 0 && rest.y === 0) return;
    const now = placeOf(to);
    const before = placeOf({ clientX: to.clientX - rest.x, clientY: to.clientY - rest.y });
    send({ type: "wheel", ...now, delta_x: before.x - now.x, delta_y: before.y - now.y, modifiers: 0 });
  }

  #tap(at: Point): void {
    const { placeOf, pressed, send } = this.#target;
    const click = { type: "mouse", ...placeOf(at), clicks: 1, modifiers: 0 } as const;
    send({ ...click, action: "move", button: "none", buttons: 0, clicks: 0 });
    send({ ...click, action: "down", button: "left", buttons: 1 });
    send({ ...click, action: "up", button: "left", buttons: 0 });
    pressed(at.clientX, at.clientY);
  }
}
