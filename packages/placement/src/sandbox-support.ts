import { boxLauncher } from "./box-launcher.ts";
import { removeTree } from "./remove-tree.ts";
import { sandboxCommand } from "./sandbox-command.ts";
import { findSandboxTools, kernelSetting, type SandboxTools, spareUserId } from "./sandbox-host.ts";
import { spawn } from "node:child_process";
import { chown, mkdir, mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";

export type SandboxSupport =
  | {
      readonly works: true;
      readonly tools: SandboxTools;
      /** Whether processes inside may make user namespaces, which Chromium's inner sandbox needs. */
      readonly nestedUsers: boolean;
      /** Whether filesystems can be mounted for a box before bubblewrap starts, which limits the number of files too. */
      readonly mounts: boolean;
    }
  | {
      readonly works: false;
      readonly tools: SandboxTools | undefined;
      /** One sentence each. */
      readonly reason: string;
      readonly advice: string;
    };

/** Whether this server runs as root, so that boxes get a user of their own. */
export function runsAsRoot(): boolean {
  return process.geteuid?.() === 0;
}

/** Starts an empty box, and says whether that works here. */
export async function examineSandbox(): Promise<SandboxSupport> {
  if (process.platform !== "linux")
    return {
      works: false,
      tools: undefined,
      reason: `Bubblewrap is for Linux, and this is ${process.platform}.`,
      advice: "Run Shoal on Linux, or in a Linux virtual machine, to have sessions isolated.",
    };
  const tools = await findSandboxTools();
  if (tools === undefined)
    return {
      works: false,
      tools,
      reason: "Bubblewrap (bwrap) is not installed.",
      advice: "Install it: apt-get install bubblewrap, dnf install bubblewrap, apk add bubblewrap.",
    };
  if (runsAsRoot() && (tools.setpriv === undefined || tools.unshare === undefined)) {
    return {
      works: false,
      tools,
      reason: "As root, setpriv and unshare are needed to start boxes as another user, and one is missing.",
      advice: "Install util-linux, or run Shoal as a plain user.",
    };
  }
  let last: Attempt | undefined;
  for (const attempt of attempts(tools)) {
    last = await tryBox(tools, attempt);
    if (last.hostWritable) break;
    if (last.started) return { works: true, tools, nestedUsers: attempt.nestedUsers && last.nested, mounts: attempt.mounts };
  }
  const second = last ?? failed("nothing was tried");
  if (second.hostWritable)
    return {
      works: false,
      tools,
      reason: "A process in a box could write to the settings of this host's kernel.",
      advice: "Run Shoal as a plain user.",
    };
  return { works: false, tools, reason: `Bubblewrap does not work here: ${second.printed}`, advice: await adviceFor(second.printed) };
}

interface Attempt {
  readonly started: boolean;
  readonly nested: boolean;
  readonly hostWritable: boolean;
  readonly printed: string;
}

const failed = (printed: string): Attempt => ({ started: false, nested: false, hostWritable: false, printed });

/** Ways to make a box, best first. */
function attempts(tools: SandboxTools): readonly { readonly nestedUsers: boolean; readonly mounts: boolean }[] {
  const canMount = tools.unshare !== undefined && tools.mount !== undefined;
  return [true, false].flatMap((mounts) => {
    if (mounts && !canMount) return [];
    // Without user namespaces for a plain user, root can still make a box, with one layer less inside.
    return (runsAsRoot() ? [true, false] : [true]).map((nestedUsers) => ({ nestedUsers, mounts }));
  });
}

const probe = `if ( : >> /proc/sys/kernel/core_pattern ) 2>/dev/null; then echo host-writable; fi
if unshare --user --map-root-user true 2>/dev/null; then echo nested; fi
echo started`;
const probeFilesBytes = 2 ** 20;

async function tryBox(tools: SandboxTools, { nestedUsers, mounts }: { readonly nestedUsers: boolean; readonly mounts: boolean }): Promise<Attempt> {
  const folder = await mkdtemp(join(tmpdir(), "shoal-probe-"));
  try {
    const root = join(folder, "root");
    const etc = join(folder, "etc");
    const owner = runsAsRoot() ? await spareUserId() : undefined;
    if (owner === undefined && runsAsRoot()) return failed("there is no user id to spare for a box");
    await Promise.all([mkdir(join(root, "home/shoal"), { recursive: true }), mkdir(etc)]);
    if (owner !== undefined) await chown(join(root, "home/shoal"), owner, owner);
    const files = { bytes: probeFilesBytes, folders: ["/home/shoal"] };
    const [program, ...rest] = [
      ...(mounts ? boxLauncher(tools, { ...files, root, owner }) : boxLauncher(tools)),
      ...sandboxCommand({
        tools,
        etc: { path: etc, bound: [] },
        root,
        ...(mounts && { memoryFiles: { ...files, mounted: true } }),
        readOnly: [],
        writable: [],
        owner,
        nestedUsers,
        program: ["/bin/sh", "-c", probe],
      }),
    ] as const;
    const child = spawn(program, rest, {
      cwd: "/",
      env: { PATH: "/usr/bin:/bin" },
      stdio: ["ignore", "pipe", "pipe"],
      timeout: 10_000,
      killSignal: "SIGKILL",
    });
    const [printed, complaint] = await Promise.all([text(child.stdout), text(child.stderr)]);
    return {
      started: printed.includes("started"),
      nested: printed.includes("nested"),
      hostWritable: printed.includes("host-writable"),
      printed: complaint.trim().slice(0, 500) || "it printed nothing",
    };
  } finally {
    await removeTree(folder);
  }
}

async function adviceFor(printed: string): Promise<string> {
  if (printed.includes("Unknown option")) return "Install bubblewrap 0.7 or newer.";
  if ((await kernelSetting("kernel.unprivileged_userns_clone")) === 0) return "Allow user namespaces: sysctl -w kernel.unprivileged_userns_clone=1.";
  if ((await kernelSetting("user.max_user_namespaces")) === 0) return "Allow user namespaces: sysctl -w user.max_user_namespaces=15000.";
  if ((await kernelSetting("kernel.apparmor_restrict_unprivileged_userns")) === 1) {
    return "AppArmor keeps plain users from making user namespaces: give /usr/bin/bwrap a profile with the rule `userns,`, or sysctl -w kernel.apparmor_restrict_unprivileged_userns=0.";
  }
  if (printed.includes("proc"))
    return "In a container, /proc is masked: start it with --security-opt systempaths=unconfined --security-opt seccomp=unconfined, or run Shoal on the host.";
  return "In a container, allow user namespaces and mounts: --security-opt seccomp=unconfined --security-opt apparmor=unconfined, or run Shoal on the host.";
}
