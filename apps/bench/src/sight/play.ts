import { countTokens } from "gpt-tokenizer/encoding/o200k_base";
import { type Found, findListed, type Wanted } from "./outline-search.ts";
import type { Move, Player } from "./player.ts";
import type { Script } from "./scripts.ts";

export interface Played {
  /** Whether the outlines listed each element of the script with its role and name. */
  readonly isSeen: boolean;
  readonly isOperated: boolean;
  /** Of all texts that a model reads. */
  readonly tokens: number;
  /** Of all calls, without the opening of the page. */
  readonly stepsMs: number;
  readonly calls: number;
  readonly openMs: number;
  /** Why it was not operated. */
  readonly problem: string | undefined;
}

/** A page may need a moment: each tool gets the same number of looks. */
const looks = 4;
const lookMs = 400;
const pause = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, lookMs));

/** Plays a script with one tool, as a reader of nothing but its texts. */
export async function play(player: Player, url: string, [state, ...steps]: Script): Promise<Played> {
  const game = new Game(player);
  let problem: string | undefined;
  await game.open(url);
  try {
    for (const step of steps) await game.step(step);
    await game.look();
    if (!(await holds(player, state))) problem = `ends in "${await player.title()}"`;
  } catch (error) {
    problem = error instanceof Error ? error.message.slice(0, 300) : String(error);
  }
  const { calls, isSeen, openMs, stepsMs, tokens } = game;
  return { isSeen, isOperated: problem === undefined, tokens, stepsMs, openMs, calls, problem };
}

async function holds(player: Player, state: string): Promise<boolean> {
  for (let look = 0; look < looks; look++) {
    if ((await player.title()) === state) return true;
    await pause();
  }
  return false;
}

class Game {
  readonly #player: Player;
  readonly #texts: string[] = [];
  isSeen = true;
  tokens = 0;
  stepsMs = 0;
  openMs = 0;
  calls = 0;

  constructor(player: Player) {
    this.#player = player;
  }

  async open(url: string): Promise<void> {
    const before = performance.now();
    this.#read(await this.#player.open(url));
    this.openMs = performance.now() - before;
  }

  /** A step that fails is tried once more, with new references; a check as a click. */
  async step(step: string): Promise<void> {
    const parsed = parse(step);
    try {
      await this.#act(parsed);
    } catch {
      await this.#observe();
      await this.#act({ ...parsed, verb: parsed.verb === "check" ? "click" : parsed.verb });
    }
  }

  /** A tool whose actions do not say what changed needs a look at the end. */
  async look(): Promise<void> {
    if (!this.#texts.at(-1)?.match(/\[(?:ref=)?(?:f\d+)?e\d+\]|Changes|No changes/)) await this.#observe();
  }

  async #act({ keys, text, to, verb, wanted }: Step): Promise<void> {
    const found = await this.#find(wanted);
    const other = to === undefined ? "" : (await this.#find(to)).ref;
    this.isSeen &&= found.isSeen;
    const move: Move = { verb, ref: found.ref, to: other, text, keys };
    await this.#timed(() => this.#player.act(move));
  }

  async #find(wanted: Wanted): Promise<Found> {
    for (let look = 0; look < looks; look++) {
      const found = findListed(this.#player.readable(this.#texts), wanted);
      if (found !== undefined) return found;
      if (look > 0) await pause();
      await this.#observe();
    }
    const found = findListed(this.#player.readable(this.#texts), wanted);
    if (found !== undefined) return found;
    this.isSeen = false;
    throw new Error(`does not list ${wanted.role} "${wanted.name}"`);
  }

  #observe(): Promise<void> {
    return this.#timed(() => this.#player.observe());
  }

  async #timed(call: () => Promise<string>): Promise<void> {
    const before = performance.now();
    try {
      this.#read(await call());
    } finally {
      this.stepsMs += performance.now() - before;
    }
  }

  #read(text: string): void {
    this.calls++;
    this.tokens += countTokens(text);
    this.#texts.push(text);
  }
}

interface Step {
  readonly verb: string;
  readonly wanted: Wanted;
  readonly to: Wanted | undefined;
  readonly text: string;
  readonly keys: readonly string[];
}

function parse(step: string): Step {
  const [, verb = "", role = "", rest = ""] = /^(\w+) (\w+):? ?(.*)$/.exec(step) ?? [];
  if (verb === "press") {
    const [, name = "", keys = rest] = /^(.*?): (.*)$/.exec(rest) ?? [];
    return { verb, wanted: { role, name }, to: undefined, text: "", keys: keys.split(" ") };
  }
  const [name = "", other = ""] = rest.split(verb === "fill" ? " = " : " -> ");
  const to = verb === "drag" ? { role, name: other } : undefined;
  return { verb, wanted: { role, name }, to, text: verb === "fill" ? other : "", keys: [] };
}
