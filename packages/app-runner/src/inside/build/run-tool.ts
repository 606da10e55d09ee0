import type { BuildTask } from "../../protocol/messages.ts";
import { BuildFailure } from "./build-failure.ts";
import { spawn } from "node:child_process";
import { once } from "node:events";

const keptLines = 12;
const maxLineCharacters = 400;
const maxKeptCharacters = 64 * 1024;

/** Removes parts of an output. */
type Clean = (output: string) => Promise<string>;
const unchanged: Clean = (output) => Promise.resolve(output);

/** Its output is the output of the build. @throws {BuildFailure} with its last lines, and after `install_ms`. */
export async function runTool(
  name: string,
  [program, ...args]: readonly [string, ...string[]],
  { work, env, install_ms }: Pick<BuildTask, "work" | "env" | "install_ms">,
  clean: Clean = unchanged,
): Promise<void> {
  const { PATH = "", HOME = "", TMPDIR = "" } = process.env;
  const child = spawn(program, args, {
    cwd: work,
    env: { PATH, HOME, TMPDIR, LANG: "C.UTF-8", CI: "1", ...env },
    stdio: ["ignore", "pipe", "pipe"],
    timeout: install_ms,
    killSignal: "SIGKILL",
  });
  // Of a tool that may quote any file, nothing passes unread.
  const isCleaned = clean !== unchanged;
  let last = "";
  for (const [from, to] of [
    [child.stdout, process.stdout],
    [child.stderr, process.stderr],
  ] as const) {
    from.on("data", (chunk: Buffer) => {
      last = (last + chunk.toString("utf8")).slice(-maxKeptCharacters);
    });
    if (!isCleaned) from.pipe(to, { end: false });
  }
  const [code, signal] = (await once(child, "close")) as [number | null, NodeJS.Signals | null];
  if (isCleaned) process.stderr.write(await clean(last));
  if (code === 0) return;
  const lines = (await clean(last))
    .trim()
    .split("\n")
    .filter((line) => !/A complete log of this run|_logs/.test(line))
    .slice(-keptLines)
    .map((line) => line.slice(0, maxLineCharacters))
    .join("\n");
  if (signal === "SIGKILL")
    throw new BuildFailure(`${name} was ended after ${String(install_ms / 1000)} s. It printed last:\n${lines}`);
  throw new BuildFailure(`${name} failed with exit code ${String(code)}. ${lines}`);
}
