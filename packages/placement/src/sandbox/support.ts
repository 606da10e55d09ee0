import { boxLauncher } from "./launcher.ts";
import { removeTree } from "../host/remove-tree.ts";
import { sandboxCommand } from "./command.ts";
import { findSandboxTools, kernelSetting, runsAsRoot, type SandboxTools, spareUserId } from "../host/tools.ts";
import { spawn } from "node:child_process";
import { chown, mkdir, mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";

export type SandboxSupport =
  | {
      readonly works: true;
      readonly tools: SandboxTools;
      /** Chromium's inner sandbox needs user namespaces. */
      readonly nestedUsers: boolean;
      /** Mounting also limits the number of files. */
      readonly mounts: boolean;
      /** A box can have a network interface, so that pages are online. */
      readonly interfaces: boolean;
    }
  | {
      readonly works: false;
      readonly tools: SandboxTools | undefined;
      readonly reason: string;
      readonly advice: string;
    };

export async function examineSandbox(): Promise<SandboxSupport> {
  if (process.platform !== "linux")
    return {
      works: false,
      tools: undefined,
      reason: `Bubblewrap needs Linux, and this is ${process.platform}.`,
      advice: "Run Shoal on Linux, or in a Linux virtual machine, to isolate sessions.",
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
      reason: "As root, Shoal needs setpriv and unshare to start boxes as another user, and one is missing.",
      advice: "Install util-linux, or run Shoal as a plain user.",
    };
  }
  let last: Attempt | undefined;
  for (const attempt of attempts(tools)) {
    last = await tryBox(tools, attempt);
    if (last.hostWritable) break;
    if (last.started) {
      const found = {
        works: true,
        tools,
        nestedUsers: attempt.nestedUsers && last.nested,
        mounts: attempt.mounts,
      } as const;
      if (tools.ip === undefined || tools.unshare === undefined) return { ...found, interfaces: false };
      return { ...found, interfaces: (await tryBox(tools, attempt, true)).online };
    }
  }
  const second = last ?? failed("nothing was tried");
  if (second.hostWritable)
    return {
      works: false,
      tools,
      reason: "A process in a box could change settings of this host's kernel.",
      advice: "Run Shoal as a plain user.",
    };
  return {
    works: false,
    tools,
    reason: `Bubblewrap does not work here: ${second.printed}`,
    advice: await adviceFor(second.printed),
  };
}

interface Attempt {
  readonly started: boolean;
  readonly nested: boolean;
  readonly hostWritable: boolean;
  readonly online: boolean;
  readonly printed: string;
}

const failed = (printed: string): Attempt => ({
  started: false,
  nested: false,
  hostWritable: false,
  online: false,
  printed,
});

function attempts(tools: SandboxTools): readonly { readonly nestedUsers: boolean; readonly mounts: boolean }[] {
  const canMount = tools.unshare !== undefined && tools.mount !== undefined;
  return [true, false].flatMap((mounts) => {
    if (mounts && !canMount) return [];
    // Without user namespaces, root can still create a box, but without the inner sandbox.
    return (runsAsRoot() ? [true, false] : [true]).map((nestedUsers) => ({ nestedUsers, mounts }));
  });
}

const probe = `if ( : >> /proc/sys/kernel/core_pattern ) 2>/dev/null; then echo host-writable; fi
if unshare --user --map-root-user true 2>/dev/null; then echo nested; fi
if grep -q eth0 /proc/net/dev; then echo online; fi
echo started`;
const probeFilesBytes = 2 ** 20;

async function tryBox(
  tools: SandboxTools,
  { nestedUsers, mounts }: { readonly nestedUsers: boolean; readonly mounts: boolean },
  hasInterface = false,
): Promise<Attempt> {
  const folder = await mkdtemp(join(tmpdir(), "shoal-probe-"));
  try {
    const root = join(folder, "root");
    const etc = join(folder, "etc");
    const owner = runsAsRoot() ? await spareUserId() : undefined;
    if (owner === undefined && runsAsRoot()) return failed("the user namespace of this server has too few user ids");
    await Promise.all([mkdir(join(root, "home/shoal"), { recursive: true }), mkdir(etc)]);
    if (owner !== undefined) await chown(join(root, "home/shoal"), owner, owner);
    const files = { bytes: probeFilesBytes, folders: ["/home/shoal"] };
    const [program, ...rest] = [
      ...boxLauncher(tools, { owner, hasInterface, files: mounts ? { ...files, root } : undefined }),
      ...sandboxCommand({
        tools,
        etc: { path: etc, bound: [] },
        root,
        ...(mounts && { memoryFiles: { ...files, mounted: true } }),
        readOnly: [],
        writable: [],
        owner,
        nestedUsers,
        hasInterface,
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
      online: printed.includes("online"),
      printed: complaint.trim().slice(0, 500) || "it printed nothing",
    };
  } finally {
    await removeTree(folder);
  }
}

async function adviceFor(printed: string): Promise<string> {
  if (printed.includes("Unknown option")) return "Install bubblewrap 0.7 or newer.";
  if ((await kernelSetting("kernel.unprivileged_userns_clone")) === 0)
    return "Allow user namespaces: sysctl -w kernel.unprivileged_userns_clone=1.";
  if ((await kernelSetting("user.max_user_namespaces")) === 0)
    return "Allow user namespaces: sysctl -w user.max_user_namespaces=15000.";
  if ((await kernelSetting("kernel.apparmor_restrict_unprivileged_userns")) === 1) {
    return "AppArmor forbids user namespaces of plain users: give /usr/bin/bwrap a profile with the rule `userns,`, or run sysctl -w kernel.apparmor_restrict_unprivileged_userns=0.";
  }
  if (printed.includes("proc"))
    return "In a container, /proc is masked: start it with --security-opt systempaths=unconfined (Podman: unmask=ALL), or run Shoal on the host.";
  return "In a container, allow user namespaces and mounts: --security-opt seccomp=docs/service/seccomp.json of the repository, --security-opt apparmor=unconfined, or run Shoal on the host.";
}
