/** In CSS pixels of this page. */
export interface Point {
  readonly clientX: number;
  readonly clientY: number;
}

const maxScale = 6;

/** Enlarges the picture under two fingers, because a page for a wide screen is too small on a phone. */
export class Zoom {
  readonly #canvas: HTMLCanvasElement;
  readonly #stage: HTMLElement;
  #scale = 1;
  /** Movement of the picture from its place without zoom. */
  #x = 0;
  #y = 0;

  constructor(canvas: HTMLCanvasElement, stage: HTMLElement) {
    this.#canvas = canvas;
    this.#stage = stage;
    canvas.style.transformOrigin = "0 0";
  }

  /** Keeps the parts of the picture that were under the two fingers under them. */
  pinch(from: readonly [Point, Point], to: readonly [Point, Point]): void {
    const scale = Math.min(Math.max((this.#scale * distanceOf(to)) / distanceOf(from), 1), maxScale);
    const rect = this.#canvas.getBoundingClientRect();
    const [before, now] = [middleOf(from), middleOf(to)];
    const grown = scale / this.#scale;
    this.#x += now.clientX - rect.left - (before.clientX - rect.left) * grown;
    this.#y += now.clientY - rect.top - (before.clientY - rect.top) * grown;
    this.#scale = scale;
    this.refit();
  }

  /** Moves an enlarged picture up to its edges. @returns the rest of the movement. */
  move(x: number, y: number): { readonly x: number; readonly y: number } {
    const [beforeX, beforeY] = [this.#x, this.#y];
    this.#x += x;
    this.#y += y;
    this.refit();
    return { x: x - (this.#x - beforeX), y: y - (this.#y - beforeY) };
  }

  /** After a change of the size or the place of the picture. */
  refit(): void {
    const { offsetHeight, offsetLeft, offsetTop, offsetWidth } = this.#canvas;
    const { clientHeight, clientWidth } = this.#stage;
    this.#x = within(this.#x, { start: offsetLeft, length: offsetWidth, scale: this.#scale, room: clientWidth });
    this.#y = within(this.#y, { start: offsetTop, length: offsetHeight, scale: this.#scale, room: clientHeight });
    this.#canvas.style.transform =
      this.#scale === 1 ? "" : `translate(${String(this.#x)}px, ${String(this.#y)}px) scale(${String(this.#scale)})`;
  }
}

interface Side {
  readonly start: number;
  readonly length: number;
  readonly scale: number;
  /** Of the area that shows the picture. */
  readonly room: number;
}

/** A picture that is larger than its room leaves no gap, and a smaller one stays in the middle. */
function within(moved: number, { start, length, scale, room }: Side): number {
  if (scale === 1) return 0;
  const spare = room - length * scale;
  return spare >= 0 ? spare / 2 - start : Math.min(Math.max(moved, spare - start), -start);
}

function distanceOf([one, other]: readonly [Point, Point]): number {
  return Math.max(1, Math.hypot(one.clientX - other.clientX, one.clientY - other.clientY));
}

function middleOf([one, other]: readonly [Point, Point]): Point {
  return { clientX: (one.clientX + other.clientX) / 2, clientY: (one.clientY + other.clientY) / 2 };
}
