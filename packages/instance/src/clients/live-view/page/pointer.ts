import type { ViewerMessage } from "../messages.ts";
import { followTouch } from "./touch.ts";
import type { Point, Zoom } from "./zoom.ts";

export interface PointerTarget {
  readonly canvas: HTMLCanvasElement;
  /** Size of the session's page, in CSS pixels. */
  readonly size: () => { readonly width: number; readonly height: number };
  readonly send: (message: ViewerMessage) => void;
  /** Called when a button goes down, in CSS pixels of this page: the keyboard focus belongs there. */
  readonly pressed: (x: number, y: number) => void;
  readonly zoom: Zoom;
}

const buttonNames = ["left", "middle", "right", "back", "forward"] as const;
const clickMs = 500;
const clickPixels = 5;
/** Pixels per line, for wheels that report lines. */
const linePixels = 40;

/** Returns bits of CDP's `modifiers`. A Mac's Command key becomes Control, which the session's system uses instead. */
export function modifiersOf(event: MouseEvent | KeyboardEvent, isMac: boolean): number {
  const control = event.ctrlKey || (isMac && event.metaKey);
  return (event.altKey ? 1 : 0) | (control ? 2 : 0) | (event.metaKey && !isMac ? 4 : 0) | (event.shiftKey ? 8 : 0);
}

export function followPointer(target: PointerTarget, isMac: boolean): void {
  const pointer = new Pointer(target, isMac);
  followTouch({ ...target, placeOf: (point) => pointer.placeOf(point) });
}

class Pointer {
  readonly #target: PointerTarget;
  readonly #isMac: boolean;
  #isDown = false;
  #clicks = 0;
  #last = { time: Number.NEGATIVE_INFINITY, button: -1, x: 0, y: 0 };
  /** The latest movement and the sum of the wheel's turns, until the next frame. */
  #move: MouseEvent | undefined;
  #wheel: Extract<ViewerMessage, { type: "wheel" }> | undefined;
  #scheduled = false;

  constructor(target: PointerTarget, isMac: boolean) {
    this.#target = target;
    this.#isMac = isMac;
    const { canvas } = target;
    canvas.addEventListener("mousedown", this.#onDown);
    // On the window: a drag may leave the canvas and end outside of it.
    addEventListener("mousemove", this.#onMove);
    addEventListener("mouseup", this.#onUp);
    canvas.addEventListener("wheel", this.#onWheel, { passive: false });
    for (const type of ["contextmenu", "auxclick", "dragstart"]) {
      canvas.addEventListener(type, (event) => {
        event.preventDefault();
      });
    }
  }

  placeOf({ clientX, clientY }: Point): { x: number; y: number } {
    const rect = this.#target.canvas.getBoundingClientRect();
    const { width, height } = this.#target.size();
    const within = (place: number, limit: number): number => Math.min(Math.max(Math.floor(place), 0), limit - 1);
    return {
      x: within(((clientX - rect.left) * width) / rect.width, width),
      y: within(((clientY - rect.top) * height) / rect.height, height),
    };
  }

  readonly #onDown = (event: MouseEvent): void => {
    event.preventDefault();
    this.#flush();
    this.#isDown = true;
    this.#clicks = this.#continuesClick(event) ? this.#clicks + 1 : 1;
    this.#last = { time: event.timeStamp, button: event.button, x: event.clientX, y: event.clientY };
    this.#sendButton(event, "down");
    this.#target.pressed(event.clientX, event.clientY);
  };

  readonly #onMove = (event: MouseEvent): void => {
    if (!this.#isDown && event.target !== this.#target.canvas) return;
    this.#move = event;
    this.#schedule();
  };

  readonly #onUp = (event: MouseEvent): void => {
    if (!this.#isDown) return;
    event.preventDefault();
    this.#flush();
    this.#isDown = (event.buttons & 31) !== 0;
    this.#sendButton(event, "up");
  };

  readonly #onWheel = (event: WheelEvent): void => {
    event.preventDefault();
    const unit = this.#pixelsOf(event.deltaMode);
    this.#wheel = {
      type: "wheel",
      ...this.placeOf(event),
      delta_x: (this.#wheel?.delta_x ?? 0) + event.deltaX * unit,
      delta_y: (this.#wheel?.delta_y ?? 0) + event.deltaY * unit,
      modifiers: modifiersOf(event, this.#isMac),
    };
    this.#schedule();
  };

  #continuesClick(event: MouseEvent): boolean {
    return (
      event.button === this.#last.button &&
      event.timeStamp - this.#last.time <= clickMs &&
      Math.hypot(event.clientX - this.#last.x, event.clientY - this.#last.y) <= clickPixels
    );
  }

  #pixelsOf(deltaMode: number): number {
    if (deltaMode === WheelEvent.DOM_DELTA_LINE) return linePixels;
    return deltaMode === WheelEvent.DOM_DELTA_PAGE ? this.#target.size().height : 1;
  }

  #sendButton(event: MouseEvent, action: "down" | "up"): void {
    this.#target.send({
      type: "mouse",
      action,
      ...this.placeOf(event),
      button: buttonNames[event.button] ?? "left",
      buttons: event.buttons & 31,
      clicks: this.#clicks,
      modifiers: modifiersOf(event, this.#isMac),
    });
  }

  /** Merges the movements between two frames. */
  #schedule(): void {
    if (this.#scheduled) return;
    this.#scheduled = true;
    requestAnimationFrame(() => {
      this.#flush();
    });
  }

  #flush(): void {
    this.#scheduled = false;
    const moved = this.#move;
    const turned = this.#wheel;
    this.#move = undefined;
    this.#wheel = undefined;
    if (moved !== undefined)
      this.#target.send({
        type: "mouse",
        action: "move",
        ...this.placeOf(moved),
        button: "none",
        buttons: moved.buttons & 31,
        clicks: 0,
        modifiers: modifiersOf(moved, this.#isMac),
      });
    if (turned !== undefined) this.#target.send(turned);
  }
}
