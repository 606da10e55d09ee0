// Runs a program of the clone: `node tools/start.mjs apps/cli/dist/shoal.js ARGUMENT …`. Fetches Node 24, installs the
// packages and builds the programs if they are missing or older than their sources. Types are not checked. The program's
// output alone goes to stdout. Needs Node 18 and npm.
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { isBuilt } from "./clone/built.mjs";
import { install, isInstalled, root, serviceFolders } from "./clone/packages.mjs";
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

async function start() {
  const node = nodeProgram();
  const folders = serviceFolders();
  if (!isInstalled(folders)) {
    console.error("Installing the packages of the lockfile; the first time takes about 20 seconds …");
    const status = install(scriptEnvironment(node), folders);
    if (status !== 0) throw new Error("pnpm could not install the packages: see its message above.");
  }
  // The editor of a new app reads the types of the SDK.
  const types = args[0] === "init" ? ["--types"] : [];
  if (!isBuilt() || types.length > 0) {
    console.error(`Building the ${types.length > 0 ? "SDK" : "programs"}, a few seconds …`);
    const build = ["--conditions=@shoal/source", join(root, "tools/build.mjs"), ...types];
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
