// Runs a program of the clone: `node tools/start.mjs apps/cli/dist/shoal.js ARGUMENT …`. Fetches Node 24, installs the
// packages and builds the programs if they are missing or older than their sources. Types are not checked. The program's
// output alone goes to stdout. Needs Node 18 and npm.
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { stale } from "./clone/built.mjs";
import { install, isInstalled, root } from "./clone/packages.mjs";
import { runToEnd } from "./clone/run-to-end.mjs";
import { nodeProgram, scriptEnvironment } from "./clone/toolchain.mjs";

const [name = "", ...args] = process.argv.slice(2);
const program = join(root, name);
try {
  await start();
} catch (error) {
  console.error(`error: ${error instanceof Error ? error.message : String(error)}`);
  process.exitCode = 1;
}

/** Installs while Node arrives. @param {import("./clone/needed.mjs").Need} need */
async function installPackages(need) {
  if (isInstalled(need)) return;
  console.error(`Installing the packages that ${need === "demo" ? "the demo" : "the command"} needs …`);
  const status = await install(await scriptEnvironment(), need);
  if (status !== 0) throw new Error("pnpm could not install the packages: see its message above.");
}

async function start() {
  const need = name.startsWith("apps/demo/") ? "demo" : "service";
  const [node] = await Promise.all([nodeProgram(), installPackages(need)]);
  // The demo shows no page of the console. The editor of a new app reads the types of the SDK.
  const options = need === "demo" ? ["--programs"] : args[0] === "init" ? ["--types"] : [];
  if (stale(options.includes("--programs")).length > 0 || options.includes("--types")) {
    console.error(`Building the ${options.includes("--types") ? "SDK" : "programs"}, a few seconds …`);
    const build = ["--conditions=@shoal/source", join(root, "tools/build.mjs"), ...options];
    const status = await runToEnd(node, build, { stdio: ["ignore", 2, 2] });
    if (status !== 0) throw new Error("The build failed: see its message above.");
  }
  // Messages of the command name it like this.
  process.env.SHOAL_COMMAND ??= "./shoal";
  if (node === process.execPath) {
    process.argv.splice(1, 2, program);
    await import(pathToFileURL(program).href);
  } else process.exitCode = await runToEnd(node, [program, ...args]);
}
