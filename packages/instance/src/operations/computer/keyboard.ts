import { modifierBits, parseChord } from "./chord.ts";
import type { View } from "../../browser/input/screen.ts";
import type { Key } from "../../browser/input/us-layout.ts";

export interface Keyboard {
  readonly modifiers: number;
  readonly held: readonly Key[];
  down(key: Key): Promise<void>;
  repeat(key: Key): Promise<void>;
  up(key: Key): Promise<void>;
  /**
   * Also releases the keys after a failure. @param field - path of the keys in errors: `body.hold_keys`.
   * @throws {ServiceError} 400 before any key goes down.
   */
  holding(names: readonly string[] | undefined, field: string, work: () => Promise<void>): Promise<void>;
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
    // The caller receives the earlier error.
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
      for (const [place, name] of names.entries())
        keys.push(...parseChord(name, [...held, ...keys], `${field}[${String(place)}]`));
      try {
        for (const key of keys) await down(key);
        await work();
      } finally {
        await release();
      }
    },
  };
}
