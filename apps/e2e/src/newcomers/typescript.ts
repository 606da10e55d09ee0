import type { Way } from "./way.ts";

/** A developer with a clone: the commands of README.md and of the install guide, as `.ci/newcomer` types them. */
export async function developer(way: Way): Promise<void> {
  for (const part of ["demo", "pages"]) {
    let [title, began] = [`.ci/newcomer ${part}`, performance.now()];
    const next = (line: string) => {
      if (!line.startsWith("$ ")) return;
      way.note(title, began);
      [title, began] = [line, performance.now()];
    };
    await way.run(`.ci/newcomer ${part}`, { onLine: next });
    way.note(title, began);
  }
}
