import { execFileSync } from "node:child_process";

const pauseSeconds = 2 * 60 * 60;

/**
 * Returns the commit that the change starts from: `SHOAL_CI_BASE`, or the newest common commit with `origin/main` if HEAD
 * is ahead of it. Otherwise HEAD has landed, and the change is every commit since the last pause of two hours.
 * Undefined if the clone has no earlier commit.
 */
export function findBase(root: string): string | undefined {
  const git = (...args: string[]) => run(root, args);
  if (process.env.SHOAL_CI_BASE) return git("rev-parse", `${process.env.SHOAL_CI_BASE}^{commit}`);
  const head = git("rev-parse", "HEAD");
  try {
    const shared = git("merge-base", "HEAD", "origin/main");
    if (shared !== head) return shared;
  } catch {
    // A clone without that branch.
  }
  const commits = git("log", "--first-parent", "--max-count=1000", "--format=%H %ct")
    .split("\n")
    .map((line) => line.split(" "))
    .map(([hash = "", seconds]) => ({ hash, seconds: Number(seconds) }));
  return commits.find(({ seconds }, at) => at > 0 && (commits[at - 1]?.seconds ?? 0) - seconds > pauseSeconds)?.hash;
}

/** Returns the paths that differ from `base`, including uncommitted ones. */
export function changedSince(root: string, base: string): string[] {
  const lines = `${run(root, ["diff", "--name-only", "--no-renames", base])}\n${run(root, ["ls-files", "--others", "--exclude-standard"])}`;
  return lines.split("\n").filter((line) => line !== "");
}

export const describeCommit = (root: string, commit: string) =>
  run(root, ["log", "-1", "--format=%h (%cs, %s)", commit]);

const run = (cwd: string, args: readonly string[]) =>
  execFileSync("git", args, {
    cwd,
    encoding: "utf8",
    maxBuffer: 64 * 1024 * 1024,
    stdio: ["ignore", "pipe", "pipe"],
  }).trim();
