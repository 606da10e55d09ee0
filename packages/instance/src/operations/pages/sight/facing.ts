/** The linear part of a transformation, by rows. */
export type Turn = readonly [Row, Row, Row];
type Row = readonly [number, number, number];

export const unturned: Turn = [
  [1, 0, 0],
  [0, 1, 0],
  [0, 0, 1],
];
const leastTurn = 0.01;

/** The turn of the computed styles `transform` and `rotate`; `undefined` without one. */
export function turnOf(transform: string, rotate: string): Turn | undefined {
  const own = isNone(transform) ? undefined : matrixOf(transform);
  const rotated = isNone(rotate) ? undefined : rotationOf(rotate);
  return own === undefined || rotated === undefined ? (own ?? rotated) : multiplied(rotated, own);
}

export function multiplied(outer: Turn, inner: Turn): Turn {
  const row = (of: Row): Row => {
    const at = (column: 0 | 1 | 2): number =>
      of[0] * inner[0][column] + of[1] * inner[1][column] + of[2] * inner[2][column];
    return [at(0), at(1), at(2)];
  };
  return [row(outer[0]), row(outer[1]), row(outer[2])];
}

/** Whether the back of an element is seen. */
export function isTurnedAway(turn: Turn): boolean {
  return turn[2][2] < -leastTurn;
}

/** Whether a box does not have the shape of its bounds. */
export function isSlanted(turn: Turn): boolean {
  return Math.abs(turn[0][1]) > leastTurn || Math.abs(turn[1][0]) > leastTurn;
}

function isNone(style: string): boolean {
  return style === "" || style === "none";
}

function matrixOf(transform: string): Turn | undefined {
  const [, kind, content = ""] = /^(matrix|matrix3d)\(([^)]*)\)$/.exec(transform) ?? [];
  if (kind === undefined) return undefined;
  const cells = content.split(",").map((cell) => Number.parseFloat(cell) || 0);
  const cell = (place: number): number => cells[place] ?? 0;
  if (kind === "matrix") return [[cell(0), cell(2), 0], [cell(1), cell(3), 0], unturned[2]];
  const row = (place: number): Row => [cell(place), cell(place + 4), cell(place + 8)];
  return [row(0), row(1), row(2)];
}

/** The property has an axis and an angle: `45deg`, `y 45deg`, `0 1 0 45deg`. */
function rotationOf(rotate: string): Turn | undefined {
  const words = rotate.split(" ");
  const angle = (Number.parseFloat(words.pop() ?? "") * Math.PI) / 180;
  if (Number.isNaN(angle)) return undefined;
  const axes: Readonly<Record<string, Row>> = { x: [1, 0, 0], y: [0, 1, 0], z: [0, 0, 1] };
  const [first = "z"] = words;
  const numbers = words.map((word) => Number.parseFloat(word) || 0);
  const stated: Row = axes[first] ?? [numbers[0] ?? 0, numbers[1] ?? 0, numbers[2] ?? 0];
  const length = Math.hypot(...stated) || 1;
  const [x, y, z] = [stated[0] / length, stated[1] / length, stated[2] / length];
  const [cos, sin] = [Math.cos(angle), Math.sin(angle)];
  const rest = 1 - cos;
  return [
    [cos + x * x * rest, x * y * rest - z * sin, x * z * rest + y * sin],
    [y * x * rest + z * sin, cos + y * y * rest, y * z * rest - x * sin],
    [z * x * rest - y * sin, z * y * rest + x * sin, cos + z * z * rest],
  ];
}
