export type Colour = readonly [red: number, green: number, blue: number, alpha: number];

/** Largest difference of a colour channel (0 to 255) that a person cannot see. */
const mostEqualChannel = 12;
/** Distance and blur of a shadow in pixels: letters that are further away or more blurred cannot be read. */
const mostShadow = 8;

/** A page has few colours, and many elements. */
const known = new Map<string, Colour | undefined>();
const maxKnown = 500;
const maxCharacters = 200;

/** Reads a computed colour; `undefined` for the words that are not colours. */
export function colourOf(text: string): Colour | undefined {
  if (text.length > maxCharacters) return undefined;
  if (known.has(text)) return known.get(text);
  if (known.size >= maxKnown) known.clear();
  const colour = readColour(text);
  known.set(text, colour);
  return colour;
}

/** Of a shadow in whose shape a person reads the letters of a text. */
export function shadowColours(shadow: string): readonly (Colour | undefined)[] {
  const [, colour = "", ...lengths] = /^([a-z]+\([^)]*\)) (\S+)px (\S+)px (\S+)px/.exec(shadow) ?? [];
  return colour !== "" && lengths.every((length) => Math.abs(Number(length)) <= mostShadow) ? [colourOf(colour)] : [];
}

function readColour(text: string): Colour | undefined {
  const [, kind = "", content = ""] = /^([a-z]+)\(([^)]*)\)$/.exec(text) ?? [];
  if (kind === "") return undefined;
  const words = content.split(/[\s,/]+/).filter((word) => word !== "");
  const space = kind === "color" ? words.shift() : kind;
  const [first = 0, second = 0, third = 0, alpha = 1] = words.map((word) => Number.parseFloat(word) || 0);
  switch (space) {
    case "rgb":
    case "rgba":
      return [first, second, third, alpha];
    case "oklab":
      return fromOklab(first, second, third, alpha);
    case "oklch":
      return fromOklab(first, second * Math.cos(radians(third)), second * Math.sin(radians(third)), alpha);
    case "lab":
    case "lch":
      // Their lightness is enough to find text that has the colour of its background.
      return [first * 2.55, first * 2.55, first * 2.55, alpha];
    default:
      return [first * 255, second * 255, third * 255, alpha];
  }
}

function radians(degrees: number): number {
  return (degrees * Math.PI) / 180;
}

function fromOklab(lightness: number, a: number, b: number, alpha: number): Colour {
  const long = (lightness + 0.3963377774 * a + 0.2158037573 * b) ** 3;
  const middle = (lightness - 0.1055613458 * a - 0.0638541728 * b) ** 3;
  const short = (lightness - 0.0894841775 * a - 1.291485548 * b) ** 3;
  const channel = (linear: number): number => {
    const light = Math.min(1, Math.max(0, linear));
    return 255 * (light <= 0.0031308 ? 12.92 * light : 1.055 * light ** (1 / 2.4) - 0.055);
  };
  return [
    channel(4.0767416621 * long - 3.3077115913 * middle + 0.2309699292 * short),
    channel(-1.2684380046 * long + 2.6097574011 * middle - 0.3413193965 * short),
    channel(-0.0041960863 * long - 0.7034186147 * middle + 1.707614701 * short),
    alpha,
  ];
}

export function over(top: Colour | undefined, below: Colour | undefined): Colour | undefined {
  if (top === undefined || top[3] === 0) return below;
  if (below === undefined || top[3] === 1) return top[3] === 1 ? top : undefined;
  const mix = (first: number, second: number): number => first * top[3] + second * (1 - top[3]);
  return [mix(top[0], below[0]), mix(top[1], below[1]), mix(top[2], below[2]), 1];
}

export function isSameColour(first: Colour, second: Colour): boolean {
  return [0, 1, 2].every((channel) => Math.abs((first[channel] ?? 0) - (second[channel] ?? 0)) <= mostEqualChannel);
}

export interface GradientStop {
  readonly colour: Colour | undefined;
  /** From 0 to 1. */
  readonly at: number;
}

/** The stops of a gradient; `undefined` for other images, and for several ones. */
export function gradientStops(image: string): readonly GradientStop[] | undefined {
  const content = /^(?:repeating-)?(?:linear|radial|conic)-gradient\((.*)\)$/.exec(image)?.[1];
  if (content === undefined || content.includes("gradient(")) return undefined;
  const stops = [...content.matchAll(/(?<![a-z])([a-z]+\([^()]*\))\s*(-?[\d.]+%)?/g)];
  return stops.map(([, colour = "", position], index) => ({
    colour: colourOf(colour),
    at: position === undefined ? index / Math.max(1, stops.length - 1) : Number.parseFloat(position) / 100,
  }));
}

/** The colour of a gradient that has only one. */
export function plainGradient(image: string): Colour | undefined {
  const stops = gradientStops(image);
  const first = stops?.[0]?.colour;
  if (stops === undefined || first === undefined) return undefined;
  return stops.every(({ colour }) => colour !== undefined && isSameColour(colour, first) && colour[3] === first[3])
    ? first
    : undefined;
}

const blends: ReadonlyMap<string, (top: number, below: number) => number> = new Map([
  ["normal", (top) => top],
  ["multiply", (top, below) => (top * below) / 255],
  ["screen", (top, below) => top + below - (top * below) / 255],
  ["darken", (top, below) => Math.min(top, below)],
  ["lighten", (top, below) => Math.max(top, below)],
  ["difference", (top, below) => Math.abs(top - below)],
  ["exclusion", (top, below) => top + below - (2 * top * below) / 255],
]);

/** Mixes a colour with an opaque one below it; `undefined` where that needs the picture. */
export function blended(mode: string, top: Colour, below: Colour): Colour | undefined {
  const blend = blends.get(mode === "" ? "normal" : mode);
  if (blend === undefined) return undefined;
  const [red, green, blue] = [0, 1, 2].map((channel) => blend(top[channel] ?? 0, below[channel] ?? 0));
  return over([red ?? 0, green ?? 0, blue ?? 0, top[3]], below);
}
