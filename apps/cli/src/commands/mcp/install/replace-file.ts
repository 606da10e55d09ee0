import { copyFileSync, existsSync, mkdirSync, realpathSync, renameSync, statSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";

/** Replaces a file in one step and keeps the old one as `FILE.before-shoal`, with its permissions. */
export function replaceFile(path: string, text: string): void {
  mkdirSync(dirname(path), { recursive: true });
  const isNew = !existsSync(path);
  // The file may be a link into a folder of dotfiles.
  const target = isNew ? path : realpathSync(path);
  const mode = isNew ? 0o600 : statSync(target).mode & 0o777;
  if (!isNew) copyFileSync(target, `${target}.before-shoal`);
  const unfinished = `${target}.${String(process.pid)}.tmp`;
  writeFileSync(unfinished, text, { mode });
  renameSync(unfinished, target);
}
