/** A place on the screen, in pixels. */
export interface Point {
  readonly x: number;
  readonly y: number;
}

/** Milliseconds between two moves of a smooth motion: a mouse reports about as often as a screen is drawn. */
export const moveIntervalMs = 16;
const shortestMs = 50;
const longestMoveMs = 1_200;

/** Milliseconds that a hand takes over a distance in pixels: longer ways are moved faster. */
export function naturalDurationMs(distance: number, longestMs = longestMoveMs): number {
  return Math.round(Math.min(longestMs, shortestMs + 12 * Math.sqrt(distance)));
}

export function distanceBetween(from: Point, to: Point): number {
  return Math.hypot(to.x - from.x, to.y - from.y);
}

/**
 * A way from one point to another as a hand goes it: a slightly bent cubic Bézier curve, slow at both ends.
 *
 * @param random - numbers from 0 to 1, as `Math.random`.
 * @returns the place at a share of the time, 0 to 1, in whole pixels; `to` itself at 1.
 */
export function handCurve(from: Point, to: Point, random: () => number = Math.random): (share: number) => Point {
  const dx = to.x - from.x;
  const dy = to.y - from.y;
  // Both control points lie on one side, so that the way bends once.
  const side = random() < 0.5 ? -1 : 1;
  const control = (along: number): Point => {
    const bend = side * (0.04 + 0.1 * random());
    return { x: from.x + dx * along - dy * bend, y: from.y + dy * along + dx * bend };
  };
  const first = control(0.25 + 0.15 * random());
  const second = control(0.6 + 0.15 * random());
  return (share) => {
    if (share >= 1) return to;
    const t = share * share * (3 - 2 * share);
    const at = (a: number, b: number, c: number, d: number) =>
      Math.round((1 - t) ** 3 * a + 3 * (1 - t) ** 2 * t * b + 3 * (1 - t) * t ** 2 * c + t ** 3 * d);
    return { x: at(from.x, first.x, second.x, to.x), y: at(from.y, first.y, second.y, to.y) };
  };
}
