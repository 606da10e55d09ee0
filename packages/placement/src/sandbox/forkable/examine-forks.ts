import { execFile } from "node:child_process";
import { statfs } from "node:fs/promises";
import { promisify } from "node:util";
import type { LocatedChromium } from "../../chromium/find-chromium.ts";
import { findTool, runsAsRoot } from "../../host/tools.ts";
import type { SandboxSupport } from "../support.ts";
import { systemCallFilter } from "../system-call-filter.ts";
import { memoryFolder } from "./stored-processes.ts";

const run = promisify(execFile);

/** Older ones fail on kernels since 6.16. */
const leastVersion = [4, 2] as const;
const howToGetIt = "install criu 4.2 or newer (Debian 14, or built from its source package)";
/** One small session. */
const leastMemoryFolderBytes = 512 * 2 ** 20;
const checkMs = 10_000;

export interface ForkSurroundings {
  readonly chromium: Pick<LocatedChromium, "kind"> | undefined;
  readonly support: SandboxSupport & { readonly works: true };
  readonly hasMemoryGroups: boolean;
}

/** Why sessions of this machine cannot be forked exactly, as one sentence; `undefined` if they can. */
export async function examineForks({
  chromium,
  hasMemoryGroups,
  support,
}: ForkSurroundings): Promise<string | undefined> {
  if (!runsAsRoot()) return "Exact forks need a server that runs as root.";
  if (chromium?.kind !== "headless_shell")
    return "Exact forks need a headless shell, and this server has a full Chromium: apt-get install chromium-headless-shell.";
  // After a crash of the server, the groups name the processes that are left.
  if (!hasMemoryGroups) return "Exact forks need the right to create control groups.";
  if (!support.mounts || !support.interfaces || support.tools.setpriv === undefined)
    return "Exact forks need util-linux (setpriv), ip (iproute2), and the right to mount.";
  if (systemCallFilter(process.arch, { namespaces: false, storable: true }) === undefined)
    return "Exact forks need an x64 or arm64 processor.";
  const { blocks, bsize } = await statfs(memoryFolder).catch(() => ({ blocks: 0, bsize: 0 }));
  if (blocks * bsize < leastMemoryFolderBytes)
    return `Exact forks need ${String(leastMemoryFolderBytes / 2 ** 20)} MB in ${memoryFolder}, which has ${String(Math.floor((blocks * bsize) / 2 ** 20))} MB: start the container with a larger --shm-size.`;
  return problemOfCriu(await findTool("criu"));
}

async function problemOfCriu(criu: string | undefined): Promise<string | undefined> {
  if (criu === undefined) return `Exact forks need CRIU: ${howToGetIt}.`;
  const { stdout } = await run(criu, ["--version"], { timeout: checkMs }).catch(() => ({ stdout: "" }));
  const [, major = "0", minor = "0"] = /^Version: (\d+)\.(\d+)/.exec(stdout) ?? [];
  const isOld =
    Number(major) < leastVersion[0] || (Number(major) === leastVersion[0] && Number(minor) < leastVersion[1]);
  if (isOld) return `Exact forks need a newer CRIU than ${criu}: ${howToGetIt}.`;
  return run(criu, ["check"], { timeout: checkMs }).then(
    () => undefined,
    () => `CRIU does not work here: run ${criu} check to see why.`,
  );
}
