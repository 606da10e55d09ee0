import { modifierBits, parseChord } from "./chord.ts";
import type { View } from "./screen.ts";
import type { Key } from "./us-layout.ts";

/** A keyboard before a view, with the keys that are down. */
export interface Keyboard {
  /** Those that are down, as CDP's `modifiers`. */
  readonly modifiers: number;
  readonly held: readonly Key[];
  down(key: Key): Promise<void>;
  /** The keyboard's own repetition of a key that is down. */
  repeat(key: Key): Promise<void>;
  up(key: Key): Promise<void>;
  /**
   * Holds keys during some work, and lets go of them whatever becomes of it.
   *
   * @param field - names the keys in an error: `body.hold_keys`.
   * @throws {ServiceError} 400 for a key that does not exist, before any goes down.
   */
  holding(names: readonly string[] | undefined, field: string, work: () => Promise<void>): Promise<void>;
  /** Lets go of every key, as far as that is possible. */
  release(): Promise<void>;
}

export function createKeyboard(view: View): Keyboard {
  let held: readonly Key[] = [];
  const modifiers = () => held.reduce((bits, { key }) => bits | (modifierBits[key] ?? 0), 0);

  async function down(key: Key): Promise<void> {
    held = [...held, key];
    await view.key({ type: "down", key, modifiers: modifiers() });
  }

  async function up(key: Key): Promise<void> {
    const place = held.lastIndexOf(key);
    held = held.filter((_, index) => index !== place);
    await view.key({ type: "up", key, modifiers: modifiers() });
  }

  async function release(): Promise<void> {
    // What failed before is what the caller is told.
    for (const key of held.toReversed()) await up(key).catch(() => undefined);
  }

  return {
    get modifiers() {
      return modifiers();
    },
    get held() {
      return held;
    },
    down,
    up,
    release,
    repeat: (key) => view.key({ type: "down", key, modifiers: modifiers(), repeated: true }),
    async holding(names = [], field, work) {
      const keys: Key[] = [];
      for (const [place, name] of names.entries()) keys.push(...parseChord(name, [...held, ...keys], `${field}[${String(place)}]`));
      try {
        for (const key of keys) await down(key);
        await work();
      } finally {
        await release();
      }
    },
  };
}
