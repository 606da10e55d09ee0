import type { ViewerMessage } from "../messages.ts";

export interface PointerTarget {
  readonly canvas: HTMLCanvasElement;
  /** Of the session's page, in CSS pixels. */
  readonly size: () => { readonly width: number; readonly height: number };
  readonly send: (message: ViewerMessage) => void;
  /** Called where a button goes down, in CSS pixels of this page: the keyboard is wanted there. */
  readonly pressed: (x: number, y: number) => void;
}

const buttonNames = ["left", "middle", "right", "back", "forward"] as const;
const clickMs = 500;
const clickPixels = 5;
/** A finger that moves less has tapped. */
const tapPixels = 8;
/** Pixels of a line of text, for wheels that count in lines. */
const linePixels = 40;

/** Bits of CDP's `modifiers`. The Command key of a Mac stands for Control, which the session's system has in its place. */
export function modifiersOf(event: MouseEvent | KeyboardEvent, isMac: boolean): number {
  const control = event.ctrlKey || (isMac && event.metaKey);
  return (event.altKey ? 1 : 0) | (control ? 2 : 0) | (event.metaKey && !isMac ? 4 : 0) | (event.shiftKey ? 8 : 0);
}

/** Sends what mouse and fingers do on the canvas. */
export function followPointer({ canvas, size, send, pressed }: PointerTarget, isMac: boolean): void {
  let isDown = false;
  let clicks = 0;
  let last = { time: Number.NEGATIVE_INFINITY, button: -1, x: 0, y: 0 };
  let move: MouseEvent | undefined;
  let wheel: Extract<ViewerMessage, { type: "wheel" }> | undefined;
  let scheduled = false;

  function placeOf({ clientX, clientY }: { clientX: number; clientY: number }): { x: number; y: number } {
    const rect = canvas.getBoundingClientRect();
    const { width, height } = size();
    const within = (place: number, limit: number): number => Math.min(Math.max(Math.floor(place), 0), limit - 1);
    return { x: within(((clientX - rect.left) * width) / rect.width, width), y: within(((clientY - rect.top) * height) / rect.height, height) };
  }

  /** Movements between two pictures are one. */
  function flush(): void {
    scheduled = false;
    const moved = move;
    const turned = wheel;
    move = undefined;
    wheel = undefined;
    if (moved !== undefined)
      send({
        type: "mouse",
        action: "move",
        ...placeOf(moved),
        button: "none",
        buttons: moved.buttons & 31,
        clicks: 0,
        modifiers: modifiersOf(moved, isMac),
      });
    if (turned !== undefined) send(turned);
  }
  function later(): void {
    if (scheduled) return;
    scheduled = true;
    requestAnimationFrame(flush);
  }

  canvas.addEventListener("mousedown", (event) => {
    event.preventDefault();
    flush();
    isDown = true;
    const isAnother =
      event.button !== last.button ||
      event.timeStamp - last.time > clickMs ||
      Math.hypot(event.clientX - last.x, event.clientY - last.y) > clickPixels;
    clicks = isAnother ? 1 : clicks + 1;
    last = { time: event.timeStamp, button: event.button, x: event.clientX, y: event.clientY };
    send({
      type: "mouse",
      action: "down",
      ...placeOf(event),
      button: buttonNames[event.button] ?? "left",
      buttons: event.buttons & 31,
      clicks,
      modifiers: modifiersOf(event, isMac),
    });
    pressed(event.clientX, event.clientY);
  });
  // On the window: a drag may leave the canvas, and end outside of it.
  addEventListener("mousemove", (event) => {
    if (!isDown && event.target !== canvas) return;
    move = event;
    later();
  });
  addEventListener("mouseup", (event) => {
    if (!isDown) return;
    event.preventDefault();
    flush();
    isDown = (event.buttons & 31) !== 0;
    send({
      type: "mouse",
      action: "up",
      ...placeOf(event),
      button: buttonNames[event.button] ?? "left",
      buttons: event.buttons & 31,
      clicks,
      modifiers: modifiersOf(event, isMac),
    });
  });
  for (const type of ["contextmenu", "auxclick", "dragstart"]) {
    canvas.addEventListener(type, (event) => {
      event.preventDefault();
    });
  }
  canvas.addEventListener(
    "wheel",
    (event) => {
      event.preventDefault();
      const unit = event.deltaMode === WheelEvent.DOM_DELTA_LINE ? linePixels : event.deltaMode === WheelEvent.DOM_DELTA_PAGE ? size().height : 1;
      wheel = {
        type: "wheel",
        ...placeOf(event),
        delta_x: (wheel?.delta_x ?? 0) + event.deltaX * unit,
        delta_y: (wheel?.delta_y ?? 0) + event.deltaY * unit,
        modifiers: modifiersOf(event, isMac),
      };
      later();
    },
    { passive: false },
  );
  followTouch({ canvas, send, pressed, placeOf });
}

interface Touched {
  readonly canvas: HTMLCanvasElement;
  readonly send: (message: ViewerMessage) => void;
  readonly pressed: (x: number, y: number) => void;
  readonly placeOf: (point: { clientX: number; clientY: number }) => { x: number; y: number };
}

/** A tap clicks, a drag scrolls. */
function followTouch({ canvas, send, pressed, placeOf }: Touched): void {
  let from: { clientX: number; clientY: number } | undefined;
  let scrolls = false;
  canvas.addEventListener(
    "touchstart",
    (event) => {
      event.preventDefault();
      const [touch] = event.touches;
      from = touch === undefined ? undefined : { clientX: touch.clientX, clientY: touch.clientY };
      scrolls = false;
    },
    { passive: false },
  );
  canvas.addEventListener(
    "touchmove",
    (event) => {
      event.preventDefault();
      const [touch] = event.touches;
      if (touch === undefined || from === undefined) return;
      if (!scrolls && Math.hypot(touch.clientX - from.clientX, touch.clientY - from.clientY) < tapPixels) return;
      scrolls = true;
      const [before, now] = [placeOf(from), placeOf(touch)];
      send({ type: "wheel", ...now, delta_x: before.x - now.x, delta_y: before.y - now.y, modifiers: 0 });
      from = { clientX: touch.clientX, clientY: touch.clientY };
    },
    { passive: false },
  );
  canvas.addEventListener(
    "touchend",
    (event) => {
      event.preventDefault();
      if (from === undefined || scrolls || event.touches.length > 0) return;
      const place = placeOf(from);
      const click = { type: "mouse", ...place, clicks: 1, modifiers: 0 } as const;
      send({ ...click, action: "move", button: "none", buttons: 0, clicks: 0 });
      send({ ...click, action: "down", button: "left", buttons: 1 });
      send({ ...click, action: "up", button: "left", buttons: 0 });
      pressed(from.clientX, from.clientY);
      from = undefined;
    },
    { passive: false },
  );
}
