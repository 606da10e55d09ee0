import { waitLimitMs } from "@shoal/testkit";
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";

export interface Limited {
  /** `/proc/sys/user/<name>` → value. */
  readonly settings?: Readonly<Record<string, number>>;
  /** Not root in the namespace either, so that permissions count. */
  readonly plainUser?: boolean;
}

function wrapped({ settings = {}, plainUser = false }: Limited): readonly string[] {
  const set = Object.entries(settings).map(([name, value]) => `echo ${value} > /proc/sys/user/${name}`);
  const inner = ["sh", "-ec", [...set, 'exec "$0" "$@"'].join("; ")];
  return ["unshare", "--user", plainUser ? "--map-user=1000" : "--map-root-user", ...inner];
}

export function whyNotLimited(): string | undefined {
  const [command = "", ...args] = wrapped({ settings: { max_inotify_watches: 1 } });
  return spawnSync(command, [...args, "true"]).status === 0 ? undefined : "needs unshare(1) and user namespaces";
}

export async function runLimited(limited: Limited, program: string): Promise<unknown[]> {
  const [command = "", ...args] = wrapped(limited);
  const child = spawn(
    command,
    [...args, process.execPath, "--conditions=@shoal/source", "--input-type=module-typescript", "-e", program],
    {
      cwd: import.meta.dirname,
      timeout: waitLimitMs,
      killSignal: "SIGKILL",
    },
  );
  let [output, problems] = ["", ""];
  child.stdout.setEncoding("utf8").on("data", (text: string) => (output += text));
  child.stderr.setEncoding("utf8").on("data", (text: string) => (problems += text));
  const [code] = (await once(child, "close")) as [number | null];
  if (code !== 0) throw new Error(`the program failed: ${problems}`);
  return output
    .split("\n")
    .filter(Boolean)
    .map((line): unknown => JSON.parse(line));
}
