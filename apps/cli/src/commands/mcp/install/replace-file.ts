import { copyFileSync, existsSync, mkdirSync, realpathSync, renameSync, statSync, writeFileSync } from "node:fs";
import { dirname, sep } from "node:path";
import { homeFolder } from "../../../core/home-folder.ts";

interface ReplaceOptions {
  /** Permissions of a new file. */
  readonly mode?: number;
  readonly keepsOld?: boolean;
}

/** Replaces a file in one step and keeps the old one as `FILE.before-shoal`, with its permissions. */
export function replaceFile(path: string, text: string, options: ReplaceOptions = {}): void {
  mkdirSync(dirname(path), { recursive: true });
  const isNew = !existsSync(path);
  // The file may be a link into a folder of dotfiles.
  const target = isNew ? path : realpathSync(path);
  const mode = isNew ? (options.mode ?? 0o600) : statSync(target).mode & 0o777;
  if (!isNew && options.keepsOld !== false) copyFileSync(target, `${target}.before-shoal`);
  const unfinished = `${target}.${String(process.pid)}.tmp`;
  writeFileSync(unfinished, text, { mode });
  renameSync(unfinished, target);
}

/** Returns the path with `~` for the home of the user. */
export function shortened(path: string, env: NodeJS.ProcessEnv): string {
  const home = homeFolder(env);
  return path.startsWith(home + sep) ? `~${path.slice(home.length)}` : path;
}
