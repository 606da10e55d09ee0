// Runs a command next to a real Kubernetes node, with KUBECONFIG and in its network: npm run kubernetes -- COMMAND…
// `npm run kubernetes -- --build` first builds the programs of the node and the base of its image: about 20 minutes of
// processor time, as root on Debian with Go 1.26, into SHOAL_KUBERNETES (~/.cache/shoal/kubernetes).
import { buildBase, hasBase, images, packImages } from "./kubernetes/image.ts";
import { ClusterNode, mountPoints } from "./kubernetes/node.ts";
import { binFolder, buildPrograms, folder, missingPrograms, obstacle } from "./kubernetes/programs.ts";
import { spawn } from "node:child_process";
import { existsSync, readdirSync, rmdirSync, rmSync } from "node:fs";
import { join } from "node:path";

const [command, ...args] = process.argv.slice(2);
/** Set in the namespaces of the node. */
const inside = "SHOAL_KUBERNETES_INSIDE";
const signals = ["SIGINT", "SIGTERM"] as const;

function exitCode(program: string, args: readonly string[], env: NodeJS.ProcessEnv): Promise<number> {
  const child = spawn(program, args, { stdio: "inherit", env });
  // Ctrl-C reaches the command, too; it ends first.
  for (const signal of signals) process.on(signal, () => child.kill(signal));
  return new Promise((resolve, reject) => {
    child.once("error", reject);
    child.once("close", (code) => {
      resolve(code ?? 1);
    });
  });
}

async function runInside(program: string): Promise<number> {
  process.env.PATH = `${binFolder}:${process.env.PATH ?? ""}:/usr/sbin:/sbin`;
  const node = new ClusterNode();
  process.once("exit", () => {
    rmSync(node.state, { recursive: true, force: true });
  });
  // Without a listener, the first process of a namespace ignores signals.
  const quit = (): never => process.exit(1);
  for (const signal of signals) process.on(signal, quit);
  try {
    await node.start();
    for (const signal of signals) process.off(signal, quit);
    const env = {
      ...process.env,
      KUBECONFIG: node.kubeconfig,
      SHOAL_KUBERNETES: folder,
      SHOAL_TEST_KUBERNETES: node.state,
      SHOAL_TEST_AGENT_SANDBOX: images.agentSandbox,
    };
    const code = await exitCode(program, args, env);
    const crash = node.crash();
    if (crash === undefined) return code;
    throw new Error(crash);
  } finally {
    await node.stop();
  }
}

/** The last process of the namespaces ends all others, their mounts and their network. */
async function runOutside(): Promise<number> {
  await packImages();
  const namespaces = ["--net", "--mount", "--pid", "--fork", "--kill-child", "--mount-proc", "--propagation=private"];
  try {
    return await exitCode("unshare", [...namespaces, process.execPath, ...process.argv.slice(1)], {
      ...process.env,
      [inside]: "1",
    });
  } finally {
    for (const controller of readdirSync("/sys/fs/cgroup"))
      removeGroups(join("/sys/fs/cgroup", controller, "kubepods"));
    removeGroups("/sys/fs/cgroup/kubepods");
    for (const path of mountPoints) remove(path);
  }
}

/** Control groups outlive their namespaces, and so do the folders under mounts. */
function removeGroups(path: string): void {
  if (!existsSync(path)) return;
  for (const entry of readdirSync(path, { withFileTypes: true }))
    if (entry.isDirectory()) removeGroups(join(path, entry.name));
  remove(path);
}

function remove(folder: string): void {
  try {
    rmdirSync(folder);
  } catch {
    // It does not exist, or a kubelet of this machine uses it.
  }
}

async function main(): Promise<number> {
  const reason = obstacle();
  const missing = [...missingPrograms(), ...(hasBase() ? [] : ["the base of the image"])];
  if (reason !== undefined) console.error(`No Kubernetes node here: ${reason}.`);
  else if (command === "--build") {
    if (missingPrograms().length > 0) buildPrograms();
    if (!hasBase()) await buildBase();
    return 0;
  } else if (missing.length > 0)
    console.error(
      `No Kubernetes node here: ${missing.join(", ")} missing. \`npm run kubernetes -- --build\` takes about 20 minutes of processor time.`,
    );
  else if (command === undefined) console.error("Name a command: npm run kubernetes -- COMMAND…");
  else return process.env[inside] === undefined ? runOutside() : runInside(command);
  return 1;
}

let status = 1;
try {
  status = await main();
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
}
// The programs of the node still run, and end with this process.
process.exit(status);
