export interface Point {
  readonly x: number;
  readonly y: number;
}

/** About as often as a screen refreshes. */
export const moveIntervalMs = 16;
const shortestMs = 50;
const longestMoveMs = 1_200;

/** Returns the milliseconds that a hand takes for a distance in pixels: long moves are faster. */
export function naturalDurationMs(distance: number, longestMs = longestMoveMs): number {
  return Math.round(Math.min(longestMs, shortestMs + 12 * Math.sqrt(distance)));
}

export function distanceBetween(from: Point, to: Point): number {
  return Math.hypot(to.x - from.x, to.y - from.y);
}

/** A bent Bézier curve, slow at both ends. Maps a share of the time (0 to 1) to a point. */
export function handCurve(from: Point, to: Point, random: () => number = Math.random): (share: number) => Point {
  const dx = to.x - from.x;
  const dy = to.y - from.y;
  // Both control points lie on one side, so that the path bends once.
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
