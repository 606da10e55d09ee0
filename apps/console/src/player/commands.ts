export type PlayerCommand =
  | { readonly type: "fullscreen" }
  | { readonly type: "idle" }
  | { readonly type: "mute" }
  | { readonly type: "toggle" }
  | { readonly type: "move"; readonly seconds: number }
  | { readonly type: "part"; readonly part: number }
  | { readonly type: "speed"; readonly step: -1 | 1 };

/** Step of the keys for single frames: a frame at the default rate of recordings. */
const frameSeconds = 0.1;

const commands: Readonly<Record<string, PlayerCommand>> = {
  " ": { type: "toggle" },
  k: { type: "toggle" },
  j: { type: "move", seconds: -10 },
  l: { type: "move", seconds: 10 },
  ArrowLeft: { type: "move", seconds: -5 },
  ArrowRight: { type: "move", seconds: 5 },
  ",": { type: "move", seconds: -frameSeconds },
  ".": { type: "move", seconds: frameSeconds },
  "<": { type: "speed", step: -1 },
  ">": { type: "speed", step: 1 },
  Home: { type: "part", part: 0 },
  End: { type: "part", part: 1 },
  f: { type: "fullscreen" },
  i: { type: "idle" },
  m: { type: "mute" },
};

/** The keys of video players. @returns `undefined` for other keys. */
export function commandOf(key: string): PlayerCommand | undefined {
  if (/^\d$/.test(key)) return { type: "part", part: Number(key) / 10 };
  return commands[key] ?? commands[key.toLowerCase()];
}

export const playerKeys: readonly (readonly [string, string])[] = [
  ["Space or k", "play or pause"],
  ["j, l", "10 seconds back or forward"],
  ["←, →", "5 seconds back or forward"],
  [", and .", "a tenth of a second back or forward"],
  ["< and >", "slower or faster"],
  ["0 to 9", "jump to a tenth of the film"],
  ["f, m", "full screen, mute"],
  ["i", "skip or play idle time"],
];
