import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { createInterface } from "node:readline";

/** A substitute of other machines, in a separate process. */
export interface FakeHost {
  readonly first: readonly string[];
  /** Of everything that runs there. */
  names(): Promise<readonly string[]>;
  end(): Promise<void>;
}

const folder = join(import.meta.dirname, "../../../../packages/placement/src/testing");

/** @param file - a program that answers each line of its input with a list of names, and ends with its input. */
export async function startFakeHost(file: string, ...args: readonly string[]): Promise<FakeHost> {
  const child = spawn(process.execPath, ["--conditions=@shoal/source", join(folder, file), ...args], {
    stdio: ["pipe", "pipe", "inherit"],
  });
  const lines = createInterface({ input: child.stdout });
  const next = async (): Promise<readonly string[]> => {
    const [line] = (await once(lines, "line")) as [string];
    return JSON.parse(line) as readonly string[];
  };
  return {
    first: await next(),
    async names() {
      const answer = next();
      child.stdin.write("\n");
      return await answer;
    },
    async end() {
      const ended = once(child, "close");
      child.stdin.end();
      await ended;
    },
  };
}
